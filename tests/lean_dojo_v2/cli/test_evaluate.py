"""`lean-dojo evaluate` with trainers that give their results in several ways."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from lean_dojo_core import registry

Run = Callable[..., Any]
pytestmark = pytest.mark.usefixtures("workplace")


@attrs.frozen
class Measured:
    loss: float
    where: str


def offered(evaluate: Callable[..., Any]) -> Any:
    """A trainer with this method ``evaluate``."""
    return registry.trainers.override(
        "measured", type("Measures", (), {"train": print, "evaluate": evaluate})
    )


def test_a_record_is_a_table_and_an_object(lean_dojo: Run) -> None:
    with offered(lambda self, data_path: Measured(0.5, Path(data_path).as_posix())):
        ran = lean_dojo("evaluate", "measured")
        assert ran.code == 0, ran.err
        assert [line.split() for line in ran.out.splitlines()] == [
            ["METRIC", "VALUE"],
            ["loss", "0.5"],
            ["where", "raid/data/merged"],  # where `train` exports to
        ]
        shown = lean_dojo("evaluate", "measured", "--dataset", ".", "--json").json
    assert shown == {"loss": 0.5, "where": "."}


def test_a_trainer_with_data_of_its_own_chooses_them(lean_dojo: Run) -> None:
    with offered(lambda self, data_path=None: {"given": data_path}):
        assert lean_dojo("evaluate", "measured", "--json").json == {"given": None}
    with offered(lambda self: {"given": None}):
        ran = lean_dojo("evaluate", "measured", "--dataset", ".")
    assert ran.code == 2
    assert "takes no --dataset" in ran.err


def test_what_a_trainer_prints_is_a_message(lean_dojo: Run) -> None:
    def evaluate(self: Any) -> dict[str, float]:
        print("measuring")
        return {"loss": 0.5}

    with offered(evaluate):
        ran = lean_dojo("evaluate", "measured", "--json")
        assert ran.json == {"loss": 0.5}
        assert ran.err == "measuring\n"
        assert lean_dojo("evaluate", "measured").out.startswith("measuring\nMETRIC")
        # A mistake in what follows --json leaves standard output as it was.
        assert lean_dojo("evaluate", "measured", "--json", "--set").code == 2
        assert lean_dojo("evaluate", "measured").out.startswith("measuring\n")


def test_either_name_of_the_data_and_rewards(lean_dojo: Run, toy: Any) -> None:
    with offered(lambda self, data_path: {"where": Path(data_path).as_posix()}):
        assert lean_dojo("evaluate", "measured", "--data-path", ".", "--json").json == {
            "where": "."
        }
    ran = lean_dojo("evaluate", "toy", "--set", "model_name=m", "--reward", "constant")
    assert ran.code == 2
    assert "takes no rewards" in ran.err


def test_a_trainer_that_cannot(lean_dojo: Run, toy: Any) -> None:
    ran = lean_dojo("evaluate", "toy", "--set", "model_name=m")
    assert ran.code == 2
    assert "has no method evaluate" in ran.err
