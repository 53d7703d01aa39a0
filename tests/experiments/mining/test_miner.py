"""The miner: theorems of a module, their mutations, and what goes on after a kill."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from lean_dojo_v2.benchmarks.core_library.benchmark import Module, modules
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.database.export.splits import split_of
from lean_dojo_v2.files import read_lines
from lean_dojo_v2.lean import Server
from mining import miner as mining
from mining.dataset import pairs, repository
from mining.miner import Mined, Miner
from mining.mutations import both, mutations
from mining.shape import sample_shapes, shape

NAMES = {"Option.all_false", "Option.any_true", "Option.bind_assoc"}
OTHERS = {"Option.none_le", "Option.none_or", "Option.le_none", "Option.get_mem"}


class Lent:
    """An engine that is used and not closed."""

    def __init__(self, server: Server) -> None:
        self.server = server

    def __enter__(self) -> Server:
        return self.server

    def __exit__(self, *exception: object) -> None:
        pass


@pytest.fixture
def option(engine: Server, monkeypatch: pytest.MonkeyPatch) -> Callable[[set[str]], Module]:
    """Give the module of ``Option``'s lemmas with some of its theorems."""
    monkeypatch.setattr(mining, "library_server", lambda _: Lent(engine))
    monkeypatch.setattr(mining, "opening_server", lambda: Lent(engine))

    def some(names: set[str]) -> Module:
        [module] = modules(engine, ["Init.Data.Option.Lemmas"])
        module = attrs.evolve(module, theorems=tuple(n for n in module.theorems if n in names))
        assert set(module.theorems) == names
        return module

    return some


@pytest.mark.slow
def test_what_is_not_tried_is_written_down_where_that_is_asked(
    option: Callable[[set[str]], Module], tmp_path: Path
) -> None:
    module = option(NAMES | OTHERS)
    untried = {}
    for more in (0, 2):
        file = tmp_path / f"{more}.jsonl"
        list(Miner(file, theorems=1, untried=more, variants=0).run([module]))
        rows = [Mined.read(row) for row in read_lines(file)]
        assert sum(one.kind == mining.LIBRARY for one in rows) == 1
        untried[more] = [one for one in rows if one.kind == mining.UNTRIED]
    # Three are looked at to try one of them; the other two and two more are written down.
    assert (len(untried[0]), len(untried[2])) == (0, 4)
    assert all(one.statement and not one.proofs for one in untried[2])


@pytest.mark.slow
def test_a_module_is_mined_once(option: Callable[[set[str]], Module], tmp_path: Path) -> None:
    module = option(NAMES)
    file = tmp_path / "mined.jsonl"
    [said] = Miner(file, variants=1).run([module])
    assert said.startswith("Init.Data.Option.Lemmas: ")
    assert list(Miner(file).run([module])) == []
    found = [one for one in map(Mined.read, read_lines(file)) if one.statement]
    proved = [one for one in found if one.proofs]
    assert {"library", "forall"} <= {one.kind for one in proved}
    steps = [step for one in proved for proof in one.proofs for step in proof]
    assert pairs(found) == {(step.before, step.tactic) for step in steps}

    database = DynamicDatabase(tmp_path / "database.json")
    database.add_repository(repository(found, "2026-11-22"))
    [kept] = database.repositories
    assert kept.num_proven_theorems == sum(len(one.proofs) for one in proved)
    assert {split_of(theorem) for theorem in kept.proven_theorems} == {"train"}


def test_mutations_say_something_else() -> None:
    statement = "theorem a.b.{u} {α : Type u} (x : α) : f x = x :="
    found = dict(mutations(statement))
    assert found == {
        "forall": "theorem a.b_forall.{u} : ∀ {α : Type u} (x : α), f x = x :=",
        "symm": "theorem a.b_symm.{u} {α : Type u} (x : α) : x = f x :=",
    }
    found = dict(mutations("theorem c (x : Nat) {l m : List Nat} : m.length = x :="))
    assert found["empty"] == ("theorem c_empty {l m : List Nat} : m.length = (0 : Nat) :=")
    found = dict(mutations("theorem c {l m : List Nat} : m.length = l.length :="))
    assert found["empty"] == (
        "theorem c_empty (l : List Nat) : ([] : List Nat).length = l.length :="
    )
    assert found["larger"] == (
        "theorem c_larger {l m : List Nat} (head : Nat) : (head :: m).length = l.length :="
    )
    rebound = mutations("theorem c (n : Nat) : ∀ n : Nat, n = n :=")
    assert {kind for kind, _ in rebound} == {"forall"}
    assert both(statement, "theorem c.{v} (p : Sort v) : q :=") == (
        "theorem a.b_and_c.{u, v} : (∀ {α : Type u} (x : α), f x = x) ∧ (∀ (p : Sort v), q) :="
    )


def test_a_shape_is_a_statement_without_its_names() -> None:
    shapes = sample_shapes()
    assert len(shapes) > 100
    assert shape("theorem core.name {a b c : Prop} (k : a ∨ b) : a ∨ b ∨ c :=") in shapes
