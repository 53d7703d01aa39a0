"""Problems for self-training: theorems without their proofs, none held out; each round's choice."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import chain
from pathlib import Path

import attrs

from lean_dojo_core.records import BenchmarkProblem
from lean_dojo_plugins.training import Statements, is_in_share
from lean_dojo_v2 import benchmarks
from lean_dojo_v2.data import Repository
from lean_dojo_v2.database import HELD_OUT_SPLITS, split_of
from lean_dojo_v2.errors import EmptyDatasetError

TRAINING, HIDDEN, SORRY = "training", "hidden", "sorry"
NAMED = frozenset({TRAINING, HIDDEN, SORRY})
"""Sources other than files."""


@attrs.frozen
class ProblemSet:
    """The problems of a run, each with its own name.

    ``left_out`` names theorems that are held out, or state the same as a held-out theorem.
    """

    problems: tuple[BenchmarkProblem, ...]
    left_out: tuple[str, ...]
    statements: Statements | None = None

    @property
    def digest(self) -> str:
        """Hash of the problems."""
        texts = (f"{one.full_name}\0{one.header}\0{one.statement}\0" for one in self.problems)
        return sha256("".join(texts).encode()).hexdigest()


def gather(
    sources: Sequence[str],
    repositories: Sequence[Repository],
    projects: Mapping[str, Path],
    others: Iterable[Repository] = (),
    *,
    human_share: float = 1.0,
) -> ProblemSet:
    """Collect problems, without held-out ones.

    ``projects`` are folders of repositories by address; others are looked up where they were
    traced, or cloned. Held-out theorems of ``others`` are left out, too. Those of the training
    theorems that are not in ``human_share`` are ``"hidden"``.
    """
    secret = {
        text
        for repository in chain(repositories, others)
        for theorem in repository.iter_theorems()
        if split_of(theorem) != "train"
        if (text := benchmarks.normalised_statement(theorem.theorem_statement or ""))
    }
    found = [one for source in sources for one in _of(source, repositories, projects, human_share)]
    held_out = [one.statement for one in found if one.split in HELD_OUT_SPLITS]
    secret.update(filter(None, map(benchmarks.normalised_statement, held_out)))
    kept: list[BenchmarkProblem] = []
    left_out: list[str] = []
    for one in found:
        if one.split in HELD_OUT_SPLITS or benchmarks.normalised_statement(one.statement) in secret:
            left_out.append(one.full_name)
        else:
            kept.append(one)
    if not kept:
        raise EmptyDatasetError(
            f"there are no problems: {', '.join(sources)} has no theorem that is not held out"
        )
    return ProblemSet(tuple(benchmarks.distinctly_named(kept)), tuple(left_out))


def _of(
    source: str,
    repositories: Sequence[Repository],
    projects: Mapping[str, Path],
    human_share: float,
) -> list[BenchmarkProblem]:
    if source not in NAMED:
        return benchmarks.JsonlBenchmark(Path(source)).problems()
    of = benchmarks.sorry_theorems if source == SORRY else benchmarks.training_theorems
    theorems = (theorem for theorem, _ in of(repositories))
    if source == HIDDEN:
        theorems = (one for one in theorems if not is_in_share(one, human_share))
    return benchmarks.problems_of(((one, split_of(one)) for one in theorems), projects)


def choose(
    problems: Sequence[BenchmarkProblem],
    past: Sequence[Sequence[benchmarks.Attempt]],
    *,
    skip_after: int,
    limit: int | None,
) -> list[BenchmarkProblem]:
    """Choose the problems of the next round, in order, given the attempts of earlier rounds.

    A problem that every attempt proved in ``skip_after`` consecutive rounds is dropped (0: never).
    Of more than ``limit`` those tried least often go first, then unproved ones.
    """
    # For every problem, per round that tried it, whether all attempts proved it.
    history: dict[str, list[bool]] = defaultdict(list)
    for attempts in past:
        proved: dict[str, bool] = {}
        for attempt in attempts:
            proved[attempt.name] = proved.get(attempt.name, True) and attempt.success
        for name, always in proved.items():
            history[name].append(always)

    def is_easy(name: str) -> bool:
        last = history[name][-skip_after:]
        return skip_after > 0 and len(last) == skip_after and all(last)

    def order(name: str) -> tuple[int, int, bytes]:
        digest = sha256(name.encode("utf-8", "surrogatepass")).digest()
        return len(history[name]), sum(history[name]), digest

    names = [one.full_name for one in problems if not is_easy(one.full_name)]
    if limit is not None and len(names) > limit:
        names = sorted(names, key=order)[:limit]
    taken = set(names)
    return [one for one in problems if one.full_name in taken]
