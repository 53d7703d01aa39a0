"""Engines that run Lean: native, embedded, and the choice between them."""
