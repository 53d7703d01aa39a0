"""What other code may import; everything else in ``lean_dojo_plugins`` is private.

Versioned with the plugin contract: what stands here stays, with its arguments, until the contract's
major version changes. Names are imported when they are used.

>>> from lean_dojo_plugins import api
>>> api.__api_version__
'1.1'
"""

import lazy_loader

from lean_dojo_core.hookspecs import API_VERSION

__api_version__ = ".".join(map(str, API_VERSION))
__getattr__, __dir__, __all__ = lazy_loader.attach_stub("lean_dojo_plugins", __file__)
