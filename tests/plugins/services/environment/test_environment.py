"""A theorem as an environment: what its tools say, what it survives, and what it pays."""

from __future__ import annotations

import contextlib
import inspect
import json
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from hostile import CHEATS, EFFECTS, FILE

from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.services.environment import LeanProofEnvironment
from lean_dojo_v2.benchmarks.rows import problem_of_row
from lean_dojo_v2.lean.errors import EngineKilledError, EngineLostError
from lean_dojo_v2.sample import sample_database_path

GOAL = {"goal": "∀ n : Nat, n + 0 = n"}
AND = {
    "name": "swap",
    "header": "def twice (n : Nat) : Nat := n + n\n",
    "formal_statement": "theorem swap (p q : Prop) (h : p ∧ q) : q ∧ p ∧ twice 1 = 2 := by\n  sorry",
}
BEFORE, _, AFTER = FILE.partition("theorem wrong")
WRONG = {
    "name": "Lair.wrong",
    "header": BEFORE,
    "formal_statement": "theorem wrong" + AFTER.partition("\n\n")[0],
}
RIGHT = {
    "name": "Lair.right",
    "header": BEFORE,
    "formal_statement": "theorem right (n : Nat) (p : Prop) (hp : p) : n + 0 = n ∧ p := by",
}
MINIF2F = Path(__file__).parents[3] / "data" / "minif2f.jsonl"


def engines() -> list[psutil.Process]:
    found = []
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):  # one that was just killed has no words left
            if any("main.js" in word for word in child.cmdline()):
                found.append(child)
    return found


def test_a_proof_step_by_step(make):
    environment = make()
    said = environment.reset(**AND, prompt=[{"role": "user", "content": ""}])
    assert said.startswith("Prove this theorem in Lean 4.")
    assert "def twice" in said
    assert "theorem swap (p q : Prop) (h : p ∧ q)" in said
    assert said.endswith("p q : Prop\nh : p ∧ q\n⊢ q ∧ p ∧ twice 1 = 2")
    left = environment.tactic("refine ⟨h.2, ?_⟩")
    assert left == "p q : Prop\nh : p ∧ q\n⊢ p ∧ twice 1 = 2"
    refused = environment.tactic("exact h.2")
    assert "type mismatch" in refused.lower()
    assert refused.endswith("Nothing was changed.")
    assert "constructor" not in environment.state()
    assert environment.tactic("constructor").count("⊢") == 2
    assert environment.undo() == left
    assert environment.get_reward() == 0.0
    assert environment.tactic("exact ⟨h.1, rfl⟩").startswith("no goals\nThe proof is finished")
    assert environment.get_reward() == 1.0
    assert environment.tactic("simp").startswith("The proof is already finished.")
    shown = environment.state()
    assert "refine ⟨h.2, ?_⟩\nexact ⟨h.1, rfl⟩" in shown
    assert f"Calls left: {32 - 8}" in shown
    assert environment.undo() == left
    assert environment.get_reward() == 0.0
    assert environment.reset(**GOAL, prompt="Go on.") == "\n\n⊢ ∀ (n : Nat), n + 0 = n"
    assert environment.get_reward() == 0.0, "nothing is left of the theorem before"


HONEST = [
    (GOAL, ["intro n", "rfl"], 1.0),
    (GOAL, ["intro n"], 0.0),
    (GOAL, ["rfl", "omega", "simp"], 1.0),
    (AND, ["exact ⟨h.2, h.1, rfl⟩"], 1.0),
    (AND, ["constructor", "· exact h.2", "constructor", "exact h.1", "rfl"], 1.0),
    (RIGHT, ["  constructor\n", "rfl", "exact hp"], 1.0),
    (RIGHT, ["constructor", "exact hp", "rfl"], 0.0),
    ({"goal": "∀ n : Nat, 0 + n = n"},
     ["intro n", "induction n with | zero => rfl | succ n h => omega"], 1.0),
    ({"name": "mathd_algebra_1"}, ["omega"], 1.0),
    pytest.param(
        {**AND, "goal": "q ∧ p"}, ["exact ⟨h.2, h.1, rfl⟩"], 1.0, marks=pytest.mark.slow
    ),
]  # fmt: skip


@pytest.mark.parametrize(("row", "script", "reward"), HONEST)
def test_honest_scripts_earn_what_the_whole_check_says(make, engine, row, script, reward):
    environment = make(benchmark=str(MINIF2F))
    environment.reset(**row)
    assert played(environment, script, engine, row, benchmark=str(MINIF2F)) == reward


def played(environment, script, engine, row, **where) -> float:
    """Play a script; compare with what full verification says of the tactics that were accepted."""
    accepted = []
    for tactic in script:
        said = environment.tactic(tactic)
        if not said.endswith("Nothing was changed.") and "already finished" not in said:
            accepted.append(tactic.strip())
    problem = problem_of_row(row, **where).problem
    reward = environment.get_reward()
    assert reward == float(problem.check(engine, "\n".join(accepted)).valid)
    return reward


TRICKS = [*EFFECTS, *CHEATS]


@pytest.mark.parametrize(
    "tricks", [pytest.param(TRICKS, marks=pytest.mark.slow, id="all"), TRICKS[::7]]
)
def test_hostile_scripts_earn_nothing(make, engine, tricks):
    environment = make(max_calls=10)
    for trick in tricks:
        environment.reset(**WRONG)
        script = [trick, "all_goals first | assumption | rfl | simp_all"]
        try:
            assert played(environment, script, engine, WRONG) == 0.0, trick[:80]
        except EngineLostError:  # full verification, asked beside the environment
            assert environment.get_reward() == 0.0
    environment.reset(**RIGHT)
    assert played(environment, ["exact ⟨rfl, hp⟩"], engine, RIGHT) == 1.0


def test_what_only_the_whole_check_sees_is_told_and_not_paid(make):
    environment = make()
    environment.reset(**WRONG)
    said = environment.tactic("exact absurd oracle (by decide)")
    assert said.startswith("no goals\nBut full verification refuses the proof:")
    assert "axiom" in said
    assert environment.get_reward() == 0.0
    assert environment.undo().endswith("⊢ n = n + 1 ∧ p")


def test_only_the_tools_are_public():
    """TRL shows every public function but these two to the model."""
    public = {
        name
        for name, _ in inspect.getmembers(LeanProofEnvironment, inspect.isfunction)
        if not name.startswith("_")
    }
    assert public == {"reset", "get_reward", "tactic", "undo", "state"}


def test_calls_are_counted(make):
    environment = make(max_calls=3, max_characters=20)
    environment.reset(**GOAL)
    assert "characters more)\nNothing was" in environment.tactic("exact foo")
    assert environment.undo().startswith("There is nothing to undo.")
    assert environment.tactic("intro n") == "n : Nat\n⊢ n + 0 = n"
    for call in (lambda: environment.tactic("rfl"), environment.undo, environment.state):
        assert call() == "All 3 calls for goal are used up. The proof stays as it is."
    assert environment.get_reward() == 0.0


def test_errors_say_of_what_kind_they_are(make, monkeypatch):
    environment = make()
    environment.reset(**GOAL)
    said = {
        "not a tactic": ["intro n, rfl", "", "intro n\nrfl", 3],
        "refused": ["sorry", "native_decide"],
        "tactic failed": ["exact 3", "exact foo"],
    }
    for kind, tactics in said.items():
        for tactic in tactics:
            answer = environment.tactic(tactic)
            assert answer.startswith(f"Error ({kind}): "), (tactic, answer)
            assert answer.endswith("Nothing was changed.")

    def lost(*_):
        raise EngineKilledError("it killed two engines")

    monkeypatch.setattr(type(environment), "_ask", lost)
    assert environment.tactic("intro n").startswith("Error (engine lost): it killed two engines")


def test_heartbeats_bound_a_tactic(make):
    environment = make(heartbeats=1)
    environment.reset(goal="∀ a b c d : Nat, a + b + c + d = d + c + b + a")
    assert environment.tactic("intros; omega").endswith("Nothing was changed.")
    assert environment.get_reward() == 0.0


@pytest.mark.slow
def test_a_tactic_without_end_costs_one_call(make):
    environment = make(timeout=1.0)
    environment.reset(**GOAL)
    environment.tactic("intro n")
    endless = "skip"
    for _ in range(12):  # a loop in a loop …: `repeat` would soon be too deep
        endless = f"(iterate 9 (try {endless}; have := n))"
    assert environment.tactic(endless).startswith("Error (took too long): ")
    assert "finished" in environment.tactic("rfl")
    assert environment.get_reward() == 1.0


@pytest.mark.slow
def test_it_survives_its_engine(make):
    environment = make()
    environment.reset(**AND)
    environment.tactic("refine ⟨h.2, ?_⟩")
    environment.tactic("constructor")
    for process in engines():
        process.send_signal(signal.SIGKILL)
    assert environment.tactic("exact h.1").endswith("⊢ twice 1 = 2")
    for process in engines():
        process.send_signal(signal.SIGKILL)
    assert "finished" in environment.tactic("rfl")
    assert environment.get_reward() == 1.0


@pytest.mark.slow
def test_it_is_pickled_in_the_midst_and_goes_on_elsewhere(make, tmp_path, environment):
    begun = make()
    begun.reset(**AND)
    begun.tactic("refine ⟨h.2, ?_⟩")
    (tmp_path / "begun").write_bytes(pickle.dumps(begun))
    script = (
        "import pickle, sys\n"
        f"environment = pickle.loads(open({str(tmp_path / 'begun')!r}, 'rb').read())\n"
        "assert not [name for name in sys.modules if name == 'torch']\n"
        "print(environment.tactic('exact ⟨h.1, rfl⟩').splitlines()[0], environment.get_reward())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        check=False, capture_output=True, text=True, env=environment(),
    )  # fmt: skip
    assert done.stdout == "no goals 1.0\n", done.stderr
    again = pickle.loads(pickle.dumps(begun))
    assert "finished" in again.tactic("exact ⟨h.1, rfl⟩")
    assert (again.get_reward(), begun.get_reward()) == (1.0, 0.0)


@pytest.mark.slow
def test_a_theorem_of_a_benchmark_by_name(make):
    database = json.loads(sample_database_path().read_text(encoding="utf-8"))
    [theorem] = [
        one
        for repository in database["repositories"]
        for one in repository["sorry_theorems_unproved"]
    ][:1]
    environment = make(benchmark="sample")
    said = environment.reset(name=theorem["full_name"])
    assert theorem["full_name"].rpartition(".")[2] in said
    assert "⊢" in said
    # The theorem itself is not in scope, and citing it is refused.
    assert environment.tactic(f"exact {theorem['full_name']}").endswith("Nothing was changed.")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({}, "this one has nothing"),
        ({"problem": "x", "goal": None}, "this one has problem"),
        ({"name": "nobody"}, "has no theorem 'nobody'"),
        ({"goal": "n : Nat\n⊢ n = n"}, "must be an expression"),
        ({"goal": "∀ n : Nut, n = n"}, "Nut"),
        ({"goal": 3}, "'goal' must be a text"),
        ({"formal_statement": "True"}, "has no theorem"),
        ({"name": "u", "formal_statement": "theorem t : True := by"}, "called 'u'"),
        (
            {"name": "t", "formal_statement": "theorem t : No.such 1 := by"},
            "t: Lean cannot open it",
        ),
    ],
)
def test_a_row_that_asks_nothing_is_told_so(make, row, words):
    environment = make(benchmark=str(MINIF2F))
    with pytest.raises(UsageError, match=words):
        environment.reset(**row)


def test_it_wants_to_be_reset_first():
    environment = LeanProofEnvironment()
    for call in (environment.state, environment.undo, environment.get_reward):
        with pytest.raises(UsageError, match="reset"):
            call()
    with pytest.raises(UsageError, match="max_calls must be a whole number of at least 1, not 0"):
        LeanProofEnvironment(max_calls=0)
