"""The model card says what a model was trained from."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from lean_dojo_plugins.training.model_card import write_model_card


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("owner/model", "base_model: owner/model"),
        ("shipped", ""),  # no model of the hub
        ("/gone/model", ""),  # a card is written nevertheless, without paths of this machine
    ],
)
def test_where_the_model_comes_from(tmp_path: Path, name: str, base: str) -> None:
    card = {
        "title": "T", "does": "D.", "library": "transformers", "task": "text-generation",
        "formatter": "tactic-chat",
    }  # fmt: skip
    settings = {
        "lr": 1.0, "problems": ["training", "/gone/mine.jsonl"], "projects": {"https://h/o/r": "/gone/r"},
    }  # fmt: skip
    trainer = SimpleNamespace(model_name=name, settings=lambda: settings, card=lambda: card)
    write_model_card(tmp_path, trainer, [])
    lines = (tmp_path / "README.md").read_text().splitlines()
    assert [line for line in lines if line.startswith("base_model")] == [base] * bool(base)
    assert "/gone" not in "".join(lines)
    assert '  "lr": 1.0,' in lines
    assert '    "https://h/o/r": "r"' in lines
