"""The conformance suites find what they are for: one bad object a check."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import attrs
import pytest

from lean_dojo_core import registry
from lean_dojo_core.testing import (
    DatasetFormatterSuite,
    Finding,
    RewardFunctionSuite,
    Suite,
    TrainerSuite,
    check_distribution,
    run_suite,
)


def problems(suite: type[Suite], made: Any) -> dict[str, str]:
    """Run a suite over an object; an object of a class is made anew where the suite asks."""

    class Named(suite):  # type: ignore[valid-type, misc]
        def make(self) -> Any:
            return made() if isinstance(made, type) else made

    return {f.check: f.problem for f in run_suite(Named) if f.problem is not None}


# --- rewards ------------------------------------------------------------------------------------


class Good:
    """Shorter is better."""

    def __call__(self, completions: list[str], **kwargs: Any) -> list[float | None]:
        return [None if "sorry" in text else -float(len(text)) for text in completions]


class Undocumented:
    def __call__(self, completions: list[str], **kwargs: Any) -> list[float]:
        return [0.0] * len(completions)


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


def test_a_good_reward_passes() -> None:
    assert problems(RewardFunctionSuite, Good) == {}
    assert problems(RewardFunctionSuite, Asynchronous) == {}


def test_tensors_and_arrays_pass() -> None:
    import torch

    class Tensor(Good):
        """Gives a tensor."""

        def __call__(self, completions: list[str], **kwargs: Any) -> Any:
            return torch.tensor([float(len(text)) for text in completions])

    assert set(problems(RewardFunctionSuite, Tensor)) == {"pickles"}  # it is a local class


@pytest.mark.parametrize(
    ("made", "check", "advice"),
    [
        (Undocumented, "has_a_docstring", "say in it what it does"),
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
def test_a_bad_reward_is_told_what_to_change(made: type, check: str, advice: str) -> None:
    found = problems(RewardFunctionSuite, made)
    assert advice in found[check]


def test_what_cannot_be_made_is_told_once() -> None:
    class Picky(Good):
        """Needs an option."""

        def __init__(self, weight: float) -> None: ...

    found = problems(RewardFunctionSuite, Picky)
    assert set(found) == {"can_be_made"}
    assert "weight" in found["can_be_made"]


def test_what_was_made_is_closed() -> None:
    closed: list[object] = []

    class Server(Good):
        """Holds a server."""

        def close(self) -> None:
            closed.append(self)

    problems(RewardFunctionSuite, Server)
    assert len({id(one) for one in closed}) == len(closed) >= 3


# --- formatters ---------------------------------------------------------------------------------


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


class Sharing(GoodFormat):
    """Shares one list between rows."""

    answer: ClassVar[list[Any]] = [{"role": "assistant", "content": "rfl"}]

    def rows(self, theorem: Any) -> Iterator[dict[str, Any]]:
        for row in super().rows(theorem):
            yield {**row, "completion": self.answer}


def test_a_good_formatter_passes() -> None:
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
        (Silent, "gives_rows", "gives no row"),
        (NoPremises, "prompt_is_a_conversation", "premises"),
        (TextPrompt, "prompt_is_a_conversation", "give a list of messages"),
        (HidesGoal, "prompt_is_a_conversation", "does not contain the goal"),
        (Sharing, "leaves_its_rows_alone", "build a new one for each row"),
    ],
)
def test_a_bad_formatter_is_told_what_to_change(made: type, check: str, advice: str) -> None:
    found = problems(DatasetFormatterSuite, made)
    assert advice in found[check]


# --- trainers -----------------------------------------------------------------------------------


@attrs.define
class GoodTrainer:
    """Trains nothing, well."""

    output_dir: Path = attrs.field(default=Path("out"), metadata={"help": "Where to."})

    def train(self, repos: Any, database: Any, data_path: Path) -> None: ...


@attrs.define
class Silently(GoodTrainer):
    """Has a setting without help."""

    speed: int = 1


class Swallows:
    """Takes everything.

    Args:
        output_dir: Where to.
    """

    def __init__(self, output_dir: Path = Path("out"), **kwargs: Any) -> None:
        self.output_dir = output_dir

    def train(self, repos: Any, database: Any, data_path: Path) -> None: ...


class Untyped:
    """Has a setting without a type."""

    output_dir = "out"

    def __init__(self, speed=1):
        self.speed = speed

    def train(self, repos: Any, database: Any, data_path: Path) -> None: ...


class OtherTrain(GoodTrainer):
    """Wants more."""

    def train(self, repos: Any, database: Any, data_path: Path, model: Any) -> None: ...  # type: ignore[override]


class Homeless:
    """Has no folder."""

    def train(self, repos: Any, database: Any, data_path: Path) -> None: ...


@attrs.define
class Hasty(GoodTrainer):
    """Writes at once."""

    def __attrs_post_init__(self) -> None:
        self.output_dir.mkdir()
        (self.output_dir / "log").touch()


def trainer_problems(made: type) -> dict[str, str]:
    class Named(TrainerSuite):
        name = "mine"

        def make(self) -> Any:
            return None

        def make_in(self, output_dir: Path) -> Any:
            return made(output_dir=output_dir)

    with registry.trainers.override("mine", made):
        return {f.check: f.problem for f in run_suite(Named) if f.problem is not None}


def test_a_good_trainer_passes() -> None:
    assert trainer_problems(GoodTrainer) == {}


@pytest.mark.parametrize(
    ("made", "check", "advice"),
    [
        (Silently, "settings_have_help", "speed have no help"),
        (Swallows, "refuses_unknown_settings", "take no **kwargs"),
        (Untyped, "settings_are_typed", "speed are missing"),
        (OtherTrain, "train_takes_the_documented_arguments", "'model'"),
        (Homeless, "has_an_output_dir", "add a setting of that name"),
        (Hasty, "constructing_writes_nothing", "write in train()"),
    ],
)
def test_a_bad_trainer_is_told_what_to_change(made: type, check: str, advice: str) -> None:
    assert advice in trainer_problems(made)[check]


def test_an_author_is_told_to_override_make_in() -> None:
    class Named(TrainerSuite):
        name = "mine"

    with registry.trainers.override("mine", GoodTrainer):
        found = {f.check: f.problem for f in run_suite(Named)}
        without = run_suite(Named, instance=False)
    assert "override make_in" in str(found)
    assert [f for f in without if f.problem] == []


# --- distributions ------------------------------------------------------------------------------


def test_nothing_installed_under_that_name() -> None:
    (finding,) = check_distribution("nobody-has-this")
    assert isinstance(finding, Finding)
    assert finding.check == "can_be_made"
    assert "no entry point in the group 'lean_dojo'" in str(finding.problem)
