"""A critic: what it learns from, what it learns, and the search that it guides."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import attrs
import numpy as np
import pytest
from small_worlds import save_bert
from transformers import AutoConfig, AutoTokenizer

from lean_dojo_core.errors import DataError, EmptyDatasetError, UsageError
from lean_dojo_plugins.causal_lm.tiny_model import build_tiny_model
from lean_dojo_plugins.progress.estimator import ProgressModel
from lean_dojo_plugins.progress.trainer import ProgressTrainer
from lean_dojo_v2.benchmarks.states import SearchedState, StateFile
from lean_dojo_v2.lean.text.source import SourceTheorem
from lean_dojo_v2.lean_agent.config import ProverConfig
from lean_dojo_v2.lean_progress.critic import CriticExample, gather
from lean_dojo_v2.prover.base import BaseProver
from lean_dojo_v2.prover.suggestion import Step, Suggestion

GOOD = "case inl\np q : Prop\nh : p\n⊢ q ∨ p"
BAD = "p q : Prop\nh : p ∨ q\na : q ∨ p\n⊢ q ∨ p"


def searched(theorem: str, node: int, *, solved: bool, **changes) -> SearchedState:
    state = SearchedState(
        theorem=theorem, attempt=0, split="train", node=node, state=GOOD if solved else BAD,
        depth=1, logprob=-1.0 - solved, solved=solved, steps=1 if solved else None,
        expansions=1 + node, waiting=1,
    )  # fmt: skip
    return attrs.evolve(state, **changes)


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    """Runs of searches, as bench and expert-iteration leave them, some of held-out theorems."""
    folder = tmp_path_factory.mktemp("runs")
    for number, name in enumerate(("bench", "outputs/rounds/1")):
        (folder / name).mkdir(parents=True)
        StateFile(folder / name / "prover.states.jsonl").append(
            searched(f"t{theorem}", node, solved=bool(node), logprob=-1.0 - node)
            for theorem in range(number, 40, 2)
            for node in (0, 1)
        )
    held_out = [searched("secret", node, solved=True, split="test") for node in range(20)]
    StateFile(folder / "bench" / "prover.states.jsonl").append(iter(held_out))
    return folder


@pytest.fixture(scope="module")
def critic(tmp_path_factory, runs) -> ProgressTrainer:
    base = save_bert(tmp_path_factory.mktemp("bert"), [f"Goal:\n{GOOD}", f"Goal:\n{BAD}"])
    tokenizer = AutoTokenizer.from_pretrained(base)
    tokenizer.padding_side = "left"  # as that of a generator
    tokenizer.save_pretrained(base)
    trainer = ProgressTrainer(
        runs, base, tmp_path_factory.mktemp("critic") / "out", target="solved", max_length=48,
        epochs=8, learning_rate=1e-2, device="cpu", report_to="none",
    )  # fmt: skip
    trainer.train(data_path=tmp_path_factory.mktemp("data"))
    return trainer


def lines(file: Path) -> list[CriticExample]:
    return [CriticExample.read(json.loads(line)) for line in file.read_text().splitlines()]


def test_nothing_held_out_is_learned_from_and_its_share_is_said(runs, tmp_path):
    found = gather(runs, tmp_path / "critic.jsonl")
    assert (found.kept, found.held_out, found.undecided) == (80, 20, 0)
    assert str(found) == (
        "80 of 100 searched states are learned from; 20 (20.0 %) are of held-out theorems"
    )
    examples = lines(tmp_path / "critic.jsonl")
    assert {one.theorem for one in examples} == {f"t{number}" for number in range(40)}
    assert {(one.state, one.label) for one in examples} == {(GOOD, 1.0), (BAD, 0.0)}


def test_within_a_number_of_expansions(tmp_path):
    file = tmp_path / "a.states.jsonl"
    StateFile(file).append(
        iter(
            [
                searched("soon", 0, solved=True, expansions=3),
                searched("late", 0, solved=True, expansions=9),
                searched("dead", 0, solved=False, expansions=1, waiting=0),
                searched("cut", 0, solved=False, expansions=1, waiting=2),
            ]
        )
    )
    found = gather(file, tmp_path / "critic.jsonl", within=4)
    assert (found.kept, found.undecided) == (3, 1)
    assert "of 1 the search ended too early to tell" in str(found)
    outcomes = {one.theorem: one.solved for one in lines(tmp_path / "critic.jsonl")}
    assert outcomes == {"soon": True, "late": False, "dead": False}


@pytest.mark.parametrize(
    ("states", "complaint"),
    [
        ([searched("t", 0, solved=True, split="val")], "all 1 searched states belong to held-out"),
        ([searched("t", 0, solved=True)], "all 1 searched states are solved"),
        ([], "there is nothing to learn from"),
    ],
)
def test_too_little_is_said_and_an_earlier_dataset_stays(tmp_path, states, complaint):
    (tmp_path / "a.states.jsonl").touch()
    StateFile(tmp_path / "a.states.jsonl").append(iter(states))
    (tmp_path / "critic.jsonl").write_text("before")
    with pytest.raises(EmptyDatasetError, match=complaint):
        gather(tmp_path, tmp_path / "critic.jsonl")
    assert (tmp_path / "critic.jsonl").read_text() == "before"


def test_a_folder_without_searches_is_named(tmp_path):
    with pytest.raises(DataError, match=r"holds no \*\.states\.jsonl"):
        gather(tmp_path, tmp_path / "critic.jsonl")


def test_mistakes_in_settings(runs):
    with pytest.raises(UsageError, match="target must be 'steps' or 'solved', not 'value'"):
        ProgressTrainer(runs, target="value")
    with pytest.raises(UsageError, match="within is for target='solved'"):
        ProgressTrainer(runs, within=4)


def test_it_says_where_searches_come_from(tmp_path, critic):
    trainer = attrs.evolve(critic, data_path=None, output_dir=str(tmp_path / "out"))
    with pytest.raises(UsageError, match="learns from searches; name a folder"):
        trainer.train(data_path=tmp_path)
    with pytest.raises(UsageError, match="measured on searches"):
        critic.evaluate(split="test")


def test_it_learns_which_states_are_solved(critic, runs):
    found = critic.evaluate(runs / "bench" / "prover.states.jsonl")
    assert found.examples == 60
    assert found["solved"] == pytest.approx(40 / 60)
    assert found["accuracy"] == 1.0
    assert found["cross_entropy"] < 0.1
    assert (found["auc"], found["auc_logprob"]) == (1.0, 0.0)


def test_it_may_begin_with_the_provers_language_model_that_cannot_pad(runs, tmp_path):
    base = build_tiny_model(
        [f"Goal:\n{GOOD}", f"Goal:\n{BAD}"] * 8, tmp_path / "prover", hidden_size=32, layers=2
    )
    for name, key in (("tokenizer_config.json", "pad_token"), ("config.json", "pad_token_id")):
        settings = json.loads((base / name).read_text())
        del settings[key]
        (base / name).write_text(json.dumps(settings))
    critic = ProgressTrainer(
        runs, base, tmp_path / "out", target="solved", max_length=48, epochs=8, learning_rate=3e-3,
        device="cpu", report_to="none",
    )  # fmt: skip
    critic.train(data_path=tmp_path / "data")
    assert critic.evaluate(runs / "bench" / "prover.states.jsonl")["auc"] == 1.0
    model = ProgressModel(critic.output_dir, device="cpu")
    texts = [f"Goal:\n{BAD}", f"Goal:\n{GOOD} ∨ q ∨ q ∨ q"]
    alone = [model.outputs([text])[0] for text in texts]
    assert np.allclose(model.outputs(texts), alone, atol=1e-4)


def test_an_adapter_is_to_be_merged_first(runs, tmp_path):
    (tmp_path / "adapter_config.json").write_text("{}")
    with pytest.raises(UsageError, match="merge-lora"):
        ProgressTrainer(runs, tmp_path, tmp_path / "out", target="solved").preflight()


def test_its_folder_says_what_it_is(critic, tmp_path):
    folder = Path(critic.output_dir)
    assert AutoConfig.from_pretrained(folder).id2label == {0: "solved"}
    assert AutoTokenizer.from_pretrained(folder).padding_side == "right"
    assert "# Critic from" in (folder / "README.md").read_text()
    assert "Held-out searches" in (folder / "predictions.svg").read_text()
    model = ProgressModel(folder, device="cpu")
    assert (model.target.name, model.max_length) == ("solved", 48)
    assert ProgressModel(folder, max_length=16, device="cpu").max_length == 16
    copy = shutil.copytree(folder, tmp_path / "copy")
    (copy / "training_state.json").unlink()  # as on a hub
    assert ProgressModel(copy, device="cpu").max_length == 48


def test_its_distance_is_minus_the_logarithm_of_the_probability_of_the_state_after(critic):
    model = ProgressModel(critic.output_dir, batch_size=2, device="cpu")
    steps = [Step("any", "any", "any", state) for state in (GOOD, BAD, GOOD + " ∨ q" * 9)]
    together = model.predict(steps)
    assert together[0] < 0.1 < 1 < together[1]
    [logit] = model.outputs([f"Goal:\n{BAD}"])
    assert together[1] == pytest.approx(math.log1p(math.exp(-logit)), rel=1e-4)
    # What else is in the batch, and so how much padding, changes nothing.
    alone = [model.predict([step])[0] for step in steps]
    assert np.allclose(together, alone, atol=1e-4)


class Two:
    """Proposes the way that is likelier, and the way that is better."""

    def __init__(self) -> None:
        self.states: list[str] = []

    def generate(self, goals, *, num_samples, premises=()):
        self.states += goals
        return [[Suggestion("have a := h.symm", -0.5), Suggestion("cases h", -1.0)] for _ in goals]


def test_it_changes_the_order_of_a_search(engine, critic, monkeypatch):
    text = "theorem s (p q : Prop) (h : p ∨ q) : q ∨ p := sorry\n"
    theorem = SourceTheorem(text, "s", "S.lean", (1, 1), (1, len(text)))

    class TwoProver(BaseProver):
        generator = None

        def generate_whole_proof(self, theorem):
            return ""

    def second(weight):
        prover = TwoProver(ProverConfig(max_expansions=2, progress_weight=weight))
        prover.generator = Two()
        prover.search(engine, theorem=theorem)
        return prover.generator.states[1]

    monkeypatch.delenv("LEANPROGRESS_MODEL", raising=False)
    assert "a : q ∨ p" in second(1.0)
    monkeypatch.setenv("LEANPROGRESS_MODEL", critic.output_dir)
    assert "case inl" in second(1.0)
    assert "a : q ∨ p" in second(0.0)
