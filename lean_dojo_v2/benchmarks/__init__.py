"""Named sets of theorems to prove: of a database, of the shipped sample, of a JSONL file."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
