"""The built-ins pass the very checks that plugin authors get, each found through the registry."""

from __future__ import annotations

import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lean_dojo_core import registry
from lean_dojo_core.discovery import import_target
from lean_dojo_core.settings import settings_of
from lean_dojo_core.testing import (
    ManifestSuite,
    RewardFunctionSuite,
    Suite,
    TrainerSuite,
)
from lean_dojo_v2.kinds.testing import BenchmarkSuite, ProverSuite
from lean_dojo_v2.sample import sample_database_path


class TestManifest(ManifestSuite):
    distribution = "lean-dojo-v2"


class BuiltinTrainerSuite(TrainerSuite):
    """Makes any built-in from what it requires: a model (this folder will do) and a reward."""

    def make(self) -> Any:
        return self.entry.load()

    def make_in(self, output_dir: Path) -> Any:
        given = {
            "model_name": str(output_dir.parent),
            "reward_func": "constant",
            "data_path": output_dir.parent / "data.jsonl",
        }
        output_dir.parent.joinpath("data.jsonl").touch()
        target = self.entry.load()
        required = {
            part.name: given[part.name]
            for part in settings_of(target)
            if part.required or part.name == "reward_func"  # grpo: only with episodes it needs none
        }
        if any(part.name == "output_dir" for part in settings_of(target)):
            required["output_dir"] = output_dir
        return target(**required)


class BuiltinRewardSuite(RewardFunctionSuite):
    """One engine is enough for a reward that needs Lean."""

    def make(self) -> Any:
        return self.entry.create(**({"engines": 1} if self.entry.spec.needs_lean else {}))

    def columns(self, count: int) -> dict[str, list[Any]]:
        """What a whole proof proves is a statement; here it stands in no repository."""
        columns = super().columns(count)
        if self.entry.name == "proof-verified":
            columns |= {"problem": columns["theorem_statement"], "file_path": [None] * count}
        return columns


class BuiltinProverSuite(ProverSuite):
    """Those with a model have tests of their own; here their classes are looked at."""

    def make(self) -> Any:
        return self.entry.load()

    def test_writes_a_proof_as_text(self) -> None:
        if self.can_make(self.target):
            self.subject.generate_whole_proof = self.entry.create().generate_whole_proof
            super().test_writes_a_proof_as_text()


class BuiltinBenchmarkSuite(BenchmarkSuite):
    """Of the shipped database; the form of a file is ``tests/lean_dojo_v2/benchmarks``'s."""

    def make(self) -> Any:
        names = {part.name for part in settings_of(self.entry.load())}
        given = {
            "database": sample_database_path(),
            "file": FILE,
            "dataset": _folder_with(FILE),
            "module": "Init.WF",  # reading all of Lean's library takes a minute
        }
        return self.entry.create(**{key: value for key, value in given.items() if key in names})


@cache
def _folder_with(file: Path) -> str:
    """A folder that `datasets` loads as it loads a name of the hub."""
    folder = Path(tempfile.mkdtemp(), "set")
    folder.mkdir()
    shutil.copy(file, folder)
    return str(folder)


FILE = Path(__file__).parents[1] / "data" / "minif2f.jsonl"

OURS: dict[str, type[Suite]] = {
    "trainer": BuiltinTrainerSuite,
    "reward-function": BuiltinRewardSuite,
    "prover": BuiltinProverSuite,
    "benchmark": BuiltinBenchmarkSuite,
}
SUITES = {
    name: OURS.get(name) or import_target(kind.suite)
    for name, kind in registry.current().kinds.items()
}

for _kind, _suite in SUITES.items():
    for _entry in registry.registries()[_kind].entries():
        if _entry.plugin.builtin:
            _title = "".join(word.title() for word in (*_entry.name.split("-"), *_kind.split("-")))
            _made = type(f"Test{_title}", (_suite,), {"name": _entry.qualified_name})
            if getattr(_entry.spec, "needs_lean", False):
                _made = pytest.mark.slow(_made)
            globals()[_made.__name__] = _made


@pytest.mark.parametrize("kind", SUITES)
def test_every_kind_has_builtins(kind: str) -> None:
    assert any(entry.plugin.builtin for entry in registry.registries()[kind].entries())
