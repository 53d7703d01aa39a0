"""Check a whole file: what its theorems rest on, and whether they state what they had to.

"No error and no ``sorry``" says little about a text that somebody else wrote: it may declare an
axiom, run native code, or prove another statement than the one that was asked for. Here every
theorem of the text is judged by what it rests on, which Lean's kernel has to take once more; with a
reference text, the same theorems must be there with the same statements, compared as elaborated
terms together with all definitions that they rest on.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

import attrs

from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.messages import LeanMessage, Severity
from lean_dojo_v2.lean.verify.judged import Record, elaborated, judged, reader_of
from lean_dojo_v2.lean.verify.outcomes import ProofOutcome
from lean_dojo_v2.lean.verify.proofs import ABSENT, judge_declaration, judge_messages
from lean_dojo_v2.lean.verify.screening import Reason, Refusal

FILE_TIMEOUT = 300.0
"""Seconds that Lean may take for a whole file."""


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
        refusal: The trick, if that is why.
        theorems: Every theorem of the file, in its order.
        messages: All that Lean said.
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
        reference: A file that states what was to be proved, with ``sorry`` for every proof; its
            theorems must stand in ``text`` with the same statements.
        timeout: Seconds that Lean may take for each of the two texts.

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
    """Say which theorem of the reference is missing from a file, or states something else there."""
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
