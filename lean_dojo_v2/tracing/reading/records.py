"""Records of tracing one file: an engine's answer, and theorems and premises made from it.

In an engine's answer, ``start`` is the index of a first character in the file's text, ``end`` the
index after the last one, and ``constant`` Lean's internal name, unique in the project; a
``full_name`` is the name as the user writes it.
"""

from typing import TypeAlias

import attrs

from lean_dojo_core.records import Position, Premise, Theorem, TracedTactic
from lean_dojo_v2.lean import LeanMessage

Span: TypeAlias = tuple[int, int]
"""A range of the text: ``start`` and ``end``."""


@attrs.frozen
class ElaboratedTactic:
    """A member of a tactic sequence, the goals around it, and the digest of the first one."""

    start: int
    end: int
    before: str
    after: str
    digest: str | None = None


@attrs.frozen
class Declared:
    """What a command of Lean's own declares; the range includes its docstring.

    After an error there may be no ``constant``. The declaration ``uses`` constants of the project.
    """

    start: int
    end: int
    constant: str | None
    statement_end: int
    uses: tuple[str, ...]


@attrs.frozen
class Definition:
    """A constant that a file defines, and where the identifier that names it starts."""

    constant: str
    start: int


@attrs.frozen
class Reference:
    """An identifier that denotes a constant of a module, and where that is defined."""

    full_name: str
    module: str
    start: int
    end: int
    def_start: Position | None = None
    def_end: Position | None = None


@attrs.frozen
class Elaboration:
    """An engine's answer about one file.

    Its ``steps`` are the members of tactic sequences, in the order of the engine, ``made`` are
    theorems that macros define, and ``in_memory`` are imported modules that were not compiled.
    """

    commands: tuple[Span, ...] = ()
    declared: tuple[Declared, ...] = ()
    steps: tuple[ElaboratedTactic, ...] = ()
    definitions: tuple[Definition, ...] = ()
    references: tuple[Reference, ...] = ()
    messages: tuple[LeanMessage, ...] = ()
    made: tuple[str, ...] = ()
    in_memory: tuple[str, ...] = ()


@attrs.frozen
class TracedTheorem:
    """A theorem of a file, not yet bound to a repository; a docstring before it is no part of it.

    The ``statement`` is source text from its first modifier up to and with ``:=``; ``variables``
    are its identifiers that are not constants, each once. The ``kind`` is its keyword; not
    ``theorem`` or ``lemma`` for a proof outside theorems.
    """

    full_name: str
    constant: str
    statement: str
    start: Position
    end: Position
    tactics: tuple[TracedTactic, ...] = ()
    has_sorry: bool = False
    variables: tuple[str, ...] = ()
    kind: str = "theorem"

    def bound(self, file_path: str, url: str, commit: str) -> Theorem:
        """Return the theorem's record in a repository."""
        return Theorem(
            self.full_name,
            file_path,
            self.start,
            self.end,
            url,
            commit,
            theorem_statement=self.statement,
            traced_tactics=self.tactics,
        )


@attrs.frozen
class FileError:
    """An error of Lean; line and column count from 1, the line is 0 for the file as a whole."""

    line: int
    column: int
    text: str

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.text}" if self.line else self.text


@attrs.frozen
class TracedFile:
    """Everything known about one file.

    Attributes:
        path: The file, relative to its repository.
        imports: Paths of the files that it imports directly.
        theorems: Its theorems; those with an error in them are left out.
        premises: Its declarations.
        broken: Constants of declarations with an error in them; what uses them proves nothing.
        uses: For each of its constants those of the project that it depends on, by Lean's names.
        lost: Names, without namespaces, of definitions with an error. Lean may treat such a name
            in a later statement as an auto-bound variable.
        commands: Number of commands.
        failed: Number of commands with an error.
        elsewhere: Proofs outside theorems; they have tactics.
        left_out: Numbers of proofs left out, by reason.
        steps_left_out: Numbers of tactics that are not steps, by reason.
    """

    path: str
    imports: tuple[str, ...] = ()
    theorems: tuple[TracedTheorem, ...] = ()
    premises: tuple[Premise, ...] = ()
    errors: tuple[FileError, ...] = ()
    broken: tuple[str, ...] = ()
    uses: dict[str, tuple[str, ...]] = attrs.field(factory=dict)
    lost: tuple[str, ...] = ()
    commands: int = 0
    failed: int = 0
    elsewhere: tuple[TracedTheorem, ...] = ()
    left_out: dict[str, int] = attrs.field(factory=dict)
    steps_left_out: dict[str, int] = attrs.field(factory=dict)
