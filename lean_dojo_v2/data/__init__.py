"""Traced data as plain records: a repository, how hard it is, and its JSON."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
