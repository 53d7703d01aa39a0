"""The adapter between rewards and TRL: shapes, numbers, culprits."""

from __future__ import annotations

import asyncio
import math
import pickle
import threading
import time

import numpy as np
import pytest
import torch

from lean_dojo_core.errors import ConfigError, UnknownNameError, UsageError
from lean_dojo_plugins.grpo.trainer import GRPOTrainer
from lean_dojo_plugins.rewards.adapter import adapt, completion_texts
from lean_dojo_plugins.rewards.constant import Constant
from lean_dojo_plugins.rewards.length import LengthPenalised
from lean_dojo_plugins.rewards.resolve import resolve_rewards
from lean_dojo_v2.errors import RewardError

CHAT = [[{"role": "assistant", "content": "simp"}], [{"role": "assistant", "content": "rfl"}]]


@pytest.mark.parametrize(
    ("completion", "text"),
    [
        ("simp", "simp"),
        ([{"role": "assistant", "content": "simp"}], "simp"),
        ([{"role": "assistant", "content": None}], ""),
        ([{"role": "assistant", "content": [{"type": "text", "text": "rfl"}]}], "rfl"),
        ([{"role": "assistant", "content": "a"}, {"role": "tool", "content": "x"}], "a"),
        ([], ""),
    ],
)
def test_messages_become_text(completion, text):
    assert completion_texts([completion]) == [text]


def test_other_things_are_no_completion():
    with pytest.raises(TypeError, match="not int"):
        completion_texts([3])


def test_a_documented_reward_sees_text_and_may_return_a_tensor():
    seen = {}

    def reward_func(completions, **kwargs):
        seen.update(kwargs, completions=completions)
        return torch.tensor([1.0] * len(completions))

    scores = adapt(reward_func)(completions=CHAT, problem=["p", "q"], trainer_state="s")
    assert scores == [1.0, 1.0]
    assert seen == {"completions": ["simp", "rfl"], "problem": ["p", "q"], "trainer_state": "s"}


@pytest.mark.parametrize(
    ("result", "scores"),
    [
        ([1, None], [1.0, None]),
        ((True, 0.5), [1.0, 0.5]),
        (np.array([0.5, np.nan]), [0.5, None]),
        ([np.float32(0.5), torch.tensor(2)], [0.5, 2.0]),
        (torch.tensor([1, 2]), [1.0, 2.0]),
        ([math.nan, -1], [None, -1.0]),
    ],
)
def test_every_numeric_form_is_taken(result, scores):
    assert adapt(lambda completions, **_: result)(CHAT) == scores


@pytest.mark.parametrize(
    ("result", "complaint"),
    [
        ([1.0], "returned 1 rewards for 2 completions"),
        (None, "returned NoneType"),
        (1.0, "returned float"),
        (torch.tensor(1.0), "returned Tensor"),
        ("ab", "returned str"),
        ([1.0, "x"], "reward 1 is 'x'"),
        ([math.inf, 0], "reward 0 is inf"),
        (torch.ones(2, 2), r"reward 0 is \[1.0, 1.0\]"),
    ],
)
def test_a_wrong_result_names_the_reward_its_plugin_and_the_item(result, complaint):
    reward = adapt(lambda completions, **_: result, name="mine", provenance="my-plugin 1.2")
    with pytest.raises(RewardError, match=f"reward 'mine' of my-plugin 1.2.*{complaint}"):
        reward(CHAT)


def test_a_raising_reward_is_reported_with_the_completion_that_raises():
    def picky(completions, problem, **_):
        if problem != ["p"] and "rfl" in completions:
            raise ValueError("no rfl please")
        return [0.0] * len(completions)

    with pytest.raises(
        RewardError, match=r"'picky' raised ValueError: no rfl.*completion 1: 'rfl'"
    ):
        adapt(picky)(CHAT, problem=["p", "q"])


def test_an_async_reward_is_awaited_and_checked():
    loops = set()

    async def judge(completions, **_):
        loops.add(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return [float(len(text)) for text in completions]

    async def broken(completions, **_):
        return [1.0]

    async def leaves(completions, **_):
        raise SystemExit(3)

    ended = threading.Event()

    async def hangs(completions, **_):
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    assert adapt(judge)(CHAT) == adapt(judge)(CHAT) == [4.0, 3.0]
    assert len(loops) == 1, "a client of its own may keep its connections"
    with pytest.raises(RewardError, match="1 rewards for 2"):
        adapt(broken)(CHAT)
    with pytest.raises(RewardError, match=r"'hangs' has run for more than 0\.1 s"):
        adapt(hangs, timeout=0.1)(CHAT)
    with pytest.raises(RewardError, match=r"'leaves' raised SystemExit: 3"):
        adapt(leaves)(CHAT)
    assert ended.wait(10), "it is cancelled"
    assert adapt(judge)(CHAT) == [4.0, 3.0]


def test_names_are_made_unique_because_trl_shares_columns_by_name():
    rewards = resolve_rewards([Constant(), Constant(2.0), "constant:0.5"])
    assert [reward.__name__ for reward in rewards] == ["Constant", "Constant-2", "constant"]
    assert [reward.weight for reward in rewards] == [1.0, 1.0, 0.5]


def test_options_reach_the_reward():
    [reward] = resolve_rewards({"constant": {"weight": 0.5, "value": 3}})
    assert reward.weight == 0.5
    assert reward(["x"]) == [3.0]


def test_rewards_from_outside_need_no_plugin():
    [thinks] = resolve_rewards({"trl:think_format_reward": 0.5})
    thought = [{"role": "assistant", "content": "<think>\nhm\n</think>\nsimp"}]
    assert thinks([thought, CHAT[0]]) == [1.0, 0.0]
    [dumps] = resolve_rewards("json:dumps")
    assert dumps.name == "dumps"


@pytest.mark.parametrize(
    ("wanted", "complaint"),
    [
        ("constnat", "Did you mean 'constant'"),
        ("no_such_module:f", "no module is called 'no_such_module'"),
        ("statistics:nope", "no attribute 'nope'"),
        ("trl:nope", "nope"),
    ],
)
def test_unknown_rewards_are_usage_errors(wanted, complaint):
    with pytest.raises(UnknownNameError, match=complaint) as caught:
        resolve_rewards(wanted)
    assert caught.value.exit_code == 2


def test_nothing_and_bad_weights_are_usage_errors():
    with pytest.raises(UsageError, match="no reward"):
        resolve_rewards([])
    with pytest.raises(UsageError, match="not a number"):
        resolve_rewards({"constant": True})


CONSTANT = "lean_dojo_plugins.rewards.constant:Constant"


@pytest.mark.parametrize(
    ("wanted", "complaint"),
    [
        (":nope", "importing '' failed"),
        (5, r"5 \(int\) is not a reward; give a name such as"),
        (None, r"None \(NoneType\) is not a reward"),
        (["constant", 1], r"1 \(int\) is not a reward"),
        ({1: 0.5}, r"1 \(int\) is not a reward"),
        ("constant:nan", "'constant': the weight nan is not a finite number"),
        (f"{CONSTANT}:inf", f"'{CONSTANT}': the weight inf is not a finite number"),
        (["length-penalised:-inf"], "'length-penalised': the weight -inf is not a finite"),
        ({"constant": math.inf}, "'constant': the weight inf is not a finite"),
        ({CONSTANT: {"vlaue": 2}}, f"'{CONSTANT}' cannot be made with the options.*'vlaue'"),
        ({CONSTANT: {"value": "x"}}, f"'{CONSTANT}' cannot be made with the options.*'x'"),
        ("datetime:date", "'datetime:date' cannot be made without options.*'year'"),
        ({"statistics:mean": {"bias": 1}}, "'statistics:mean' cannot be made with.*'bias'"),
    ],
)
def test_what_is_no_reward_or_cannot_be_made_is_one_usage_error(wanted, complaint):
    with pytest.raises(UsageError, match=complaint) as caught:
        resolve_rewards(wanted)
    assert caught.value.exit_code == 2


def test_an_attribute_called_as_a_number_is_no_weight():
    with pytest.raises(UsageError, match="'math:nan' is not callable"):
        resolve_rewards("math:nan")


def test_the_documented_formula():
    tactics = ["", "simp", "x" * 200, "x" * 500, "sorry", "my_sorry_lemma", "admit"]
    assert LengthPenalised()(tactics) == [1.0, 0.98, 0.0, 0.0, -1.0, -1.0, -1.0]
    assert LengthPenalised()(CHAT) == LengthPenalised()(["simp", "rfl"])


@pytest.mark.parametrize("reward", [Constant(2), LengthPenalised(), adapt(Constant(), name="n")])
def test_rewards_pickle(reward):
    assert pickle.loads(pickle.dumps(reward))(["simp"]) == reward(["simp"])


@pytest.mark.parametrize(
    "function", [lambda c: 1, lambda: 1, lambda texts, scale=1: [], lambda *texts: []]
)
def test_a_reward_that_cannot_take_completions_hears_how_they_are_called(function):
    with pytest.raises(UsageError, match="its first parameter must be called 'completions'"):
        resolve_rewards(function)


def test_a_first_parameter_that_is_no_column_may_be_meant_for_the_completions(tiny_model):
    def mine(texts, **kwargs):
        return [0.0 for _ in texts]

    with pytest.raises(ConfigError, match=r"column 'texts'.* are passed as 'completions'"):
        GRPOTrainer(tiny_model, mine, device="cpu").preflight()


def test_a_reward_that_hangs_is_given_up_where_the_user_sets_a_limit():
    def hangs(completions, **_):
        time.sleep(60)

    assert adapt(hangs).timeout is None
    assert resolve_rewards({"constant": {"timeout": 120}})[0].timeout == 120
    assert resolve_rewards({"constant": {"timeout": None}})[0].timeout is None
    # Its own setting of that name limits Lean.
    assert resolve_rewards("pantograph-verified")[0].timeout is None
    with pytest.raises(RewardError, match=r"'hangs' has run for more than 0\.1 s"):
        adapt(hangs, timeout=0.1)(["simp"])


def test_warming_up_has_the_same_limit():
    class Slow:
        def __call__(self, completions, **_):
            return [1.0] * len(completions)

        def warm_up(self, **_):
            time.sleep(60)

    with pytest.raises(RewardError, match=r"'slow' has run for more than 0\.1 s"):
        adapt(Slow(), name="slow", timeout=0.1).warm_up()


def test_an_interrupt_of_the_user_stays_one():
    def interrupted(completions, **_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        adapt(interrupted)(["simp"])
