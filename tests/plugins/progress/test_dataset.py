"""The progress dataset: from traced proofs to tokenised rows, streamed."""

from __future__ import annotations

import json
import shutil
import tracemalloc

import attrs
import pytest
from click.testing import CliRunner, Result
from transformers import AutoTokenizer

from lean_dojo_core import Theorem, TracedTactic
from lean_dojo_core.errors import DataError
from lean_dojo_plugins.progress.dataset import ProgressDataset, tokenised
from lean_dojo_plugins.progress.formatter import ProgressText
from lean_dojo_plugins.progress.trainer import ProgressTrainer
from lean_dojo_plugins.training.data import CHUNK_SIZE
from lean_dojo_plugins.training.run_folder import LOCK
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.errors import EmptyDatasetError
from lean_dojo_v2.lean_progress import create_sample_dataset
from lean_dojo_v2.lean_progress.examples import (
    ProgressExample,
    examples_of,
    progress_text,
    read_examples,
    write_examples,
)
from lean_dojo_v2.sample import sample_database_path


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
        ('{"goal": "g", "goal": "h", "tactic": "t", "steps_remaining": 1}', "'goal' occurs twice"),
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
    steps = [ProgressExample("⊢ p", f"step{n}", n, theorem="t") for n in range(4)]
    write_examples(tmp_path / "d.jsonl", steps)
    with pytest.raises(EmptyDatasetError, match="one proof"):
        ProgressDataset(tmp_path / "d.jsonl").split(0.2, seed=1)


def test_a_long_state_keeps_the_candidate(encoder):
    tokenizer = AutoTokenizer.from_pretrained(encoder)
    long = ProgressExample("⊢ " + "s " * 300 + "p", "step0", 0)
    [row] = tokenised([long], tokenizer, 32)
    assert len(row["input_ids"]) == row["length"] == 32
    assert tokenizer.decode(row["input_ids"]).endswith("Candidate tactic : step0 [SEP]")


def test_rows_of_a_theorem_count_down_and_carry_the_prefix():
    tactics = tuple(TracedTactic(t, f"before {t}", "after") for t in ("intro h", "simp", "rfl"))
    theorem = Theorem("t", "T.lean", (1, 1), (4, 1), "u", "c", traced_tactics=tactics)
    rows = list(ProgressText().rows(theorem))
    assert [(r["steps_remaining"], r["prefix"]) for r in rows] == [
        (2, ""), (1, "intro h"), (0, "intro h\nsimp"),
    ]  # fmt: skip
    for text in ("sorry", "exact (by sorry)"):
        gave_up = (*tactics, TracedTactic(text, "b", "a"))
        assert list(examples_of(attrs.evolve(theorem, traced_tactics=gave_up))) == []
    recorded = (*tactics[:2], TracedTactic("rfl", "", ""))
    known = list(examples_of(attrs.evolve(theorem, traced_tactics=recorded)))
    assert [(e.goal, e.steps_remaining) for e in known] == [
        ("before intro h", 2),
        ("before simp", 1),
    ]


def placed(text: str, start: tuple[int, int], end: tuple[int, int]) -> TracedTactic:
    return TracedTactic(text, f"before {text}", "after", start=start, end=end)


@pytest.mark.parametrize(
    ("tactics", "steps"),
    [
        # A bullet is no step of its own: its tactic stands for it.
        (
            [
                placed("constructor", (2, 3), (2, 14)),
                placed("· exact a", (3, 3), (3, 12)),
                placed("exact a", (3, 5), (3, 12)),
                placed("· exact b", (4, 3), (4, 12)),
                placed("exact b", (4, 5), (4, 12)),
            ],
            ["constructor", "exact a", "exact b"],
        ),
        (
            [
                placed("case succ n ih => simp; omega", (3, 3), (3, 32)),
                placed("simp", (3, 21), (3, 25)),
                placed("omega", (3, 27), (3, 32)),
            ],
            ["simp", "omega"],
        ),
        # The parts of a line are no steps of their own: the search would write the line.
        (
            [
                placed("simp <;> omega", (2, 3), (2, 17)),
                placed("simp", (2, 3), (2, 7)),
                placed("omega", (2, 12), (2, 17)),
                placed("rfl", (3, 3), (3, 6)),
            ],
            ["simp <;> omega", "rfl"],
        ),
        # Over several lines: it, and what stands in it.
        (
            [
                placed("induction n with\n| zero => rfl\n| succ n ih => omega", (2, 3), (4, 23)),
                placed("rfl", (3, 13), (3, 16)),
                placed("omega", (4, 18), (4, 23)),
            ],
            ["induction n with | zero => ?_ | succ n ih => ?_", "rfl", "omega"],
        ),
    ],
)
def test_steps_are_what_a_search_would_take(tactics, steps):
    theorem = Theorem("t", "T.lean", (1, 1), (5, 1), "u", "c", traced_tactics=tuple(tactics))
    found = list(examples_of(theorem))
    assert [example.tactic for example in found] == steps
    assert [example.steps_remaining for example in found] == list(range(len(steps)))[::-1]


def test_the_sample_counts_each_step_once():
    """Half of its labels were too high: 1.92 steps on average where 1.14 are left."""
    database = DynamicDatabase(sample_database_path())
    theorems = (one for repo in database.repositories for one in repo.iter_theorems())
    left = [example.steps_remaining for one in theorems for example in examples_of(one)]
    assert sum(left) / len(left) < 1.3


@pytest.mark.slow
def test_memory_does_not_grow_with_the_examples(tmp_path, encoder):
    file = tmp_path / "long.jsonl"
    count, prefix = 1500, "have h : 1 = 1 := rfl\n" * 300
    rows = (
        ProgressExample(f"⊢ p{n}", "rfl", n % 9, prefix, theorem=f"t{n // 3}") for n in range(count)
    )
    write_examples(file, rows)
    tokenizer = AutoTokenizer.from_pretrained(encoder)
    tracemalloc.start()
    try:
        dataset = ProgressDataset(file)
        kept, held_out = dataset.split(0.2, 42)
        assert sum(1 for _ in dataset.examples) == len(kept) + len(held_out) == count
        assert tracemalloc.get_traced_memory()[1] < file.stat().st_size / 10
    finally:
        tracemalloc.stop()
    left = iter(kept)
    assert len(next(tokenised(left, tokenizer, 32))["input_ids"]) == 32
    assert sum(1 for _ in left) == len(kept) - CHUNK_SIZE  # what was tokenised with the first


def test_examples_are_in_the_order_of_the_file(dataset_file):
    expected = list(read_examples(dataset_file))
    dataset = ProgressDataset(dataset_file)
    assert list(dataset.examples) == expected
    assert dataset.to_hf()["label"][:] == [float(e.steps_remaining) for e in expected]


def create(*arguments: object) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(create_sample_dataset.main, list(map(str, arguments)))


def test_the_sample_dataset_command(tmp_path):
    target = tmp_path / "deep" / "sample.jsonl"
    done = create("--output", target)
    examples = list(read_examples(target))
    assert f"Wrote {len(examples)} examples" in done.stderr
    assert {e.steps_remaining for e in examples} >= {0, 1, 2}
    bad = create("--from-database", tmp_path / "no.json")
    assert bad.exit_code == 2
    assert "no.json" in bad.stderr


def test_an_earlier_dataset_stays_when_there_is_nothing_to_write(tmp_path, traced, encoder):
    from lean_dojo_v2.database import DynamicDatabase

    hopeless = json.loads(traced.read_text())
    hopeless["repositories"] = [r for r in hopeless["repositories"] if r["url"].endswith("/empty")]
    database = tmp_path / "only_sorry.json"
    database.write_text(json.dumps(hopeless))
    target = tmp_path / "leanprogress.jsonl"
    trainer = ProgressTrainer(model_name=encoder, output_dir=tmp_path / "out", device="cpu")
    for before in (None, "good\n"):
        if before is not None:
            target.write_text(before)
        files = sorted(tmp_path.iterdir())
        done = create("--from-database", database, "--output", target)
        assert done.exit_code == 1
        assert done.stderr.endswith("has a finished proof with tactics\n")
        assert "only_sorry.json" in done.stderr
        with pytest.raises(
            EmptyDatasetError, match="no theorem of the training split has a finished proof"
        ):
            trainer.train(None, DynamicDatabase(database), tmp_path)
        assert sorted({*tmp_path.iterdir()} - {tmp_path / "out"}) == files
        assert [file.name for file in (tmp_path / "out").iterdir()] == [LOCK]
        shutil.rmtree(tmp_path / "out")
    assert target.read_text() == "good\n"


def test_the_dataset_of_a_database_has_its_proofs_steps_and_prefixes(tmp_path, tiny_database):
    target = tmp_path / "progress.jsonl"
    done = create("--from-database", tiny_database, "--output", target)
    examples = list(read_examples(target))
    assert done.stderr == f"Wrote {len(examples)} examples to {target}\n"
    [first, second] = [e for e in examples if e.theorem.endswith(":Tiny.trans'")]
    assert (first.tactic, first.steps_remaining, first.prefix) == ("rw [hab]", 1, "")
    assert (second.tactic, second.steps_remaining, second.prefix) == ("exact hbc", 0, "rw [hab]")
    assert first.goal.endswith("⊢ a = c")
    assert second.goal.endswith("⊢ b = c")
    assert not [e for e in examples if "gap" in e.theorem]  # the proofs with `sorry`
