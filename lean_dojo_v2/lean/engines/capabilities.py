"""Capabilities of engines, known before they start."""

from __future__ import annotations

import attrs

_NEEDED = (
    "the syntax that the tactic is made of",
    "the axioms that the tactic depends on",
    "what a program in the file added past the kernel",
)


@attrs.frozen
class Capabilities:
    """The capabilities of an engine.

    Attributes:
        ours: It runs our program, which supports everything; otherwise it is a `pantograph-repl`
            with Pantograph's own commands.
        sandboxed: Lean code in it can neither write files, nor start programs, nor reach a
            network.
    """

    ours: bool
    sandboxed: bool

    @property
    def unverified(self) -> tuple[str, ...]:
        """The checks of a step that this engine cannot make.

        >>> NATIVE.unverified
        ()
        >>> for check in PANTOGRAPH.unverified:
        ...     print(check)
        the syntax that the tactic is made of
        the axioms that the tactic depends on
        what a program in the file added past the kernel
        """
        return () if self.ours else _NEEDED


EMBEDDED = Capabilities(ours=True, sandboxed=True)
"""Our program in the embedded Lean."""

NATIVE = Capabilities(ours=True, sandboxed=False)
"""Our program in the user's own Lean."""

PANTOGRAPH = Capabilities(ours=False, sandboxed=False)
"""The Pantograph REPL named by ``LEAN_DOJO_PANTOGRAPH``."""
