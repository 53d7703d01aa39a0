"""A program of a text does not outlive its request, and nobody judges it who has run it."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from lean_dojo_v2.lean.client.judge import Judge
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import EngineLostError, RequestError
from lean_dojo_v2.lean.pool.local import EnginePool
from lean_dojo_v2.lean.text.source import SourceTheorem
from lean_dojo_v2.lean.verify.files import FileOutcome, check_file
from lean_dojo_v2.lean.verify.proofs import check_proof
from lean_dojo_v2.lean.verify.screening import Reason

WRONG = "theorem target : 2 + 2 = 5 := sorry"
TRUTH = "theorem target : 2 + 2 = 4 := rfl\n"
MACRO = """\
import Lean
open Lean Elab
def evil : Macro := fun stx => match stx.isNatLit? with
  | some 5 => return Syntax.mkNumLit "4"
  | _ => Macro.throwUnsupported
#eval show IO Unit from KeyedDeclsAttribute.addBuiltin macroAttribute `num `evil evil
"""
ELABORATOR = """\
import Lean
open Lean Elab
def evil : Term.TermElab := fun _ _ => return mkNatLit 4
#eval show IO Unit from KeyedDeclsAttribute.addBuiltin Term.termElabAttribute `num `evil evil
"""
FORGED = """\
import Lean
open Lean
run_cmd
  let no := .thmDecl {
    name := `Std.cheat, levelParams := [], type := .const ``False [],
    value := .const ``True.intro [] }
  let .ok env := (← getEnv).addDeclCore 0 no none (doCheck := false) | throwError "no"
  let data ← mkModuleData env
  IO.FS.createDirAll "/forged"
  saveModuleData "/forged/Std.olean" `Std data
  searchPathRef.set ["/forged", "/lean/lib/lean"]
"""
LINTER = """\
import Lean
open Lean Elab Command
def hush : Linter where run := fun _ => modify fun state => { state with messages := {} }
#eval show IO Unit from lintersRef.modify (·.push hush)
"""
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


@pytest.fixture
def engine(engine: Server) -> Server:
    """The engine of all tests, in which no earlier one has run a program."""
    engine.give_up_tainted()
    return engine


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
    assert fresh_engine.pid is None, "the engine is given up"
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
    assert fresh_engine.tainted
    right = WRONG.replace("= 5", "= 4")
    source = SourceTheorem(
        f"{before}{right}\n", "target", "File.lean", (lines, 1), (lines, len(right) + 1)
    )
    outcome = check_proof(fresh_engine, source, "rfl")
    assert outcome.valid, outcome.detail


# --- which texts are programs --------------------------------------------------------------------

PLAIN = [
    TRUTH,
    "theorem t (n : Nat) (h : n < 3) : n < 4 := by simp +arith; omega",
    "theorem t (n : Nat) : n + 0 = n := by simp (config := { decide := true, maxSteps := 200 })",
    "theorem t (n : Nat) (h : n = 3) : n + 0 = 3 := by grind (splits := 3)",
    "theorem t : 2 + 2 = 4 := by decide +kernel",
    "@[simp] theorem t (a b : Nat) (h : a = b) : b = a := calc b = a := h.symm\n  _ = a := rfl",
    "def log (n : Nat) : Nat := if n = 0 then 0 else log (n / 2) + 1\ntermination_by n",
    "structure A where\n  x : Nat\n  deriving Repr, DecidableEq\ninstance : Add A := ⟨fun a _ => a⟩",
    "prelude\nimport Init.Core\nopen Nat\ntheorem t (n : Nat) : n.succ = n + 1 := rfl",
]
PROGRAMS = {
    "#eval": "#eval 1 + 1",
    "command": 'import Lean\nrun_cmd Lean.logInfo m!"x"',
    "tactic": 'import Lean\nexample : True := by run_tac Lean.logInfo m!"x"',
    "macro": 'macro "done!" : tactic => `(tactic| rfl)\nexample : 1 = 1 := by done!',
    "notation": 'notation "three" => 3\nexample : three = 3 := rfl',
    "elaborator": 'import Lean\nelab "t!" : term => return .const ``True []\nexample : t! := trivial',
    "term": "import Lean\nexample : by_elab return .const ``True [] := trivial",
    "native": "def f (n : Nat) := n + 1\nexample : f (f 2) = 4 := by native_decide",
    "unexpander": (
        "def zz (n : Nat) := n\n@[app_unexpander zz] def u : Lean.PrettyPrinter.Unexpander :=\n"
        "  fun _ => throw ()\n#check zz 3"
    ),
    "simproc": (
        "import Lean\nopen Lean Meta Simp\ndef g (n : Nat) := n\n"
        "simproc s (g _) := fun _ => return .continue\nexample (n : Nat) : g n + 0 = g n := by simp"
    ),
    "setting": "unsafe def evil : Nat := unsafeCast 3\nexample : True := by simp (maxSteps := id 9)",
    "cast": (
        'axiom h : String = Nat\nexample (n : Nat) : n + 0 = n := by simp (maxSteps := cast h "x")'
    ),
    "numeral": (
        'axiom h : String = Nat\ninstance (priority := high) : OfNat Nat 200 := ⟨cast h "x"⟩\n'
        "example (n : Nat) : n + 0 = n := by simp (maxSteps := 200)"
    ),
    "truth": (
        "namespace N\ndef g (b : Bool) := !b\ndef true := g false\n"
        "example (n : Nat) : n + 0 = n := by simp (contextual := true)"
    ),
    "prelude": "prelude\naxiom A : Prop",
    "part of the library": "prelude\nimport Init.Core\ndef Nat.gcd (m _ : Nat) : Nat := m",
    "where": "prelude\nimport Init.Core\ntheorem t : f = 1 := rfl\nwhere f : Nat := 1",
    "docstring": "set_option doc.verso true\n/--\n```lean\n#eval 5\n```\n-/\ntheorem t : 1 = 1 := rfl",
    "match": "prelude\nimport Init.Core\ntheorem t (n : Nat) : n = n := match n with | 0 => rfl | _ => rfl",
    "late": "def f := 1\ntheorem t : f = 1 := rfl\n#eval f",
}


def test_ordinary_lean_runs_no_program(engine: Server) -> None:
    for text in PLAIN:
        engine.process(text, read_header=True)
        assert not engine.tainted, text
    state = engine.goal_start("∀ n : Nat, n < 3 → n < 4")
    engine.goal_tactic(state, "simp +arith; omega")
    assert not engine.tainted


@pytest.mark.parametrize(
    "name",
    [name if name == "macro" else pytest.param(name, marks=pytest.mark.slow) for name in PROGRAMS],
)
def test_programs_are_noticed(fresh_engine: Server, name: str) -> None:
    with fresh_engine.alone(name):
        fresh_engine.process(PROGRAMS[name], read_header=True)
        assert fresh_engine.tainted


def test_a_tactic_that_runs_a_program_is_noticed(fresh_engine: Server) -> None:
    fresh_engine.load_header("import Lean")
    state = fresh_engine.goal_start("True")
    assert not fresh_engine.tainted
    fresh_engine.goal_tactic(state, 'run_tac Lean.logInfo m!"x"')
    assert fresh_engine.tainted
    fresh_engine.restart()
    fresh_engine.load_header("prelude\nimport Init.Data.Nat.Basic")
    fresh_engine.goal_tactic(
        fresh_engine.goal_start("∀ n : Nat, n = n"), "exact fun | 0 => rfl | _ + 1 => rfl"
    )
    assert fresh_engine.tainted
    with pytest.raises(RequestError, match="ask another one"):
        fresh_engine.ask("dojo.judge", {"export": EXPORT})


def test_a_constant_that_may_pretend_to_be_leans_is_noticed(
    fresh_engine: Server, tmp_path: Path
) -> None:
    fresh_engine.load_header("prelude\nimport Init.Core")
    two = {"name": "two", "levels": [], "type": "Nat", "value": "Nat.succ (Nat.succ Nat.zero)"}
    fresh_engine.ask("env.add", two)
    assert fresh_engine.tainted
    file = {"path": str(tmp_path / "environment")}
    fresh_engine.ask("env.save", file)
    fresh_engine.restart()
    assert not fresh_engine.tainted
    fresh_engine.ask("env.load", file)
    assert fresh_engine.tainted


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
        said = process.log_tail if fresh_engine.tainted and process else "ran"
    except EngineLostError as error:
        said = str(error)
    assert "ran" not in said.split()


# --- what a request leaves behind ----------------------------------------------------------------


def test_files_and_folders_do_not_outlive_a_request(fresh_engine: Server) -> None:
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
    texts = [unit.messages[0].data for unit in fresh_engine.process(ask, read_header=True)]
    assert texts[:2] == ["false", '""']
    assert "kept" not in texts[2]


def spied(server: Server) -> str:
    units = server.process('#eval IO.FS.readFile "/spy"', read_header=True)
    return units[-1].messages[0].data


def run(server: Server, text: str) -> int | None:
    server.process(text, read_header=True)
    return server.pid


def test_a_pool_gives_nobody_else_a_tainted_engine() -> None:
    with EnginePool(size=1, engine="embedded") as pool:
        plain = [pool.submit(run, TRUTH).result() for _ in range(2)]
        assert plain[0] == plain[1]
        first = pool.submit(run, SPY).result()
        assert first == plain[0]
        second = pool.submit(run, TRUTH).result()
        assert second != first
        assert "no such file" in pool.submit(spied).result()


@pytest.mark.slow
def test_an_owner_keeps_the_engine_of_its_own_programs() -> None:
    with EnginePool(size=1, engine="embedded") as pool:
        pids = [pool.submit(run, "#eval 1 + 1", owner="a").result() for _ in range(2)]
        assert pids[0] == pids[1]
        assert pool.submit(run, TRUTH, owner="b").result() != pids[0]


@pytest.mark.slow
def test_one_client_does_not_change_what_another_is_told() -> None:
    def judge(server: Server, text: str) -> FileOutcome:
        return check_file(server, text)

    lie = "theorem target : 2 + 2 = 5 := by decide"
    with EnginePool(size=1, engine="embedded") as pool:
        for program in (MACRO, ELABORATOR, LINTER):
            pool.submit(judge, program).result()
            assert not pool.submit(judge, lie).result().valid


# --- the judge -----------------------------------------------------------------------------------

EXPORT: dict[str, Any] = {
    "format": 1,
    "imports": ["Init"],
    "names": [[0, "t"], [0, "True"], [2, "intro"], [0, "False"]],
    "levels": [],
    "exprs": [["const", 2, []], ["const", 3, []], ["const", 4, []]],
    "declarations": [["theorem", 1, [], 0, 1]],
    "theorems": {"t": 1},
}


def asked(server: Server, **changes: Any) -> dict[str, Any]:
    return server.run("dojo.judge", {"export": {**copy.deepcopy(EXPORT), **changes}})


def test_the_judge_reads_declarations_as_data(engine: Server) -> None:
    found = asked(engine)["declarations"]["t"]
    assert found["kind"] == "theorem"
    assert found["kernel"] is None
    assert found["axioms"] == []
    told = engine.ask("dojo.check", {"file": "theorem t : True := trivial", "names": ["t"]})
    assert found["statement"] == told["declarations"]["t"]["statement"]


def test_the_judge_believes_nothing(engine: Server) -> None:
    wrong = asked(engine, declarations=[["theorem", 1, [], 2, 1]])["declarations"]["t"]
    assert not wrong["exists"]
    assert "type mismatch" in wrong["kernel"]["message"]
    missing = asked(engine, declarations=[])["declarations"]["t"]
    assert not missing["exists"]
    library = asked(engine, declarations=[], theorems={"t": 3})["declarations"]["t"]
    assert not library["exists"], "what is the library's is nobody's theorem"
    again = [["theorem", 4, [], 0, 1], ["theorem", 1, [], 2, 1]]
    assert not asked(engine, declarations=again)["declarations"]["t"]["exists"]
    axiom = [["axiom", 1, [], 2]]
    assert asked(engine, declarations=axiom)["declarations"]["t"]["kind"] == "axiom"
    leaning = [["axiom", 4, [], 0], *EXPORT["declarations"]]
    assert asked(engine, declarations=leaning)["declarations"]["t"]["kernel"] is None


def test_an_export_of_another_form_is_refused(engine: Server) -> None:
    changes: list[dict[str, Any]] = [
        {"format": 2},
        {"more": 1},
        {"imports": ["../Init"]},
        {"imports": "Init"},
        {"names": [[1, "t"]]},
        {"names": [[0, "t", 1]]},
        {"names": [[0, -1]]},
        {"names": [[0, 1.5]]},
        {"levels": [["succ", 1]]},
        {"levels": [["mvar", 1]]},
        {"exprs": [["app", 0, 1], ["const", 2, []]]},
        {"exprs": [["fvar", 1]]},
        {"exprs": [["const", 9, []]]},
        {"exprs": [["nat", "-1"]]},
        {"exprs": [["nat", 1]]},
        {"exprs": [["lam", 1, 0, 0, 7]]},
        {"exprs": {"length": 3}},
        {"declarations": [["theorem", 1, [], 0]]},
        {"declarations": [["thm", 1, [], 0, 1]]},
        {"declarations": [["__proto__", 1, [], 0, 1]]},
        {"declarations": [["def", 1, [], 0, 1, "safe"]]},
        {"declarations": [["inductive", [], 0, []]]},
        {"theorems": [1]},
        {"theorems": {"t": 9}},
    ]
    for change in changes:
        assert asked(engine, **change).get("error") == "export", change
    assert asked(engine, imports=["Nowhere"])["error"] == "import"
    assert asked(engine)["declarations"]["t"]["exists"], "and it goes on"


def test_without_a_judge_there_is_no_verdict(fresh_engine: Server) -> None:
    fresh_engine.share_judge(
        Judge(lambda **changes: Server(engine="embedded", start_timeout=0.01, start=False))
    )
    with pytest.raises(EngineLostError):
        check_file(fresh_engine, "#eval 1 + 1\n" + TRUTH, reference=TRUTH)
