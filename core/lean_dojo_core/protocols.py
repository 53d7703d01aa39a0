"""Protocols of plugin objects, and of the host objects that they receive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from pathlib import Path

    from lean_dojo_core.records import BenchmarkProblem, Theorem, TracedTactic

Message: TypeAlias = dict[str, str]
"""A chat message: ``{"role": …, "content": …}``."""

Row: TypeAlias = dict[str, Any]
"""One row of a dataset; its keys are the formatter's columns."""

ProblemT_contra = TypeVar("ProblemT_contra", contravariant=True)
ServerT_contra = TypeVar("ServerT_contra", contravariant=True)
ResultT_co = TypeVar("ResultT_co", covariant=True)


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

        Args:
            repositories: In curriculum order; looked up by url and commit.
            output_path: The folder; every theorem keeps its split from one export to the next.
        """

    def record_proof(self, theorem: Theorem, tactics: Iterable[TracedTactic | str] = ()) -> Theorem:
        """Record a fully verified proof of a ``sorry`` theorem."""


@runtime_checkable
class Trainer(Protocol):
    """A training objective.

    The constructor's parameters are the trainer's settings; ``lean-dojo show NAME`` lists them. For
    an attrs class, help texts come from the fields' ``metadata["help"]``. Optional methods are
    described in ``lean_dojo_v2.plugin_host.optional_protocols``.
    """

    @property
    def output_dir(self) -> Any:
        """Folder of the result, a ``Path`` or text, which can be loaded at any time."""
        # Any: pyright takes an attrs field with a converter for a descriptor, not for its value.

    def train(self, repos: Sequence[Repository], database: Database, data_path: Path) -> None:
        """Train on the repositories, in their order, cumulatively.

        Args:
            repos: Repositories in curriculum order.
            database: The database that holds their traced theorems.
            data_path: Folder for the exported data.
        """


@runtime_checkable
class DatasetFormatter(Protocol):
    """Turns traced theorems into rows, and a goal into the prompt of the same text.

    A formatter whose completions are whole proofs sets ``whole_proof = True``; its prompts are for
    statements.
    """

    columns: tuple[str, ...]
    """The keys of every row."""

    def rows(self, theorem: Theorem) -> Iterable[Row]:
        """Return the rows of one theorem; none if there is nothing to learn from it."""

    def prompt(self, goal: str, *, premises: Sequence[str] = ()) -> list[Message]:
        """Return the conversation that asks for the next tactic at ``goal``.

        Must be exactly the text of ``rows``, so that proving and training agree.

        Args:
            goal: The state as Lean prints it, without marks.
            premises: Texts of retrieved premises; a formatter that does not use them
                ignores them.
        """


@runtime_checkable
class RewardFunction(Protocol):
    """Scores completions; called as TRL calls a reward function.

    An object may also have the methods of :class:`WarmsUp` and of :class:`Closes`.

    May be ``async``. May return a list, an array or a tensor of one number per completion;
    ``None`` or NaN means that the reward does not apply to that completion.
    """

    def __call__(self, completions: list[str], **kwargs: Any) -> object:
        """Score a batch.

        Args:
            completions: The generated texts, one per sample.
            **kwargs: Every column of the dataset as a list, one item per completion, and what
                TRL adds (``prompts``, ``completion_ids``, ``trainer_state``, …).
        """


class WarmsUp(Protocol):
    """A reward that prepares for a batch while its completions are being generated."""

    def warm_up(self, **columns: Any) -> None:
        """Prepare, for example by loading the states of the batch into Lean.

        Called by ``grpo`` before the completions of a batch are generated.

        Args:
            **columns: Every column of the dataset as a list, one item per completion.
        """


class Closes(Protocol):
    """A reward that holds something to give back; one with ``needs_lean`` must be one."""

    def close(self) -> None:
        """Give it back, for example Lean engines.

        May be called twice, and before the first call. A later call starts again what it needs.
        """


class Callback(Protocol):
    """Methods ``on_…`` that a trainer calls; all are optional, and every setting has a default.

    They are methods of ``transformers.TrainerCallback``, or for ``retrieval`` of
    ``pytorch_lightning.Callback``; deriving from either is optional. ``grpo`` adds
    ``on_rewards_scored``.
    """


class Prover(Protocol[ProblemT_contra, ServerT_contra, ResultT_co]):
    """Finds proofs, which count only after full verification.

    Problems, servers and results are those of ``lean_dojo_v2.prover``, whose ``BaseProver`` needs
    only a tactic generator.
    """

    def search_many(
        self,
        problems: Sequence[ProblemT_contra],
        servers: Sequence[ServerT_contra],
        *,
        verbose: bool = False,
    ) -> Iterator[tuple[int, ResultT_co]]:
        """Work on several problems, with as many Lean engines as there are servers.

        Yields:
            Each problem's index and result, as soon as it is known.
        """

    def generate_whole_proof(self, theorem: Theorem | str) -> str:
        """Write a complete proof of a theorem, or of a statement's text, in one go, unchecked."""


class Benchmark(Protocol):
    """A named set of theorems to prove."""

    name: str
    """Its name in results, for example ``"minif2f"``."""

    def problems(self) -> Iterable[BenchmarkProblem]:
        """Return its theorems, always the same in the same order, with distinct names."""


class Command(Protocol):
    """A click command, such as click's own classes."""

    def main(self, *args: object, **extra: object) -> object:
        """Run it."""

    def make_context(self, info_name: str | None, args: list[str], **extra: object) -> object:
        """Parse a command line."""
