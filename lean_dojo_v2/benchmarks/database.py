"""Benchmarks of traced theorems: held-out ones, ``sorry`` ones, and the shipped sample."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import ClassVar

import attrs

from lean_dojo_core.errors import UsageError
from lean_dojo_core.records import BenchmarkProblem, Theorem
from lean_dojo_v2.database import DynamicDatabase, Repository, split_of
from lean_dojo_v2.sample import packaged_project, sample_database_path


@attrs.frozen
class HeldOutBenchmark:
    """The theorems of a database that no trainer sees: its splits ``val`` and ``test``.

    A theorem's split follows from its name and never changes, so results compare over time.

    Attributes:
        database: The database (``.json``, ``.sqlite``).
        project: Folder with the repository's files, for a database of one repository; by default
            the folder that was traced, or a clone.
        split: ``"val"`` or ``"test"``; default: both.
    """

    name: ClassVar[str] = "held-out"

    database: Path = attrs.field(default=Path("dynamic_database.json"), converter=Path)
    project: Path | None = None
    split: str | None = attrs.field(
        default=None, validator=attrs.validators.in_([None, "val", "test"])
    )

    def problems(self) -> list[BenchmarkProblem]:
        """Return the theorems in the order of the database."""
        found = held_out(_repositories(self.database), self.split)
        return problems_of(found, self.project)


@attrs.frozen
class SorryBenchmark:
    """The theorems of a database that their authors left ``sorry``, even if since proved.

    Attributes:
        database: The database (``.json``, ``.sqlite``).
        project: Folder with the repository's files, for a database of one repository; by default
            the folder that was traced, or a clone.
    """

    name: ClassVar[str] = "sorry"

    database: Path = attrs.field(default=Path("dynamic_database.json"), converter=Path)
    project: Path | None = None

    def problems(self) -> list[BenchmarkProblem]:
        """Return the theorems in the order of the database."""
        return problems_of(sorry_theorems(_repositories(self.database)), self.project)


@attrs.frozen
class SampleBenchmark:
    """Held-out and ``sorry`` theorems of the two Lean projects that ship with the package.

    They need Lean's core only, and no network: the splits are ``val``, ``test`` and ``sorry``.

    Attributes:
        split: One of the three; default: all.
    """

    name: ClassVar[str] = "sample"

    split: str | None = attrs.field(
        default=None, validator=attrs.validators.in_([None, "val", "test", "sorry"])
    )

    def problems(self) -> list[BenchmarkProblem]:
        """Return the theorems in the order of the database."""
        repositories = _repositories(sample_database_path())
        theorems = [*held_out(repositories), *sorry_theorems(repositories)]
        found = problems_of(theorems, {r.url: packaged_project(r.url) for r in repositories})
        return [one for one in found if self.split in {None, one.split}]


def _repositories(path: Path) -> list[Repository]:
    if not path.is_file():
        raise UsageError(
            f"{path}: there is no such database; name one with --set database=FILE, or make one "
            "with `lean-dojo trace`"
        )
    return DynamicDatabase(path).repositories


def held_out(
    repositories: Iterable[Repository], split: str | None = None
) -> Iterator[tuple[Theorem, str]]:
    """Yield the theorems that no trainer sees, each with its split."""
    wanted = {"val", "test"} if split is None else {split}
    for repository in repositories:
        for theorem in repository.iter_list("proven_theorems"):
            if theorem.traced_tactics and (own := split_of(theorem)) in wanted:
                yield theorem, own


def training_theorems(repositories: Iterable[Repository]) -> Iterator[tuple[Theorem, str]]:
    """Yield the proved theorems that trainers see, each with its split."""
    for repository in repositories:
        for theorem in repository.iter_list("proven_theorems"):
            if theorem.theorem_statement and split_of(theorem) == "train":
                yield theorem, "train"


def sorry_theorems(repositories: Iterable[Repository]) -> Iterator[tuple[Theorem, str]]:
    """Yield the theorems that were left ``sorry``, in the order of the files."""
    for repository in repositories:
        # Proved ones last, so that a theorem proved meanwhile is not missed.
        theorems = {
            theorem.identity: theorem
            for theorem in (
                *repository.iter_list("sorry_theorems_unproved"),
                *repository.iter_list("sorry_theorems_proved"),
            )
        }
        # In the order of the files, so that recording a proof does not change the benchmark.
        for theorem in sorted(theorems.values(), key=lambda one: (one.file_path, one.start)):
            yield theorem, "sorry"


def problems_of(
    found: Iterable[tuple[Theorem, str]], project: Mapping[str, Path | None] | Path | None
) -> list[BenchmarkProblem]:
    """Make problems from traced theorems, each with its split, without their proofs.

    ``project`` is the folder with the repository's files, or one for each address.
    """
    theorems = list(found)
    names = Counter(theorem.full_name for theorem, _ in theorems)
    problems = []
    for theorem, split in theorems:
        where = project.get(theorem.url) if isinstance(project, Mapping) else project
        twice = names[theorem.full_name] > 1  # private theorems of two files, for example
        place = f"{theorem.full_name} ({theorem.file_path}:{theorem.start[0]})"
        problems.append(
            BenchmarkProblem(
                full_name=place if twice else theorem.full_name,
                statement=theorem.theorem_statement or f"theorem {theorem.full_name} :=",  # 1.x
                theorem=attrs.evolve(theorem, traced_tactics=()),
                project=where,
                split=split,
            )
        )
    return problems
