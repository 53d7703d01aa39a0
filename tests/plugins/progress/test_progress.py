"""Progress prediction: data, training that keeps the best, resume, estimates."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

from lean_dojo_core import Theorem, TracedTactic, registry
from lean_dojo_core.errors import CheckpointError, DataError, EmptyDatasetError, UsageError
from lean_dojo_plugins.progress.dataset import ProgressDataset, tokenised
from lean_dojo_plugins.progress.estimator import ProgressModel
from lean_dojo_plugins.progress.formatter import ProgressText
from lean_dojo_plugins.progress.trainer import ProgressTrainer
from lean_dojo_v2.lean_progress.examples import (
    ProgressExample,
    examples_of,
    progress_text,
    read_examples,
    write_examples,
)


def example(theorem: int, index: int, length: int) -> ProgressExample:
    """A proof whose state counts down: easy to learn."""
    left = length - index - 1
    return ProgressExample(
        goal=f"⊢ {'s ' * left}p",
        tactic=f"step{left}",
        steps_remaining=left,
        prefix="\n".join(f"step{length - i - 1}" for i in range(index)),
        theorem=f"t{theorem}",
    )


@pytest.fixture(scope="module")
def dataset_file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("data") / "progress.jsonl"
    write_examples(path, [example(t, i, 1 + t % 5) for t in range(40) for i in range(1 + t % 5)])
    return path


@pytest.fixture(scope="module")
def encoder(tmp_path_factory, dataset_file) -> str:
    """A BERT of two small layers with a tokenizer trained on the data."""
    folder = tmp_path_factory.mktemp("encoder")
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    texts = [e.text for e in read_examples(dataset_file)]
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    tokenizer.train_from_iterator(texts, trainers.WordLevelTrainer(special_tokens=special))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
        sep_token="[SEP]",
    )  # fmt: skip
    fast.save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(fast), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=128,
    )  # fmt: skip
    torch.manual_seed(0)
    BertForSequenceClassification(config).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def trained(tmp_path_factory, dataset_file, encoder) -> ProgressTrainer:
    trainer = ProgressTrainer(
        data_path=str(dataset_file),
        model_name=encoder,
        output_dir=str(tmp_path_factory.mktemp("out")),
        max_length=64,
        epochs=6,
        learning_rate=3e-3,
        device="cpu",
    )
    trainer.train()
    return trainer


def test_documented_positions_and_defaults():
    trainer = ProgressTrainer("d.jsonl")
    assert (trainer.model_name, trainer.output_dir, trainer.max_length, trainer.batch_size) == (
        "bert-base-uncased", "outputs", 512, 8,
    )  # fmt: skip
    assert (trainer.epochs, trainer.learning_rate, trainer.eval_ratio, trainer.seed) == (
        3.0, 1e-5, 0.2, 42,
    )  # fmt: skip


def test_text_is_the_documented_one():
    text = progress_text("⊢ n + 0 = n", "induction n", "rfl")
    assert text == "Goal:\n⊢ n + 0 = n\n\nPrefix:\ninduction n\n\nCandidate tactic:\nrfl"


def test_null_prefix_is_no_prefix(tmp_path):
    line = {"goal": "g", "tactic": "t", "steps_remaining": 2, "prefix": None}
    (tmp_path / "d.jsonl").write_text(json.dumps(line) + "\n\n")
    [found] = ProgressDataset(tmp_path / "d.jsonl").examples
    assert (found.prefix, found.steps_remaining) == ("", 2)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "line 2: is not JSON"),
        ("[]", "line 2: is a list"),
        ('{"tactic": "t", "steps_remaining": 1}', "line 2: 'goal' is required"),
        ('{"goal": "g", "tactic": 3, "steps_remaining": 1}', "line 2: 'tactic' is required"),
        ('{"goal": "g", "tactic": "t"}', "line 2: 'steps_remaining'"),
        ('{"goal": "g", "tactic": "t", "steps_remaining": -1}', "not -1"),
        ('{"goal": "g", "tactic": "t", "steps_remaining": true}', "not True"),
        ('{"goal": "g", "tactic": "t", "steps_remaining": 1, "prefix": 1}', "'prefix' must be"),
    ],
)
def test_a_bad_line_is_named(tmp_path, line, complaint):
    file = tmp_path / "d.jsonl"
    file.write_text('{"goal": "g", "tactic": "t", "steps_remaining": 1}\n' + line + "\n")
    with pytest.raises(DataError, match=complaint) as caught:
        ProgressDataset(file)
    assert str(file) in str(caught.value)


def test_missing_and_empty_files_are_clear(tmp_path):
    with pytest.raises(DataError, match="No such file"):
        ProgressDataset(tmp_path / "none.jsonl")
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(EmptyDatasetError, match="no examples"):
        ProgressDataset(tmp_path / "empty.jsonl")


def test_no_proof_stands_on_both_sides(dataset_file):
    kept, held_out = ProgressDataset(dataset_file).split(0.2, seed=1)
    assert not {e.theorem for e in kept} & {e.theorem for e in held_out}
    assert len(kept) + len(held_out) == len(ProgressDataset(dataset_file))
    assert 0.15 < len(held_out) / (len(kept) + len(held_out)) < 0.3


def test_one_proof_alone_cannot_be_split(tmp_path):
    write_examples(tmp_path / "d.jsonl", [example(0, i, 4) for i in range(4)])
    with pytest.raises(EmptyDatasetError, match="one proof"):
        ProgressDataset(tmp_path / "d.jsonl").split(0.2, seed=1)


def test_a_long_state_keeps_the_candidate(encoder):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(encoder)
    long = ProgressExample("⊢ " + "s " * 300 + "p", "step0", 0)
    [row] = tokenised([long], tokenizer, 32).to_list()
    assert len(row["input_ids"]) == row["length"] == 32
    assert tokenizer.decode(row["input_ids"]).endswith("Candidate tactic : step0 [SEP]")


def test_rows_of_a_theorem_count_down_and_carry_the_prefix():
    tactics = tuple(TracedTactic(t, f"before {t}", "after") for t in ("intro h", "simp", "rfl"))
    theorem = Theorem("t", "T.lean", (1, 1), (4, 1), "u", "c", traced_tactics=tactics)
    rows = list(ProgressText().rows(theorem))
    assert [(r["steps_remaining"], r["prefix"]) for r in rows] == [
        (2, ""), (1, "intro h"), (0, "intro h\nsimp"),
    ]  # fmt: skip
    import attrs

    for text in ("sorry", "exact (by sorry)"):
        gave_up = (*tactics, TracedTactic(text, "b", "a"))
        assert list(examples_of(attrs.evolve(theorem, traced_tactics=gave_up))) == []
    recorded = (*tactics[:2], TracedTactic("rfl", "", ""))
    known = list(examples_of(attrs.evolve(theorem, traced_tactics=recorded)))
    assert [(e.goal, e.steps_remaining) for e in known] == [
        ("before intro h", 2),
        ("before simp", 1),
    ]


def padding_of(trainer: ProgressTrainer, monkeypatch) -> list[float]:
    """Train, and give the share of padding of every batch."""
    masks: list[torch.Tensor] = []
    load = ProgressTrainer._load

    def observed(self):
        model, tokenizer = load(self)

        def see(module, _, inputs):
            if module.training:
                masks.append(inputs["attention_mask"].bool())

        model.register_forward_pre_hook(see, with_kwargs=True)
        return model, tokenizer

    monkeypatch.setattr(ProgressTrainer, "_load", observed)
    trainer.train()
    # Each batch is as wide as its longest row, and no row is as long as max_length.
    assert all(mask.any(0).all() and mask.shape[1] < trainer.max_length for mask in masks)
    return [1 - mask.float().mean().item() for mask in masks]


def test_batches_hold_rows_of_similar_length_and_are_as_wide_as_the_longest(
    tmp_path, encoder, monkeypatch
):
    rows = [ProgressExample("⊢ " + "s " * (n * 37 % 97), "t", n % 3) for n in range(330)]
    write_examples(tmp_path / "d.jsonl", rows)
    shares = []
    for strategy in ({}, {"train_sampling_strategy": "random"}):
        trainer = ProgressTrainer(
            str(tmp_path / "d.jsonl"), encoder, str(tmp_path / f"out{len(shares)}"),
            max_length=120, epochs=1, device="cpu", report_to="none", trainer_args=strategy,
        )  # fmt: skip
        padding = padding_of(trainer, monkeypatch)
        assert len(padding) == 33  # 264 rows, eight a batch
        shares.append(sum(padding) / len(padding))
    grouped, shuffled = shares
    assert grouped < shuffled / 2


def test_training_learns_and_keeps_the_lowest_mse(trained, capsys):
    lines = (Path(trained.output_dir) / "metrics.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    by_epoch = [row["eval_mse"] for row in rows if "eval_mse" in row]
    final = trained.evaluate()
    assert len(by_epoch) == 6
    assert final["mse"] == pytest.approx(min(by_epoch), rel=1e-2)
    assert final["mse"] < by_epoch[0]
    assert final["mae"] < 1
    assert set(final) == {"mse", "mae", "within_one", "examples"}
    for name in ("model.safetensors", "tokenizer.json", "predictions.svg", "loss.svg"):
        assert (Path(trained.output_dir) / name).stat().st_size
    assert list((Path(trained.output_dir) / "runs").iterdir())


def test_the_picture_has_a_point_for_every_held_out_row(trained):
    picture = ET.parse(Path(trained.output_dir) / "predictions.svg")
    svg = "{http://www.w3.org/2000/svg}"
    [points] = picture.iterfind(f".//{svg}g[@id='PathCollection_1']")
    found = Counter(round(float(use.get("x")), 1) for use in points.iter(f"{svg}use"))
    _, held_out = ProgressDataset(trained.data_path).split(trained.eval_ratio, trained.seed)
    rows_by_steps = Counter(e.steps_remaining for e in held_out)
    # Left to right: the more steps a row has left, the further right its point is.
    assert [found[x] for x in sorted(found)] == [rows_by_steps[s] for s in sorted(rows_by_steps)]


def test_a_finished_run_is_not_repeated_and_the_hint_is_printed(trained, capsys):
    before = (Path(trained.output_dir) / "model.safetensors").stat().st_mtime_ns
    trained.train()
    out = capsys.readouterr().out
    assert f"export LEANPROGRESS_MODEL={trained.output_dir}" in out
    assert (Path(trained.output_dir) / "model.safetensors").stat().st_mtime_ns == before


def test_other_settings_in_the_same_folder_are_refused(trained):
    import attrs

    other = attrs.evolve(trained, learning_rate=1.0)
    with pytest.raises(UsageError, match=r"learning_rate was 0\.003 and is 1\.0"):
        other.train()


def test_the_estimator_agrees_with_the_trainer_and_does_not_depend_on_batches(trained):
    items = [("⊢ " + "s " * n + "p", "", f"step{n}") for n in (4, 0, 2, 1, 3)]
    model = ProgressModel(trained.output_dir, batch_size=2, device="cpu")
    together = model.predict(items)
    alone = [model.predict([item])[0] for item in items]
    assert np.allclose(together, alone, atol=1e-4)
    assert together[0] > together[1]
    assert model.predict([]) == []


def test_what_is_no_progress_model_is_refused(tmp_path, encoder):
    with pytest.raises(CheckpointError, match="no progress model"):
        ProgressModel(tmp_path)
    with pytest.raises(CheckpointError, match="2 labels"):
        ProgressModel(encoder)


@pytest.mark.parametrize(
    ("bad", "complaint"),
    [
        ({"eval_ratio": 1.5}, "eval_ratio"),
        ({"epochs": 0}, "epochs"),
        ({"trainer_args": {"weight_dekay": 0.1}}, "did you mean weight_decay"),
        ({"trainer_args": {"output_dir": "x"}}, "cannot be set"),
        ({"model_name": "./nowhere"}, "no model at"),
    ],
)
def test_bad_settings_are_usage_errors(bad, complaint):
    with pytest.raises(UsageError, match=complaint):
        ProgressTrainer("d.jsonl", **bad)


def test_without_data_it_says_where_to_get_some(encoder):
    with pytest.raises(UsageError, match="create_sample_dataset"):
        ProgressTrainer(model_name=encoder).train()


def test_it_trains_from_a_database(tmp_path, encoder):
    from lean_dojo_v2.database import DynamicDatabase
    from lean_dojo_v2.sample import sample_database_path

    database = DynamicDatabase(sample_database_path())
    trainer = ProgressTrainer(
        model_name=encoder, output_dir=str(tmp_path / "out"), max_length=32, epochs=0.1,
        device="cpu", report_to="none",
    )  # fmt: skip
    trainer.train(database.repositories[:1], database, tmp_path)
    examples = list(read_examples(tmp_path / "leanprogress.jsonl"))
    assert any(e.prefix for e in examples)
    assert all(e.theorem for e in examples)
    assert (tmp_path / "out" / "model.safetensors").exists()


SCRIPT = """
import sys
from lean_dojo_plugins.progress.trainer import ProgressTrainer
ProgressTrainer(sys.argv[1], sys.argv[2], sys.argv[3], max_length=64, epochs=4,
                learning_rate=3e-3, device="cpu").train()
"""


def test_a_killed_run_goes_on_from_its_checkpoint(tmp_path, dataset_file, encoder):
    command = [sys.executable, "-c", SCRIPT, str(dataset_file), encoder, str(tmp_path / "out")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not list((tmp_path / "out").glob("checkpoints/*/checkpoint-*/trainer_state.json")):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "out" / "model.safetensors").exists()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "LEANPROGRESS_MODEL" in done.stdout
    state = json.loads((tmp_path / "out" / "training_state.json").read_text())
    [step] = state["finished"]
    kept, _ = ProgressDataset(dataset_file).split(0.2, 42)
    assert step["optimizer_steps"] == 4 * -(-len(kept) // 8)
    assert not (tmp_path / "out" / "checkpoints").exists()


def test_the_sample_dataset_command(tmp_path):
    command = [sys.executable, "-m", "lean_dojo_v2.lean_progress.create_sample_dataset"]
    target = tmp_path / "deep" / "sample.jsonl"
    done = subprocess.run(
        [*command, "--output", target], capture_output=True, text=True, check=True
    )
    examples = list(read_examples(target))
    assert f"Wrote {len(examples)} examples" in done.stderr
    assert {e.steps_remaining for e in examples} >= {0, 1, 2}
    bad = subprocess.run(
        [*command, "--from-database", tmp_path / "no.json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert bad.returncode == 2
    assert "no.json" in bad.stderr


def test_the_dataset_of_a_database_has_its_proofs_steps_and_prefixes(tmp_path, tiny_database):
    target = tmp_path / "progress.jsonl"
    command = [sys.executable, "-m", "lean_dojo_v2.lean_progress.create_sample_dataset"]
    command += ["--from-database", str(tiny_database), "--output", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    examples = list(read_examples(target))
    assert done.stderr == f"Wrote {len(examples)} examples to {target}\n"
    [first, second] = [e for e in examples if e.theorem.endswith(":Tiny.trans'")]
    assert (first.tactic, first.steps_remaining, first.prefix) == ("rw [hab]", 1, "")
    assert (second.tactic, second.steps_remaining, second.prefix) == ("exact hbc", 0, "rw [hab]")
    assert first.goal.endswith("⊢ a = c")
    assert second.goal.endswith("⊢ b = c")
    assert not [e for e in examples if "gap" in e.theorem]  # the proofs with `sorry`


def test_the_registry_offers_it():
    assert registry.trainers["progress"].load() is ProgressTrainer
    assert registry.dataset_formatters["progress-text"].load() is ProgressText
