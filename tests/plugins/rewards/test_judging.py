"""Each question once: what happens to the others when one cannot be asked or answered."""

from __future__ import annotations

from concurrent.futures import CancelledError, Future
from pathlib import Path

import pytest

from lean_dojo_plugins.rewards.judging import CachedJudge
from lean_dojo_plugins.rewards.replay import StateSpec, judge as judge_steps
from lean_dojo_v2.lean.errors import EngineKilledError
from lean_dojo_v2.lean.verify.outcomes import TacticOutcome, Verdict

SOLVED, FAILED = TacticOutcome(Verdict.SOLVED), TacticOutcome(Verdict.FAILED)
HERE, THERE = StateSpec("⊢ here"), StateSpec("⊢ there", Path("elsewhere"))


class Desk:
    """Answers every tactic, unless all requests fail."""

    def __init__(self):
        self.requests: list[tuple[StateSpec, tuple[str, ...]]] = []
        self.answers = {"a": SOLVED, "b": FAILED, "c": FAILED}
        self.error: BaseException | None = None

    def submit(self, project, fn, spec, tactics, timeout, **labels):
        self.requests.append((spec, tactics))
        future: Future = Future()
        if self.error is None:
            future.set_result([self.answers[tactic] for tactic in tactics])
        else:
            future.set_exception(self.error)
        return future


@pytest.fixture
def desk():
    return Desk()


def test_one_request_a_state_and_none_for_what_is_known(desk):
    judge = CachedJudge(desk, 10, judge_steps)
    asked = [(HERE, "a"), (HERE, "b"), (HERE, "a"), (THERE, "a")]
    assert judge.judgements(asked, timeout=1) == [SOLVED, FAILED, SOLVED, SOLVED]
    assert judge.judgements([(HERE, "b"), (HERE, "c")], timeout=1) == [FAILED, FAILED]
    assert desk.requests == [(HERE, ("a", "b")), (THERE, ("a",)), (HERE, ("c",))]


def test_a_failed_request_is_not_remembered(desk):
    judge = CachedJudge(desk, 10, judge_steps)
    desk.error = ValueError("a defect")
    with pytest.raises(ValueError, match="a defect"):
        judge.judgements([(HERE, "a")], timeout=1)
    desk.error = None
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
    judge.judgements([(HERE, "a"), (HERE, "b")], timeout=1)
    assert judge.judgements([(HERE, "b")], timeout=1) == [FAILED]
    assert len(desk.requests) == 1
    assert judge.judgements([(HERE, "a")], timeout=1) == [SOLVED]
    assert len(desk.requests) == 2
