"""`lean-dojo evaluate` with a trainer of a plugin."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lean_dojo_core import Evaluation, registry

Run = Callable[..., Any]
pytestmark = pytest.mark.usefixtures("workplace")


class Measures:
    """A trainer that measures without a model."""

    train = print

    def evaluate(self, data_path: Path | str | None = None, split: str = "val") -> Evaluation:
        print("measuring")
        return Evaluation(metrics={"loss": 0.5}, examples=3, split=split, model=str(data_path))


def test_the_metrics_are_a_table_and_an_object(lean_dojo: Run) -> None:
    with registry.trainers.override("measured", Measures):
        ran = lean_dojo("evaluate", "measured")
        assert ran.code == 0, ran.err
        assert [line.split() for line in ran.out.splitlines()] == [
            ["measuring"],
            ["METRIC", "VALUE"],
            ["loss", "0.5"],
        ]
        assert ran.err == "3 examples of val; measured: None\n"
        for name in ("--dataset", "--data-path"):
            ran = lean_dojo("evaluate", "measured", name, ".", "--split", "test", "--json")
            assert ran.json["metrics"] == {"loss": 0.5}
            assert (ran.json["split"], ran.json["model"]) == ("test", ".")
            assert ran.err == "measuring\n"  # what a trainer prints is a message
        # A mistake in what follows --json leaves standard output as it was.
        assert lean_dojo("evaluate", "measured", "--json", "--set").code == 2
        assert lean_dojo("evaluate", "measured").out.startswith("measuring\n")


def test_a_trainer_that_cannot(lean_dojo: Run, toy: Any) -> None:
    ran = lean_dojo("evaluate", "toy", "--set", "model_name=m")
    assert ran.code == 2
    assert "has no method evaluate" in ran.err
    ran = lean_dojo("evaluate", "toy", "--set", "model_name=m", "--reward", "constant")
    assert ran.code == 2
    assert "takes no rewards" in ran.err


def test_what_a_plugins_trainer_raises_names_it(lean_dojo: Run, monkeypatch: Any) -> None:
    monkeypatch.setattr(Measures, "evaluate", lambda self, data, split="val": data + split)
    with registry.trainers.override("measured", Measures):
        ran = lean_dojo("evaluate", "measured")
    assert ran.code == 1
    assert "trainer 'measured' of override 0 raised TypeError: " in ran.err


def test_a_wrong_signature_is_a_mistake_of_the_request(lean_dojo: Run, monkeypatch: Any) -> None:
    monkeypatch.setattr(Measures, "evaluate", lambda self: None)
    with registry.trainers.override("measured", Measures):
        ran = lean_dojo("evaluate", "measured")
    assert ran.code == 2
    assert "has no method evaluate(data_path=None, split=" in ran.err
    assert "too many positional arguments" in ran.err
