"""A run with other settings is refused, with the flags that undo them."""

from __future__ import annotations

import attrs
import pytest

from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.training.run_folder import RunState, check_same_run

T = type("T", (), {})


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ({"lr": 2e-5}, {"lr": 0.1}, r"lr was 2e-05 and is 0.1. To resume it, use --set lr=2e-05;"),
        ({"epochs": 1}, {"epochs": 2}, "use --set epochs=1;"),
        (
            {"max_length": 1024, "trainer_args": {}},
            {"max_length": 9, "trainer_args": {"optim": "sgd"}},
            "To resume it, use --set max_length=1024, leave out trainer_args.optim;",
        ),
        (
            {"lora_config": {"r": 2}, "reward_func": [["constant", 1.0, {}]]},
            {"lora_config": None, "reward_func": []},
            """use --set 'lora_config={"r": 2}', give the rewards (--reward) as before; or""",
        ),
    ],
)
def test_a_refused_change_names_the_flags_as_a_shell_takes_them(before, now, said, tmp_path):
    with pytest.raises(UsageError) as error:
        check_same_run(RunState("T", before), T, now, tmp_path)
    assert said in str(error.value)


def test_a_setting_that_came_since_is_compared_by_its_default(tmp_path):
    @attrs.define
    class T:
        old: int = 1
        new: list[int] = attrs.field(factory=list)

    state = RunState("T", {"old": 1})
    check_same_run(state, T, {"old": 1, "new": []}, tmp_path)
    with pytest.raises(UsageError, match=r"new was \[\] and is \[2\]"):
        check_same_run(state, T, {"old": 1, "new": [2]}, tmp_path)
