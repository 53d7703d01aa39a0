"""Judge the declarations before a proof by their text and syntax; see :mod:`..text.helpers`.

They are hostile input like the proof. The check of the finished theorem is what counts: it compares
the elaborated statement, which a helper may not change, and reads axioms. These walls say *why* for
what is no helper: an instance, a notation, a macro, an attribute but ``simp``, a program.
"""

import re
from collections.abc import Collection

from lean_dojo_v2.lean.text.helpers import HELPER_DECLARATION
from lean_dojo_v2.lean.text.lexer import code_tokens
from lean_dojo_v2.lean.text.source import SourceTheorem
from lean_dojo_v2.lean.verify.screening import Reason, Refusal, screen

_ALLOWED = frozenset({"where", "termination_by", "decreasing_by"})
"""Words of a declaration that a block of tactics may not contain."""
_ATTRIBUTES = re.compile(r"(?:@\[\s*simp\s*\]\s*)*")
_PROGRAMS = frozenset({"Lean", "Syntax", "TSyntax", "Expr", "autoParam", "Macro"})
"""Parts of names: with a definition of such a type a text could make a program of its own."""


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
    return screen(rest, whole_proof=True, own_names=own_names, allowed=_ALLOWED)


def as_tactic(helper: str) -> str | None:
    """Return a declaration as a tactic to parse; ``None`` if Lean has no such tactic."""
    found = HELPER_DECLARATION.match(helper)
    if found is None or found["keyword"] in {"inductive", "structure"}:
        return None
    words = [token for token in code_tokens(helper) if token.text == "where"]
    return None if words else f"let rec {found['name']}{helper[found.end() :]}"


def place_for_helpers(source: SourceTheorem) -> bool:
    """Whether declarations may stand before a theorem: not in ``mutual``, nor after ``… in``."""
    words = [token.text for token in code_tokens(source.before[-200:])]
    return not source.in_mutual_block and words[-1:] != ["in"]
