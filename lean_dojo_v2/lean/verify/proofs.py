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
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from lean_dojo_v2.lean.client.records import Goal, GoalState
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import (
    EngineDiedError,
    EngineLostError,
    EngineProtocolError,
    LeanError,
    StaleStateError,
    TacticParseError,
)
from lean_dojo_v2.lean.messages import LeanMessage, Severity
from lean_dojo_v2.lean.text.lexer import without_end
from lean_dojo_v2.lean.text.source import SourceTheorem
from lean_dojo_v2.lean.verify.kept import Kept
from lean_dojo_v2.lean.verify.outcomes import ProofOutcome
from lean_dojo_v2.lean.verify.screening import Reason, Refusal, parse, screen
from lean_dojo_v2.lean.verify.states import open_theorem, owner_of

ALLOWED_AXIOMS = frozenset({"propext", "Classical.choice", "Quot.sound"})
"""Axioms of Lean's own library; every other axiom is refused."""
PROOF_TIMEOUT = 60.0
"""Default time limit for a whole proof with its file's context, in seconds."""

Record = Mapping[str, Any]
"""An engine's description of a declaration: ``kind``, ``axioms``, ``statement``, ``kernel``, …"""
ABSENT: Record = {"exists": False, "kernel": None}
"""Detail for a theorem missing in the judge's answer."""

_GOAL_NAME = "lean_dojo_goal"
_SORRY_WARNING = re.compile(r"declaration uses [`']sorry[`']")


def check_proof(
    server: Server, source: SourceTheorem, proof: str, *, timeout: float = PROOF_TIMEOUT
) -> ProofOutcome:
    """Check a proof of a theorem in its file: a tactic block, hostile input.

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
    first_line = source.before.count("\n") + 1
    found = LeanMessage.parse_all(answer["messages"])
    messages = [message for message in found if message.pos.line >= first_line]
    if problem := judge_messages(messages):
        if any(_in_statement(source, message) for message in messages):
            _require_statement(server, source, problem.detail)
        return problem
    told = answer["declarations"][source.full_name]
    if not told["exists"]:
        return ProofOutcome(False, f"{source.full_name} was not defined")
    # A judge only sees theorems; the engine's report that there is none is believed.
    if refusal := _strangers(answer["new_constants"]) or _other_kind(told):
        return _refused(refusal)
    described = judged(server, answer, timeout)
    if isinstance(described, Refusal):
        return _refused(described)
    record = described.get(source.full_name, ABSENT)
    outcome = judge_declaration(record)
    if outcome.valid and record["statement"] != _statement(server, source, answer, timeout):
        detail = f"{source.full_name} states something other than before"
        return _refused(Refusal(Reason.STATEMENT, detail), outcome.axioms)
    return outcome


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


def elaborated(server: Server, fields: Mapping[str, Any], timeout: float) -> dict[str, Any]:
    """Elaborate a text (``dojo.check``).

    Returns:
        The answer. If a program of a text has run in the engine, it has the data to judge as
        ``export``, and its own ``declarations`` must not be trusted.

    Raises:
        EngineProtocolError: It has run such a program without an export, so there is no verdict.
        RequestError, EngineLostError: See ``Server.ask``.
    """
    answer = server.ask("dojo.check", {**fields, "export": True}, timeout)
    if not server.tainted:
        return {key: value for key, value in answer.items() if key != "export"}
    if not isinstance(answer.get("export"), Mapping):
        raise EngineProtocolError(
            "The engine has run a program of the text, and did not hand over what it elaborated: "
            "there is no verdict."
        )
    return answer


def judged(server: Server, answer: Record, timeout: float) -> dict[str, Record] | Refusal:
    """Return descriptions of a text's theorems by an engine that has run no program of it.

    That is the engine itself, unless a program of the text has run in it: then a judge reads the
    export, and any error in it is a reason to refuse.

    Raises:
        EngineLostError: There is no judge, or it was lost, so there is no verdict.
    """
    if "export" not in answer:
        return dict(answer["declarations"])
    found = server.judge.judge(answer["export"], timeout)
    return found if isinstance(found, dict) else Refusal(Reason.UNCHECKED, found)


def reader_of(server: Server, answer: Record, owner: str) -> AbstractContextManager[Server]:
    """Enter an engine for a reference, which has run no program of the text of an answer.

    ``owner`` is the reference's; see ``Server.begin``.

    Raises:
        EngineLostError: On entering: it did not become ready.
    """
    return server.judge.reader(owner, server) if "export" in answer else nullcontext(server)


def _fields(source: SourceTheorem, declaration: str) -> dict[str, Any]:
    return {
        "file": source.before + declaration,
        "fileName": source.file_path,
        "names": [source.full_name],
        "prefix": len(source.before.encode()),
        "header": source.header,
    }


_statements: Kept[str] = Kept(10_000)
"""Digests of original statements."""


def _statement(server: Server, source: SourceTheorem, answer: Record, timeout: float) -> str:
    """Return the cached digest of the theorem's own elaborated statement.

    ``answer`` is about another proof of it.
    """

    def ask() -> str:
        given_up = f"{source.head} := by\n  sorry{source.closing}"
        with reader_of(server, answer, owner_of(server, source)) as reader:
            told = reader.ask("dojo.check", _fields(source, given_up), timeout)
        found = told["declarations"][source.full_name]
        if not found["exists"]:
            raise LeanError(
                f"{source.file_path}:{source.start[0]}: {source.full_name} does not elaborate with "
                "sorry for its proof; trace its repository again"
            )
        return str(found["statement"])

    if not source.header:  # a server's definitions may change
        return ask()
    # the project's modules that its file imports may change, too
    modules = str(answer["sources"])
    key = (server.kind, str(server.project_path), modules, source.before, source.head)
    return _statements.get(key, ask)


# --- judgement -----------------------------------------------------------------------------------


def judge_messages(messages: Sequence[LeanMessage]) -> ProofOutcome | None:
    """Return the outcome of an error or a ``sorry`` in Lean's messages, if any."""
    for message in messages:
        if message.kind == "hasSorry" or _SORRY_WARNING.search(message.data):
            return _refused(Refusal(Reason.SORRY, "Lean says that it uses sorry"))
        if message.severity is Severity.ERROR:
            return ProofOutcome(False, str(message), error_line=message.pos.line)
    return None


def judge_declaration(found: Record) -> ProofOutcome:
    """Judge a finished theorem by its dependencies."""
    axioms = tuple(axiom["name"] for axiom in found.get("axioms", ()))
    refusal = _unsound(found, axioms)
    return ProofOutcome(True, axioms=axioms) if refusal is None else _refused(refusal, axioms)


def _unsound(found: Record, axioms: Sequence[str]) -> Refusal | None:
    unchecked = None
    if (problem := found["kernel"]) is not None:  # a program can add constants past the kernel
        why = f"rests on {problem['constant']}, which Lean's kernel refuses: {problem['message']}"
        unchecked = Refusal(Reason.UNCHECKED, why)
    if not found["exists"]:
        return unchecked or Refusal(Reason.UNCHECKED, "Lean's kernel did not get all of it")
    if own := [a["name"] for a in found["axioms"] if not a["library"] and a["name"] != "sorryAx"]:
        detail = f"the finished theorem rests on the file's own axiom {own[0]}"
        return Refusal(Reason.AXIOM, detail)
    if others := [axiom for axiom in axioms if axiom not in ALLOWED_AXIOMS]:
        worst = "sorryAx" if "sorryAx" in others else others[0]
        return Refusal(_reason_of(worst), f"the finished theorem rests on the axiom {worst}")
    if found["unsafe"]:
        return Refusal(Reason.UNSAFE, f"rests on {', '.join(found['unsafe'])}")
    return _other_kind(found) or unchecked


def _reason_of(axiom: str) -> Reason:
    if axiom == "sorryAx":
        return Reason.SORRY
    native = axiom.rpartition(".")[2] in {"ofReduceBool", "ofReduceNat", "trustCompiler"}
    return Reason.NATIVE if native else Reason.AXIOM


def _other_kind(found: Record) -> Refusal | None:
    if found["kind"] != "theorem":
        return Refusal(Reason.STATEMENT, f"has become a {found['kind']}")
    return None


def _strangers(constants: Sequence[Mapping[str, Any]]) -> Refusal | None:
    """Refuse constants that a proof must not define; generated lemmas are allowed."""
    for constant in constants:
        name = str(constant["name"])
        if constant["kind"] == "axiom":
            return Refusal(Reason.AXIOM, f"defines the axiom {name}")
        if constant.get("unsafe") or constant.get("implemented_by") or constant.get("extern"):
            return Refusal(Reason.UNSAFE, f"defines {name}, which is not plain Lean")
    return None


def _refused(refusal: Refusal, axioms: tuple[str, ...] = ()) -> ProofOutcome:
    return ProofOutcome(False, str(refusal), refusal, axioms)


def _indented(proof: str) -> str:
    return "\n".join(f"  {line}" for line in proof.strip("\n").split("\n"))
