"""The kinds of plugin, in one table for all code that deals with kinds.

Discovery takes the hooks from it, the registry its mappings, ``testing`` the conformance suites,
``lean-dojo plugins new`` the templates. A new kind is one entry here, with what the entry names.
"""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

from lean_dojo_core import protocols, specs


class Kind(NamedTuple):
    """One kind of plugin.

    Attributes:
        spec: Its descriptor, which knows the kind's name.
        protocol: What its targets are, or make.
        scaffold: What ``lean-dojo plugins new`` calls it; also the folder of its templates.
        a_class: Whether a target must be a class, whose constructor's parameters are the settings.
        formats: Whether it turns theorems into rows, which ``lean-dojo preview`` can show.
        trains: Whether ``lean-dojo train`` runs it, so that its file says what to train on.
    """

    spec: type[specs.PluginSpec]
    protocol: type
    scaffold: str
    a_class: bool = False
    formats: bool = False
    trains: bool = False

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

    @property
    def suite(self) -> str:
        """The name of its conformance suite in ``lean_dojo_core.testing``."""
        return f"{self.protocol.__name__}Suite"

    def check(self, target: Any) -> str | None:
        """Say what is wrong with a target; ``None`` if it is fine.

        It, or an instance of it if it is a class, must have all methods of the protocol.
        """
        wanted = [
            name
            for name, member in vars(self.protocol).items()
            if inspect.isfunction(member) and (name == "__call__" or not name.startswith("_"))
        ]
        missing = [name for name in wanted if not _has(target, name)]
        if missing == ["__call__"]:
            return "it must be callable, or a class with __call__"
        if missing:
            return f"it needs the method(s) {', '.join(missing)}"
        return "it must be a class" if self.a_class and not inspect.isclass(target) else None


def _has(target: Any, method: str) -> bool:
    if inspect.isclass(target):
        # Every class is callable through its metaclass; only its own __call__ counts.
        return any(method in vars(base) for base in target.__mro__)
    return callable(getattr(target, method, None))


_TABLE = (
    Kind(specs.TrainerSpec, protocols.Trainer, "trainer", a_class=True, formats=True, trains=True),
    Kind(specs.DatasetFormatterSpec, protocols.DatasetFormatter, "formatter", formats=True),
    Kind(specs.RewardFunctionSpec, protocols.RewardFunction, "reward"),
    Kind(specs.CallbackSpec, protocols.Callback, "callback", a_class=True),
    Kind(specs.ProverSpec, protocols.Prover, "prover", a_class=True),
    Kind(specs.BenchmarkSpec, protocols.Benchmark, "benchmark", a_class=True),
    Kind(specs.CommandSpec, protocols.Command, "command"),
)
KINDS: dict[str, Kind] = {kind.name: kind for kind in _TABLE}
"""Every kind by its name, in the order of listings."""
