"""Protocols of plugin objects, and of the host objects that they receive.

:class:`Trainer`, :class:`DatasetFormatter` and :class:`RewardFunction` are what a plugin's object
must fulfil. Everything else that it may do has a protocol of its own, which the host asks for with
``isinstance``: it is enough that a class has the method; it need not name the protocol.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    from pathlib import Path

    from lean_dojo_core.records import Evaluation, PreviewExample, Span, Theorem, TracedTactic

Message: TypeAlias = dict[str, str]
"""A chat message: ``{"role": …, "content": …}``."""

Row: TypeAlias = dict[str, Any]
"""One row of a dataset; its keys are the formatter's columns."""


class Repository(Protocol):
    """A repository at one commit, as trainers get it."""

    @property
    def url(self) -> str:
        """Its address, or a local path."""

    @property
    def commit(self) -> str:
        """The commit."""


class TracedRepository(Repository, Protocol):
    """A repository of the database, with its traced theorems."""

    def iter_theorems(self) -> Iterator[Theorem]:
        """Yield its theorems one by one."""


class Database(Protocol):
    """The database of traced repositories, as trainers get it."""

    @property
    def repositories(self) -> Sequence[TracedRepository]:
        """All repositories."""

    def export_merged_data(self, repositories: Sequence[Repository], output_path: Path) -> None:
        """Write splits, corpus and metadata of the repositories to a folder.

        They are in curriculum order, and looked up by url and commit. Every theorem keeps its split
        from one export to the next.
        """

    def record_proof(self, theorem: Theorem, tactics: Iterable[TracedTactic | str] = ()) -> Theorem:
        """Record a fully verified proof of a ``sorry`` theorem."""


@runtime_checkable
class Trainer(Protocol):
    """A training objective.

    The constructor's parameters are the trainer's settings; ``lean-dojo show NAME`` lists them. For
    an attrs class, help texts come from the fields' ``metadata["help"]``.

    Optional protocols: :class:`Preflights`, :class:`ChecksData`, :class:`HasOwnData`,
    :class:`Evaluates`, :class:`Proves`, :class:`Previews`.
    """

    @property
    def output_dir(self) -> Any:
        """Folder of the result, a ``Path`` or text, which can be loaded at any time."""
        # Any: pyright takes an attrs field with a converter for a descriptor, not for its value.

    def train(self, repos: Sequence[Repository], database: Database, data_path: Path) -> None:
        """Train on the repositories, in curriculum order, cumulatively.

        The database holds their traced theorems; the exported data go to the folder ``data_path``.
        """


@runtime_checkable
class Preflights(Protocol):
    """A trainer that can check its settings before any data is prepared."""

    def preflight(self) -> None:
        """Check what training will need: ``lean-dojo train`` calls it first, also for a dry run.

        If training cannot begin, a ``UsageError`` says which setting to change.
        """


@runtime_checkable
class ChecksData(Protocol):
    """A trainer that can check its settings against a database, before any data is prepared."""

    def check_data(self, theorems: Iterable[Theorem]) -> None:
        """Check after :class:`Preflights` whether the first step can be trained; raises as it does.

        The theorems are those of the first repository, of all splits; read only as far as needed.
        """


@runtime_checkable
class HasOwnData(Protocol):
    """A trainer that may train on data other than a database's theorems."""

    @property
    def own_data(self) -> str | None:
        """Where its data come from, for messages; ``None`` if it trains on a database."""


@runtime_checkable
class Evaluates(Protocol):
    """A trainer that can measure its model, for ``lean-dojo evaluate``."""

    def evaluate(self, data_path: Path | str | None = None, split: str = "val") -> Evaluation:
        """Measure the trained model or, before training, the start model.

        The data are exported ones, or the training's own if no ``data_path`` is given; the split is
        ``"val"``, ``"test"`` or ``"train"``.
        """


@runtime_checkable
class Proves(Protocol):
    """A trainer that provides the settings of its descriptor's ``prover``.

    For a trainer without this method, the prover gets ``output_dir`` as its model.
    """

    def prover_settings(self) -> Mapping[str, object]:
        """Return settings of the prover, including its model."""


@runtime_checkable
class Previews(Protocol):
    """A trainer that can show its examples, for ``lean-dojo preview``.

    For a trainer without this method, the rows of its formatter are shown.
    """

    def preview(self, theorems: Iterable[Theorem], limit: int = 3) -> list[PreviewExample]:
        """Return at most ``limit`` examples, formatted and tokenised as in training.

        They come from the first traced theorems, which are read only as far as needed.
        """


@runtime_checkable
class DatasetFormatter(Protocol):
    """Turns traced theorems into rows, and a goal into the prompt of the same text.

    A formatter of whole proofs also fulfils :class:`FormatsWholeProofs`.
    """

    columns: tuple[str, ...]
    """The keys of every row."""

    def rows(self, theorem: Theorem) -> Iterable[Row]:
        """Return the rows of one theorem; none if there is nothing to learn from it."""

    def prompt(self, goal: str, *, premises: Sequence[str] = ()) -> list[Message]:
        """Return the conversation that asks for the next tactic at ``goal``.

        Must be exactly the text of ``rows``, so that proving and training agree. The goal is the
        state as Lean prints it, without marks; ``premises`` are the texts of retrieved ones, which
        a formatter may ignore.
        """


@runtime_checkable
class FormatsWholeProofs(Protocol):
    """A formatter that declares whether it asks for whole proofs of statements.

    For a formatter without this attribute, a completion is one tactic.
    """

    whole_proof: bool
    """Whether a completion is a whole proof."""


def formats_whole_proofs(formatter: DatasetFormatter) -> bool:
    """Whether a formatter's completions are whole proofs rather than tactics."""
    return isinstance(formatter, FormatsWholeProofs) and formatter.whole_proof


@runtime_checkable
class RewardFunction(Protocol):
    """Scores completions; called as TRL calls a reward function.

    It may be ``async``. It returns a list, an array or a tensor with one number per completion;
    ``None`` or NaN means that the reward does not apply to that completion.

    Optional protocols: :class:`WarmsUp`, :class:`Locates`, :class:`GivesFeedback`,
    :class:`Closes`.
    """

    # Type checkers take `*args: Any, **kwargs: Any` for any further parameters, so a reward may
    # name the columns that it reads, as in `def __call__(self, completions, problem, **kwargs)`,
    # each with a type of its own. Completions are texts or messages, as the reward declares; a
    # tensor, which it may return, has no type here.
    def __call__(self, completions: Any, *args: Any, **kwargs: Any) -> Any:
        """Score a batch.

        Args:
            completions: The generated texts, a list with one per sample.
            *args: Nothing; the columns are passed by keyword.
            **kwargs: Every column of the dataset as a list, one item per completion, and what
                TRL adds (``prompts``, ``completion_ids``, ``trainer_state``, …).
        """


@runtime_checkable
class WarmsUp(Protocol):
    """A reward that prepares for a batch while its completions are being generated."""

    def warm_up(self, **columns: object) -> None:
        """Prepare, for example by loading the states of the batch into Lean.

        Called by ``grpo`` before the completions of a batch are generated, with every column of the
        dataset as a list, one item per completion.
        """


@runtime_checkable
class Locates(Protocol):
    """A reward that also locates what is good or bad in a completion.

    ``grpo`` adds the values to the advantages of the tokens (``process_weight``).
    """

    def spans(self, completions: list[str], **columns: object) -> Sequence[Sequence[Span] | None]:
        """Return the spans of each completion; ``None`` if nothing is known of it.

        Called after the reward itself, with the same completions and columns, so that results
        computed for the score can be reused.

        Spans may nest; the innermost counts. They need not cover the text.
        """


@runtime_checkable
class GivesFeedback(Protocol):
    """A reward that can tell the model what was wrong, for episodes of several turns."""

    def feedback(self, completions: Sequence[str], **columns: object) -> list[str | None]:
        """Return what to answer to each completion before the model tries again.

        Called with the completions and columns of the reward; ``None`` where no further turn is
        needed.
        """


@runtime_checkable
class Closes(Protocol):
    """A reward that holds resources; every reward with ``needs_lean`` must have this method.

    Ask before closing one of the registry: ``if isinstance(reward, Closes): reward.close()``.
    """

    def close(self) -> None:
        """Release the resources, for example Lean engines.

        May be called twice, and before the reward was ever used. A later call of the reward
        acquires what it needs again.
        """
