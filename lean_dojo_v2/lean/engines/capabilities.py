"""What an engine is: known before it starts, and asked instead of guessed from its errors."""

from __future__ import annotations

import attrs

_NEEDED = (
    "the syntax that the tactic is made of",
    "the axioms that the tactic depends on",
    "what a program in the file added past the kernel",
)


@attrs.frozen
class Capabilities:
    """What an engine is.

    Attributes:
        ours: It runs our program, and can do everything that this package asks of an engine; else
            it is some `pantograph-repl`, which knows Pantograph's own commands.
        sandboxed: Lean code in it can neither write files, nor start programs, nor reach a
            network.
    """

    ours: bool
    sandboxed: bool

    @property
    def unverified(self) -> tuple[str, ...]:
        """The checks of a step that cannot be made with this engine; empty if all can.

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
"""Our program in the Lean that comes with this package."""

NATIVE = Capabilities(ours=True, sandboxed=False)
"""Our program in the user's own Lean."""

PANTOGRAPH = Capabilities(ours=False, sandboxed=False)
"""A Pantograph REPL that ``LEAN_DOJO_PANTOGRAPH`` names."""
