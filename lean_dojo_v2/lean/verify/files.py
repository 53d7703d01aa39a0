"""Check a whole file: dependencies of its theorems, and agreement with a reference.

"No error and no ``sorry``" says little about someone else's text: it may declare an axiom, run
native code, or prove a different statement. Here every theorem of the text is judged by its
dependencies, which Lean's kernel checks once more; with a reference, the same theorems must be
there with the same statements, compared as elaborated terms with all definitions that they depend
on.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

import attrs

from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.messages import LeanMessage, Severity
from lean_dojo_v2.lean.verify.outcomes import ProofOutcome
from lean_dojo_v2.lean.verify.proofs import (
    ABSENT,
    Record,
    elaborated,
    judge_declaration,
    judge_messages,
    judged,
    reader_of,
)
from lean_dojo_v2.lean.verify.screening import Reason, Refusal

FILE_TIMEOUT = 300.0
"""Default time limit for a whole file, in seconds."""


@attrs.frozen
class DeclarationOutcome:
    """The outcome for one theorem of a file, by its full name and its first line, from 1."""

    name: str
    line: int
    outcome: ProofOutcome


@attrs.frozen
class FileOutcome:
    """The judgement of a whole file.

    Attributes:
        valid: Whether the file has no error and no ``sorry``, declares no axiom, and all of its
            theorems hold; with a reference, also whether they are the theorems asked for.
        detail: Why not, in one sentence.
        refusal: The refusal, if it is one.
        theorems: Every theorem of the file, in its order.
        messages: Lean's messages.
    """

    valid: bool
    detail: str = ""
    refusal: Refusal | None = None
    theorems: tuple[DeclarationOutcome, ...] = ()
    messages: tuple[LeanMessage, ...] = attrs.field(default=(), repr=False)


def check_file(
    server: Server,
    text: str,
    *,
    reference: str | None = None,
    timeout: float = FILE_TIMEOUT,
) -> FileOutcome:
    """Check a whole file.

    Args:
        server: An engine that can describe declarations (``dojo.check``).
        text: The file, with its ``import`` lines: hostile input.
        reference: A file with the statements to prove, with ``sorry`` for every proof; its
            theorems must be in ``text`` with the same statements.
        timeout: Time limit for each of the two texts, in seconds.

    Raises:
        RequestError: The file cannot be opened: its header does not parse, or a module is missing.
        EngineLostError: The engine died over it, or the time was up.
    """
    with server.alone(f"file {sha256(text.encode()).hexdigest()}"):
        fields = {"file": text, "fileName": "<input>", "all": True}
        answer = elaborated(server, fields, timeout)
    messages = tuple(LeanMessage.parse_all(answer["messages"]))
    told: Mapping[str, Record] = answer["declarations"]
    found = judged(server, answer, timeout)
    if isinstance(found, Refusal):
        return FileOutcome(False, str(found), found, messages=messages)
    theorems = tuple(
        DeclarationOutcome(name, record["start"][0], judge_declaration(found.get(name, ABSENT)))
        for name, record in sorted(told.items(), key=lambda item: item[1]["start"])
        if record["kind"] == "theorem"
    )
    problem = (
        judge_messages(messages)
        or _axiom(answer["new_constants"])
        or next((t.outcome for t in theorems if not t.outcome.valid), None)
    )
    if problem is None and reference is not None:
        owner = f"reference {sha256(reference.encode()).hexdigest()}"
        with reader_of(server, answer, owner) as reader, reader.alone(owner):
            problem = _differs(reader, found, reference, timeout)
    if problem is None:
        return FileOutcome(True, theorems=theorems, messages=messages)
    return FileOutcome(False, problem.detail, problem.refusal, theorems, messages)


def _axiom(constants: list[Record]) -> ProofOutcome | None:
    for constant in constants:
        if constant["kind"] == "axiom":
            refusal = Refusal(Reason.AXIOM, f"declares the axiom {constant['name']}")
            return ProofOutcome(False, str(refusal), refusal)
    return None


def _differs(
    server: Server, found: Mapping[str, Record], reference: str, timeout: float
) -> ProofOutcome | None:
    """Return a missing or different theorem of the reference, if any."""
    fields = {"file": reference, "fileName": "reference of <input>", "all": True}
    answer = server.ask("dojo.check", fields, timeout)
    errors = LeanMessage.parse_all(answer["messages"])
    if error := next((m for m in errors if m.severity is Severity.ERROR), None):
        return ProofOutcome(False, f"the reference itself does not elaborate: {error}")
    wanted = {name: r for name, r in answer["declarations"].items() if r["kind"] == "theorem"}
    if not wanted:
        return ProofOutcome(False, "the reference states no theorem")
    for name, record in wanted.items():
        if not found.get(name, ABSENT)["exists"]:
            return ProofOutcome(False, f"{name} is missing")
        if found[name]["kind"] != "theorem" or found[name]["statement"] != record["statement"]:
            refusal = Refusal(Reason.STATEMENT, f"{name} states something other than the reference")
            return ProofOutcome(False, str(refusal), refusal)
    return None
