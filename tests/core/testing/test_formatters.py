"""The formatter suite: each check fails for one bad formatter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from lean_dojo_core.testing import DatasetFormatterSuite

Problems = Callable[..., dict[str, str]]


class GoodFormat:
    """State, arrow, tactic."""

    columns = ("prompt", "completion")

    def rows(self, theorem: Any) -> Iterator[dict[str, Any]]:
        for step in theorem.traced_tactics:
            if "⊢" in step.state_before and "<a>" not in step.state_before:
                answer = [{"role": "assistant", "content": step.tactic}]
                yield {"prompt": self.prompt(step.state_before), "completion": answer}

    def prompt(self, goal: str, *, premises: Any = ()) -> list[dict[str, str]]:
        return [{"role": "user", "content": f"{goal}\n=>"}]


class OtherPrompt(GoodFormat):
    """Asks differently in training."""

    def rows(self, theorem: Any) -> Iterator[dict[str, Any]]:
        for row in super().rows(theorem):
            yield {**row, "prompt": [{"role": "user", "content": "Prove it."}]}


class UndeclaredColumn(GoodFormat):
    """Has one column more."""

    def rows(self, theorem: Any) -> Iterator[dict[str, Any]]:
        for row in super().rows(theorem):
            yield {**row, "extra": 1}


class KeepsMarks(GoodFormat):
    """Leaves marks in."""

    def rows(self, theorem: Any) -> Iterator[dict[str, Any]]:
        for step in theorem.traced_tactics:
            answer = [{"role": "assistant", "content": step.annotated}]
            yield {"prompt": self.prompt(step.state_before), "completion": answer}


class NotPlain(GoodFormat):
    """Gives records."""

    def rows(self, theorem: Any) -> Iterator[dict[str, Any]]:
        for row in super().rows(theorem):
            yield {**row, "completion": theorem}


class Raises(GoodFormat):
    """Needs a proof."""

    def rows(self, theorem: Any) -> Iterator[dict[str, Any]]:
        yield {
            "prompt": self.prompt(theorem.traced_tactics[0].state_before),
            "completion": [{"role": "assistant", "content": theorem.traced_tactics[0].tactic}],
        }


class Counting(GoodFormat):
    """Numbers its rows over its life."""

    def __init__(self) -> None:
        self.count = 0

    def rows(self, theorem: Any) -> Iterator[dict[str, Any]]:
        for row in super().rows(theorem):
            self.count += 1
            yield {**row, "completion": [{"role": "assistant", "content": str(self.count)}]}


class Silent(GoodFormat):
    """Gives nothing."""

    def rows(self, theorem: Any) -> Iterator[dict[str, Any]]:
        return iter(())


class NoPremises(GoodFormat):
    """Takes no premises."""

    def prompt(self, goal: str) -> list[dict[str, str]]:  # type: ignore[override]
        return [{"role": "user", "content": f"{goal}\n=>"}]


class TextPrompt(GoodFormat):
    """Prompts with a text."""

    def prompt(self, goal: str, *, premises: Any = ()) -> Any:
        return f"{goal}\n=>"


class HidesGoal(GoodFormat):
    """Asks without the goal."""

    def prompt(self, goal: str, *, premises: Any = ()) -> list[dict[str, str]]:
        return [{"role": "user", "content": goal.replace("⊢", "|-")}]


def test_a_good_formatter_passes(problems: Problems) -> None:
    assert problems(DatasetFormatterSuite, GoodFormat) == {}


@pytest.mark.parametrize(
    ("made", "check", "advice"),
    [
        (OtherPrompt, "prompt_is_the_text_of_training", "build rows by calling prompt()"),
        (UndeclaredColumn, "columns_are_declared", "make them agree"),
        (KeepsMarks, "rows_have_no_marks", "remove_marks"),
        (NotPlain, "rows_are_plain_data", "plain data"),
        (Raises, "takes_odd_theorems", "'term_mode'"),
        (Counting, "is_deterministic", "seed"),
        (Silent, "gives_rows", "yields no row"),
        (NoPremises, "prompt_is_a_conversation", "premises"),
        (TextPrompt, "prompt_is_a_conversation", "return a list of messages"),
        (HidesGoal, "prompt_is_a_conversation", "does not contain the goal"),
    ],
)
def test_a_bad_formatter_fails_with_advice(
    problems: Problems, made: type, check: str, advice: str
) -> None:
    found = problems(DatasetFormatterSuite, made)
    assert advice in found[check]
