"""Each question once: what happens to the others when one cannot be asked or answered."""

from __future__ import annotations

from concurrent.futures import CancelledError, Future
from pathlib import Path

import pytest

from lean_dojo_core.errors import LeanDojoError
from lean_dojo_plugins.rewards.judging import CachedJudge
from lean_dojo_plugins.rewards.replay import StateSpec, judge as judge_steps
from lean_dojo_v2.lean.errors import EngineKilledError
from lean_dojo_v2.lean.verify.outcomes import TacticOutcome, Verdict

SOLVED, FAILED = TacticOutcome(Verdict.SOLVED), TacticOutcome(Verdict.FAILED)
HERE, THERE = StateSpec("⊢ here"), StateSpec("⊢ there", Path("elsewhere"))


class Desk:
    """Takes requests and leaves the answers to the test, unless all of them fail."""

    def __init__(self):
        self.requests: list[tuple[StateSpec, tuple[str, ...]]] = []
        self.futures: list[Future] = []
        self.refuses: Path | None = None
        self.error: BaseException | None = None

    def submit(self, project, fn, spec, tactics, timeout, **labels):
        if self.refuses and project == self.refuses:
            raise LeanDojoError("no engine there")
        self.requests.append((spec, tactics))
        self.futures.append(Future())
        if self.error is not None:
            self.futures[-1].set_exception(self.error)
        return self.futures[-1]


@pytest.fixture
def desk():
    return Desk()


def test_one_request_a_state_and_none_for_what_is_known_or_under_way(desk):
    judge = CachedJudge(desk, 10, judge_steps)
    judge.ask([(HERE, "a"), (HERE, "b"), (HERE, "a")], timeout=1)
    judge.ask([(HERE, "b"), (HERE, "c")], timeout=1)
    assert desk.requests == [(HERE, ("a", "b")), (HERE, ("c",))]
    desk.futures[0].set_result([SOLVED, FAILED])
    desk.futures[1].set_result([FAILED])
    assert judge.judgements([(HERE, "b"), (HERE, "a")], timeout=1) == [FAILED, SOLVED]
    assert len(desk.requests) == 2


def test_a_request_that_cannot_be_made_leaves_the_others_alone(desk):
    judge = CachedJudge(desk, 10, judge_steps)
    desk.refuses = THERE.project
    with pytest.raises(LeanDojoError, match="no engine there"):
        judge.ask([(HERE, "a"), (THERE, "b"), (HERE, "c")], timeout=1)
    desk.refuses = None
    # The first one is under way, and counts when it is answered; the other is asked again.
    desk.futures[0].set_result([SOLVED, FAILED])
    assert judge.judgements([(HERE, "a"), (HERE, "c")], timeout=1) == [SOLVED, FAILED]
    judge.ask([(THERE, "b")], timeout=1)
    assert desk.requests == [(HERE, ("a", "c")), (THERE, ("b",))]


def test_whoever_waits_for_a_request_that_was_not_made_is_told(desk):
    """A second thread asks what the first one is about to fail to send."""
    judge = CachedJudge(desk, 10, judge_steps)
    second = []

    class Refusing(Desk):
        def submit(self, *args, **labels):
            second.append(judge.ask([(HERE, "a")], timeout=1)[HERE, "a"])
            raise LeanDojoError("no engine here")

    judge._engines = Refusing()
    with pytest.raises(LeanDojoError):
        judge.ask([(HERE, "a")], timeout=1)
    [(promise, _)] = second
    with pytest.raises(LeanDojoError, match="no engine here"):
        promise.result()


def test_a_failed_request_is_not_remembered(desk):
    judge = CachedJudge(desk, 10, judge_steps)
    desk.error = ValueError("a defect")
    with pytest.raises(ValueError, match="a defect"):
        judge.judgements([(HERE, "a")], timeout=1)
    desk.error = None
    judge.ask([(HERE, "a")], timeout=1)
    desk.futures[1].set_result([SOLVED])
    assert judge.judgements([(HERE, "a")], timeout=1) == [SOLVED]


@pytest.mark.parametrize("loss", [EngineKilledError("two engines died", "here"), CancelledError()])
def test_lost_engines_leave_no_judgement(desk, loss):
    judge = CachedJudge(desk, 10, judge_steps)
    desk.error = loss
    [judged] = judge.judgements([(HERE, "a")], timeout=1)
    assert judged.verdict is Verdict.UNOPENED
    assert judged.detail == (str(loss) or "the engines were closed before this was checked")


def test_old_judgements_make_room(desk):
    judge = CachedJudge(desk, 1, judge_steps)
    judge.ask([(HERE, "a"), (HERE, "b")], timeout=1)
    desk.futures[0].set_result([SOLVED, FAILED])
    assert judge.judgements([(HERE, "b")], timeout=1) == [FAILED]
    judge.ask([(HERE, "a")], timeout=1)
    assert len(desk.requests) == 2
