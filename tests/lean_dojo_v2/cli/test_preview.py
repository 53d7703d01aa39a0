from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import attrs
import pytest

from lean_dojo_core import PreviewExample, PreviewToken, Theorem, registry
from lean_dojo_v2.database import DynamicDatabase

Run = Callable[..., Any]
pytestmark = pytest.mark.usefixtures("workplace")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tokenizer and a small model, built from the sample's own text."""
    from lean_dojo_plugins.causal_lm.tiny_model import build_tiny_model
    from lean_dojo_v2.sample import __file__ as sample

    database = DynamicDatabase(Path(sample).parent / "traced" / "sample.json")
    tactics = [
        tactic
        for repository in database.repositories
        for theorem in repository.iter_theorems()
        for tactic in theorem.traced_tactics
    ]
    texts = [text for tactic in tactics for text in (tactic.state_before, tactic.tactic)]
    return build_tiny_model(texts, tmp_path_factory.mktemp("model"), hidden_size=64, layers=1)


def test_the_loss_of_sft_is_on_the_tactic_and_its_end(lean_dojo: Run, model: Path) -> None:
    ran = lean_dojo("preview", "sft", "--set", f"model_name={model}", "-n", "4", "--json")
    assert ran.code == 0, ran.err
    assert len(ran.json) == 4
    tactics = {
        tactic.tactic
        for repository in DynamicDatabase("dynamic_database.json").repositories
        for theorem in repository.iter_theorems()
        for tactic in theorem.traced_tactics
    }
    for example in ran.json:
        learned = "".join(token["text"] for token in example["tokens"] if token["loss"])
        asked = "".join(token["text"] for token in example["tokens"] if not token["loss"])
        assert learned.removesuffix("<|end|>") in tactics
        assert learned.endswith("<|end|>")
        assert "⊢" in asked
        assert "\ufffd" not in learned + asked


def test_marks_stand_around_what_carries_loss(lean_dojo: Run, model: Path) -> None:
    ran = lean_dojo("preview", "sft", "--set", f"model_name={model}", "-n", "1")
    assert ran.out.count("⟦") == ran.out.count("⟧") == 1
    assert "tokens" in ran.out.splitlines()[1]
    assert not Path("outputs").exists()


def test_a_cut_goal_is_remarked(lean_dojo: Run, model: Path) -> None:
    options = ["--set", f"model_name={model}", "--set", "max_length=24", "-n", "50"]
    examples = lean_dojo("preview", "sft", *options, "--json").json
    assert any("shortened" in example["remark"] for example in examples)
    assert all(len(example["tokens"]) <= 24 for example in examples)


def test_rows_of_a_formatter(lean_dojo: Run) -> None:
    ran = lean_dojo("preview", "tactic-chat", "-n", "2")
    assert ran.code == 0
    assert ran.out.count("--- row") == 2
    assert "[assistant] " in ran.out
    rows = lean_dojo("preview", "tactic_chat", "--json").json
    assert [set(item["row"]) for item in rows] == [{"prompt", "completion"}] * 3


@attrs.define
class Plain:
    """A trainer that cannot show its examples itself."""

    output_dir: str = "out"

    def train(self, repos: Any, database: Any, data_path: Path) -> None: ...


class Showing(Plain):
    def preview(self, theorems: Iterable[Theorem], limit: int = 3) -> list[PreviewExample]:
        print("reading")
        first = next(iter(theorems))
        return [PreviewExample(first.full_name, (PreviewToken("rfl", True),), "a remark")] * limit


def test_a_trainer_of_a_plugin_shows_its_own(lean_dojo: Run) -> None:
    with registry.trainers.override("showing", Showing):
        ran = lean_dojo("preview", "showing", "-n", "2")
        shown = lean_dojo("preview", "showing", "-n", "2", "--json")
    assert len(shown.json) == 2
    assert "reading" in shown.err  # what a plugin prints is a message
    assert ran.out.count("⟦rfl⟧") == 2
    assert "1 tokens, 1 with loss; a remark" in ran.out


def test_a_trainer_without_examples_says_so(lean_dojo: Run) -> None:
    with registry.trainers.override("plain", Plain):
        ran = lean_dojo("preview", "plain")
        chosen = lean_dojo("preview", "plain", "--formatter", "tactic-chat")
    assert ran.code == 2
    assert "neither a preview method nor a dataset formatter" in ran.err
    assert chosen.code == 0


def test_a_reward_has_no_examples(lean_dojo: Run) -> None:
    ran = lean_dojo("preview", "constant")
    assert ran.code == 2
    assert "it makes no examples" in ran.err


def test_of_a_name_in_two_kinds_the_maker_of_rows_is_meant(lean_dojo: Run) -> None:
    formatter = registry.dataset_formatters["tactic-chat"].load()
    reward = registry.reward_functions.override("twice", lambda completions, **kwargs: [])
    with reward, registry.dataset_formatters.override("twice", formatter):
        ran = lean_dojo("preview", "twice")
    assert ran.code == 0, ran.err
    assert "--- row 1" in ran.out


def test_nothing_to_learn_from_is_said(lean_dojo: Run) -> None:
    data = json.loads(Path("dynamic_database.json").read_text())
    for repository in data["repositories"]:
        for key in ("proven_theorems", "sorry_theorems_proved", "sorry_theorems_unproved"):
            for theorem in repository[key]:
                theorem["traced_tactics"] = []
    Path("dynamic_database.json").write_text(json.dumps(data))
    ran = lean_dojo("preview", "tactic-chat")
    assert (ran.code, ran.out) == (0, "")
    assert "no row to show" in ran.err
