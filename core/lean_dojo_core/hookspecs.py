"""The hooks of the plugin contract: one a kind, named after it.

A plugin is a distribution with an entry point in the group ``lean_dojo`` that names a *manifest
module*. The manifest imports only ``lean_dojo_core`` and implements one or more of the hooks::

    # pyproject.toml
    [project.entry-points.lean_dojo]
    my-plugin = "my_plugin.manifest"

    # my_plugin/manifest.py
    from collections.abc import Iterator
    from lean_dojo_core import RewardFunctionSpec, hookimpl

    @hookimpl
    def lean_dojo_reward_functions() -> Iterator[RewardFunctionSpec]:
        yield RewardFunctionSpec(
            name="shortness",
            target="my_plugin.rewards:shortness",
            summary="1 for an empty completion, 0 for a long one.",
        )

The hooks are called once per process, when a registry is first used. Every implementation is
called on its own: one that raises or yields rubbish is listed as failed and hurts nobody else.
Hooks may gain arguments in later versions; an implementation that does not name them goes on
working (pluggy passes only the arguments that an implementation asks for).
"""

from __future__ import annotations

import pluggy

from lean_dojo_core.installed import GROUP

API_VERSION = (1, 1)
"""Version of this contract, ``(major, minor)``. A manifest may state the version it was written
for as ``LEAN_DOJO_API_VERSION = "1.1"``; another major or a later minor is listed as failed."""

hookspec = pluggy.HookspecMarker(GROUP)
hookimpl = pluggy.HookimplMarker(GROUP)


class Hooks:
    """The specifications that discovery registers, made from the table of kinds.

    >>> [name for name in dir(Hooks()) if name.startswith("lean_dojo_")][:3]
    ['lean_dojo_benchmarks', 'lean_dojo_commands', 'lean_dojo_dataset_formatters']
    """

    def __init__(self) -> None:
        # Imported here: a manifest that wants the marker alone does not pay for the table.
        from lean_dojo_core.kinds import KINDS

        for kind in KINDS.values():

            def specification() -> None: ...

            specification.__name__ = kind.hook
            specification.__doc__ = f"Offer {kind.plural}: yield {kind.spec.__name__}s."
            setattr(self, kind.hook, hookspec(specification))
