"""The hook specifications of the plugin contract: one function for each kind of plugin.

A plugin is a distribution with an entry point in the group ``lean_dojo`` that names a *manifest*, a
module that imports only ``lean_dojo_core`` and implements one or more of these hooks. Each hook
gives descriptors: light records that name a target, which is imported only when used.
So listing every plugin imports no learning library.

All hooks are called once per process, when a registry is first used. Each manifest has a plugin
manager of its own: one that raises, names a hook that does not exist or gives anything but
descriptors is listed as failed, and other plugins are unaffected.

A later version may give a hook arguments. Implementations that do not name them keep working,
because pluggy passes only the arguments that an implementation asks for.
"""

import typing
from collections.abc import Iterable

import pluggy

from lean_dojo_core.installed import GROUP
from lean_dojo_core.specs import (
    BenchmarkSpec,
    CallbackSpec,
    CommandSpec,
    DatasetFormatterSpec,
    PluginSpec,
    ProverSpec,
    RewardFunctionSpec,
    TrainerSpec,
)

API_VERSION = (1, 1)
"""Version of this contract, ``(major, minor)``. A manifest may state the version it was written
for as ``LEAN_DOJO_API_VERSION = "1.1"``; another major or a later minor is listed as failed."""

hookspec = pluggy.HookspecMarker(GROUP)
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


@hookspec
def lean_dojo_callbacks() -> Iterable[CallbackSpec]:
    """Offer callbacks: classes whose methods ``on_…`` a trainer calls while it trains.

    ``lean-dojo train NAME --callback NAME`` adds them. See :class:`.protocols.Callback`.

    >>> from lean_dojo_core import CallbackSpec, hookimpl
    >>> @hookimpl
    ... def lean_dojo_callbacks():
    ...     yield CallbackSpec(
    ...         name="notify",
    ...         target="my_plugin.notify:Notify",
    ...         summary="Sends a message when training ends.",
    ...     )
    """
    yield from ()


@hookspec
def lean_dojo_provers() -> Iterable[ProverSpec]:
    """Offer provers: classes whose instances find proofs, which Lean then verifies in full.

    ``lean-dojo prove --prover NAME`` and ``lean-dojo bench --prover NAME`` use them. See
    :class:`.protocols.Prover`.

    >>> from lean_dojo_core import ProverSpec, hookimpl
    >>> @hookimpl
    ... def lean_dojo_provers():
    ...     yield ProverSpec(
    ...         name="decide-only",
    ...         target="my_plugin.prover:DecideOnly",
    ...         summary="Tries `decide` at every goal.",
    ...     )
    """
    yield from ()


@hookspec
def lean_dojo_benchmarks() -> Iterable[BenchmarkSpec]:
    """Offer benchmarks: named sets of theorems to prove.

    ``lean-dojo bench NAME`` measures provers on them. See :class:`.protocols.Benchmark`.

    >>> from lean_dojo_core import BenchmarkSpec, hookimpl
    >>> @hookimpl
    ... def lean_dojo_benchmarks():
    ...     yield BenchmarkSpec(
    ...         name="parity",
    ...         target="my_plugin.parity:Parity",
    ...         summary="Fifty theorems about even and odd numbers.",
    ...     )
    """
    yield from ()


@hookspec
def lean_dojo_commands() -> Iterable[CommandSpec]:
    """Offer commands: click commands that appear as ``lean-dojo NAME``.

    They are listed by ``lean-dojo --help`` from their descriptors, and imported when they are run.

    >>> from lean_dojo_core import CommandSpec, hookimpl
    >>> @hookimpl
    ... def lean_dojo_commands():
    ...     yield CommandSpec(
    ...         name="leaderboard",
    ...         target="my_plugin.leaderboard:command",
    ...         summary="Compares the results of several benchmarks.",
    ...     )
    """
    yield from ()


HOOKS: dict[str, type[PluginSpec]] = {
    name: typing.get_args(hook.__annotations__["return"])[0]
    for name, hook in list(globals().items())
    if hasattr(hook, f"{GROUP}_spec")
}
"""The descriptor that each hook gives, by the hook's name, in the order of listings."""

KINDS: dict[str, type[PluginSpec]] = {spec.kind: spec for spec in HOOKS.values()}
"""The descriptor of every kind by the kind's name, in the order of listings."""
