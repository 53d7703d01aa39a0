"""The trainer suite, and the check of a whole distribution."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest

from lean_dojo_core import registry
from lean_dojo_core.testing import Finding, TrainerSuite, check_distribution, run_suite


@attrs.define
class GoodTrainer:
    """Trains nothing, well."""

    output_dir: Path = attrs.field(default=Path("out"), metadata={"help": "Where to."})

    def train(self, repos: Any, database: Any, data_path: Path) -> None: ...


@attrs.define
class Silently(GoodTrainer):
    """Has a setting without help."""

    speed: int = 1


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
        (Untyped, "settings_are_typed", "speed are missing"),
        (OtherTrain, "train_takes_the_documented_arguments", "'model'"),
        (Homeless, "has_an_output_dir", "add a setting of that name"),
        (Hasty, "constructing_writes_nothing", "write in train()"),
    ],
)
def test_a_bad_trainer_fails_with_advice(made: type, check: str, advice: str) -> None:
    assert advice in trainer_problems(made)[check]


def test_the_suite_asks_its_author_to_override_make_in() -> None:
    class Named(TrainerSuite):
        name = "mine"

    with registry.trainers.override("mine", GoodTrainer):
        found = {f.check: f.problem for f in run_suite(Named)}
        without = run_suite(Named, instance=False)
    assert "override make_in" in str(found)
    assert [f for f in without if f.problem] == []


def test_an_unknown_distribution_is_an_error() -> None:
    (finding,) = check_distribution("nobody-has-this")
    assert isinstance(finding, Finding)
    assert finding.check == "can_be_made"
    assert "no entry point in the group 'lean_dojo'" in str(finding.problem)
