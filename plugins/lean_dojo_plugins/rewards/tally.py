"""Log messages of the verified rewards about unreadable completions and inexact states."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Sequence

from lean_dojo_plugins.rewards.judging import Question
from lean_dojo_plugins.rewards.replay import Fallback
from lean_dojo_plugins.rewards.shares import NOT_A_TACTIC
from lean_dojo_v2.lean.verify.outcomes import TacticOutcome, Verdict

_log = logging.getLogger(__name__)
SHOWN = 200
"""Characters shown of an example."""
_MEANS: dict[str, str] = {
    Fallback.NO_DIGEST: "the data has no digest of the state, so the replayed one is compared by "
    "its text",
    Fallback.NO_PLACE: "the row does not name its theorem, so its state is opened from its text",
    Fallback.NO_REPOSITORY: "the repository's folder does not exist, so the state is opened from "
    "its text",
    Fallback.NO_REPLAY: "Lean cannot replay the proof up to there, so the state is opened from "
    "its text",
    Fallback.ANOTHER_STATE: "that place of the proof has another state, so the traced one is "
    "opened from its text",
}


class UnparsedTally:
    """Counts over the life of a reward; safe to use from several threads.

    The number of unreadable completions is logged at the first one, and again whenever the number
    of completions has doubled; each kind of fallback is logged once, and so is a theorem that
    cannot be judged.

    Args:
        name: The reward.
        wanted: What a completion should be, for example ``one tactic``.
    """

    def __init__(self, name: str, wanted: str) -> None:
        self._name = name
        self._wanted = wanted
        self._total = 0
        self._next = 0
        self._unparsed: Counter[str] = Counter()
        self._said: set[str | None] = set()
        self._lock = threading.Lock()

    def count(self, questions: Sequence[Question], judgements: Sequence[TacticOutcome]) -> None:
        """Count a batch, and log what is due."""
        with self._lock:
            self._total += len(judgements)
            example: str | None = None
            for (spec, text), judgement in zip(questions, judgements, strict=True):
                if judgement.verdict is Verdict.UNPARSED:
                    self._unparsed[str(judgement.reason or NOT_A_TACTIC)] += 1
                    example = example or text
                exact = judgement.fallback is None and judgement.verdict is not Verdict.UNOPENED
                if not exact and judgement.fallback not in self._said:
                    self._said.add(judgement.fallback)
                    self._say_unopened(judgement, spec.goal)
            if example is not None and self._total >= self._next:
                self._next = 2 * self._total
                _log.warning(
                    "%s: %d of %d completions so far were not %s (%s), for example %r",
                    self._name,
                    self._unparsed.total(),
                    self._total,
                    self._wanted,
                    ", ".join(f"{why}: {count}" for why, count in self._unparsed.most_common()),
                    example[:SHOWN],
                )

    def _say_unopened(self, judgement: TacticOutcome, goal: str) -> None:
        why, fails = judgement.fallback, judgement.detail
        if why is None:
            count, means = "lean/unopened", "the reward does not apply"
        else:
            count, means = f"lean/fallback/{why}", _MEANS[why]
            fails = f"that fails: {fails}" if judgement.verdict is Verdict.UNOPENED else ""
        _log.warning(
            "%s: %s (%s counts these), first for %r%s",
            self._name,
            means,
            count,
            goal[-SHOWN:],
            fails and f"; {fails}",
        )
