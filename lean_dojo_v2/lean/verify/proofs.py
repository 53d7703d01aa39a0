"""Full verification of a proof: the finished theorem, elaborated again in its file's context.

The file is cut off before the theorem, so that nothing can cite it, and the theorem is added with
its own statement and the new proof. The proof holds only if Lean reports no error, the statement is
unchanged (compared as elaborated terms), it depends only on the three usual axioms, Lean's kernel
accepts all its dependencies once more, and the proof defines no axiom and nothing that is not plain
Lean.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from lean_dojo_v2.lean.client.records import Goal, GoalState
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import (
    EngineDiedError,
    EngineLostError,
    LeanError,
    StaleStateError,
    TacticParseError,
)
from lean_dojo_v2.lean.messages import LeanMessage, Severity
from lean_dojo_v2.lean.text.lexer import without_end
from lean_dojo_v2.lean.text.source import SourceTheorem
from lean_dojo_v2.lean.verify.grammar import parse
from lean_dojo_v2.lean.verify.judged import (
    Record,
    elaborated,
    judged,
    owner_of,
    reader_of,
)
from lean_dojo_v2.lean.verify.kept import Kept
from lean_dojo_v2.lean.verify.opening import open_theorem
from lean_dojo_v2.lean.verify.outcomes import ProofOutcome
from lean_dojo_v2.lean.verify.screening import Reason, Refusal, screen

ALLOWED_AXIOMS = frozenset({"propext", "Classical.choice", "Quot.sound"})
"""Axioms of Lean's own library; every other axiom is refused."""
PROOF_TIMEOUT = 60.0
"""Default time limit for a whole proof with its file's context, in seconds."""

ABSENT: Record = {"exists": False, "kernel": None}
"""Detail for a theorem missing in the judge's answer."""

_GOAL_NAME = "lean_dojo_goal"
_SORRY_WARNING = re.compile(r"declaration uses [`']sorry[`']")


def check_proof(
    server: Server, source: SourceTheorem, proof: str, *, timeout: float = PROOF_TIMEOUT
) -> ProofOutcome:
    """Check a proof of a theorem in its file.

    Args:
        server: An engine; with the repository as ``project_path`` if the file imports from it.
        source: The theorem and its file.
        proof: A tactic block, a model's completion: hostile input.
        timeout: Seconds that Lean may take.

    Returns:
        Whether it holds, or why not.

    Raises:
        EngineLostError: If the engine died or the time was up; the proof does not hold.
        LeanError: If the statement does not elaborate.
    """
    proof = proof.replace("\r\n", "\n")  # as Lean reads it
    problem = judge_text(
        server, proof, source.own_names, lambda: open_theorem(server, source), timeout
    )
    return problem or check_declaration(server, source, source.with_proof(proof), timeout=timeout)


def judge_text(
    server: Server,
    proof: str,
    own_names: Collection[str],
    open_state: Callable[[], GoalState],
    timeout: float = PROOF_TIMEOUT,
) -> ProofOutcome | None:
    """Refuse a proof by its text, before Lean runs it; ``None`` if nothing is wrong.

    It must not cite ``own_names``. ``open_state`` opens its state, if the file's syntax is needed.
    """
    refusal = screen(proof, whole_proof=True, own_names=own_names)
    if refusal is not None and refusal.reason is Reason.ITSELF:
        own_names = not_hidden(own_names, open_state().goals[0])
        refusal = screen(proof, whole_proof=True, own_names=own_names)
    if refusal is not None:
        return _refused(refusal)
    try:
        refusal = _parse_block(server, proof, own_names, open_state, timeout)
    except TacticParseError as error:
        return ProofOutcome(False, f"not a block of tactics: {error}")
    return None if refusal is None else _refused(refusal)


def not_hidden(own_names: Collection[str], goal: Goal) -> list[str]:
    """Drop names of a theorem that denote a hypothesis in its proof."""
    hypotheses = {variable.name for variable in goal.variables}
    return [name for name in own_names if name not in hypotheses]


def _parse_block(
    server: Server,
    proof: str,
    own_names: Collection[str],
    open_state: Callable[[], GoalState],
    timeout: float,
) -> Refusal | None:
    """Parse a proof as one tactic, in parentheses, so that it cannot end early.

    Raises:
        TacticParseError: If it does not parse, even with the file's syntax.
    """
    block = "(\n" + _indented(proof) + "\n)"
    try:
        return parse(server, block, whole_proof=True, own_names=own_names, timeout=timeout)
    except TacticParseError:
        # The file may have its own notation and macros; opening the theorem costs more.
        state = open_state()
        try:
            return parse(
                server, block, state=state, whole_proof=True, own_names=own_names, timeout=timeout
            )
        except StaleStateError as error:
            raise EngineDiedError(f"The engine died while a proof was parsed: {error}") from error


def check_declaration(
    server: Server, source: SourceTheorem, declaration: str, *, timeout: float = PROOF_TIMEOUT
) -> ProofOutcome:
    """Verify a whole declaration in a theorem's place; its proof has been screened.

    Raises:
        LeanError: If the theorem's own statement does not elaborate.
    """
    server.begin(owner_of(server, source))
    answer = elaborated(server, _fields(source, declaration + source.rest_of_block), timeout)
    told = answer["declarations"][source.full_name]
    messages = LeanMessage.parse_all(answer["messages"])
    first_line = source.before.count("\n") + 1
    messages = [message for message in messages if message.pos.line >= first_line]
    if problem := judge_messages(messages):
        if any(_in_statement(source, message) for message in messages):
            _require_statement(server, source, problem.detail)
        return problem
    if not told["exists"]:
        return ProofOutcome(False, f"{source.full_name} was not defined")
    # A judge only sees theorems; the engine's report that there is none is believed.
    if refusal := _strangers(answer["new_constants"]) or _other_kind(told):
        return _refused(refusal)
    described = judged(server, answer, timeout)
    if isinstance(described, Refusal):
        return _refused(described)
    found = described.get(source.full_name, ABSENT)
    outcome = judge_declaration(found)
    if not outcome.valid:
        return outcome

    def ask() -> str:
        with reader_of(server, answer, owner_of(server, source)) as reader:
            return _ask_statement(reader, source, timeout)

    original = _kept_statement(server, source, str(answer["sources"]), ask)
    return outcome if found["statement"] == original else _restated(source, outcome.axioms)


def _in_statement(source: SourceTheorem, message: LeanMessage) -> bool:
    """Whether an error stands before the proof."""
    lines = f"{source.before}{source.head}".split("\n")
    place = message.pos.line, message.pos.column
    return message.severity is Severity.ERROR and place < (len(lines), len(lines[-1]))


def _require_statement(server: Server, source: SourceTheorem, trouble: str) -> None:
    """Raise what Lean says of a statement that does not elaborate, whatever its proof."""
    try:
        open_theorem(server, source)
    except EngineLostError:
        return  # the proof has failed, whatever is wrong with the statement
    except LeanError as error:
        name = source.full_name
        raise LeanError(f"the statement of {name} does not elaborate: {trouble}") from error


def check_goal_proof(
    server: Server, expression: str, proof: str, *, timeout: float = PROOF_TIMEOUT
) -> ProofOutcome:
    """Verify a proof of a bare goal in the server's environment."""
    return check_proof(server, goal_source(expression), proof, timeout=timeout)


def goal_source(expression: str, levels: Sequence[str] = ()) -> SourceTheorem:
    """Make a theorem of a bare goal and the universe levels that it names."""
    universes = f".{{{', '.join(levels)}}}" if levels else ""
    head = f"theorem _root_.{_GOAL_NAME}{universes} : {without_end(expression)}"
    text = f"{head} := sorry"
    lines = text.split("\n")
    end = (len(lines), len(lines[-1]) + 1)
    return SourceTheorem(text, _GOAL_NAME, "<goal>", (1, 1), end, f"{head} :=", header=False)


def judge_declaration(found: Record) -> ProofOutcome:
    """Judge a finished theorem by its dependencies.

    Args:
        found: The engine's description: ``kind``, ``axioms``, ``unsafe``, ``kernel``.
    """
    if not found["exists"]:
        problem = found["kernel"]
        detail = "Lean's kernel did not get all of it" if problem is None else _rejection(problem)
        return _refused(Refusal(Reason.UNCHECKED, detail))
    axioms = tuple(axiom["name"] for axiom in found["axioms"])
    if own := [a["name"] for a in found["axioms"] if not a["library"] and a["name"] != "sorryAx"]:
        detail = f"the finished theorem rests on the file's own axiom {own[0]}"
        return _refused(Refusal(Reason.AXIOM, detail), axioms)
    if refusal := _bad_axioms(axioms) or _not_sound(found) or _unchecked(found):
        return _refused(refusal, axioms)
    return ProofOutcome(True, axioms=axioms)


def _fields(source: SourceTheorem, declaration: str) -> dict[str, Any]:
    return {
        "file": source.before + declaration,
        "fileName": source.file_path,
        "names": [source.full_name],
        "prefix": len(source.before.encode()),
        "header": source.header,
    }


_statements: Kept[Any] = Kept(10_000)
"""Digests of original statements, by kind of engine."""


def _kept_statement(
    server: Server, source: SourceTheorem, sources: str, find: Callable[[], Any]
) -> Any:
    """Return the cached digest of a theorem's statement.

    ``sources`` is a digest of the project's modules that its file imports: they may change.
    """
    if not source.header:  # a server's definitions may change
        return find()
    key = (server.kind, str(server.project_path), sources, source.before, source.head)
    return _statements.get(key, find)


def _ask_statement(server: Server, source: SourceTheorem, timeout: float) -> str:
    """Return the digest of the theorem's own elaborated statement."""
    given_up = f"{source.head} := by\n  sorry{source.closing}"
    answer = server.ask("dojo.check", _fields(source, given_up), timeout)
    found = answer["declarations"][source.full_name]
    if not found["exists"]:
        raise LeanError(
            f"{source.file_path}:{source.start[0]}: {source.full_name} does not elaborate with "
            "sorry for its proof; trace its repository again"
        )
    return str(found["statement"])


def _strangers(constants: Sequence[Mapping[str, Any]]) -> Refusal | None:
    """Refuse constants that a proof must not define; generated lemmas are allowed."""
    for constant in constants:
        name = str(constant["name"])
        if constant["kind"] == "axiom":
            return Refusal(Reason.AXIOM, f"defines the axiom {name}")
        if constant.get("unsafe") or constant.get("implemented_by") or constant.get("extern"):
            return Refusal(Reason.UNSAFE, f"defines {name}, which is not plain Lean")
    return None


def _not_sound(found: Mapping[str, Any]) -> Refusal | None:
    if found["unsafe"]:
        return Refusal(Reason.UNSAFE, f"rests on {', '.join(found['unsafe'])}")
    return _other_kind(found)


def _other_kind(found: Mapping[str, Any]) -> Refusal | None:
    if found["kind"] != "theorem":
        return Refusal(Reason.STATEMENT, f"has become a {found['kind']}")
    return None


def _unchecked(found: Mapping[str, Any]) -> Refusal | None:
    """Refuse constants rejected by the kernel: a program can add constants past it."""
    problem = found["kernel"]
    return None if problem is None else Refusal(Reason.UNCHECKED, _rejection(problem))


def _rejection(problem: Mapping[str, str]) -> str:
    return f"rests on {problem['constant']}, which Lean's kernel refuses: {problem['message']}"


# --- judgement -----------------------------------------------------------------------------------


def judge_messages(messages: Sequence[LeanMessage]) -> ProofOutcome | None:
    """Return the outcome of an error or a ``sorry`` in Lean's messages, if any."""
    for message in messages:
        if message.kind == "hasSorry" or _SORRY_WARNING.search(message.data):
            return _refused(Refusal(Reason.SORRY, "Lean says that it uses sorry"))
        if message.severity is Severity.ERROR:
            return ProofOutcome(False, str(message), error_line=message.pos.line)
    return None


def _bad_axioms(axioms: Sequence[str]) -> Refusal | None:
    others = [axiom for axiom in axioms if axiom not in ALLOWED_AXIOMS]
    if not others:
        return None
    worst = "sorryAx" if "sorryAx" in others else others[0]
    return Refusal(_reason_of(worst), f"the finished theorem rests on the axiom {worst}")


def _reason_of(axiom: str) -> Reason:
    if axiom == "sorryAx":
        return Reason.SORRY
    native = axiom.rpartition(".")[2] in {"ofReduceBool", "ofReduceNat", "trustCompiler"}
    return Reason.NATIVE if native else Reason.AXIOM


def _restated(source: SourceTheorem, axioms: tuple[str, ...]) -> ProofOutcome:
    detail = f"{source.full_name} states something other than before"
    return _refused(Refusal(Reason.STATEMENT, detail), axioms)


def _refused(refusal: Refusal, axioms: tuple[str, ...] = ()) -> ProofOutcome:
    return ProofOutcome(False, str(refusal), refusal, axioms)


def _indented(proof: str) -> str:
    return "\n".join(f"  {line}" for line in proof.strip("\n").split("\n"))
