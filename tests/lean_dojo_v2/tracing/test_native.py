"""The native reader against the embedded one: the same files, the same theorems."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import attrs
import pytest

from lean_dojo_core.errors import EngineUnavailableError, TraceError
from lean_dojo_core.records import Theorem
from lean_dojo_v2.database import Repository
from lean_dojo_v2.lean.text.positions import PositionMap
from lean_dojo_v2.tracing import LeanGitRepo, trace_repository
from lean_dojo_v2.tracing.reading.ilean import Ident, parse_ilean
from lean_dojo_v2.tracing.reading.infotree import read_messages, read_trees
from lean_dojo_v2.tracing.reading.records import ElaboratedTactic, TracedCommand

EDGE = Path(__file__).parents[2] / "data" / "edge_project"


@pytest.fixture(scope="module")
def native(lake: Any, tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """The edge project, traced through ``lake``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAID_DIR", str(tmp_path_factory.mktemp("native")))
        patch.setenv("PATH", str(lake.bin), prepend=os.pathsep)
        repo = LeanGitRepo.from_path(EDGE, url="https://example.org/edge/project")
        return trace_repository(repo, engine="native", jobs=2)


def without_layout(theorem: Theorem) -> Theorem:
    """Lean breaks wide lines of an info tree earlier, since it is indented."""

    def flat(state: str) -> str:
        return re.sub(r"\n {2,}", " ", state)

    return attrs.evolve(
        theorem,
        traced_tactics=tuple(
            attrs.evolve(t, state_before=flat(t.state_before), state_after=flat(t.state_after))
            for t in theorem.traced_tactics
        ),
    )


def without_digests(theorem: Theorem) -> Theorem:
    """Printed info trees hold no terms, so no digest of a state can be read from them."""
    return attrs.evolve(
        theorem, traced_tactics=tuple(attrs.evolve(t, digest=None) for t in theorem.traced_tactics)
    )


@pytest.mark.slow
def test_both_readers_agree(native: Repository, edge: Repository) -> None:
    def sound(repository: Repository) -> dict[tuple[str, str], Theorem]:
        return {
            (theorem.file_path, theorem.full_name): without_digests(theorem)
            for theorem in repository.iter_theorems()
            if "Broken" not in theorem.file_path
        }

    ours, theirs = sound(edge), sound(native)
    assert list(ours) == list(theirs)
    wide = {name for name, theorem in ours.items() if theorem != theirs[name]}
    assert wide == {("src/Edge/Tactics.lean", "Edge.Tactics.wide")}
    assert [*map(without_layout, ours.values())] == [*map(without_layout, theirs.values())]
    for ours_file, their_file in zip(edge.premise_files, native.premise_files, strict=True):
        if "Broken" not in ours_file.path:
            assert ours_file == their_file
    assert {t.full_name for t in native.sorry_theorems_unproved} == {
        t.full_name for t in edge.sorry_theorems_unproved
    }


@pytest.mark.slow
def test_after_an_error_nothing_is_believed(native: Repository) -> None:
    """Lake's Lean does not say what rests on what, so all that follows the error is left out."""
    names = [t.full_name for t in native.iter_theorems() if "Broken" in t.file_path]
    assert set(names) <= {"Edge.before_the_error"}
    assert native.metadata["engine"].startswith("native Lean (version 4.28.0")


def test_there_is_no_lake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineUnavailableError, match="needs `lake`"):
        trace_repository(LeanGitRepo.from_path(EDGE, url="x://y/z"), engine="native")


# --- formats of other versions -----------------------------------------------------------------

TEXT = "theorem a : 1 = 1 := by\n  skip; rfl\n"
TREE = """[Elab.info] {open}Command{close} @ ⟨1, 0⟩-⟨2, 11⟩ @ Lean.Elab.Command.elabDeclaration
  • {open}Tactic{close} @ ⟨2, 2⟩-⟨2, 11⟩ @ Lean.Elab.Tactic.evalTacticSeq1Indented
    (Tactic.tacticSeq1Indented [(Tactic.skip "skip") ";" (Tactic.tacticRfl "rfl")])
    before{gap}
    ⊢ 1 = 1
    after no goals
    • {open}Tactic{close} @ ⟨2, 2⟩-⟨2, 6⟩ @ Lean.Elab.Tactic.evalSkip
      (Tactic.skip "skip")
      before{gap}
      ⊢ 1 = 1
      after{gap}
      ⊢ 1 = 1
    • {open}Tactic{close} @ ⟨2, 8⟩-⟨2, 11⟩ @ Lean.Parser.Tactic.macroRfl
      (Tactic.tacticRfl "rfl")
      before{gap}
      ⊢ 1 = 1
      after no goals
      • {open}Tactic{close} @ ⟨2, 8⟩†-⟨2, 11⟩† @ Lean.Elab.Tactic.evalTacticSeq1Indented
        (Tactic.tacticSeq1Indented [(Tactic.eqRefl "eq_refl")])
        before{gap}
        ⊢ 1 = 1
        after no goals
        • {open}Tactic{close} @ ⟨2, 8⟩†-⟨2, 11⟩† @ Lean.Elab.Tactic.evalRefl
          (Tactic.eqRefl "eq_refl")
          before{gap}
          ⊢ 1 = 1
          after no goals"""


@pytest.mark.parametrize(
    ("opening", "closing", "gap"), [("[", "]", " "), ("", "", " "), ("[", "]", "")]
)
def test_info_trees_of_old_and_new_versions(opening: str, closing: str, gap: str) -> None:
    tree = TREE.replace("{open}", opening).replace("{close}", closing).replace("{gap}", gap)
    message = {"data": tree.replace("[Elab.info] ", "[Elab.info]\n• "), "severity": "info"}
    commands, steps = read_trees([message], PositionMap(TEXT))
    assert commands == [TracedCommand(0, len(TEXT) - 1)]
    assert steps == [
        ElaboratedTactic(26, 30, "\n⊢ 1 = 1", "\n⊢ 1 = 1"),
        ElaboratedTactic(32, 35, "\n⊢ 1 = 1", "no goals"),
    ]


def test_output_that_is_not_json() -> None:
    assert read_messages('info: [root] building\n{"severity": "info", "data": "x"}\n') == [
        {"severity": "info", "data": "x"}
    ]
    with pytest.raises(TraceError, match="line 2 of Lean's output is not JSON"):
        read_messages('{"severity": "info", "data": "x"}\n{"severity": "err')


@pytest.mark.parametrize(
    ("version", "key", "extra"),
    [
        (2, "c:Foo.bar", []),
        (3, '{"c":{"m":"Foo","n":"Foo.bar"}}', []),
        (3, '{"c":{"m":"Foo","n":"Foo.bar"}}', ["Foo.baz", 1, 0, 2, 3, 1, 4, 1, 7]),
        (4, '{"c":{"m":"Foo","n":"Foo.bar"}}', ["Foo.baz", 1, 0, 2, 3, 1, 4, 1, 7]),
        (5, '{"c":{"m":"Foo","n":"Foo.bar"}}', ["Foo.baz"]),
    ],
)
def test_ilean_of_every_version(version: int, key: str, extra: list[Any]) -> None:
    data = {
        "version": version,
        "module": "Foo",
        "references": {
            key: {"definition": [0, 4, 0, 7], "usages": [[2, 1, 2, 4, *extra]]},
            '{"f":{"m":"Foo","i":"_uniq.1"}}': {"definition": [0, 8, 0, 9], "usages": []},
        },
    }
    read = parse_ilean(data)
    ident = Ident("" if version < 3 else "Foo", "Foo.bar")
    assert dict(read.definitions) == {ident: (0, 4, 0, 7)}
    assert dict(read.usages) == {ident: ((2, 1, 2, 4),)}
    assert read.position(Ident("Foo", "Foo.bar")) == ((1, 5), (1, 8))
