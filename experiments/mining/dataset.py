"""Mined proofs as a traced repository, which every trainer learns from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count

import attrs

from lean_dojo_core.records import Theorem, TracedTactic
from lean_dojo_v2.data.repository import Repository
from lean_dojo_v2.database.export.splits import split_of
from lean_dojo_v2.lean.engines.embedded.install import EMBEDDED_LEAN_VERSION
from mining.miner import Mined

URL = "https://github.com/leanprover/lean4"


def repository(mined: Iterable[Mined], date: str) -> Repository:
    """Make a repository of the proofs that were found at an ISO date."""
    theorems = [theorem for one in mined for theorem in _theorems(one)]
    return Repository(
        url=URL,
        commit=f"v{EMBEDDED_LEAN_VERSION}",
        lean_version=f"v{EMBEDDED_LEAN_VERSION}",
        metadata={"date_processed": date},
        proven_theorems=theorems,
        files_traced=sorted({theorem.file_path for theorem in theorems}),
    )


def pairs(mined: Iterable[Mined]) -> set[tuple[str, str]]:
    """Return the distinct states and tactics of the proofs."""
    return {(s.before, s.tactic) for one in mined for proof in one.proofs for s in proof}


def _theorems(mined: Mined) -> Iterator[Theorem]:
    for number, proof in enumerate(mined.proofs, 1):
        theorem = Theorem(
            full_name=mined.name,
            file_path="",
            start=(number, 1),
            end=(number, 2),
            url=URL,
            commit=f"v{EMBEDDED_LEAN_VERSION}",
            theorem_statement=mined.statement,
            traced_tactics=tuple(TracedTactic(s.tactic, s.before, s.after) for s in proof),
        )
        yield _for_training(theorem, mined.module.replace(".", "/"))


def _for_training(theorem: Theorem, path: str) -> Theorem:
    """Give a theorem a place in the training split.

    A theorem's split follows from its names. Here whole modules are held out, and of the others
    every theorem is learned; so each gets the first number of its file that puts it there.
    """
    places = (f"{path}{number or ''}.lean" for number in count())
    placed = (attrs.evolve(theorem, file_path=place) for place in places)
    return next(one for one in placed if split_of(one) == "train")
