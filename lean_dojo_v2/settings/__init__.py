"""Settings: declared as fields of a class, read from YAML files and ``--set``, and checked."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
