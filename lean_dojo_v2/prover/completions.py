"""The texts of models: the prompt for a complete proof, and the reading of completions."""

from __future__ import annotations

import re
import textwrap

from lean_dojo_core import Message
from lean_dojo_core.errors import UsageError
from lean_dojo_core.records import Theorem
from lean_dojo_v2.lean.text.statement import split_statement

_FENCE = re.compile(r"```[\w-]*[ \t]*\n(?P<body>.*?)(?:```|\Z)", re.DOTALL)
_WHOLE_PROOF = (
    "You write proofs in Lean 4. Given a theorem, output the tactic block that proves it: what "
    "follows `:= by`, one tactic a line, and nothing else. Never use `sorry` or `admit`."
)


def whole_proof_prompt(theorem: Theorem | str) -> list[Message]:
    """Return the conversation that asks for a complete proof.

    Raises:
        UsageError: If a traced theorem has no statement.
    """
    statement = theorem if isinstance(theorem, str) else theorem.theorem_statement
    if not statement:
        raise UsageError("the theorem has no statement; trace its repository again")
    return [
        {"role": "system", "content": _WHOLE_PROOF},
        {"role": "user", "content": statement.strip()},
    ]


def unfenced(text: str) -> str:
    r"""Return the code of a completion: of its first code fence, or as it is.

    >>> unfenced("Sure!\n```lean\nintro n\nrfl\n```")
    'intro n\nrfl'
    """
    text = text.replace("\r\n", "\n")
    match = _FENCE.search(text)
    return textwrap.dedent(match["body"] if match else text).strip("\n")


def first_tactic(text: str) -> str:
    r"""Return the first line of a completion that is not empty; nothing is cut off it.

    >>> first_tactic("```lean\nexact by simp\n```")
    'exact by simp'
    """
    lines = unfenced(text).splitlines()
    return next((line.strip() for line in lines if line.strip()), "")


def proof_of(text: str, full_name: str) -> str:
    r"""Return the tactic block of a completion that may repeat the theorem before it.

    Only ``theorem NAME … := by`` (or ``lemma``) with the theorem's own name is passed over, so that
    a ``by`` within the proof stays where it is.

    >>> proof_of("theorem Foo.bar (n : Nat) : n = n := by\n  rfl", "Foo.bar")
    'rfl'
    >>> proof_of("exact by rfl", "Foo.bar")
    'exact by rfl'
    """
    code = unfenced(text)
    names = "|".join(map(re.escape, {full_name, full_name.rpartition(".")[2]}))
    head = re.search(rf"^(?:theorem|lemma)\s+(?:{names})(?![\w.'!?])", code, re.MULTILINE)
    found = split_statement(code, head.end()) if head else None
    if found is None:
        return code
    start = re.compile(r":=\s*by\b[ \t]*").match(code, found[0])
    if start is None:
        return code
    first, _, rest = code[start.end() :].partition("\n")
    return "\n".join(filter(None, [first.strip(), textwrap.dedent(rest).strip("\n")]))
