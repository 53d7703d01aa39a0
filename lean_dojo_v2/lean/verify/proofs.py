"""Full verification of a proof: the finished theorem, elaborated again in its file's context.

The file is cut off before the theorem, so that nothing can cite it, and the theorem is added with
its own statement and the new proof. Lean must report no error. Then a judge, which has not seen the
text, gives what the theorem depends on to Lean's kernel, and says whether the theorem states what
the reference states, without a ``sorry``, an axiom besides the three usual ones, or native code.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

from lean_dojo_v2.lean import errors
from lean_dojo_v2.lean.client.judge import ElaboratedText
from lean_dojo_v2.lean.client.records import Goal, GoalState
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.messages import LeanMessage, Severity
from lean_dojo_v2.lean.text.helpers import HELPER_DECLARATION, split_helpers
from lean_dojo_v2.lean.text.lexer import code_tokens, without_end
from lean_dojo_v2.lean.text.source import SourceTheorem
from lean_dojo_v2.lean.verify.lru_cache import LRUCache
from lean_dojo_v2.lean.verify.outcomes import ProofOutcome
from lean_dojo_v2.lean.verify.screening import Reason, Refusal, parse, screen
from lean_dojo_v2.lean.verify.states import asks_kernel, in_file, open_theorem, owner_of

ALLOWED_AXIOMS = frozenset({"propext", "Classical.choice", "Quot.sound"})
"""Axioms of Lean's own library; every other axiom is refused."""
PROOF_TIMEOUT = 60.0
"""Default time limit for a whole proof with its file's context, in seconds."""

Record = Mapping[str, Any]
"""A judge's description of a constant: ``kind``, ``axioms``, ``statement``, ``kernel``, …"""
ABSENT: Record = {"exists": False, "kernel": None}
"""Detail for a theorem missing in the judge's answer."""

_KERNEL_MATTERS = frozenset({Reason.UNCHECKED, Reason.STATEMENT})
"""Refusals of a proof that may hold if it is elaborated with Lean's kernel."""
SORRY = "sorryAx"
"""The axiom behind ``sorry``."""
_GOAL_NAME = "lean_dojo_goal"
_NO_PROGRAMS = "error code: 52, function not implemented"
"""What the embedded engine says when a tactic starts another program."""
_NEEDS_PROGRAM = (
    "this starts another program, as bv_decide does with the SAT solver cadical. The embedded "
    "engine cannot; a native engine can, but what bv_decide proves rests on native code"
)
_SORRY_WARNING = re.compile(r"declaration uses [`']sorry[`']")

# Declarations before a proof are hostile input like it. The check of the finished theorem is what
# counts: it compares the elaborated statement, which a helper may not change, and reads axioms.
# These walls say why for what is no helper: an instance, a notation, a macro, a program.
_IN_HELPERS = frozenset({"where", "termination_by", "decreasing_by"})
"""Words of a declaration that a block of tactics may not contain."""
_ATTRIBUTES = re.compile(r"(?:@\[\s*simp\s*\]\s*)*")
_PROGRAMS = frozenset({"Lean", "Syntax", "TSyntax", "Expr", "autoParam", "Macro"})
"""Parts of names: with a definition of such a type a text could make a program of its own."""


def check_proof(
    server: Server,
    source: SourceTheorem,
    proof: str,
    *,
    timeout: float = PROOF_TIMEOUT,
    hear: Callable[[Record], None] | None = None,
) -> ProofOutcome:
    """Check a proof of a theorem in its file: a tactic block, hostile input.

    Declarations may stand before the block (:mod:`lean_dojo_v2.lean.text.helpers`).
    ``hear`` is called with each report of the engine: ``messages`` and ``tactics``.

    Raises:
        EngineLostError: If the engine died or the time was up; the proof does not hold.
        LeanError: If the statement does not elaborate.
    """
    proof = proof.replace("\r\n", "\n")  # as Lean reads it
    helpers, block = split_helpers(proof)
    state = partial(open_theorem, server, source)
    problem = _judge_helpers(server, source, helpers, state, timeout) or judge_text(
        server, block, source.own_names, state, timeout
    )
    return problem or check_declaration(
        server, source, source.with_proof(proof), timeout=timeout, hear=hear
    )


def _judge_helpers(
    server: Server,
    source: SourceTheorem,
    helpers: Sequence[str],
    open_state: Callable[[], GoalState],
    timeout: float,
) -> ProofOutcome | None:
    """Refuse declarations before a proof by their text and their syntax."""
    before = [token.text for token in code_tokens(source.before[-200:])]
    if helpers and (source.in_mutual_block or before[-1:] == ["in"]):
        return ProofOutcome(False, "no declaration may stand before this theorem")
    for helper in helpers:
        refusal = screen_helper(helper, source.own_names)
        if refusal is None and (tactic := _as_tactic(helper)) is not None:
            try:
                refusal = _parse_block(
                    server, tactic, source.own_names, open_state, timeout, helper=True
                )
            except errors.TacticParseError as error:
                return ProofOutcome(False, f"not a declaration: {error}")
        if refusal is not None:
            return refused(refusal)
    return None


def screen_helper(helper: str, own_names: Collection[str]) -> Refusal | None:
    """Judge a declaration by its text alone; it must not cite ``own_names``."""
    found = HELPER_DECLARATION.match(helper)
    if found is None:
        return screen(helper, whole_proof=True) or Refusal(Reason.COMMAND, "no plain declaration")
    if not _ATTRIBUTES.fullmatch(found["attributes"]):
        return Refusal(Reason.SCOPE, f"sets the attribute {found['attributes'].strip()!r:.80}")
    for token in code_tokens(helper):
        if token.kind == "ident" and (parts := _PROGRAMS.intersection(token.text.split("."))):
            return Refusal(Reason.METAPROGRAM, f"uses {min(parts)!r}")
    rest = f"{found['name']}{helper[found.end() :]}"
    return screen(rest, whole_proof=True, own_names=own_names, allowed=_IN_HELPERS)


def _as_tactic(helper: str) -> str | None:
    """Return a declaration as a tactic to parse; ``None`` if Lean has no such tactic."""
    found = HELPER_DECLARATION.match(helper)
    if found is None or found["keyword"] in {"inductive", "structure"}:
        return None
    words = [token for token in code_tokens(helper) if token.text == "where"]
    return None if words else f"let rec {found['name']}{helper[found.end() :]}"


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
        return refused(refusal)
    try:
        refusal = _parse_block(server, proof, own_names, open_state, timeout)
    except errors.TacticParseError as error:
        return ProofOutcome(False, f"not a block of tactics: {error}")
    return None if refusal is None else refused(refusal)


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
    *,
    helper: bool = False,
) -> Refusal | None:
    """Parse a proof as one tactic, in parentheses, so that it cannot end early."""
    lines = "\n".join(f"  {line}" for line in proof.strip("\n").split("\n"))
    block = f"(\n{lines}\n)"
    how: dict[str, Any] = {"whole_proof": True, "own_names": own_names, "helper": helper}
    try:
        return parse(server, block, timeout=timeout, **how)
    except errors.TacticParseError:
        # The file may have its own notation and macros; opening the theorem costs more.
        state = open_state()
        try:
            return parse(server, block, state=state, timeout=timeout, **how)
        except errors.StaleStateError as error:
            died = f"The engine died while a proof was parsed: {error}"
            raise errors.EngineDiedError(died) from error


def check_declaration(
    server: Server,
    source: SourceTheorem,
    declaration: str,
    *,
    timeout: float = PROOF_TIMEOUT,
    hear: Callable[[Record], None] | None = None,
) -> ProofOutcome:
    """Verify a whole declaration in a theorem's place; its proof has been screened.

    ``hear`` is called with each report of the engine: ``messages`` and ``tactics``.
    A LeanError says that the theorem's own statement does not elaborate.
    """
    kernel = asks_kernel(source, declaration)
    outcome = _check_declaration(server, source, declaration, timeout, hear, kernel=kernel)
    if outcome.refusal is not None and outcome.refusal.reason in _KERNEL_MATTERS and not kernel:
        # Where Lean's kernel refuses, Lean tries something else, or says what is wrong, and where.
        return _check_declaration(server, source, declaration, timeout, hear, kernel=True)
    return outcome


def _check_declaration(
    server: Server,
    source: SourceTheorem,
    declaration: str,
    timeout: float,
    hear: Callable[[Record], None] | None,
    *,
    kernel: bool,
) -> ProofOutcome:
    server.begin(owner_of(server, source))
    fields = in_file(source, declaration + source.rest_of_block)
    asked = {"names": [source.full_name], "tactics": hear is not None, "kernel": kernel}
    report = server.check({**fields, **asked}, timeout)
    if hear is not None:
        hear(report.said)
    first_line = source.before.count("\n") + 1
    found = LeanMessage.parse_all(report.said["messages"])
    messages = [message for message in found if message.pos.line >= first_line]
    if problem := judge_messages(messages):
        if any(_in_statement(source, message) for message in messages):
            _require_statement(server, source, problem.detail)
        if problem.refusal is not None:  # a `sorry`; may be Lean's own, in what the theorem states
            _require_statement(server, source)
        return problem
    if not report.said["declarations"].get(source.full_name, ABSENT).get("exists"):
        return ProofOutcome(False, f"{source.full_name} was not defined")
    described = server.judge.judge(report.export, timeout)
    if isinstance(described, str):
        return refused(Refusal(Reason.UNCHECKED, described))
    record = described.get(source.full_name, ABSENT)
    outcome = judge_declaration(record)
    if outcome.valid and record["statement"] != _statement(server, source, report, timeout):
        detail = f"{source.full_name} states something other than before"
        return refused(Refusal(Reason.STATEMENT, detail), outcome.axioms)
    return outcome


def _in_statement(source: SourceTheorem, message: LeanMessage) -> bool:
    """Whether an error stands before the proof."""
    lines = f"{source.before}{source.head}".split("\n")
    place = message.pos.line, message.pos.column
    return message.severity is Severity.ERROR and place < (len(lines), len(lines[-1]))


def _require_statement(server: Server, source: SourceTheorem, trouble: str = "") -> None:
    """Raise what Lean says of a statement that does not elaborate, whatever its proof."""
    try:
        open_theorem(server, source)
    except errors.EngineLostError:
        return  # the proof has failed, whatever is wrong with the statement
    except errors.LeanError as error:
        name = source.full_name
        if not trouble:
            raise errors.LeanError(f"{name} cannot be opened: {error}") from error
        raise errors.LeanError(f"the statement of {name} does not elaborate: {trouble}") from error


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


_statements: LRUCache[tuple[str, str]] = LRUCache(10_000)
"""What theorems state, each with the modules of the project that it was read behind."""


def _statement(
    server: Server, source: SourceTheorem, report: ElaboratedText, timeout: float
) -> str:
    """Return the theorem's own statement, as a judge has it from a reader of the reference.

    ``report`` is about a proof of it. The reader elaborates all before the theorem as Lean does,
    proofs too: what a text means may depend on whether a proof in it succeeds.
    """
    where = server.kind, str(server.project_path), server.client, server.scope
    # A statement names private constants by their file.
    key = (*where, source.file_path, source.header, source.before, source.head)
    known = _statements.get(key)
    # The project's modules that its file imports may change.
    if known is None or known[0] != str(report.said["sources"]):
        known = _read_statement(server, source, timeout)
        _statements[key] = known
    return known[1]


def _read_statement(server: Server, source: SourceTheorem, timeout: float) -> tuple[str, str]:
    """Return the modules that a reader of the reference saw, and the statement."""
    given_up = f"{source.head} := by\n  sorry{source.closing}"
    fields = {**in_file(source, given_up), "names": [source.full_name]}
    reference = server.judge.read(owner_of(server, source), server, fields, timeout)
    found = server.judge.judge(reference.export, timeout)
    stated = ABSENT if isinstance(found, str) else found[source.full_name]
    if not stated["exists"]:
        raise errors.LeanError(
            f"{source.file_path}:{source.start[0]}: {source.full_name} does not elaborate with "
            "sorry for its proof; trace its repository again"
        )
    return str(reference.said["sources"]), str(stated["statement"])


def judge_messages(messages: Sequence[LeanMessage]) -> ProofOutcome | None:
    """Return the outcome of an error or a ``sorry`` in Lean's messages, if any."""
    for message in messages:
        if message.kind == "hasSorry" or _SORRY_WARNING.search(message.data):
            return refused(Refusal(Reason.SORRY, "Lean says that it uses sorry"))
        if message.severity is Severity.ERROR and _NO_PROGRAMS in message.data:
            return refused(Refusal(Reason.NATIVE, f"line {message.pos.line}: {_NEEDS_PROGRAM}"))
        if message.severity is Severity.ERROR:
            return ProofOutcome(False, str(message), error_line=message.pos.line)
    return None


def judge_declaration(found: Record) -> ProofOutcome:
    """Judge a finished theorem by the judge's description."""
    axioms = tuple(axiom["name"] for axiom in found.get("axioms", ()))
    refusal = _unsound(found, axioms)
    return ProofOutcome(True, axioms=axioms) if refusal is None else refused(refusal, axioms)


def _unsound(found: Record, axioms: Sequence[str]) -> Refusal | None:
    if (native := found.get("native")) is not None:
        return Refusal(Reason.NATIVE, f"rests on {native}, which has compiled code run")
    if (problem := found["kernel"]) is not None:  # a program can add constants past the kernel
        why = f"rests on {problem['constant']}, which Lean's kernel refuses: {problem['message']}"
        return Refusal(Reason.UNCHECKED, why)
    if not found["exists"]:
        return Refusal(Reason.UNCHECKED, "Lean's kernel did not get all of it")
    if own := [a["name"] for a in found["axioms"] if not a["library"] and a["name"] != SORRY]:
        detail = f"the finished theorem rests on the file's own axiom {own[0]}"
        return Refusal(Reason.AXIOM, detail)
    if others := [axiom for axiom in axioms if axiom not in ALLOWED_AXIOMS]:
        worst = SORRY if SORRY in others else others[0]
        reason = Reason.SORRY if worst == SORRY else Reason.AXIOM
        return Refusal(reason, f"the finished theorem rests on the axiom {worst}")
    if found["kind"] != "theorem":
        return Refusal(Reason.STATEMENT, f"has become a {found['kind']}")
    return None


def refused(refusal: Refusal, axioms: tuple[str, ...] = ()) -> ProofOutcome:
    """Return the outcome of a refusal."""
    return ProofOutcome(False, str(refusal), refusal, axioms)
