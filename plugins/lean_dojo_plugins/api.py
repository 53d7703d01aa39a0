"""What most plugins need of ``lean_dojo_plugins``, in one place.

Versioned with the plugin contract: names and arguments are stable until the contract's major
version changes. Names are imported on first use.

>>> from lean_dojo_plugins import api
>>> api.__api_version__
'1.1'
"""

import lazy_loader

from lean_dojo_core.hookspecs import API_VERSION

__api_version__ = ".".join(map(str, API_VERSION))
__getattr__, __dir__, __all__ = lazy_loader.attach_stub("lean_dojo_plugins", __file__)
