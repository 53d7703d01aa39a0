"""The results of a benchmark run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from lean_dojo_v2.benchmarks.attempts import Attempt, AttemptFolder, differences
from lean_dojo_v2.benchmarks.statistics import Comparison, Estimate, Share, curve, pass_at

PROVER, AUTOMATION = "prover", "automation"
"""Whose attempts a run's folder holds."""


@attrs.frozen
class Summary:
    """The results of attempts at some theorems.

    Attributes:
        proved: Theorems that at least one attempt proved.
        groups: The same for each split of the benchmark.
        attempts: Attempts at each theorem.
        pass_at: Estimated share of theorems that ``k`` attempts prove, by ``k``.
        curve: Expansions, rising, each with the proofs found within so many by one attempt (the
            mean over attempts). Of proofs that were written in one go: attempts, each with the
            theorems that so many prove.
        expansions: States expanded, in all.
        samples: Tactics or proofs sampled, in all.
        lean_calls: Questions to Lean, in all.
        refused_proofs: Finished-looking proofs that full verification refused, in all.
        seconds: Time spent on the theorems, in all.
        reasons: How many attempts ended without a proof for each reason.
        ended_by_clock: Theorems where a limit in seconds ended something.
        not_counted: Theorems whose attempts an engine or an endpoint failed.
    """

    proved: Share
    groups: Mapping[str, Share]
    attempts: int
    pass_at: Mapping[int, Estimate]
    curve: Sequence[tuple[int, float]]
    expansions: int
    samples: int
    lean_calls: int
    refused_proofs: int
    seconds: float
    reasons: Mapping[str, int]
    ended_by_clock: tuple[str, ...]
    not_counted: tuple[str, ...]

    @classmethod
    def of(cls, attempts: Sequence[Attempt], failed: Sequence[Attempt] = ()) -> Summary:
        """Add attempts up.

        Args:
            attempts: Those that count.
            failed: Those that an engine or an endpoint failed.
        """
        by_name: dict[str, list[Attempt]] = defaultdict(list)
        for attempt in attempts:
            by_name[attempt.name].append(attempt)
        most = min(map(len, by_name.values()), default=0)
        tries = [(len(mine), sum(a.success for a in mine)) for mine in by_name.values()]
        ks = [k for k in (1, 2, 4, 8, 16, 32, 64, 128) if k < most] + ([most] if most else [])
        groups: dict[str, list[bool]] = defaultdict(list)
        for mine in by_name.values():
            groups[mine[0].group or ""].append(any(a.success for a in mine))
        passed = {k: pass_at(k, tries) for k in ks}
        proofs = [attempt.expansions for attempt in attempts if attempt.success]
        points = curve(proofs, 1 / most if most else 1.0)
        if not any(attempt.expansions for attempt in attempts):
            points = [(k, one.value * len(tries)) for k, one in passed.items()]
        return cls(
            proved=_share(proved_by(attempts).values()),
            groups={name: _share(found) for name, found in groups.items() if name},
            attempts=most,
            pass_at=passed,
            curve=points,
            expansions=sum(a.expansions for a in attempts),
            samples=sum(a.samples for a in attempts),
            lean_calls=sum(a.lean_calls for a in attempts),
            refused_proofs=sum(a.refused_proofs for a in attempts),
            seconds=round(sum(a.seconds for a in attempts), 1),
            reasons=dict(Counter(a.reason for a in attempts if a.reason)),
            ended_by_clock=_names(a for a in attempts if a.ended_by_clock),
            not_counted=_names(failed),
        )


def _most(attempts: Sequence[Attempt]) -> int:
    """Count the attempts at each theorem that a run was to make."""
    return max((one.number + 1 for one in attempts), default=0)


def _share(found: Any) -> Share:
    values = list(found)
    return Share.of(sum(values), len(values))


def _names(attempts: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(attempt.name for attempt in attempts))


def proved_by(attempts: Sequence[Attempt]) -> dict[str, bool]:
    """Say for each theorem whether an attempt proved it."""
    found: dict[str, bool] = {}
    for attempt in attempts:
        found[attempt.name] = found.get(attempt.name, False) or attempt.success
    return found


@attrs.frozen
class Compared:
    """A comparison of two runs on the theorems that both tried.

    Attributes:
        run: The other run's folder.
        attempts: Attempts at each theorem that are compared: the first ones, as many as the run
            with fewer has made.
        differences: Settings other than the prover's that differ there, by their dotted names.
        theorems: Theorems that both tried.
        counts: Which proved what; ``first`` is this run.
        gained: Theorems that this run alone proved.
        lost: Theorems that the other alone proved.
    """

    run: str
    attempts: int
    differences: tuple[str, ...]
    theorems: int
    counts: Comparison
    gained: tuple[str, ...]
    lost: tuple[str, ...]


@attrs.frozen
class Report:
    """What a run of a benchmark found.

    Attributes:
        asked: What was asked.
        prover: What the prover did.
        automation: What Lean's own automation does alone; ``None`` if it was not asked.
        beyond: Theorems that the prover proved and automation does not.
        missed: Theorems that automation proves and the prover did not.
        compared: The run beside another one; ``None`` without.
    """

    asked: Mapping[str, Any]
    prover: Summary
    automation: Summary | None
    beyond: tuple[str, ...]
    missed: tuple[str, ...]
    compared: Compared | None

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return attrs.asdict(self)


def read_report(folder: AttemptFolder, other: AttemptFolder | None = None) -> Report:
    """Read what a run has found so far.

    Args:
        folder: The run.
        other: Another run to compare with.

    Raises:
        DataError: If a folder holds no run.
    """
    mine = folder.attempts(PROVER)
    lean = folder.attempts(AUTOMATION)
    proved, automatic = proved_by(mine), proved_by(lean)
    both = [name for name in proved if name in automatic]
    return Report(
        asked=folder.asked(),
        prover=Summary.of(mine, folder.failed(PROVER)),
        automation=Summary.of(lean, folder.failed(AUTOMATION)) if lean else None,
        beyond=tuple(name for name in both if proved[name] and not automatic[name]),
        missed=tuple(name for name in both if automatic[name] and not proved[name]),
        compared=None if other is None else _compare(folder, other),
    )


def _compare(folder: AttemptFolder, other: AttemptFolder) -> Compared:
    first, second = folder.attempts(PROVER), other.attempts(PROVER)
    fewest = min(_most(first), _most(second))  # more attempts prove more, whoever makes them
    mine, theirs = (
        proved_by([one for one in made if one.number < fewest]) for made in (first, second)
    )
    names = [name for name in mine if name in theirs]
    here, there = ({**one.asked(), "prover": None} for one in (folder, other))
    return Compared(
        run=str(other.path),
        attempts=fewest,
        differences=tuple(differences(here, there)),
        theorems=len(names),
        counts=Comparison.of((mine[name], theirs[name]) for name in names),
        gained=tuple(name for name in names if mine[name] and not theirs[name]),
        lost=tuple(name for name in names if theirs[name] and not mine[name]),
    )
