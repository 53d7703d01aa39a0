"""The hooks of the plugin contract: one per kind, named after it.

A plugin is a distribution with an entry point in the group ``lean_dojo`` that names a *manifest
module*. The manifest imports only ``lean_dojo_core``, and implements one or more of the hooks as
generators of descriptors::

    @hookimpl
    def lean_dojo_reward_functions() -> Iterator[RewardFunctionSpec]:
        yield RewardFunctionSpec(name="short", target="my_plugin.rewards:Short", summary="…")

The hooks are called once per process, when a registry is first used. Every implementation is
called on its own: one that raises or yields rubbish is listed as failed and hurts nobody else.
Hooks may gain arguments in later versions; an implementation that does not name them goes on
working (pluggy passes only the arguments that an implementation asks for).
"""

import pluggy

from lean_dojo_core.installed import GROUP

API_VERSION = (1, 1)
"""Version of this contract, ``(major, minor)``. A manifest may state the version it was written
for as ``LEAN_DOJO_API_VERSION = "1.1"``; another major or a later minor is listed as failed."""

ARGUMENTS: dict[str, object] = {}
"""What hooks are called with; an implementation gets those that it names."""

hookimpl = pluggy.HookimplMarker(GROUP)
