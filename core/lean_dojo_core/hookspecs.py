"""The hook specifications of the plugin contract: trainers, dataset formatters, reward functions.

A plugin is a distribution with an entry point in the group ``lean_dojo`` that names a *manifest*, a
module that imports only what is light and implements one or more hooks. Each hook yields
descriptors: light records that name a target, which is imported only when used. So listing every
plugin imports no learning library.

All hooks are called once per process, when a registry is first used. Each implementation is called
separately: one that raises, names an unknown hook or yields anything but descriptors is listed as
failed, and other plugins are unaffected.

Kinds are open. A distribution adds one with an entry point in the group ``lean_dojo.kinds`` that
names a module like this one: functions decorated with :data:`hookspec` and annotated with the
descriptor that they yield. LeanDojo-v2 adds callbacks, provers, benchmarks and commands in this way
(``lean_dojo_v2.kinds``).

A later version may add arguments to a hook. Implementations that do not name them keep working.
"""

from collections.abc import Iterable

import pluggy

from lean_dojo_core.installed import GROUP
from lean_dojo_core.specs import DatasetFormatterSpec, RewardFunctionSpec, TrainerSpec

API_VERSION = (1, 1)
"""Version of this contract, ``(major, minor)``. A manifest may state the version it was written
for as ``LEAN_DOJO_API_VERSION = "1.1"``; another major or a later minor is listed as failed."""

hookspec = pluggy.HookspecMarker(GROUP)
"""Decorates the specification of a hook, in a module that adds a kind of plugins."""

hookimpl = pluggy.HookimplMarker(GROUP)
"""Decorates an implementation of one of the hooks in a manifest."""


@hookspec
def lean_dojo_trainers() -> Iterable[TrainerSpec]:
    """Offer trainers: objectives with ``train(repos, database, data_path)``.

    ``lean-dojo train NAME`` and ``registry.trainers[NAME]`` find them. The target is a class that
    fulfils :class:`.protocols.Trainer`; its constructor's parameters are its settings.

    >>> from lean_dojo_core import TrainerSpec, hookimpl
    >>> @hookimpl
    ... def lean_dojo_trainers():
    ...     yield TrainerSpec(
    ...         name="preference",
    ...         target="my_plugin.trainer:PreferenceTrainer",
    ...         summary="Prefers tactics that made progress to those that failed.",
    ...         required_columns=("prompt", "chosen", "rejected"),
    ...         default_formatter="preference-pairs",
    ...     )
    """
    yield from ()


@hookspec
def lean_dojo_dataset_formatters() -> Iterable[DatasetFormatterSpec]:
    """Offer dataset formatters: a traced theorem in, rows of a dataset out.

    Trainers look their formatter up by name, and proof search asks the same one for its prompts.
    The target fulfils :class:`.protocols.DatasetFormatter`.

    >>> from lean_dojo_core import DatasetFormatterSpec, hookimpl
    >>> @hookimpl
    ... def lean_dojo_dataset_formatters():
    ...     yield DatasetFormatterSpec(
    ...         name="preference-pairs",
    ...         target="my_plugin.pairs:PreferencePairs",
    ...         summary="A state with a tactic that helped and one that did not.",
    ...         columns=("prompt", "chosen", "rejected"),
    ...     )
    """
    yield from ()


@hookspec
def lean_dojo_reward_functions() -> Iterable[RewardFunctionSpec]:
    """Offer reward functions: completions in, one number for each out, called as TRL calls them.

    ``lean-dojo train grpo --reward NAME`` and ``lean-dojo reward NAME`` use them. The target is a
    function, or a class whose instances can be called; see :class:`.protocols.RewardFunction`.

    >>> from lean_dojo_core import RewardFunctionSpec, hookimpl
    >>> @hookimpl
    ... def lean_dojo_reward_functions():
    ...     yield RewardFunctionSpec(
    ...         name="shortness",
    ...         target="my_plugin.rewards:shortness",
    ...         summary="1 for an empty completion, 0 for a long one.",
    ...     )
    """
    yield from ()
