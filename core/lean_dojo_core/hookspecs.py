"""The three hooks of the plugin contract.

A plugin is a distribution with an entry point in the group ``lean_dojo`` that names a *manifest
module*. The manifest imports only ``lean_dojo_core`` and implements one or more of these hooks::

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

from collections.abc import Iterable

import pluggy

from lean_dojo_core.specs import DatasetFormatterSpec, RewardFunctionSpec, TrainerSpec

PROJECT_NAME = "lean_dojo"
"""The entry-point group and the name that pluggy's markers carry."""

API_VERSION = (1, 0)
"""Version of this contract, ``(major, minor)``. A manifest may state the version it was written
for as ``LEAN_DOJO_API_VERSION = "1.0"``; another major or a later minor is listed as failed."""

hookspec = pluggy.HookspecMarker(PROJECT_NAME)
hookimpl = pluggy.HookimplMarker(PROJECT_NAME)


@hookspec
def lean_dojo_trainers() -> Iterable[TrainerSpec]:  # type: ignore[empty-body]
    """Offer training objectives.

    >>> from lean_dojo_core import TrainerSpec, hookimpl
    >>> @hookimpl
    ... def lean_dojo_trainers():
    ...     yield TrainerSpec(
    ...         name="expert-iteration",
    ...         target="my_plugin.trainer:ExpertIteration",
    ...         summary="Fine-tunes on completions that Lean verified.",
    ...         default_formatter="tactic-prompt",
    ...         required_columns=("prompt",),
    ...     )
    >>> next(lean_dojo_trainers()).kind
    'trainer'
    """


@hookspec
def lean_dojo_dataset_formatters() -> Iterable[DatasetFormatterSpec]:  # type: ignore[empty-body]
    """Offer dataset formatters.

    >>> from lean_dojo_core import DatasetFormatterSpec, hookimpl
    >>> @hookimpl
    ... def lean_dojo_dataset_formatters():
    ...     yield DatasetFormatterSpec(
    ...         name="state-tactic",
    ...         target="my_plugin.formatter:StateTactic",
    ...         summary="Plain text: the state, an arrow, the tactic.",
    ...         columns=("prompt", "completion"),
    ...     )
    >>> next(lean_dojo_dataset_formatters()).columns
    ('prompt', 'completion')
    """


@hookspec
def lean_dojo_reward_functions() -> Iterable[RewardFunctionSpec]:  # type: ignore[empty-body]
    """Offer reward functions.

    >>> from lean_dojo_core import RewardFunctionSpec, hookimpl
    >>> @hookimpl
    ... def lean_dojo_reward_functions():
    ...     yield RewardFunctionSpec(
    ...         name="novelty",
    ...         target="my_plugin.rewards:Novelty",
    ...         summary="Rewards tactics that were not seen before.",
    ...     )
    >>> next(lean_dojo_reward_functions()).name
    'novelty'
    """
