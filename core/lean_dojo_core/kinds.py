"""The kinds of plugin: one table, which everything that deals with kinds reads.

Discovery takes the hooks from it, the registry its mappings, ``testing`` the conformance suites,
``lean-dojo plugins new`` the scaffolds. A new kind is one entry here, with its descriptor in
``specs``, its protocol in ``protocols`` and its suite in ``testing``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from lean_dojo_core import protocols, specs

Check: TypeAlias = Callable[[Any], str | None]
"""Says what is wrong with the target of a descriptor; ``None`` if nothing is."""


class Scaffold(NamedTuple):
    """What ``lean-dojo plugins new`` writes of a kind.

    Attributes:
        word: What the command calls the kind; also the folder of its templates.
        summary: The summary of what is written, unless the user gives one.
        use: The command line that uses it; ``$name`` stands for the name.
    """

    word: str
    summary: str
    use: str


class Kind(NamedTuple):
    """One kind of plugin.

    Attributes:
        spec: Its descriptor, which knows the kind's name.
        protocol: What its targets are, or make.
        check: Says what is wrong with a target.
        suite: ``"module:class"`` of its conformance suite.
        scaffold: What a new plugin of this kind looks like.
        formats: Whether it turns theorems into rows, which ``lean-dojo preview`` can show.
    """

    spec: type[specs.PluginSpec]
    protocol: type
    check: Check
    suite: str
    scaffold: Scaffold
    formats: bool = False

    @property
    def name(self) -> str:
        """Its name, for example ``"reward-function"``."""
        return self.spec.kind

    @property
    def plural(self) -> str:
        """The name of its registry, for example ``"reward_functions"``."""
        return f"{self.name.replace('-', '_')}s"

    @property
    def hook(self) -> str:
        """The hook that offers it, for example ``"lean_dojo_reward_functions"``."""
        return f"lean_dojo_{self.plural}"


def has_methods(*names: str, a_class: bool = False) -> Check:
    """Make a check for methods of the target or, if it is a class, of its instances.

    Args:
        *names: The methods.
        a_class: Whether it must be a class, whose constructor's parameters are the settings.
    """

    def check(target: Any) -> str | None:
        if missing := [name for name in names if not _has(target, name)]:
            return f"it needs the method(s) {', '.join(missing)}"
        return "it must be a class" if a_class and not inspect.isclass(target) else None

    return check


def _has(target: Any, method: str) -> bool:
    if inspect.isclass(target):
        # Every class is callable through its metaclass; only its own __call__ counts.
        return any(method in vars(base) for base in target.__mro__)
    return callable(getattr(target, method, None))


def _callable(target: Any) -> str | None:
    return None if _has(target, "__call__") else "it must be callable, or a class with __call__"


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            specs.TrainerSpec,
            protocols.Trainer,
            has_methods("train", a_class=True),
            "lean_dojo_core.testing.trainers:TrainerSuite",
            Scaffold(
                "trainer",
                "Fine-tunes on short tactics only.",
                "lean-dojo train $name --set model_name=…",
            ),
            formats=True,
        ),
        Kind(
            specs.DatasetFormatterSpec,
            protocols.DatasetFormatter,
            has_methods("rows", "prompt"),
            "lean_dojo_core.testing.formatters:DatasetFormatterSuite",
            Scaffold(
                "formatter",
                "Chat rows of the goal alone; the answer is the tactic.",
                "lean-dojo train sft --formatter $name --set model_name=…",
            ),
            formats=True,
        ),
        Kind(
            specs.RewardFunctionSpec,
            protocols.RewardFunction,
            _callable,
            "lean_dojo_core.testing.rewards:RewardFunctionSuite",
            Scaffold(
                "reward",
                "Rewards tactics of few words.",
                "lean-dojo train grpo --reward $name --set model_name=…",
            ),
        ),
        Kind(
            specs.ProverSpec,
            protocols.Prover,
            has_methods("search_many", "generate_whole_proof", a_class=True),
            "lean_dojo_core.testing.provers:ProverSuite",
            Scaffold("prover", "Tries a fixed list of tactics.", "lean-dojo prove --prover $name"),
        ),
        Kind(
            specs.BenchmarkSpec,
            protocols.Benchmark,
            has_methods("problems", a_class=True),
            "lean_dojo_core.testing.benchmarks:BenchmarkSuite",
            Scaffold(
                "benchmark", "Sums of the first numbers.", "lean-dojo show $name --kind benchmark"
            ),
        ),
        Kind(
            specs.CommandSpec,
            protocols.Command,
            has_methods("main", "make_context"),
            "lean_dojo_core.testing.commands:CommandSuite",
            Scaffold("command", "Counts the theorems of a database.", "lean-dojo $name"),
        ),
    )
}
"""Every kind by its name, in the order of listings."""
