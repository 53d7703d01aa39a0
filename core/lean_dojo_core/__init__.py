"""The contract of LeanDojo-v2's plugins: hooks, descriptors, registries, records, errors.

Names are imported when they are used: a manifest that needs two pays for two.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
