"""Theorems of Lean's own library as problems: what is in scope, and what is held out."""

from __future__ import annotations

import pytest

from lean_dojo_core.errors import UsageError
from lean_dojo_v2 import kinds
from lean_dojo_v2.benchmarks import problem_of
from lean_dojo_v2.benchmarks.core_library.benchmark import (
    HELD_OUT_FILE,
    Module,
    modules,
    read_names,
    stated,
)
from lean_dojo_v2.lean import Server

NAMES = read_names(HELD_OUT_FILE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def found(engine: Server) -> dict[str, Module]:
    names = ("Init.Data.Option.Lemmas", "Init.Data.Sum.Basic")
    return {module.name: module for module in modules(engine, names)}


@pytest.mark.slow
def test_a_theorem_is_stated_where_it_is_not_in_scope(
    engine: Server, found: dict[str, Module]
) -> None:
    module = found["Init.Data.Option.Lemmas"]
    assert {"Option.bind_assoc", "Option.any_true"} <= set(module.theorems)
    assert not {"Classical.choice.congr_simp", "Option.bind.eq_2"} & set(module.theorems)
    assert module.header.startswith("prelude\nimport Init.")
    names = ["Option.bind_assoc", "Option.any_true", "Option.not_there"]
    problems = {one.full_name: one for one in stated(engine, engine, module, names)}
    assert set(problems) == set(names[:2])
    problem = problem_of(problems["Option.bind_assoc"])
    beside = "have := @Option.any_true\ncases x <;> rfl"
    assert "Unknown" in problem.check(engine, beside).detail
    assert problem.check(engine, "cases x <;> rfl").valid


def test_what_speaks_of_a_definition_of_its_own_module_is_left_out(
    engine: Server, found: dict[str, Module]
) -> None:
    module = found["Init.Data.Sum.Basic"]
    assert "Sum.swap_inr" in module.theorems
    assert [*stated(engine, engine, module, ["Sum.swap_inr"])] == []


def test_modules_are_held_out_by_their_names_alone() -> None:
    held = [module for module in NAMES if Module(module, (), ()).is_held_out]
    assert held == list(NAMES)
    many = [Module(f"Some.Module{number}", (), ()) for number in range(1000)]
    assert 60 < sum(module.is_held_out for module in many) < 140


def test_names_differ() -> None:
    names = [name for names in NAMES.values() for name in names]
    assert len(set(names)) == len(names) > 100


def test_the_benchmark_reads_the_library_once(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="no module name begins with 'Nowhere'"):
        kinds.benchmarks["core-library"].create(module="Nowhere").problems()
    bench = kinds.benchmarks["core-library"].create(module="Init.WF")
    problems = bench.problems()
    assert [one.full_name for one in problems] == NAMES["Init.WF"]
    capsys.readouterr()
    assert bench.problems() == problems
    assert capsys.readouterr().err == ""
