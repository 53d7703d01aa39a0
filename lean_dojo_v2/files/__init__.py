"""Files: where they are, and reading and writing them safely.

Names are imported when they are used, so that ``import lean_dojo_v2.files`` costs nothing;
``__init__.pyi`` lists them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
