"""Examples, negatives, batches, loaders."""

import numpy as np
import pytest
import torch

from lean_dojo_core import Annotation, PremiseFile, Theorem, TracedTactic
from lean_dojo_core.errors import DataError
from lean_dojo_plugins.retrieval.data.batches import LengthGroupedBatches, sample_negatives
from lean_dojo_plugins.retrieval.data.corpus import Corpus, pack_position
from lean_dojo_plugins.retrieval.data.datamodule import RetrievalDataModule
from lean_dojo_plugins.retrieval.data.examples import PremisePairs, make_examples
from lean_dojo_v2.errors import EmptyDatasetError


def use(name, path, line):
    return Annotation(name, path, (line, 9), (line, 12))


def theorem(*tactics, file="C.lean", line=5, name="t"):
    return Theorem(name, file, (line, 1), (line + 1, 1), "u", "c", traced_tactics=tactics)


def tactic(*uses, state="⊢ a"):
    return TracedTactic("simp", state, "no goals", premises=uses)


# --- examples ----------------------------------------------------------------------------------


def test_one_item_per_positive_and_one_example_per_tactic(chain):
    one = tactic(use("A.p1", "A.lean", 3), use("B.p0", "B.lean", 1), use("A.p1", "A.lean", 3))
    examples = make_examples(
        [theorem(one, tactic(), tactic(use("C.p0", "C.lean", 1)))], chain, PremisePairs()
    )
    assert len(examples) == 2
    assert [one.positives for one in examples] == [(1, 4), (7,)]


def test_what_the_corpus_lacks_is_left_out_and_said(chain, caplog):
    lost = tactic(use("X", "Nowhere.lean", 1))
    half = tactic(use("X", "Nowhere.lean", 1), use("A.p0", "A.lean", 1))
    examples = make_examples(
        [theorem(lost, half), theorem(half, file="Unknown.lean")], chain, PremisePairs()
    )
    assert len(examples) == 1
    assert "Unknown.lean" in caplog.text


def test_states_lose_their_marks_and_finished_states_are_no_queries(chain):
    done = tactic(use("A.p0", "A.lean", 1), state="no goals")
    marked = tactic(use("A.p0", "A.lean", 1), state="⊢ <a>x</a>")
    examples = make_examples([theorem(done, marked)], chain, PremisePairs())
    assert [one.state for one in examples] == ["⊢ x"]


def test_a_formatter_without_the_columns_is_named(chain):
    class Other:
        columns = ("text",)

        def rows(self, theorem):
            yield {"text": ""}

        def prompt(self, goal, *, premises=()):
            return []

    with pytest.raises(DataError, match=r"Other.*'state'"):
        make_examples([theorem(tactic())], chain, Other())


# --- negatives ---------------------------------------------------------------------------------


def draw(corpus, seed=0, *, count=3, in_file=1, positive=4, positives=(4,), line=5):
    return sample_negatives(
        corpus.visibility,
        usable=corpus.visibility.mask(corpus.file_number("C.lean"), pack_position((line, 1))),
        positive=positive,
        positives=np.array(positives),
        count=count,
        in_file=in_file,
        rng=np.random.default_rng(seed),
    ).tolist()


def test_negatives_are_distinct_usable_and_never_positive(chain):
    usable = set(range(9)) - {4, 5}  # all of A and B, C.p0 and C.p1
    for seed in range(200):
        drawn = draw(chain, seed, positives=(4, 5))
        assert len(drawn) == len(set(drawn)) == 3
        assert set(drawn) <= usable
        assert sum(chain.path_of(number) == "B.lean" for number in drawn) == 1


def test_every_usable_premise_is_drawn_at_times(chain):
    drawn = {number for seed in range(300) for number in draw(chain, seed)}
    assert drawn == set(range(9)) - {4}


def test_in_file_negatives_of_the_own_file_end_before_the_theorem(chain):
    for seed in range(50):
        drawn = draw(chain, seed, positive=7, positives=(7,), count=2, in_file=2)
        assert 8 in drawn  # C.p1, the only other one of C before line 5
        assert not set(drawn) & {9, 10, 11}


def test_with_too_few_it_uses_what_there_is(chain):
    assert sorted(draw(chain, count=50)) == [0, 1, 2, 3, 5, 6, 7, 8]
    alone = Corpus.build([PremiseFile("C.lean", (), chain.premises[:1])])
    drawn = sample_negatives(
        alone.visibility, usable=alone.visibility.mask(0, pack_position((9, 1))), positive=0,
        positives=np.array([0]), count=3, in_file=1, rng=np.random.default_rng(0),
    )  # fmt: skip
    assert drawn.tolist() == []


# --- batches -----------------------------------------------------------------------------------


@pytest.fixture
def data(exported):
    module = RetrievalDataModule(
        exported / "random", exported / "corpus.jsonl", batch_size=4, num_workers=0
    )
    module.setup()
    return module


def test_the_label_matrix_is_positives_then_blocks_of_negatives(data):
    items = data.train_items
    batch = items.collate([items[0, number] for number in range(4)])
    positives = np.array(items.pairs)[:, 1]
    assert batch["labels"].shape == batch["weights"].shape == (4, 16)
    # Column i < 4 is the positive of row i.
    assert batch["labels"].diagonal().tolist() == [1.0] * 4
    by_row = [items[0, number][1] for number in range(4)]
    unique = np.unique(np.concatenate([positives[:4], *by_row]))
    columns = unique[batch["columns"].numpy()]
    for row, negatives in enumerate(by_row):
        assert columns[4 + row :: 4].tolist() == negatives.tolist()


def test_duplicates_are_held_once(data):
    items = data.train_items
    positives = np.array(items.pairs)[:, 1]
    same = np.flatnonzero(positives == positives[0])[:3]
    batch = items.collate([items[0, int(number)] for number in same])
    assert len(batch["premises"]) == len(torch.unique(batch["columns"]))
    assert batch["labels"][:, :3].min() == 1.0, "the same premise is positive for all three"


def test_what_a_row_cannot_use_does_not_count_against_it(data):
    items = data.train_items
    files = np.array([items.examples[number].file for number, _ in items.pairs])
    other = int(np.argmax(files != files[0]))
    batch = items.collate([items[0, 0], items[0, other]])
    # The two repositories do not import each other.
    assert batch["weights"][0, 1] == batch["weights"][1, 0] == 0
    assert batch["weights"].diagonal().tolist() == [1.0, 1.0]
    assert ((batch["labels"] == 1) <= (batch["weights"] == 1)).all()


def test_rows_with_fewer_negatives_leave_columns_that_weigh_nothing(chain, tmp_path):
    one = theorem(tactic(use("D.p0", "D.lean", 1)), file="D.lean", line=9)
    examples = make_examples([one], chain, PremisePairs())
    module = RetrievalDataModule(tmp_path, tmp_path)
    module.corpus = chain
    module.premises = module._tokens(chain.texts)
    items = module.items_of(examples)
    batch = items.collate([items[0, 0]])
    assert batch["weights"].tolist() == [[1.0, 0.0, 0.0, 0.0]]
    assert len(batch["premises"]) == 1


def test_negatives_follow_from_seed_epoch_and_item_alone(data):
    items = data.train_items
    epochs = [[items[epoch, n][1].tolist() for n in range(len(items))] for epoch in (0, 1, 0)]
    assert epochs[0] == epochs[2] != epochs[1]


def test_batches_do_not_depend_on_the_number_of_workers(exported, monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 4)

    def batches(workers):
        module = RetrievalDataModule(
            exported / "random", exported / "corpus.jsonl", batch_size=4, num_workers=workers
        )
        module.setup()
        return list(module.train_dataloader())

    for one, two in zip(batches(0), batches(2), strict=True):
        assert all(torch.equal(one[key], two[key]) for key in one)


def test_no_training_item_is_lost_or_twice():
    batches = LengthGroupedBatches(np.arange(103) % 17, batch_size=8, seed=1)
    items = [item for batch in batches for _, item in batch]
    assert sorted(items) == list(range(103))
    assert len(batches) == len(list(batches)) == 13
    batches.set_epoch(1)
    assert [item for batch in batches for _, item in batch] != items


def test_items_of_like_length_go_together():
    lengths = np.random.default_rng(0).integers(1, 500, 4000)
    padded = sum(
        max(lengths[item] for _, item in batch) * len(batch)
        for batch in LengthGroupedBatches(lengths, batch_size=8, seed=0)
    )
    assert padded < 1.1 * lengths.sum()


@pytest.mark.parametrize(("count", "world"), [(103, 2), (16, 3), (5, 4)])
def test_processes_share_all_batches_and_get_equally_many(count, world):
    shares = [
        list(
            LengthGroupedBatches(np.ones(count, int), batch_size=2, seed=3, rank=rank, world=world)
        )
        for rank in range(world)
    ]
    assert len({len(share) for share in shares}) == 1
    items = {item for share in shares for batch in share for _, item in batch}
    assert items == set(range(count))


def test_a_loader_goes_on_in_the_middle_of_an_epoch(data):
    loader = data.train_dataloader()
    whole = list(loader)
    assert len(whole) >= 4
    running = iter(loader)
    next(running), next(running)
    state = loader.state_dict()
    resumed = data.train_dataloader()
    resumed.load_state_dict(state)
    rest = list(resumed)
    assert len(rest) == len(whole) - 2
    assert all(
        torch.equal(a["queries"], b["queries"]) for a, b in zip(rest, whole[2:], strict=True)
    )
    assert len(list(resumed)) == len(whole), "the next epoch is whole again"


def test_nothing_to_train_on_is_a_clear_error(database, make_repository, tmp_path):
    barren = make_repository("gamma", ["x"], repeats=3)
    database.add_repository(barren)
    database.export_merged_data([barren], tmp_path / "e")
    for split in ("train", "val", "test"):
        file = tmp_path / "e" / "random" / f"{split}.json"
        file.write_text("[]")
    module = RetrievalDataModule(tmp_path / "e" / "random", tmp_path / "e" / "corpus.jsonl")
    with pytest.raises(EmptyDatasetError, match="no tactic uses a premise"):
        module.setup()


def test_the_formatter_gives_the_query_of_a_goal():
    assert PremisePairs().prompt("⊢ <a>x</a>") == [{"role": "user", "content": "⊢ x"}]
