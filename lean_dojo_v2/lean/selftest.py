"""Self-test of an engine: every command once, and every refusal.

``lean-dojo lean check`` runs this on the user's own Lean, of whatever version it is.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import attrs
import orjson

from lean_dojo_core.errors import LeanDojoError
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import RequestError, TacticFailure
from lean_dojo_v2.lean.verify.outcomes import Verdict
from lean_dojo_v2.lean.verify.proofs import check_goal_proof
from lean_dojo_v2.lean.verify.tactics import check_tactic

Probe: TypeAlias = Callable[[Server], object]
"""A test of an engine, which passes if it returns something true."""

GOAL = "∀ n : Nat, n + 0 = n"
TEXT = "theorem t (n : Nat) : n + 0 = n := by\n  rfl\n"
_FALSE = "1 = 2"


@attrs.frozen
class Result:
    """Result of one probe; ``problem`` is empty if it passed."""

    kind: str
    what: str
    problem: str

    @property
    def holds(self) -> bool:
        """Whether it passed."""
        return not self.problem


def check_engine(server: Server) -> Iterator[Result]:
    """Run all probes on an engine; one that cannot be started: EngineUnavailableError."""
    for kind, probes in (("command", COMMANDS), ("refusal", REFUSALS)):
        for what, probe in probes.items():
            yield Result(kind, what, _problem(server, probe))


def _problem(server: Server, probe: Probe) -> str:
    try:
        return "" if probe(server) else "the answer is not the right one"
    except (LeanDojoError, KeyError, IndexError, TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


def _answers(cmd: str, right: str | Callable[[dict[str, Any]], bool], **payload: Any) -> Probe:
    """Make a probe: a request whose answer has a value under a key, or is right."""
    is_right = right if callable(right) else lambda answer: right in answer
    return lambda server: is_right(server.ask(cmd, payload))


def _on_state(cmd: str, key: str, **payload: Any) -> Probe:
    """Make such a probe about a state."""

    def probe(server: Server) -> bool:
        state = server.goal_start(GOAL)
        return key in server.ask(cmd, {"stateId": state.state_id, **payload})

    return probe


def _proves(server: Server) -> bool:
    state = server.goal_tactic(server.goal_start(GOAL), "intro n")
    return str(state) == "n : Nat\n⊢ n + 0 = n" and server.goal_tactic(state, "rfl").is_solved


def _continues(server: Server) -> bool:
    both = server.goal_tactic(server.goal_start("True ∧ True"), "constructor")
    [_, second] = both.goals
    fields = {"stateId": both.state_id, "goalId": 0, "autoResume": False, "tactic": "trivial"}
    done = server.ask("goal.tactic", fields)
    rest = server.ask("goal.continue", {"target": done["nextStateId"], "goals": [second.id]})
    return len(rest["goals"]) == 1


def _saves(server: Server) -> bool:
    with TemporaryDirectory(prefix="lean-dojo-") as folder:
        path = str(Path(folder) / "state")
        state = server.goal_start(GOAL)
        server.goal_save(state, path)
        return str(server.goal_load(path)) == str(state)


def _deletes(server: Server) -> bool:
    state = server.goal_start(GOAL)
    return server.ask("goal.delete", {"stateIds": [state.state_id]}) == {}


def _checks(server: Server) -> bool:
    one = _verdict(server, TEXT)
    return one["axioms"] == [] and one["kernel"] is None


def _verdict(server: Server, text: str) -> dict[str, Any]:
    """Return the judge's description of the constant ``t`` of a text."""
    found = server.judge.judge(server.check({"file": text, "names": ["t"]}).export, None)
    if isinstance(found, str):
        raise RequestError(found)
    return dict(found["t"])


def _is_traced(answer: dict[str, Any]) -> bool:
    [step] = answer["tactics"]
    return str(step["state_before"]).strip() == "n : Nat\n⊢ n + 0 = n"


COMMANDS: dict[str, Probe] = {
    "goal.start, goal.tactic": _proves,
    "goal.continue": _continues,
    "goal.print": _on_state("goal.print", "goals", goals=True),
    "goal.save, goal.load": _saves,
    "goal.delete": _deletes,
    "expr.echo": _answers("expr.echo", "type", expr="fun n : Nat => n + 1"),
    "env.inspect": _answers("env.inspect", "type", name="Nat.add_comm"),
    "env.catalog": _answers("env.catalog", "symbols", modulePrefix="Init.Prelude"),
    "env.describe": _answers("env.describe", "imports"),
    "env.parse": _answers("env.parse", "pos", input="1 + 1", category="term"),
    "frontend.process": _answers("frontend.process", "units", file=TEXT, newConstants=True),
    "frontend.distil": _answers("frontend.distil", "targets", file=TEXT),
    "frontend.track": _answers("frontend.track", "srcMessages", src=TEXT, dst=TEXT),
    "options.print": _answers("options.print", "timeout"),
    "stat": _answers("stat", "nGoals"),
    "dojo.parse_tactic": _answers("dojo.parse_tactic", "kinds", tactic="simp [Nat.add_comm]"),
    "dojo.digest": _on_state("dojo.digest", "goals"),
    "dojo.check, dojo.judge": _checks,
    "dojo.state_at": _answers(
        "dojo.state_at", lambda a: len(a["goals"]) == 1, file=TEXT, position=TEXT.index("rfl")
    ),
    "dojo.trace": _answers("dojo.trace", _is_traced, file=TEXT),
    "dojo.compile": _answers(
        "dojo.compile", lambda a: len(orjson.loads(a["olean"])) > 100, file=TEXT, module="T"
    ),
}
"""Probes by command."""


def _error(kind: str, cmd: str, **payload: Any) -> Probe:
    return lambda server: server.run(cmd, payload).get("error") == kind


def _not_proved(proof: str) -> Probe:
    return lambda server: not check_goal_proof(server, _FALSE, proof).valid


def _step_refused(tactic: str) -> Probe:
    def probe(server: Server) -> bool:
        outcome = check_tactic(server, server.goal_start(_FALSE), tactic, strict=True)
        return outcome.verdict not in {Verdict.SOLVED, Verdict.UNPROVEN}

    return probe


def _limits(server: Server) -> bool:
    state = server.goal_start("∀ a b c d : Nat, a < b → b < c → c < d → a + 3 ≤ d")
    try:
        server.goal_tactic(state, "intros; omega", options={"maxHeartbeats": 1})
    except TacticFailure as error:
        return "heartbeats" in str(error)
    return False


def _is_silent(server: Server) -> bool:
    """Output of a text is in its messages or nowhere, never in place of an answer."""
    server.process('#eval IO.println "{}"')
    return str(server.ask("expr.echo", {"expr": "Nat"})["type"]["pp"]) == "Type"


def _past_the_kernel(server: Server) -> bool:
    text = (
        "import Lean\nopen Lean\nrun_meta addDecl (.thmDecl { name := `t, levelParams := [], "
        "type := mkConst ``False, value := mkConst ``True.intro })\n"
    )
    return _verdict(server, text)["kernel"] is not None


REFUSALS: dict[str, Probe] = {
    "an unknown command": _error("command", "dojo.nothing"),
    "an unknown field": _error("command", "stat", misspelt=1),
    "a value of the wrong type": _error("command", "goal.start", expr=1),
    "a module that is nowhere": _error(
        "import", "frontend.process", file="import Nowhere", readHeader=True
    ),
    "a step by `sorry`": _step_refused("sorry"),
    "a step by `native_decide`": _step_refused("native_decide"),
    "a step that runs a program": _step_refused('run_tac IO.println "x"'),
    "a proof by `sorry`": _not_proved("sorry"),
    "a proof by an axiom": _not_proved("exact absurd (lcProof : False) id"),
    "a proof without the kernel": _not_proved("set_option debug.skipKernelTC true in rfl"),
    "a false proof": _not_proved("rfl"),
    "a declaration that the kernel rejects": _past_the_kernel,
    "a limit of heartbeats": _limits,
    "output of a text in the place of an answer": _is_silent,
}
"""Probes of things that an engine must refuse."""
