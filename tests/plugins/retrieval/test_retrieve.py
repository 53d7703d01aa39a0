"""Exact top-k, metrics, BM25, the index and the retriever."""

import logging

import numpy as np
import pytest
import pytrec_eval
import torch

from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.retrieval.data.corpus import Corpus, pack_position
from lean_dojo_plugins.retrieval.data.examples import PremisePairs, make_examples
from lean_dojo_plugins.retrieval.evaluation import BM25
from lean_dojo_plugins.retrieval.model import ranking
from lean_dojo_plugins.retrieval.model.premise_retriever import PremiseRetriever, length_batches
from lean_dojo_plugins.retrieval.model.ranking import Scores, measured, top_k
from lean_dojo_plugins.retrieval.search.retriever import Retriever, index_beside
from lean_dojo_v2.database.export.read import read_theorems
from lean_dojo_v2.errors import CheckpointError


def held_out(exported, corpus):
    theorems = read_theorems(exported / "random" / "test.json")
    return make_examples(theorems, corpus, PremisePairs())


@pytest.fixture
def corpus(exported):
    return Corpus.read(exported / "corpus.jsonl")


@pytest.fixture
def model(encoder_folder):
    return PremiseRetriever(str(encoder_folder), max_seq_len=64).eval()


# --- top k -------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunk", [64, 2])
def test_only_usable_premises_are_found_best_first(chain, chunk, monkeypatch):
    monkeypatch.setattr(ranking, "QUERIES", chunk)
    torch.manual_seed(0)
    queries, premises = torch.randn(7, 16), torch.randn(len(chain), 16)
    files = np.array(
        [
            chain.file_number(p)
            for p in ["A.lean", "B.lean", "C.lean", "C.lean", "D.lean"] + ["C.lean"] * 2
        ]
    )
    befores = np.array([pack_position((line, 1)) for line in (4, 1, 5, 99, 1, 5, 3)])
    usable = map(chain.visibility.mask, files, befores)
    scores, numbers = top_k(queries, premises, 6, usable)
    for row in range(7):
        mask = chain.visibility.mask(files[row], befores[row])
        plain = np.where(mask, (queries[row] @ premises.T).numpy(), -np.inf)
        order = [n for n in np.argsort(-plain, kind="stable")[:6] if mask[n]]
        assert [n for n in numbers[row].tolist() if n >= 0] == order
        assert torch.allclose(
            scores[row, : len(order)], torch.tensor(plain[order], dtype=torch.float32), atol=1e-5
        )
        assert (scores[row, len(order) :] == -torch.inf).all()


def test_fewer_premises_than_asked_for():
    every = np.ones((2, 3), dtype=bool)
    scores, numbers = top_k(torch.randn(2, 4), torch.randn(3, 4), 100, every)
    assert scores.shape == numbers.shape == (2, 3)
    assert sorted(numbers[0].tolist()) == [0, 1, 2]
    assert top_k(torch.randn(2, 4), torch.zeros(0, 4), 5, every[:, :0])[0].shape == (2, 0)
    assert top_k(torch.randn(0, 4), torch.randn(3, 4), 2, [])[0].shape == (0, 2)


# --- metrics -----------------------------------------------------------------------------------


def test_metrics_by_hand():
    scores = Scores.of(
        [
            measured([5, 3, 1], np.array([3, 9])),  # one of two, at rank 2
            measured([7], np.array([7])),
            measured([-1, -1], np.array([4])),
        ]
    )
    assert scores.values["R@1"] == pytest.approx(100 / 3)
    assert scores.values["R@10"] == pytest.approx(50)
    assert scores.values["MRR"] == pytest.approx((0.5 + 1 + 0) / 3)
    spread = np.std([0.5, 1, 0], ddof=1) / np.sqrt(3)
    assert scores.margins["MRR"] == pytest.approx(1.96 * spread)
    assert scores.margins["R@10"] == pytest.approx(100 * 1.96 * spread)
    assert Scores.of([]).values == Scores.of([]).margins == {"R@1": 0, "R@10": 0, "MRR": 0}


def test_metrics_agree_with_trec_eval():
    rng = np.random.default_rng(0)
    rows, truth, runs = [], {}, {}
    for query in range(200):
        ranked = rng.permutation(60)[: rng.integers(1, 40)]
        positives = rng.choice(60, rng.integers(1, 6), replace=False)
        rows.append(measured(ranked, positives))
        truth[str(query)] = {str(p): 1 for p in positives}
        runs[str(query)] = {str(p): float(-rank) for rank, p in enumerate(ranked)}
    measures = pytrec_eval.RelevanceEvaluator(truth, {"recall.1,10", "recip_rank"}).evaluate(runs)
    scores = Scores.of(rows)
    for name, ours in (
        ("recall_1", scores.values["R@1"] / 100),
        ("recall_10", scores.values["R@10"] / 100),
        ("recip_rank", scores.values["MRR"]),
    ):
        assert ours == pytest.approx(np.mean([values[name] for values in measures.values()]))


# --- BM25 --------------------------------------------------------------------------------------


def test_bm25_finds_shared_words_among_what_is_usable(corpus, exported):
    baseline = BM25(corpus)
    everything = np.arange(len(corpus))
    (best,) = baseline.top("⊢ cherry 3 = 3", everything, 1)
    assert corpus.premises[best].full_name == "alpha.cherry_eq"
    assert best not in baseline.top("⊢ cherry 3 = 3", np.delete(everything, best), 50)
    assert len(baseline.top("∮∮", everything, 5)) == 5, "no known word: any premises"
    assert baseline.top("x", np.array([], dtype=np.int64), 5) == []
    assert baseline.score(held_out(exported, corpus), 100).values["R@1"] > 90


# --- embedding and index -----------------------------------------------------------------------


def test_every_text_is_embedded_once_in_its_place(model):
    store = model.tokens("x" * size for size in (3, 50, 1, 200, 7, 7))
    together = model.embed_all(store)
    for number in range(len(store)):
        alone = model.embed_all(store, np.array([number]))
        assert torch.allclose(together[number], alone[0], atol=1e-2)  # bfloat16 where it is fast
    assert model.embed_all(model.tokens([])).shape == (0, 32)


def test_batches_bound_their_tokens_and_their_padding():
    lengths = np.random.default_rng(0).integers(1, 400, 500)
    batches = length_batches(lengths, 1000)
    assert sorted(np.concatenate(batches).tolist()) == list(range(500))
    assert all(len(batch) == 1 or len(batch) * lengths[batch].max() <= 1000 for batch in batches)
    assert all(3 * lengths[batch].min() > 2 * lengths[batch].max() for batch in batches)


def test_an_index_is_stored_beside_the_checkpoint_and_reused(model, corpus, tmp_path, caplog):
    checkpoint = tmp_path / "a.ckpt"
    path = index_beside(checkpoint, corpus)
    first = Retriever.of(model, corpus, checkpoint)
    made = path.stat().st_mtime_ns
    assert torch.equal(Retriever.of(model, corpus, checkpoint).embeddings, first.embeddings)
    assert path.stat().st_mtime_ns == made
    with torch.no_grad():
        model.encoder.shared.weight += 0.1
    with pytest.raises(CheckpointError, match="another model or another corpus"):
        Retriever.load(path, model, corpus)
    with caplog.at_level(logging.WARNING):
        Retriever.of(model, corpus, checkpoint)
    assert "making it again" in caplog.text
    Retriever.load(path, model, corpus)
    assert not list(tmp_path.glob(".a.index*"))


def test_an_index_of_another_corpus_or_a_broken_one_is_refused(model, corpus, chain, tmp_path):
    path = tmp_path / "i.safetensors"
    Retriever.of(model, chain, None).save(path)
    with pytest.raises(CheckpointError, match="lean-dojo index"):
        Retriever.load(path, model, corpus)
    path.write_bytes(b"\0" * 20)
    with pytest.raises(CheckpointError, match="cannot be read"):
        Retriever.load(path, model, corpus)
    with pytest.raises(CheckpointError, match="cannot be read"):
        Retriever.load(tmp_path / "nowhere", model, corpus)


# --- the retriever -----------------------------------------------------------------------------


@pytest.fixture
def retriever(encoder_folder, exported):
    return Retriever.open(encoder_folder, exported / "corpus.jsonl", device="cpu")


def test_only_what_the_theorem_may_use_is_retrieved(retriever):
    (everything,) = retriever.retrieve(["⊢ gold 1 = 1"], k=100)
    assert len(everything) == 12
    assert [hit.score for hit in everything] == sorted((h.score for h in everything), reverse=True)
    (inside,) = retriever.retrieve(["⊢ gold 1 = 1"], [("beta/Main.lean", (4, 1))], k=100)
    assert {hit.path for hit in inside} == {"beta/Base.lean"}
    (early,) = retriever.retrieve(["⊢ x"], [("beta/Base.lean", (5, 1))], k=100)
    assert {hit.premise.full_name for hit in early} == {"beta.gold_eq", "beta.iron_eq"}
    assert set(early[0].to_dict()) == {"full_name", "path", "start", "code", "score"}


def test_usage_mistakes(retriever):
    with pytest.raises(UsageError, match=r"Did you mean beta/Main\.lean"):
        retriever.retrieve(["x"], [("beta/Mian.lean", None)])
    with pytest.raises(UsageError, match="k=0"):
        retriever.retrieve(["x"], k=0)


def test_score_is_what_the_retriever_finds(retriever, exported):
    examples = held_out(exported, retriever.corpus)
    places = [(retriever.corpus.paths[one.file], divmod(one.before, 1 << 20)) for one in examples]
    found = retriever.retrieve([one.state for one in examples], places, k=12)
    rows = []
    for one, hits in zip(examples, found, strict=True):
        numbers = [retriever.corpus.premises.index(hit.premise) for hit in hits]
        rows.append(measured(numbers, one.positives))
    assert Scores.of(rows) == retriever.score(examples, 12)
