"""The reward suite: each check fails for one bad reward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from lean_dojo_core.testing import RewardFunctionSuite

Problems = Callable[..., dict[str, str]]


class Good:
    """Shorter is better."""

    def __call__(self, completions: list[str], **kwargs: Any) -> list[float | None]:
        return [None if "sorry" in text else -float(len(text)) for text in completions]


class Undocumented:
    def __call__(self, completions: list[str], **kwargs: Any) -> list[float]:
        return [0.0] * len(completions)


class Weighty(Good):
    """Its setting cannot be set."""

    def __init__(self, weight: float = 1.0) -> None:
        self.weight = weight


class NoColumns:
    """Takes no columns."""

    def __call__(self, completions: list[str], prompts: Any = None) -> list[float]:
        return [0.0] * len(completions)


class OneNumber:
    """Gives a single number."""

    def __call__(self, completions: list[str], **kwargs: Any) -> float:
        return 1.0


class TooFew:
    """Loses one."""

    def __call__(self, completions: list[str], **kwargs: Any) -> list[float]:
        return [1.0] * (len(completions) - 1)


class Words:
    """Gives words."""

    def __call__(self, completions: list[str], **kwargs: Any) -> list[str]:
        return ["good"] * len(completions)


class Infinite:
    """Gives infinity."""

    def __call__(self, completions: list[str], **kwargs: Any) -> list[float]:
        return [float("inf")] * len(completions)


class Fragile:
    """Raises on an empty completion."""

    def __call__(self, completions: list[str], **kwargs: Any) -> list[float]:
        return [float(ord(text[0])) for text in completions]


class NoEmptyBatch:
    """Cannot take an empty batch."""

    def __call__(self, completions: list[str], **kwargs: Any) -> list[float]:
        longest = max(map(len, completions))
        return [len(text) / (longest or 1) for text in completions]


class Random:
    """Is random."""

    made: ClassVar[int] = 0

    def __init__(self) -> None:
        Random.made += 1
        self.number = Random.made

    def __call__(self, completions: list[str], **kwargs: Any) -> list[float]:
        return [float(self.number)] * len(completions)


class Unpicklable:
    """Holds an open function."""

    def __init__(self) -> None:
        self.inner = lambda text: float(len(text))

    def __call__(self, completions: list[str], **kwargs: Any) -> list[float]:
        return [self.inner(text) for text in completions]


class Meddling:
    """Changes its input."""

    def __call__(self, completions: list[str], **kwargs: Any) -> list[float]:
        count = len(completions)
        completions.clear()
        return [0.0] * count


class Asynchronous:
    """Scores asynchronously."""

    async def __call__(self, completions: list[str], **kwargs: Any) -> list[float]:
        return [0.0] * len(completions)


def test_a_good_reward_passes(problems: Problems) -> None:
    assert problems(RewardFunctionSuite, Good) == {}
    assert problems(RewardFunctionSuite, Asynchronous) == {}


def test_tensors_and_arrays_pass(problems: Problems) -> None:
    import torch

    class Tensor(Good):
        """Gives a tensor."""

        def __call__(self, completions: list[str], **kwargs: Any) -> Any:
            return torch.tensor([float(len(text)) for text in completions])

    assert set(problems(RewardFunctionSuite, Tensor)) == {"pickles"}  # it is a local class


@pytest.mark.parametrize(
    ("made", "check", "advice"),
    [
        (Undocumented, "has_a_docstring", "describe what it does"),
        (Weighty, "leaves_the_word_weight_free", "give the setting another name"),
        (NoColumns, "takes_columns_by_keyword", "add **kwargs"),
        (OneNumber, "gives_one_number_per_completion", "return a list"),
        (TooFew, "gives_one_number_per_completion", "3 numbers for 4 completions"),
        (Words, "gives_one_number_per_completion", "'good', which is not a number"),
        (Infinite, "gives_one_number_per_completion", "bound it"),
        (Fragile, "takes_odd_completions", "IndexError"),
        (NoEmptyBatch, "takes_an_empty_batch", "ValueError"),
        (Random, "two_fresh_ones_agree", "seed what is random"),
        (Unpicklable, "pickles", "define it at module level"),
        (Meddling, "leaves_its_input_alone", "copy what you want to change"),
    ],
)
def test_a_bad_reward_fails_with_advice(
    problems: Problems, made: type, check: str, advice: str
) -> None:
    found = problems(RewardFunctionSuite, made)
    assert advice in found[check]


def test_an_object_that_cannot_be_made_is_reported_once(problems: Problems) -> None:
    class Picky(Good):
        """Needs an option."""

        def __init__(self, weight: float) -> None: ...

    found = problems(RewardFunctionSuite, Picky)
    assert set(found) == {"can_be_made"}
    assert "weight" in found["can_be_made"]


def test_objects_are_closed_afterwards(problems: Problems) -> None:
    closed: list[object] = []

    class Wrapper(Good):
        """Delegates to a reward that holds a server."""

        def __getattr__(self, name: str) -> Any:
            if name == "close":
                return lambda: closed.append(self)
            raise AttributeError(name)

    problems(RewardFunctionSuite, Wrapper)
    assert len({id(one) for one in closed}) == len(closed) >= 3
