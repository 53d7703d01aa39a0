"""What an engine can do: known before it starts, and asked instead of guessed from its errors."""

from __future__ import annotations

import attrs


@attrs.frozen
class Capabilities:
    """What an engine can do beyond Pantograph's protocol.

    Attributes:
        tells_syntax: Gives the syntax tree of a tactic before it runs (``dojo.parse_tactic``).
        tells_axioms: Says what a single tactic rests on, and what it left open and hid
            (``axioms`` of ``goal.tactic``).
        tells_declarations: Describes every declaration of a text: axioms, statement, what came
            along (``dojo.check``).
        checks_again: Gives all that a finished theorem rests on to Lean's kernel once more, from
            the library's environment on (``kernel`` of ``dojo.check``).
        tells_digests: Gives a digest of each goal (``dojo.digest``).
        opens_tactics: Opens the state around a tactic of a file (``dojo.state_at``).
        limits_calls: Takes Lean's limits (``maxHeartbeats``) for a single call.
        names_texts: Takes a name for a text, and with it the module that the text is.
        reads_sources: Imports modules of a project from their sources, without a build.
        touches_files: Reads and writes the files that a request names; for the others our client
            does it.
        sandboxed: Lean code in it can neither write files, nor start programs, nor reach a
            network.
    """

    tells_syntax: bool = False
    tells_axioms: bool = False
    tells_declarations: bool = False
    checks_again: bool = False
    tells_digests: bool = False
    opens_tactics: bool = False
    limits_calls: bool = False
    names_texts: bool = False
    reads_sources: bool = False
    touches_files: bool = True
    sandboxed: bool = False

    @property
    def unverified(self) -> tuple[str, ...]:
        """The checks of a step that cannot be made with this engine; empty if all can.

        >>> EMBEDDED.unverified
        ()
        >>> for check in NATIVE.unverified:
        ...     print(check)
        the syntax that the tactic is made of
        the axioms that the tactic depends on
        what a program in the file added past the kernel
        """
        checks = {
            "the syntax that the tactic is made of": self.tells_syntax,
            "the axioms that the tactic depends on": self.tells_axioms,
            "what a program in the file added past the kernel": self.checks_again,
        }
        return tuple(check for check, can in checks.items() if not can)


NATIVE = Capabilities()
"""Pantograph's REPL as it is published."""

EMBEDDED = Capabilities(
    tells_syntax=True,
    tells_axioms=True,
    tells_declarations=True,
    checks_again=True,
    tells_digests=True,
    opens_tactics=True,
    limits_calls=True,
    names_texts=True,
    reads_sources=True,
    touches_files=False,
    sandboxed=True,
)
"""Our own engine."""
