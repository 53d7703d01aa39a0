"""From an engine's answer about a file to theorems, tactics and premises.

**Which tactics count.** LeanDojo's rule: every member of a tactic sequence of the source, at any
depth, counts once: simple steps (``simp``), structured ones (``· …``, ``case … => …``,
``induction … with …``, ``have : … := by …``) with their whole text, and the steps inside them.
Parts of a step that are not members do not: ``a <;> b`` is one tactic, and so is ``rw [a, b]``.
Tactics inside macros, tactics run without open goals, and those that leave the goals unchanged are
left out. A member that runs several times (``all_goals``, ``repeat``) counts with its first run.
The engine selects the members; the rest is decided here.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

import attrs

from lean_dojo_core.records import (
    MARK_CLOSE,
    MARK_OPEN,
    NO_GOALS,
    Annotation,
    Position,
    Premise,
    TracedTactic,
)
from lean_dojo_v2 import lean
from lean_dojo_v2.tracing.reading import records
from lean_dojo_v2.tracing.reading.declarations import (
    KEYWORDS,
    THEOREMS,
    Declaration,
    between,
    declarations,
    statement,
)

_IDENTIFIER = re.compile(rf"\.?{lean.NAME_PART}(?:\.{lean.NAME_PART})*\Z")
_SORRY_WORDS = frozenset({"sorry", "admit", "sorryAx", "stop"})
_SORRY_WARNING = re.compile(r"declaration uses ['`‘]sorry['`’]")

_COMBINATORS = ("<;>", "<|>")
_COMBINATOR_GAP = 200
"""Maximum distance of a combinator before a tactic: line breaks and indentation."""

WITH_ERROR = "with an error"
WITH_SORRY = "with sorry, outside a theorem"
IN_STATEMENT = "of a statement"
NOTHING_LEFT = "where nothing was left to prove"
NO_CHANGE = "that leave the goals as they were"
MADE = "made by a macro, without a tactic in the source"

UNKNOWN: Position = (0, 0)
"""Position of a premise without a recorded one: before the first line, so inside no premise.

The embedded engine's library has the file of a constant of Lean itself, but not its position.
"""

PathOf = Callable[[str], str | None]
"""Returns the file of a module, relative to the repository; ``None`` if unknown."""


def extract(
    path: str, text: str, elaboration: records.Elaboration, imports: Sequence[str], path_of: PathOf
) -> records.TracedFile:
    """Make the record of a file, given by its path in the repository and its elaborated text."""
    places = lean.PositionMap(text)
    commands = sorted((start, end) for start, end in elaboration.commands if start < end)
    reader = _FileReader(text, places, elaboration, path_of)
    found, others = declarations(
        text, commands, elaboration.declared, elaboration.definitions, reader.step_starts
    )
    messages = [m for m in elaboration.messages if m.severity is lean.Severity.ERROR]
    errors = _starts(messages, places)
    placed = zip(map(places.position, errors), messages, strict=True)
    told = [records.FileError(*place, message.data.strip()) for place, message in placed]
    # Lean continues after an error as if the declaration were proven.
    broken = dict.fromkeys(d.constant for d in found if _inside(d, errors))
    failed = _failed(commands, errors)
    sound = [d for d in others if d.constant not in broken and not _inside(d, errors)]
    elsewhere = [reader.elsewhere(d, path) for d in sound]
    kept = [proof for proof in elsewhere if not proof.has_sorry]
    stated = {d.constant for d in (*found, *others)}
    left_out = {
        WITH_ERROR: sum(d.is_theorem and d.constant in broken for d in found)
        + len(others) - len(sound),
        WITH_SORRY: len(elsewhere) - len(kept),
        MADE: len(set(elaboration.made) - stated),
    }  # fmt: skip
    uses = {proof.constant: reader.named(d) for d, proof in zip(sound, elsewhere, strict=True)}
    uses |= {one.constant: one.uses for one in elaboration.declared if one.constant is not None}
    return records.TracedFile(
        path,
        tuple(imports),
        tuple(reader.theorem(d) for d in found if d.is_theorem and d.constant not in broken),
        tuple(_premise(d, text, places) for d in found if d.constant not in broken),
        tuple(told),
        tuple(broken),
        uses,
        lost=tuple(_lost(text, failed)),
        commands=len(commands),
        failed=len(failed),
        elsewhere=tuple(kept),
        left_out={reason: count for reason, count in left_out.items() if count},
        steps_left_out=reader.steps_left_out(found),
    )


def _failed(commands: Sequence[records.Span], errors: Iterable[int]) -> list[records.Span]:
    """Return the commands with an error; header errors belong to none."""
    starts = [start for start, _ in commands]
    indices = {bisect_right(starts, error) - 1 for error in errors} - {-1}
    return [commands[index] for index in sorted(indices)]


def _lost(text: str, failed: Iterable[records.Span]) -> Iterator[str]:
    """Yield the names, without namespaces, defined by commands with an error."""
    for start, end in failed:
        for keyword, name in pairwise(lean.code_tokens(text, start, end)):
            if keyword.text in KEYWORDS - THEOREMS and name.kind == "ident":
                yield name.text.rpartition(".")[2]


def _starts(messages: Iterable[lean.LeanMessage], places: lean.PositionMap) -> list[int]:
    return [places.index(message.pos.line, message.pos.column) for message in messages]


def _inside(declaration: Declaration, starts: Iterable[int]) -> bool:
    return any(declaration.outer <= start < declaration.end for start in starts)


def _premise(declaration: Declaration, text: str, places: lean.PositionMap) -> Premise:
    return Premise(
        declaration.full_name,
        lean.without_comments(text[declaration.start : declaration.end]),
        places.position(declaration.outer),
        places.position(declaration.end),
        declaration.keyword,
    )


class _FileReader:
    """Extracts theorems from one file's elaboration; the arguments are those of :func:`extract`."""

    def __init__(
        self, text: str, places: lean.PositionMap, elaboration: records.Elaboration, path_of: PathOf
    ) -> None:
        self.text = text
        self.places = places
        self.path_of = path_of
        self._no_steps: Counter[str] = Counter()
        self.steps = _counted(text, elaboration.steps, self._no_steps)
        self.step_starts = [step.start for step in self.steps]
        self.references = _usable(text, elaboration.references)
        self.reference_starts = [reference.start for reference in self.references]
        sorries = (
            m for m in elaboration.messages if m.kind == "hasSorry" or _SORRY_WARNING.search(m.data)
        )
        self.sorries = _starts(sorries, places)

    def theorem(self, declaration: Declaration) -> records.TracedTheorem:
        """Make the record of a theorem."""
        stated, proof = statement(self.text, declaration)
        words = lean.code_tokens(self.text, proof, declaration.end)
        # the proof of a side condition of the statement, as in `a[i]'(by omega)`, is not a step
        steps = self.steps[between(self.step_starts, proof, declaration.end)]
        return records.TracedTheorem(
            declaration.full_name,
            declaration.constant,
            stated,
            self.places.position(declaration.start),
            self.places.position(declaration.end),
            tuple(self._tactic(step, declaration.full_name) for step in steps),
            _inside(declaration, self.sorries) or any(w.text in _SORRY_WORDS for w in words),
            tuple(self._not_constants(declaration.start, proof)),
        )

    def steps_left_out(self, found: Iterable[Declaration]) -> dict[str, int]:
        """Count the members of tactic sequences that are not steps, by reason."""
        stated = 0
        for declaration in filter(lambda d: d.is_theorem, found):
            proof = statement(self.text, declaration)[1]
            stated += len(self.steps[between(self.step_starts, declaration.start, proof)])
        return dict(+(self._no_steps + Counter({IN_STATEMENT: stated})))

    def elsewhere(self, declaration: Declaration, path: str) -> records.TracedTheorem:
        """Make the record of a proof outside a theorem; all its tactics count."""
        record = self.theorem(declaration)
        inside = self.steps[between(self.step_starts, declaration.start, declaration.end)]
        own = (self._tactic(step, declaration.full_name) for step in inside)
        return attrs.evolve(
            record,
            constant=f"{path}: {declaration.constant}",  # an example has no constant in Lean
            tactics=record.tactics or tuple(own),
            kind=declaration.keyword,
        )

    def named(self, declaration: Declaration) -> tuple[str, ...]:
        """Return the constants in a declaration's text."""
        inside = between(self.reference_starts, declaration.start, declaration.end)
        return tuple(dict.fromkeys(r.full_name for r in self.references[inside]))

    def _not_constants(self, start: int, end: int) -> Iterator[str]:
        """Yield the identifiers in a range of the text that are not constants, each once."""
        seen: set[str] = set()
        for word in lean.code_tokens(self.text, start, end):
            at = bisect_left(self.reference_starts, word.start)
            means = at < len(self.references) and self.references[at].start == word.start
            if word.kind == "ident" and not means and word.text not in seen:
                seen.add(word.text)
                yield word.text

    def _tactic(self, step: records.ElaboratedTactic, theorem: str) -> TracedTactic:
        annotations: list[Annotation] = []
        marked: list[str] = []
        position = step.start
        for reference in self._used(step, theorem):
            path = self.path_of(reference.module)
            if path is None:
                continue
            # A dot before a name (`.intro`, `h.symm`) is not part of the mark.
            start = reference.start + self.text.startswith(".", reference.start)
            name = self.text[start : reference.end]
            marked += [self.text[position:start], f"{MARK_OPEN}{name}{MARK_CLOSE}"]
            position = reference.end
            annotations.append(
                Annotation(
                    reference.full_name,
                    path,
                    reference.def_start or UNKNOWN,
                    reference.def_end or UNKNOWN,
                )
            )
        marked.append(self.text[position : step.end])
        column = self.places.position(step.start)[1] - 1
        return TracedTactic(
            dedent(self.text[step.start : step.end], column),
            step.before,
            step.after,
            annotated=dedent("".join(marked), column),
            premises=tuple(annotations),
            start=self.places.position(step.start),
            end=self.places.position(step.end),
            digest=step.digest,
        )

    def _used(self, step: records.ElaboratedTactic, theorem: str) -> Iterable[records.Reference]:
        """Yield the references inside a step that do not overlap, in order."""
        position = step.start
        inside = self.references[between(self.reference_starts, step.start, step.end)]
        for reference in inside:
            if reference.start >= position and reference.full_name != theorem:
                yield reference
                position = reference.end


def _counted(
    text: str, steps: Iterable[records.ElaboratedTactic], others: Counter[str]
) -> list[records.ElaboratedTactic]:
    """Keep the steps that count, each once, outer ones first; count the ``others`` by reason.

    Macros make sequences from parts of the source: ``have : p := by …`` from the members of its
    ``by``, which count, and ``a <;> b`` from ``a`` and ``b``, which do not. The latter are
    recognised by position: at the start of a longer member, or after the combinator.
    """
    found: dict[int, dict[int, records.ElaboratedTactic]] = {}
    for step in steps:
        before_it = text[max(step.start - _COMBINATOR_GAP, 0) : step.start].rstrip()
        if step.start < step.end and not before_it.endswith(_COMBINATORS):
            found.setdefault(step.start, {}).setdefault(step.end, step)
    counted: list[records.ElaboratedTactic] = []
    for start in sorted(found):
        step = found[start][max(found[start])]
        if step.before not in {NO_GOALS, step.after}:
            counted.append(step)
        else:
            others[NOTHING_LEFT if step.before == NO_GOALS else NO_CHANGE] += 1
    return counted


def _usable(text: str, references: Iterable[records.Reference]) -> list[records.Reference]:
    """Keep references that are identifiers in the text; one for each place, in order."""
    best: dict[tuple[int, int], records.Reference] = {}
    for reference in references:
        name = text[reference.start : reference.end]
        if not _IDENTIFIER.match(name):
            continue
        key = (reference.start, reference.end)
        plain = name.lstrip(".").replace("«", "").replace("»", "").removeprefix("_root_.")
        if key not in best or (
            reference.full_name.endswith(plain) and not best[key].full_name.endswith(plain)
        ):
            best[key] = reference
    return [best[key] for key in sorted(best, key=lambda key: (key[0], -key[1]))]


def dedent(tactic: str, column: int) -> str:
    r"""Move a multi-line tactic from its column to the left margin.

    >>> dedent("cases h with\n    | inl a => exact a", 4)
    'cases h with\n| inl a => exact a'
    """
    if "\n" not in tactic:
        return tactic
    strings = [
        (t.start, t.end) for t in lean.all_tokens(tactic) if t.kind == "string" and "\n" in t.text
    ]
    lines: list[str] = []
    position = 0
    for line in tactic.split("\n"):
        blanks = len(line) - len(line.lstrip(" "))
        inside = any(start < position < end for start, end in strings)
        lines.append(line if inside or not lines else line[min(blanks, column) :])
        position += len(line) + 1
    return "\n".join(lines)
