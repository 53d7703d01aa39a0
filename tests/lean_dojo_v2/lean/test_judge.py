"""A program of a text does not outlive its request, and nobody judges it who has elaborated it."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from poisons import ELABORATOR, FORGED, LINTER, MACRO

from lean_dojo_v2.lean.client.judge import Judge
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import EngineLostError
from lean_dojo_v2.lean.pool.local import EnginePool
from lean_dojo_v2.lean.text.source import SourceTheorem
from lean_dojo_v2.lean.verify.files import FileOutcome, check_file
from lean_dojo_v2.lean.verify.proofs import _read_statement, check_goal_proof, check_proof
from lean_dojo_v2.lean.verify.screening import Reason

WRONG = "theorem target : 2 + 2 = 5 := sorry"
TRUTH = "theorem target : 2 + 2 = 4 := rfl\n"
SPY = """\
import Lean
open Lean Elab Command
def spy : Linter where run := fun stx => do IO.FS.writeFile "/spy" (toString stx)
#eval show IO Unit from lintersRef.modify (·.push spy)
"""
DIRECT = """\
import Lean
open Lean
run_cmd
  let no := .thmDecl {
    name := `target, levelParams := [], type := .app (.app (.app (.const ``Eq [1]) (.const ``Nat []))
      (.lit (.natVal 4))) (.lit (.natVal 5)), value := .const ``True.intro [] }
  let .ok env := (← getEnv).addDeclCore 0 no none (doCheck := false) | throwError "no"
  setEnv env
"""


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(MACRO, id="macro"),
        pytest.param(ELABORATOR, id="elaborator", marks=pytest.mark.slow),
        pytest.param(FORGED, id="forged module", marks=pytest.mark.slow),
    ],
)
def test_a_program_of_a_text_does_not_reach_the_reference(
    fresh_engine: Server, program: str
) -> None:
    outcome = check_file(fresh_engine, program + TRUTH, reference=f"import Std\n{WRONG}\n")
    assert outcome.refusal is not None
    assert outcome.refusal.reason is Reason.STATEMENT
    assert [theorem.outcome.valid for theorem in outcome.theorems] == [True], "it is a theorem"
    assert not check_file(fresh_engine, "theorem next : 2 + 2 = 5 := by decide").valid


@pytest.mark.slow
def test_honest_programs_are_judged_as_before(fresh_engine: Server) -> None:
    text = """\
inductive Tree | leaf | node (left right : Tree)
mutual
inductive Even : Nat → Prop | zero : Even 0 | step : Odd n → Even (n + 1)
inductive Odd : Nat → Prop | step : Even n → Odd (n + 1)
end
structure Pair (α : Type u) where
  first : α
  rest : List α
def Tree.size : Tree → Nat | .leaf => 1 | .node l r => l.size + r.size
def log (n : Nat) : Nat := if n = 0 then 0 else log (n / 2) + 1
macro "finish" : tactic => `(tactic| rfl)
theorem size_leaf : Tree.size .leaf = 1 := by finish
theorem two : Even 2 := .step (.step .zero)
theorem pair (p : Pair Nat) (h : p.first = 3) : p.1 + 2 = 5 := by omega
theorem log_zero : log 0 = 0 := by unfold log; simp
theorem letters : "ab".length = 2 ∧ (12345678901234567890 : Nat) > 5 := by decide
theorem classical (p : Prop) : p ∨ ¬p := Classical.em p
"""
    assert "macro" in text
    stated = text.replace("by finish", "sorry").replace(".step (.step .zero)", "sorry")
    outcome = check_file(fresh_engine, text, reference=stated)
    assert outcome.valid, outcome.detail
    assert len(outcome.theorems) == 6
    other = text.replace("| .leaf => 1", "| .leaf => 1 + 0")
    assert not check_file(fresh_engine, text, reference=other).valid, "another definition"


@pytest.mark.slow
def test_what_a_program_adds_past_the_kernel_is_refused_by_the_judge(fresh_engine: Server) -> None:
    outcome = check_file(fresh_engine, DIRECT, reference="theorem target : 4 = 5 := sorry")
    assert not outcome.valid
    assert "target" in outcome.detail


@pytest.mark.slow
def test_a_linter_that_hides_messages_hides_nothing(fresh_engine: Server) -> None:
    text = LINTER + "theorem target : 2 + 2 = 5 := by simp\n"
    outcome = check_file(fresh_engine, text, reference=WRONG)
    assert outcome.refusal is not None
    assert outcome.refusal.reason is Reason.SORRY


@pytest.mark.slow
def test_a_proof_is_not_judged_by_an_engine_that_ran_its_file(fresh_engine: Server) -> None:
    before = MACRO.replace("some 5", "some 6")
    lines = before.count("\n") + 1
    source = SourceTheorem(
        f"{before}{WRONG}\n", "target", "File.lean", (lines, 1), (lines, len(WRONG) + 1)
    )
    assert not check_proof(fresh_engine, source, "rfl").valid
    right = WRONG.replace("= 5", "= 4")
    source = SourceTheorem(
        f"{before}{right}\n", "target", "File.lean", (lines, 1), (lines, len(right) + 1)
    )
    outcome = check_proof(fresh_engine, source, "rfl")
    assert outcome.valid, outcome.detail


def test_no_text_runs_javascript(fresh_engine: Server) -> None:
    text = (
        '@[extern "emscripten_run_script"] opaque js (s : USize) : BaseIO Unit\n'
        "unsafe def go : BaseIO Unit := js (ptrAddrUnsafe \"process.stderr.write('ran')\" + 20)\n"
        "#eval go"
    )
    with pytest.raises(EngineLostError, match="an exception inside Lean"):
        fresh_engine.process(text, read_header=True)
    elsewhere = "#eval do\n  let task ← BaseIO.asTask go\n  let _ := task.get\n  IO.sleep 300"
    said = ""
    try:  # on another thread: it ends that thread, or the engine if that comes first
        fresh_engine.process(text.replace("#eval go", elsewhere), read_header=True)
        process = fresh_engine._process
        said = process.log_tail if process else "ran"
    except EngineLostError as error:
        said = str(error)
    assert "ran" not in said.split()


# --- what an owner leaves behind -----------------------------------------------------------------


def test_files_and_folders_do_not_outlive_their_owner(fresh_engine: Server) -> None:
    change = (
        '#eval show IO Unit from do\n  IO.FS.createDirAll "/kept/deep"\n'
        '  IO.FS.writeFile "/kept/deep/file" "secret"\n  IO.FS.writeFile "/lean/bin/lean" "secret"\n'
        '  IO.Process.setCurrentDir "/kept"'
    )
    ask = (
        '#eval System.FilePath.pathExists "/kept"\n#eval IO.FS.readFile "/lean/bin/lean"\n'
        "#eval IO.Process.getCurrentDir"
    )
    (unit,) = fresh_engine.process(change, read_header=True)
    assert not unit.errors
    fresh_engine.begin("another")
    texts = [unit.messages[0].data for unit in fresh_engine.process(ask, read_header=True)]
    assert texts[:2] == ["false", '""']
    assert "kept" not in texts[2]


def spied(server: Server) -> str:
    units = server.process('#eval IO.FS.readFile "/spy"', read_header=True)
    return units[-1].messages[0].data


def goals_left(server: Server) -> int:
    """How many goals earlier requests have left in the engine; this one leaves another."""
    left = int(server.stat()["nGoals"])
    server.goal_start("True")
    return left


def test_an_engine_keeps_nothing_of_one_owner_for_another() -> None:
    with EnginePool(size=1, engine="embedded") as pool:
        owners = ["a", "a", "b", None, None, "a"]
        found = [pool.submit(goals_left, owner=owner).result() for owner in owners]
        assert found == [0, 1, 0, 0, 1, 0]
        assert pool.submit(Server.stat, owner="a").result()["resets"] == 3
        pool.submit(judge_file, SPY, owner="a").result()
        assert "no such file" in pool.submit(spied, owner="b").result()


def judge_file(server: Server, text: str) -> FileOutcome:
    return check_file(server, text)


@pytest.mark.slow
def test_one_client_does_not_change_what_another_is_told() -> None:
    lie = "theorem target : 2 + 2 = 5 := by decide"
    with EnginePool(size=1, engine="embedded") as pool:
        for program in (MACRO, ELABORATOR, LINTER):
            pool.submit(judge_file, program).result()
            assert not pool.submit(judge_file, lie).result().valid


# --- the judge -----------------------------------------------------------------------------------

TABLES: list[Any] = [
    [0, "t", 0, "True", 2, "intro", 0, "False"], [], [2, 2, 0, 2, 3, 0, 2, 4, 0]
]  # fmt: skip
THEOREM: list[Any] = [*TABLES, ["theorem", 1, [], 0, 1]]
EXPORT: dict[str, Any] = {
    "format": 2,
    "imports": ["Init"],
    "context": [],
    "declarations": [THEOREM],
    "names": [0, "t", 0, "True"],
    "constants": {"t": 1},
}


def declared(*row: Any) -> list[Any]:
    return [*TABLES, list(row)]


def asked(server: Server, **changes: Any) -> dict[str, Any]:
    return server.run("dojo.judge", {"export": {**copy.deepcopy(EXPORT), **changes}})


def test_the_judge_reads_declarations_as_data(engine: Server) -> None:
    found = asked(engine)["declarations"]["t"]
    assert found["kind"] == "theorem"
    assert found["kernel"] is None
    assert found["axioms"] == []
    export = engine.check({"file": "theorem t : True := trivial", "names": ["t"]}).export
    told = engine.judge.judge(export, None)
    assert isinstance(told, dict)
    assert found["statement"] == told["t"]["statement"]


def test_the_judge_believes_nothing(engine: Server) -> None:
    wrong = asked(engine, declarations=[declared("theorem", 1, [], 2, 1)])["declarations"]["t"]
    assert not wrong["exists"]
    assert "type mismatch" in wrong["kernel"]["message"]
    missing = asked(engine, declarations=[])["declarations"]["t"]
    assert not missing["exists"]
    library = asked(engine, declarations=[], constants={"t": 2})["declarations"]["t"]
    assert not library["exists"], "what is the library's is nobody's theorem"
    again = [declared("theorem", 4, [], 0, 1), declared("theorem", 1, [], 2, 1)]
    assert not asked(engine, declarations=again)["declarations"]["t"]["exists"]
    axiom = [declared("axiom", 1, [], 2)]
    assert asked(engine, declarations=axiom)["declarations"]["t"]["kind"] == "axiom"
    leaning = [declared("axiom", 4, [], 0), THEOREM]
    assert asked(engine, declarations=leaning)["declarations"]["t"]["kernel"] is None


def test_a_statement_is_read_once_for_all_its_proofs(
    fresh_engine: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, reads = Judge.read, []
    monkeypatch.setattr(Judge, "read", lambda *args: reads.append(args[1]) or read(*args))
    goal = "∀ n : Nat, 3 + n = n + 1 + 2"
    assert check_goal_proof(fresh_engine, goal, "omega").valid
    assert check_goal_proof(fresh_engine, goal, "intro n; omega").valid
    assert len(reads) == 1
    fresh_engine.load_definitions("def two := 2")  # a goal may mean something else from now on
    assert check_goal_proof(fresh_engine, goal, "omega").valid
    assert len(reads) == 2


DEPENDS_ON_A_PROOF = """\
def pick : Nat := by
  first
  | (fail_if_success (have : {} := by decide)); exact 2
  | exact 1
"""


@pytest.mark.parametrize("imported", [False, True], ids=["in its file", "in a module"])
@pytest.mark.parametrize("proof", ["decide", "decide +kernel"])
def test_the_reader_knows_which_proofs_before_a_theorem_succeed(
    tmp_path: Path, proof: str, imported: bool
) -> None:
    before = DEPENDS_ON_A_PROOF.format("1 = 2").replace("decide", proof)
    (tmp_path / "Before.lean").write_text(before)
    first = "import Before" if imported else before
    text = f"{first}\ntheorem target : pick = 2 := sorry"
    line = text.count("\n") + 1
    source = SourceTheorem(text, "target", "File.lean", (line, 1), (line, 34))
    with Server(project_path=tmp_path) as server:
        fields = {"file": f"{first}\ntheorem target : pick = 2 := rfl", "names": ["target"]}
        whole = server.judge.judge(server.check(fields).export, None)
        _, stated = _read_statement(server, source, 60)
        assert stated == whole["target"]["statement"]
        # Only the reader gives modules to the kernel; what rests on such a choice is not proved.
        assert check_proof(server, source, "rfl").valid is not (imported and "kernel" in proof)


def test_a_context_is_sent_once_and_stands_in_nobodys_way(fresh_engine: Server) -> None:
    claim = declared("axiom", 4, [], 2)  # `False` is the library's
    assert asked(fresh_engine, context=[1])["error"] == "context"
    good = declared("def", 1, [], 0, 1, "abbrev")
    first = asked(fresh_engine, context=[[1, good]], declarations=[])["declarations"]["t"]
    assert first["kind"] == "def"
    assert asked(fresh_engine, context=[1], declarations=[])["declarations"]["t"] == first
    other = asked(fresh_engine, context=[], declarations=[THEOREM])["declarations"]["t"]
    assert other["kind"] == "theorem", "the context of before has a constant of that name"
    assert (
        asked(fresh_engine, context=[[2, THEOREM]], declarations=[])["declarations"]["t"] == other
    )
    twice = asked(fresh_engine, context=[1, 2], declarations=[])
    assert twice["error"] == "export"
    assert asked(fresh_engine, context=[[3, claim]])["declarations"]["t"]["kernel"] is None


def test_an_export_of_another_form_is_refused(engine: Server) -> None:
    def row(table: int, items: object) -> dict[str, Any]:
        changed = copy.deepcopy(THEOREM)
        changed[table] = items
        return {"declarations": [changed]}

    changes: list[dict[str, Any]] = [
        {"format": 1},
        {"more": 1},
        {"imports": ["../Init"]},
        {"imports": "Init"},
        {"context": [[-1, THEOREM]]},
        {"context": [[1, THEOREM, 2]]},
        {"names": [1, "t"]},
        {"constants": [1]},
        {"constants": {"t": 9}},
        {"declarations": [THEOREM[:3]]},
        row(0, [9, "t"]),
        row(0, [0, "t", 1]),
        row(0, [0, -1]),
        row(0, [0, 1.5]),
        row(1, [0, 1]),
        row(1, [4, 1]),
        row(1, [7, 0]),
        row(2, [3, 0, 1, 1, 2, 2, 0]),
        row(2, [3, 0]),
        row(2, [2, 2, 5, 0]),
        row(2, [10, 1]),
        row(2, [2, 9, 0]),
        row(2, [7, "-1"]),
        row(2, [7, ""]),
        row(2, [7, 1]),
        row(2, [0, 1e30]),
        row(2, [2, 2, 0, 4, 1, 0, 0, 7]),
        row(2, {"length": 3}),
        row(3, ["theorem", 1, [], 0]),
        row(3, ["thm", 1, [], 0, 1]),
        row(3, ["__proto__", 1, [], 0, 1]),
        row(3, ["def", 1, [], 0, 1, "safe"]),
        row(3, ["inductive", [], 0, []]),
    ]
    for change in changes:
        assert asked(engine, **change).get("error") == "export", change
    assert asked(engine, imports=["Nowhere"])["error"] == "import"
    assert asked(engine)["declarations"]["t"]["exists"], "and it goes on"


def test_without_a_judge_there_is_no_verdict(fresh_engine: Server) -> None:
    def absent() -> Server:
        return Server(engine="embedded", start_timeout=0.01, start=False)

    fresh_engine.share_judge(Judge(lambda: (absent(), absent())))
    with pytest.raises(EngineLostError):
        check_file(fresh_engine, TRUTH)
