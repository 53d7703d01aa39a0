"""The kinds of plugins that LeanDojo-v2 adds: callbacks, provers, benchmarks, commands.

Each module specifies one kind: its hook, its descriptor, its protocols, and its registry. They join
by entry points in the group ``lean_dojo.kinds``, as a kind of any other distribution would. The
conformance suites are in :mod:`.testing`.

>>> from lean_dojo_v2.kinds import provers
>>> provers["hf"]
<prover 'hf' of lean-dojo-v2 ...>
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
