"""The ``lean-dojo`` program, and what a plugin's command is made of: options, tables, messages."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
