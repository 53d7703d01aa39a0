"""Each question once: what happens to the others when one cannot be asked or answered."""

from __future__ import annotations

from concurrent.futures import CancelledError, Future

import pytest

from lean_dojo_plugins.rewards.verified import PantographVerified
from lean_dojo_v2.lean.errors import EngineKilledError
from lean_dojo_v2.lean.verify.outcomes import TacticOutcome, Verdict


class Desk:
    """Answers every tactic, unless all requests fail."""

    def __init__(self):
        self.requests: list[tuple[str, ...]] = []
        self.error: BaseException | None = None

    def submit(self, project, fn, spec, tactics, timeout, **labels):
        self.requests.append(tactics)
        future: Future = Future()
        if self.error is None:
            future.set_result([TacticOutcome(Verdict.SOLVED)] * len(tactics))
        else:
            future.set_exception(self.error)
        return future


@pytest.fixture
def reward():
    made = PantographVerified(cache_size=1)
    made.lean = Desk()
    return made


def test_a_failed_request_is_not_remembered(reward):
    reward.lean.error = ValueError("a defect")
    with pytest.raises(ValueError, match="a defect"):
        reward(["rfl"], problem=["⊢ a"])
    reward.lean.error = None
    assert reward(["rfl"], problem=["⊢ a"]) == [1.0]


@pytest.mark.parametrize("loss", [EngineKilledError("two engines died"), CancelledError()])
def test_lost_engines_leave_no_judgement(reward, loss):
    reward.lean.error = loss
    [judged] = reward.judgements(["rfl"], problem=["⊢ a"])
    assert judged.verdict is Verdict.UNOPENED
    assert judged.detail == (str(loss) or "the engines were closed before this was checked")


def test_old_judgements_make_room(reward):
    reward(["rfl", "simp"], problem=["⊢ a"] * 2)
    reward(["simp"], problem=["⊢ a"])
    reward(["rfl"], problem=["⊢ a"])
    assert reward.lean.requests == [("rfl", "simp"), ("rfl",)]
