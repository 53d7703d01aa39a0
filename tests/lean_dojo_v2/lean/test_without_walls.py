"""Nothing but the judge: every other check is switched off here, and still no trick is believed.

The walls before the judge give clear reasons and save work. A verdict must not need them, so these
tests take them away: the screening of texts, of syntax and of helpers, what is concluded from
Lean's messages, and the elaborator's reports about axioms and ``sorry``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hostile import CHEATS, EFFECTS, FILE, PROGRAMS
from native_lean import use_toolchain
from poisons import ELABORATOR, FORGED, LINTER, UNSEEN
from serving import running

from lean_dojo_v2.lean.client.engine import Engine
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.engines.embedded.install import ensure_installed
from lean_dojo_v2.lean.errors import EngineLostError, EngineProtocolError, LeanError, RequestError
from lean_dojo_v2.lean.pool.local import EnginePool
from lean_dojo_v2.lean.text.source import SourceTheorem
from lean_dojo_v2.lean.verify import files, proofs
from lean_dojo_v2.lean.verify.files import FileOutcome, check_file
from lean_dojo_v2.lean.verify.proofs import check_goal_proof, check_proof
from lean_dojo_v2.lean.verify.screening import Reason

WALLS = {
    proofs: ("screen", "parse", "screen_helper", "judge_messages"),
    files: ("judge_messages", "_axiom", "_sorry"),
}
LIE = "theorem target : 2 + 2 = 5 := sorry\n"
TRUTH = "theorem target : 2 + 2 = 4 := rfl\n"


def see_nothing(*_: object, **__: object) -> None:
    """Stand in for a wall."""


@pytest.fixture
def no_walls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Switch off every check but the judge's."""
    for module, names in WALLS.items():
        for name in names:
            monkeypatch.setattr(module, name, see_nothing)


@pytest.fixture(scope="module", params=["embedded", pytest.param("native", marks=pytest.mark.slow)])
def spoilt_host(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """An engine of either kind, the native one as in tests/native_lean.py.

    Engine, reader and judge are those that the hostile texts of all tests before have seen.
    """
    ensure_installed()
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "native":
            use_toolchain(tmp_path_factory.mktemp("native"), patch)
        with Server(engine=request.param, timeout=60) as server:
            yield server


@pytest.fixture
def host(spoilt_host: Server, no_walls: None) -> Server:
    """Give that engine to a test that may spoil it."""
    spoilt_host.leave()
    return spoilt_host


# --- texts ---------------------------------------------------------------------------------------

MACRO = """\
import Lean
open Lean Elab
def evilMacro : Macro := fun stx => match stx.isNatLit? with
  | some 5 => return Syntax.mkNumLit "4"
  | _ => Macro.throwUnsupported
"""
ADD = "KeyedDeclsAttribute.addBuiltin macroAttribute `num `evilMacro evilMacro"
UNSAFE = f"""\
{MACRO}
unsafe def runs : Bool := match unsafeIO ({ADD}) with | .ok _ => true | .error _ => false
@[implemented_by runs] def quiet : Bool := true
"""
AUTO_PARAM = f"""\
{MACRO}
def act : Tactic.TacticM Unit := do
  {ADD}
  (← Tactic.getMainGoal).assign (mkConst ``True.intro)
def evil : Syntax := Unhygienic.run do
  let seq ← `(Lean.Parser.Term.doSeq| act)
  let t := Syntax.node .none ((`Lean.Parser.Tactic).str "runTac") #[.atom .none "run_tac", seq]
  return .node .none ``Lean.Parser.Tactic.tacticSeq
    #[.node .none ``Lean.Parser.Tactic.tacticSeq1Indented #[.node .none `null #[t]]]
theorem t (p : autoParam True evil) : 1 = 1 := rfl
theorem u : 1 = 1 := t
"""
POISONS = {
    "a closure in a structure": UNSEEN,
    "a default tactic": AUTO_PARAM,
    "reduceBool": f"{UNSAFE}example : Lean.reduceBool quiet = true := rfl\n",
    "an instance behind an abbreviation": (
        f"{UNSAFE}abbrev Steps := OfNat Nat 200\n"
        "@[implemented_by runs] def steps : Bool := true\n"
        "instance (priority := high) mine : Steps := ⟨bif quiet then 200 else 100⟩\n"
        "theorem t : 1 = 1 := by simp (maxSteps := 200)\n"
    ),
    "a renamed constant": (
        f"{UNSAFE}namespace N\ndef yes : Bool := quiet\nend N\nopen N renaming yes → true\n"
        "theorem t (a : Nat) : a = a := by simp (contextual := true)\n"
    ),
    "a macro": f"{MACRO}#eval show IO Unit from {ADD}\n",
    "an elaborator": ELABORATOR,
    "a linter": LINTER,
    "a module of a forged name": FORGED,
    "an instance": (
        "local instance (priority := high) : HAdd Nat Nat Nat := ⟨fun _ _ => 5⟩\n"
    ),
    "a notation": "local notation \"5\" => (4 : Nat)\n",
    "a macro for sums": "local macro_rules | `($_ + $_) => `(5)\n",
    "an equality of its own": (
        "namespace Own\ndef Eq (_ _ : Nat) : Prop := True\n"
        "local macro_rules | `($a = $b) => `(Own.Eq $a $b)\nend Own\n"
    ),
    "a hidden axiom": (
        "import Lean\nopen Lean in\nrun_cmd do\n"
        "  let no := .axiomDecl { name := `propext', levelParams := [], type := .const ``False [],\n"
        "    isUnsafe := false }\n"
        "  let .ok env := (← getEnv).addDeclCore 0 no none | throwError \"no\"\n  setEnv env\n"
    ),
}  # fmt: skip
"""What stands before a theorem, to make it seem to say or to prove something else."""
PROVED = {"a hidden axiom": "propext'.elim"}
QUICK = {"reduceBool"}
NATIVE_KINDS = {
    "a closure in a structure",
    "a default tactic",
    "a macro",
    "a linter",
    "a hidden axiom",
}
"""One of each sort: an engine of its own process for every text takes its time."""


@pytest.mark.parametrize(
    ("spoilt_host", "kind"),
    [
        *(("embedded", kind) for kind in sorted(QUICK)),
        *(
            pytest.param(host, kind, marks=pytest.mark.slow)
            for host, kinds in (("embedded", POISONS.keys() - QUICK), ("native", NATIVE_KINDS))
            for kind in sorted(kinds)
        ),
    ],
    indirect=["spoilt_host"],
)
def test_what_stands_before_a_theorem_proves_no_other(host: Server, kind: str) -> None:
    text = POISONS[kind]
    proof = PROVED.get(kind, "rfl")
    for theorem in (f"theorem target : 2 + 2 = 5 := {proof}\n", TRUTH):
        assert not accepted(host, text + theorem, LIE), theorem
    assert not accepted(host, LIE.replace("sorry", "rfl"), LIE), "the next one's"
    assert accepted(host, TRUTH, TRUTH.replace("rfl", "sorry")), "an honest one's"


def accepted(server: Server, text: str, reference: str | None = None) -> bool:
    """Whether a file holds; if its engine is lost, it has no verdict."""
    try:
        return check_file(server, text, reference=reference, timeout=60).valid
    except EngineLostError:
        return False


@pytest.mark.parametrize("kind", [pytest.param(k, marks=pytest.mark.slow) for k in PROGRAMS])
def test_what_the_kernel_never_saw(host: Server, kind: str) -> None:
    assert not accepted(host, PROGRAMS[kind], "theorem wrong (n : Nat) : n = n + 1 := sorry\n")
    assert not accepted(host, PROGRAMS[kind])


NATIVE = [
    "theorem target : Lean.reduceNat System.Platform.numBits = 32 := rfl",
    "def c : Bool := true\ntheorem target : Lean.reduceBool c = true := rfl",
    "theorem target : 10 < 20 := by decide +native",
    "theorem target : 10 < 20 := by native_decide",
    "def says : Prop := Lean.reduceBool true = true\ntheorem target : says := rfl",
]


@pytest.mark.parametrize(
    "text", [NATIVE[0], *(pytest.param(text, marks=pytest.mark.slow) for text in NATIVE[1:])]
)
def test_compiled_code_proves_nothing(host: Server, text: str) -> None:
    statement = text.rpartition(":=")[0] + ":= sorry"
    outcome = check_file(host, text, reference=statement)
    assert outcome.refusal is not None, outcome.detail
    assert outcome.refusal.reason is Reason.NATIVE


def test_a_sorry_that_lean_says_nothing_about_is_found() -> None:
    text = (
        "set_option warn.sorry false\ndef f : Nat := sorry\n"
        "instance : Inhabited Empty := ⟨sorry⟩\ntheorem t : 1 = 1 := rfl\n"
    )
    with Server(engine="embedded", timeout=60) as server:
        outcome = check_file(server, text)
    assert outcome.refusal is not None
    assert outcome.refusal.reason is Reason.SORRY
    assert "f" in outcome.detail
    assert "instInhabitedEmpty" in outcome.detail


@pytest.mark.slow
def test_bv_decide_says_what_is_missing(engine: Server) -> None:
    text = (
        "import Std.Tactic.BVDecide\n"
        "theorem t (x y : BitVec 8) : x &&& y = y &&& x := by bv_decide\n"
    )
    outcome = check_file(engine, text, timeout=120)
    assert outcome.refusal is not None, outcome.detail
    assert outcome.refusal.reason is Reason.NATIVE
    assert "cadical" in outcome.detail


# --- tables --------------------------------------------------------------------------------------


def lair(name: str) -> SourceTheorem:
    lines = FILE.splitlines()
    [start] = [n for n, line in enumerate(lines, 1) if line.startswith(f"theorem {name} ")]
    end = (start + 1, len(lines[start]) + 1)
    return SourceTheorem(FILE, f"Lair.{name}", "Lair.lean", (start, 1), end)


def proves(server: Server, proof: str, name: str = "wrong") -> bool:
    try:
        return check_proof(server, lair(name), proof, timeout=30).valid
    except LeanError:
        return False


@pytest.mark.usefixtures("no_walls")
def test_a_few_hostile_proofs(engine: Server) -> None:
    for proof in ("sorry", "magic", "exact wrong n p hp", "cases oracle", "exact lcProof"):
        assert not proves(engine, proof), proof
    assert proves(engine, "exact ⟨rfl, hp⟩", "right")


@pytest.mark.slow
def test_the_hostile_table(host: Server) -> None:
    every = 1 if host.kind == "embedded" else 3
    for number, proof in enumerate([*EFFECTS, *CHEATS][::every]):
        assert not proves(host, proof), proof[:80]
        if number % 8 == 0:
            host.leave()
            assert proves(host, "exact ⟨rfl, hp⟩", "right"), f"after {proof[:80]}"


@pytest.mark.slow
def test_the_scoreboard_of_tricks(host: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3] / "experiments"))
    monkeypatch.delitem(sys.modules, "tricks", raising=False)
    import tricks

    every = 1 if host.kind == "embedded" else 4
    for trick in tricks.read_tricks()[::every]:
        host.leave()
        try:
            if trick.kind == "file":
                valid = accepted(host, trick.text, tricks.REFERENCE)
            else:
                valid = check_goal_proof(host, tricks.GOAL, trick.text, timeout=30).valid
        except LeanError:
            valid = False
        assert not valid, trick.name
    host.leave()
    assert check_goal_proof(host, "2 + 2 = 4", "rfl").valid


# --- clients that share engines ------------------------------------------------------------------


def file_of(server: Server, text: str, reference: str | None = None) -> FileOutcome:
    return check_file(server, text, reference=reference, timeout=60)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["a closure in a structure", "a macro", "a linter"])
@pytest.mark.usefixtures("no_walls")
def test_the_first_client_of_a_pool_does_nothing_to_the_second(kind: str) -> None:
    with EnginePool(size=1, engine="embedded") as pool:
        pool.submit(file_of, POISONS[kind] + TRUTH, LIE).result()
        assert not pool.submit(file_of, LIE.replace("sorry", "rfl"), LIE).result().valid
        assert pool.submit(file_of, TRUTH, TRUTH.replace("rfl", "sorry")).result().valid


@pytest.mark.slow
@pytest.mark.usefixtures("no_walls")
def test_two_clients_of_a_server() -> None:
    with running() as served:

        def valid(text: str, reference: str) -> bool:
            question = {"text": text, "reference": reference}
            return bool(served.post("/v1/file", question).json().get("valid"))

        for kind in ("a closure in a structure", "a macro"):
            assert not valid(POISONS[kind] + TRUTH, LIE)
            assert not valid(LIE.replace("sorry", "rfl"), LIE)
            assert valid(TRUTH, TRUTH.replace("rfl", "sorry"))


def reader_of(server: Server) -> object:
    """Return the life of the reader that has read a statement."""
    assert check_goal_proof(server, "2 + 2 = 4", "rfl").valid
    return server.judge._servers()[1]._session


def test_a_reader_that_has_read_one_clients_statements_reads_nobody_elses() -> None:
    with EnginePool(size=1, engine="embedded") as pool:
        lives = [pool.submit(reader_of, owner=owner).result() for owner in ("a", "a", "b")]
    assert lives[0] is lives[1]
    assert lives[1] is not lives[2]


# --- saved states --------------------------------------------------------------------------------


def test_a_forged_state_is_not_solved(fresh_engine: Server, tmp_path: Path) -> None:
    """A saved state of `2 + 2 = 5` is edited so that its goal is assigned `True.intro`."""
    honest, forged = tmp_path / "honest", tmp_path / "forged"
    fresh_engine.goal_save(fresh_engine.goal_start("2 + 2 = 5"), honest)
    *head, _, text = honest.read_text().rstrip("\n").split("\n")

    def forge(goals: bool) -> None:
        body: dict[str, Any] = json.loads(text)
        names, terms = len(body["names"]) // 2, len(rows_of(body["exprs"]))
        body["names"] += [0, "True", names + 1, "intro"]
        body["exprs"] += [2, names + 2, 0]
        body["assigned"] = [[body["root"][0], terms]]
        if not goals:
            body["goals"] = []
        edited = json.dumps(body, separators=(",", ":"), ensure_ascii=False)
        units = fresh_engine.process(f"#eval hash {json.dumps(edited)}")
        forged.write_text("\n".join([*head, units[0].messages[0].data.strip(), edited]))

    forge(goals=False)
    with pytest.raises(RequestError, match=r"kernel refuses"):
        fresh_engine.goal_load(forged)
    forge(goals=True)
    try:
        state = fresh_engine.goal_load(forged)
        for tactic in ("skip", "rfl", "trivial", "simp", "all_goals trivial", "exact True.intro"):
            try:
                assert not fresh_engine.goal_tactic(state, tactic).is_solved, tactic
            except RequestError:
                continue
            except LeanError:
                continue
    except RequestError:
        pass
    assert fresh_engine.goal_load(honest).goals[0].target.startswith("2 + 2 = 5")


SIZES = {0: 2, 1: 2, 4: 5, 5: 5, 6: 6, 7: 2, 8: 2, 9: 4, 10: 2, 11: 2}


def rows_of(items: list[Any]) -> list[list[Any]]:
    """Take a table of terms apart; see ``docs/engines.md``."""
    rows = []
    while items:
        size = SIZES.get(items[0]) or 3 + items[2]
        rows.append(items[:size])
        items = items[size:]
    return rows


# --- reports and exports of a process that lies --------------------------------------------------

LYING_REPORTS: list[dict[str, Any]] = [
    {"declarations": []},
    {"declarations": {"target": 1}},
    {"declarations": {"target": {"exists": True, "kind": "theorem", "start": "1"}}},
    {"messages": [{"data": "x"}]},
    {"messages": 1},
    {"new_constants": [1]},
    {"new_constants": {"name": "x"}},
    {"sources": None},
    {"export": []},
    {"export": {"context": [[0]]}},
    {"export": {"context": [[1e30, []]]}},
    {"export": {"context": [7]}},
]


@pytest.mark.parametrize("change", LYING_REPORTS, ids=str)
def test_a_report_of_another_form_is_the_engines_fault(
    engine: Server, change: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    exchange = Engine._exchange

    def lie(self: Engine, cmd: str, payload: Any, timeout: float) -> dict[str, Any]:
        answer = exchange(self, cmd, payload, timeout)
        return {**answer, **change} if cmd == "dojo.check" else answer

    monkeypatch.setattr(Engine, "_exchange", lie)
    monkeypatch.setattr(Engine, "_stop", see_nothing)  # it is well, and others use it
    with pytest.raises(EngineProtocolError):
        check_file(engine, TRUTH)


@pytest.mark.usefixtures("no_walls")
def test_a_report_that_leaves_theorems_out_loses(
    engine: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchange = Engine._exchange

    def lie(self: Engine, cmd: str, payload: Any, timeout: float) -> dict[str, Any]:
        answer = exchange(self, cmd, payload, timeout)
        if cmd == "dojo.check" and payload["fileName"] == "<input>":
            answer["export"]["constants"] = {}
        return answer

    monkeypatch.setattr(Engine, "_exchange", lie)
    reference = TRUTH.replace("rfl", "sorry")
    assert not check_file(engine, TRUTH.replace("target", "other"), reference=reference).valid
    assert not check_file(engine, TRUTH, reference=reference).valid
    assert not check_file(engine, TRUTH).theorems[0].outcome.valid


def deep(rows: int) -> dict[str, Any]:
    """Export a term of so many functions in one another."""
    names = [0, "t", 0, "True", 2, "intro"]
    exprs: list[Any] = [2, 2, 0, 2, 3, 0]
    for row in range(rows):
        exprs += [4, 0, 0, row + 1, 0]
    declaration = [names, [], exprs, ["def", 1, [], 0, rows + 1, "abbrev"]]
    return {
        "format": 2, "imports": ["Init"], "context": [], "declarations": [declaration],
        "names": [0, "t"], "constants": {"t": 1},
    }  # fmt: skip


@pytest.mark.slow
def test_a_judge_that_is_lost_gives_no_verdict_and_is_replaced(fresh_engine: Server) -> None:
    """Terms deeper than any stack."""
    from lean_dojo_v2.lean.client.judge import Export

    export = deep(300_000)
    rest = {name: value for name, value in export.items() if name != "context"}
    try:
        found = fresh_engine.judge.judge(Export((), rest), 60)
        assert isinstance(found, str) or not found["t"]["exists"]
    except (EngineLostError, RequestError):
        pass
    assert accepted(fresh_engine, TRUTH, TRUTH.replace("rfl", "sorry"))


@pytest.mark.slow
def test_a_judge_that_was_killed_has_the_context_sent_again(fresh_engine: Server) -> None:
    for _ in range(2):
        assert proves(fresh_engine, "exact ⟨rfl, hp⟩", "right")
        fresh_engine.judge._servers()[0].close()
    assert not proves(fresh_engine, "exact absurd given_up (by decide)")
