"""Records of traced Lean code, the input of dataset formatters, and of what trainers report.

Positions are ``(line, column)``, both 1-based, as LeanDojo counts them; an end position is
exclusive. Records of traced code are immutable and hashable, so that they can be keys.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

import attrs

Position: TypeAlias = tuple[int, int]
"""``(line, column)``, both 1-based."""

_SORRY = re.compile(r"(?<![\w.'!?«])(?:sorry|admit)(?![\w'!?»])")

_MODIFIER = "private|protected|public|noncomputable|partial|unsafe|nonrec|meta|scoped|local"
_STATES = re.compile(rf"(?:@\[.*?\]\s*|(?:{_MODIFIER})\s+)*?(?:theorem|lemma)\s", re.DOTALL)

MARK_OPEN = "<a>"
MARK_CLOSE = "</a>"
NO_GOALS = "no goals"
"""Lean's text for a state without goals."""


def remove_marks(text: str) -> str:
    """Strip the premise marks ``<a>`` and ``</a>``.

    >>> remove_marks("rw [<a>Nat.add_comm</a>]")
    'rw [Nat.add_comm]'
    """
    return text.replace(MARK_OPEN, "").replace(MARK_CLOSE, "")


def contains_sorry(text: str) -> bool:
    """Tell whether the text contains ``sorry`` or ``admit`` as a separate token.

    >>> contains_sorry("exact (by sorry)"), contains_sorry("exact sorry.elim")
    (True, True)
    >>> contains_sorry("exact not_sorry_lemma"), contains_sorry("simp [Foo.admit]")
    (False, False)
    """
    return ("sorry" in text or "admit" in text) and _SORRY.search(text) is not None


@attrs.frozen
class Annotation:
    """One premise that a tactic uses, and where it is defined.

    Attributes:
        full_name: The constant, for example ``"Nat.add_comm"``.
        def_path: File of its definition, relative to the repository (``.lake/packages/…`` for
            dependencies).
        def_pos: Start of its definition.
        def_end_pos: End of its definition.
    """

    full_name: str
    def_path: str
    def_pos: Position
    def_end_pos: Position


@attrs.frozen
class TracedTactic:
    """One tactic of a proof with the goals before and after it, as Lean printed them.

    Attributes:
        tactic: The text of the tactic.
        state_before: The goals before it.
        state_after: The goals after it; ``"no goals"`` when it finished the proof.
        annotated: The text with its premises wrapped in ``<a>…</a>``; equal to ``tactic`` if
            there are none.
        premises: The premises, in the order of their marks.
        start: Where the tactic starts in its file, if recorded.
        end: Where it ends, if recorded.
        digest: Digest of the first goal before it, computed by the tracing engine: equal for goals
            that are the same terms, however Lean prints them; ``None`` if not recorded.
    """

    tactic: str
    state_before: str
    state_after: str
    annotated: str = attrs.field(
        default=attrs.Factory(lambda self: self.tactic, takes_self=True), kw_only=True
    )
    premises: tuple[Annotation, ...] = attrs.field(default=(), kw_only=True)
    start: Position | None = attrs.field(default=None, kw_only=True)
    end: Position | None = attrs.field(default=None, kw_only=True)
    digest: str | None = attrs.field(default=None, kw_only=True)


@attrs.frozen
class Theorem:
    """A theorem of a repository with its traced proof.

    Attributes:
        full_name: Its name in Lean, for example ``"Sample.add_zero_twice"``.
        file_path: Its file, relative to the repository, with ``/``.
        start: Where the declaration starts.
        end: Where it ends.
        url: The repository.
        commit: The repository's commit.
        theorem_statement: Source text of the statement, up to and with ``:=``; ``None`` if the
            data does not contain it (files of LeanDojo 1.x).
            A proof outside a theorem has the text of its declaration here:
            ``def f (h : p) : q :=``, ``example : p :=``.
        traced_tactics: The proof, in order; empty for a term-mode proof.
        difficulty_rating: ``exp(number of tactics)``; ``inf`` with a ``sorry``; ``None``
            if unknown.
    """

    full_name: str
    file_path: str
    start: Position
    end: Position
    url: str
    commit: str
    theorem_statement: str | None = None
    traced_tactics: tuple[TracedTactic, ...] = ()
    difficulty_rating: float | None = None

    @property
    def identity(self) -> tuple[str, str, str, Position, Position]:
        """Key that identifies a theorem: (url, file_path, full_name, start, end)."""
        return (self.url, self.file_path, self.full_name, self.start, self.end)

    @property
    def is_problem(self) -> bool:
        """Whether it is a theorem, whose proof Lean can verify.

        Proofs elsewhere (in a ``def``, an ``example``) are training data only.

        >>> Theorem("f", "A.lean", (1, 1), (2, 2), "", "", "@[simp] def f : Fin 2 :=").is_problem
        False
        """
        stated = self.theorem_statement
        return stated is None or _STATES.match(stated.lstrip()) is not None


@attrs.frozen
class Premise:
    """A definition or theorem that proofs may use.

    Attributes:
        full_name: Its name in Lean.
        code: Its source text.
        start: Where it starts in its file.
        end: Where it ends.
        kind: Lean's syntax kind or keyword, for example ``"theorem"`` or ``"commanddeclaration"``.
    """

    full_name: str
    code: str
    start: Position
    end: Position
    kind: str


@attrs.frozen
class PremiseFile:
    """One file of the corpus: what it imports and the premises it defines.

    Attributes:
        path: The file, relative to its repository.
        imports: Paths of the files that it imports directly.
        premises: Its premises, in the order of the file.
    """

    path: str
    imports: tuple[str, ...] = ()
    premises: tuple[Premise, ...] = ()


@attrs.frozen(kw_only=True)
class BenchmarkProblem:
    """One theorem of a benchmark, with its context.

    The context is either its repository (``theorem``) or the text before it (``header``).

    Attributes:
        full_name: Its name, unique in the benchmark.
        statement: Source text of the declaration up to and with ``:=``.
        header: Text before it in a file of its own: imports, ``open``, definitions.
        theorem: The traced theorem, if it is in a repository; its proof is never shown.
        project: Folder of the Lean project that it needs; for a repository's theorem, the folder of
            its files at that commit (``None``: they are cloned).
        split: ``"test"``, ``"valid"``, … if the benchmark has splits.
    """

    full_name: str
    statement: str
    header: str | None = None
    theorem: Theorem | None = None
    project: Path | None = None
    split: str | None = None


@attrs.frozen
class Span:
    """A part of a completion, and what it is worth.

    Attributes:
        start: Index of its first character.
        end: Index after its last one. A span that begins and ends at the end of the text is about
            the token that ends the completion.
        value: What it adds to the advantage of its tokens: positive for what should be written more
            often, negative for less often, 0 for what is only counted.
        label: What it is, for example ``"sound"``; spans are counted by it. May be empty.
    """

    start: int
    end: int
    value: float
    label: str = ""


@attrs.frozen(kw_only=True)
class Evaluation:
    """A trainer's measurements on data that it was not trained on.

    Attributes:
        metrics: Each number by its name, for example ``{"loss": 0.45, "exact_match": 0.31}``.
        examples: How many tactics, goals or theorems were measured.
        split: The split that was measured.
        model: The model that was measured: a folder, a checkpoint or a hub id.

    >>> print(Evaluation(metrics={"loss": 0.45}, examples=12, model="outputs-sft"))
    loss 0.45 (12 examples of val, outputs-sft)
    """

    metrics: Mapping[str, float]
    examples: int
    split: str = "val"
    model: str = ""

    def __getitem__(self, metric: str) -> float:
        """Return one of the metrics."""
        return self.metrics[metric]

    def __str__(self) -> str:
        """Write the numbers on one line."""
        numbers = ", ".join(f"{name} {value:.4g}" for name, value in self.metrics.items())
        return f"{numbers} ({self.examples} examples of {self.split}, {self.model})"


@attrs.frozen
class PreviewToken:
    """One token of an example.

    Attributes:
        text: Its text; joined, the texts of an example are the model's input.
        loss: Whether the model is trained to predict it.
    """

    text: str
    loss: bool


@attrs.frozen
class PreviewExample:
    """One training example.

    Attributes:
        source: Where it comes from, for example ``"Sample.Nat.add_zero (Sample/Nat.lean:12)"``.
        tokens: Its tokens, special ones included; padding left out.
        remark: A remark, for example that it was cut; may be empty.
    """

    source: str
    tokens: tuple[PreviewToken, ...]
    remark: str = ""
