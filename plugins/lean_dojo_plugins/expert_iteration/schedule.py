"""Choice of a round's problems: drop the easy ones, retry the others."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import attrs

from lean_dojo_core.records import BenchmarkProblem
from lean_dojo_v2.benchmarks.attempts import Attempt


@attrs.frozen
class Schedule:
    """The difficulty schedule.

    Attributes:
        skip_after: Consecutive rounds in which every attempt must prove a problem before it is
            dropped; 0: never.
        problems_per_round: Maximum number of problems per round; those tried least often go first.
    """

    skip_after: int
    problems_per_round: int | None

    def choose(
        self, problems: Sequence[BenchmarkProblem], past: Sequence[Sequence[Attempt]]
    ) -> list[BenchmarkProblem]:
        """Choose the problems of the next round in order, given the attempts of earlier rounds."""
        history = _history(past)
        left = [one for one in problems if not self._is_easy(history.get(one.full_name, []))]
        if self.problems_per_round is None or len(left) <= self.problems_per_round:
            return left

        def order(problem: BenchmarkProblem) -> tuple[int, int, bytes]:
            rounds = history.get(problem.full_name, [])
            digest = hashlib.sha256(problem.full_name.encode("utf-8", "surrogatepass")).digest()
            return len(rounds), sum(rounds), digest

        taken = {one.full_name for one in sorted(left, key=order)[: self.problems_per_round]}
        return [one for one in left if one.full_name in taken]

    def _is_easy(self, rounds: Sequence[bool]) -> bool:
        last = rounds[-self.skip_after :]
        return self.skip_after > 0 and len(last) == self.skip_after and all(last)


def _history(past: Sequence[Sequence[Attempt]]) -> Mapping[str, list[bool]]:
    """Return for every problem, per round that tried it, whether all attempts proved it."""
    history: dict[str, list[bool]] = {}
    for attempts in past:
        proved: dict[str, bool] = {}
        for attempt in attempts:
            proved[attempt.name] = proved.get(attempt.name, True) and attempt.success
        for name, always in proved.items():
            history.setdefault(name, []).append(always)
    return history
