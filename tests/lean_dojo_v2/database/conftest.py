"""Made-up traced data for the database's tests, and a database in each of the two formats."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lean_dojo_core.records import Annotation, Premise, PremiseFile, Theorem, TracedTactic
from lean_dojo_v2.database import DynamicDatabase, Repository

URL = "https://github.com/somebody/library"


def make_theorem(
    name: str = "Foo.bar",
    *tactics: str | TracedTactic,
    path: str = "Foo.lean",
    url: str = URL,
    commit: str = "c0",
    start: tuple[int, int] = (3, 1),
    premises: tuple[str, ...] = (),
) -> Theorem:
    annotations = tuple(Annotation(p, "Lib.lean", (1, 9), (1, 12)) for p in premises)
    traced = tuple(
        TracedTactic(t, f"⊢ goal {i}", "no goals", premises=annotations if i == 0 else ())
        if isinstance(t, str)
        else t
        for i, t in enumerate(tactics)
    )
    end = (start[0] + 2, 10)
    return Theorem(name, path, start, end, url, commit, f"theorem {name} : 1 = 1 :=", traced)


def make_repository(
    number: int = 0, theorems: int = 12, *, seed: int = 0, date: str = "2026-01-01T00:00:00"
) -> Repository:
    """A small repository with all that occurs: sorry, no tactics, dependencies, odd tactics."""
    rng = random.Random(f"{seed}-{number}-{theorems}")
    url, commit = f"https://github.com/owner{number}/repo{number}", f"{number:040x}"
    repository = Repository(url, commit, lean_version="v4.28.0", metadata={"date_processed": date})
    for index in range(theorems):
        used = tuple(f"Lib.p{rng.randrange(40)}" for _ in range(rng.randrange(4)))
        tactics: list[str | TracedTactic] = [f"step {step}" for step in range(rng.randrange(1, 6))]
        if index % 5 == 4:
            tactics = []
        if index % 6 == 1:
            tactics.append(TracedTactic("done", "no goals", "no goals", start=(4, 3), end=(4, 7)))
        if index % 4 == 3:
            tactics = ["intro x", "sorry"]
        theorem = make_theorem(
            f"N{number}.t{index}",
            *tactics,
            path=f"Lib/F{index % 3}.lean",
            url=url,
            commit=commit,
            start=(5 * index + 1, 1),
            premises=used,
        )
        chosen = "sorry_theorems_unproved" if index % 4 == 3 else "proven_theorems"
        getattr(repository, chosen).append(theorem)
    premises = tuple(
        Premise(f"Lib.p{i}", f"theorem p{i} : True := trivial", (i + 1, 1), (i + 1, 30), "theorem")
        for i in range(5)
    )
    repository.premise_files += [
        PremiseFile("Lib/F2.lean", ("Lib/F1.lean",)),
        PremiseFile("Lib/F1.lean", ("Lib/F0.lean", "Elsewhere.lean"), premises[:2]),
        PremiseFile("Lib/F0.lean", (), premises[2:]),
    ]
    repository.files_traced += ["Lib/F0.lean", "Lib/F1.lean", f"Only{number}.lean"]
    return repository


@pytest.fixture
def theorem() -> Callable[..., Theorem]:
    return make_theorem


@pytest.fixture
def repository() -> Callable[..., Repository]:
    return make_repository


@pytest.fixture(params=["json", "sqlite"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Where a database is to be: once as JSON, once as SQLite."""
    return tmp_path / f"db.{request.param}"


@pytest.fixture
def database(path: Path) -> Iterator[DynamicDatabase]:
    with DynamicDatabase(path) as opened:
        yield opened
