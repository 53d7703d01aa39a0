"""The text of a premise as the encoder reads it."""

from __future__ import annotations

import re

from lean_dojo_core.records import MARK_CLOSE, MARK_OPEN


def premise_text(full_name: str, code: str) -> str:
    """Return a premise as the encoder reads it: its code with its name marked.

    The rule is ReProver's (Yang et al. 2023, "LeanDojo"): the longest suffix of the full name that
    occurs in the code after white space becomes ``<a>full_name</a>``. If the code does not contain
    the name (an anonymous instance), the marked name goes in front.

    >>> premise_text("Nat.add_comm", "theorem add_comm (a b : Nat) : a + b = b + a")
    'theorem <a>Nat.add_comm</a> (a b : Nat) : a + b = b + a'
    >>> premise_text("instInhabitedNat", "instance : Inhabited Nat := ⟨0⟩")
    '<a>instInhabitedNat</a> instance : Inhabited Nat := ⟨0⟩'
    """
    marked = f"{MARK_OPEN}{full_name}{MARK_CLOSE}"
    rooted = f"_root_.{full_name}"
    if rooted in code:
        return code.replace(rooted, marked)
    parts = full_name.split(".")
    for first in range(len(parts)):
        suffix = ".".join(parts[first:])
        if suffix not in code:  # much cheaper than the expression below
            continue
        # A name goes on with letters, digits, `_`, `'`, `!`, `?`, `.`: those may not follow.
        pattern = rf"(?<=\s)«?{re.escape(suffix)}»?(?![\w'!?]|\.\w)"
        found, changes = re.subn(pattern, lambda _: marked, code)
        if changes:
            return found
    return f"{marked} {code}"
