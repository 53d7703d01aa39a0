"""Check a whole file: dependencies of its theorems, and agreement with a reference.

"No error and no ``sorry``" says little about someone else's text: it may declare an axiom, run
native code, or prove a different statement. Here every theorem of the text is judged by its
dependencies, which Lean's kernel checks once more; with a reference, the same theorems must be
there with the same statements, compared as elaborated terms with all definitions that they depend
on.
"""

from collections.abc import Mapping
from hashlib import sha256

import attrs

from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.messages import LeanMessage, Severity
from lean_dojo_v2.lean.text.lexer import code_tokens
from lean_dojo_v2.lean.verify.outcomes import ProofOutcome
from lean_dojo_v2.lean.verify.proofs import (
    ABSENT,
    SORRY,
    Record,
    judge_declaration,
    judge_messages,
    refused,
)
from lean_dojo_v2.lean.verify.screening import Reason, Refusal

FILE_TIMEOUT = 300.0
"""Default time limit for a whole file, in seconds."""
_MAX_NAMES = 5
"""So many constants are named in a refusal."""


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
        examples: The number of its ``example``s. They leave no constant for the judge: that they
            hold is the word of the process that elaborated the file.
        messages: Lean's messages.
    """

    valid: bool
    detail: str = ""
    refusal: Refusal | None = None
    theorems: tuple[DeclarationOutcome, ...] = ()
    examples: int = 0
    messages: tuple[LeanMessage, ...] = attrs.field(default=(), repr=False)


def check_file(
    server: Server,
    text: str,
    *,
    reference: str | None = None,
    timeout: float = FILE_TIMEOUT,
) -> FileOutcome:
    """Check a whole file with its ``import`` lines: hostile input.

    The ``reference`` is a file with the statements to prove, with ``sorry`` for every proof; its
    theorems must be in ``text`` with the same statements. Each of the two may take ``timeout``
    seconds.

    Raises:
        RequestError: The file cannot be opened: its header does not parse, or a module is missing.
        EngineLostError: The engine died over it, or the time was up.
    """
    with server.alone(f"file {sha256(text.encode()).hexdigest()}"):
        report = server.check({"file": text, "fileName": "<input>", "all": True}, timeout)
    messages = tuple(LeanMessage.parse_all(report.said["messages"]))
    told: Mapping[str, Record] = report.said["declarations"]
    found = server.judge.judge(report.export, timeout)
    if isinstance(found, str):
        refusal = Refusal(Reason.UNCHECKED, found)
        return FileOutcome(False, found, refusal, messages=messages)
    theorems = tuple(
        DeclarationOutcome(name, record["start"][0], judge_declaration(found.get(name, ABSENT)))
        for name, record in sorted(told.items(), key=lambda item: item[1].get("start", [0]))
        if record.get("kind") == "theorem" and "start" in record
    )
    problem = (
        judge_messages(messages)
        or _axiom(report.said["new_constants"])
        or next((t.outcome for t in theorems if not t.outcome.valid), None)
        or (None if reference is None else _differs(server, found, reference, timeout))
        or _sorry(report.said["new_constants"], found)
    )
    problem = problem or ProofOutcome(True)
    examples = sum(token.text == "example" for token in code_tokens(text))
    return FileOutcome(problem.valid, problem.detail, problem.refusal, theorems, examples, messages)


def _axiom(constants: list[Record]) -> ProofOutcome | None:
    axiom = next((one["name"] for one in constants if one["kind"] == "axiom"), None)
    return None if axiom is None else refused(Refusal(Reason.AXIOM, f"declares the axiom {axiom}"))


def _sorry(constants: list[Record], found: Mapping[str, Record]) -> ProofOutcome | None:
    """Find a ``sorry`` that Lean may have been told not to mention, in a constant of any kind."""
    using = [str(one["name"]) for one in constants if one.get("sorry")]
    for name, record in found.items():
        if any(axiom["name"] == SORRY for axiom in record.get("axioms", ())):
            using.append(name)
    if not using:
        return None
    names = ", ".join(sorted(set(using))[:_MAX_NAMES])
    return refused(Refusal(Reason.SORRY, f"{names}: not finished, or rests on what is not"))


def _differs(
    server: Server, found: Mapping[str, Record], reference: str, timeout: float
) -> ProofOutcome | None:
    """Return a missing or different theorem of the reference, if any."""
    owner = f"reference {sha256(reference.encode()).hexdigest()}"
    fields = {"file": reference, "fileName": "reference of <input>", "all": True}
    report = server.judge.read(owner, server, fields, timeout)
    errors = LeanMessage.parse_all(report.said["messages"])
    if error := next((m for m in errors if m.severity is Severity.ERROR), None):
        return ProofOutcome(False, f"the reference itself does not elaborate: {error}")
    stated = server.judge.judge(report.export, timeout)
    if isinstance(stated, str):
        return ProofOutcome(False, f"the reference cannot be judged: {stated}")
    said = report.said["declarations"]
    wanted = {name: stated[name] for name in stated if said[name].get("kind") == "theorem"}
    if not wanted:
        return ProofOutcome(False, "the reference states no theorem")
    for name, record in wanted.items():
        if not record["exists"]:
            return ProofOutcome(False, f"Lean's kernel does not take {name} of the reference")
        if not found.get(name, ABSENT)["exists"]:
            return ProofOutcome(False, f"{name} is missing")
        if found[name]["kind"] != "theorem" or found[name]["statement"] != record["statement"]:
            return refused(
                Refusal(Reason.STATEMENT, f"{name} states something other than the reference")
            )
    return None
