"""Capabilities of engines, known before they start."""

from __future__ import annotations

import attrs


@attrs.frozen
class Capabilities:
    """The capabilities of an engine.

    Attributes:
        ours: It runs our program, which verifies; otherwise it is a `pantograph-repl` with
            Pantograph's own commands.
        sandboxed: Lean code in it can neither write files, nor start programs, nor reach a
            network.
    """

    ours: bool
    sandboxed: bool


EMBEDDED = Capabilities(ours=True, sandboxed=True)
"""Our program in the embedded Lean."""

NATIVE = Capabilities(ours=True, sandboxed=False)
"""Our program in the user's own Lean."""

PANTOGRAPH = Capabilities(ours=False, sandboxed=False)
"""The Pantograph REPL named by ``LEAN_DOJO_PANTOGRAPH``."""
