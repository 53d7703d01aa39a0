"""Exact top-k, metrics, BM25, the index and the retriever."""

import logging

import numpy as np
import pytest
import pytrec_eval
import torch

from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.retrieval.data.corpus import Corpus, pack_position
from lean_dojo_plugins.retrieval.data.examples import RetrievalExamples
from lean_dojo_plugins.retrieval.data.formatter import PremisePairs
from lean_dojo_plugins.retrieval.data.tokenizer import ByteTokenizer
from lean_dojo_plugins.retrieval.data.tokens import TokenStore
from lean_dojo_plugins.retrieval.evaluation import score
from lean_dojo_plugins.retrieval.model.embedding import embed_all, length_sorted_batches
from lean_dojo_plugins.retrieval.model.metrics import Tally
from lean_dojo_plugins.retrieval.model.premise_retriever import PremiseRetriever
from lean_dojo_plugins.retrieval.model.topk import UsableAt, top_k
from lean_dojo_plugins.retrieval.search.bm25 import BM25
from lean_dojo_plugins.retrieval.search.index import PremiseIndex, path_beside
from lean_dojo_plugins.retrieval.search.retriever import Retriever
from lean_dojo_v2.errors import CheckpointError


@pytest.fixture
def corpus(exported):
    return Corpus.read(exported / "corpus.jsonl")


@pytest.fixture
def model(encoder_folder):
    return PremiseRetriever(str(encoder_folder), max_seq_len=64).eval()


# --- top k -------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunks", [(256, 8192), (2, 3), (1, 1), (3, 5)])
def test_chunks_change_nothing(chain, chunks):
    torch.manual_seed(0)
    queries, premises = torch.randn(7, 16), torch.randn(len(chain), 16)
    files = np.array(
        [
            chain.file_number(p)
            for p in ["A.lean", "B.lean", "C.lean", "C.lean", "D.lean"] + ["C.lean"] * 2
        ]
    )
    befores = np.array([pack_position((line, 1)) for line in (4, 1, 5, 99, 1, 5, 3)])
    usable = UsableAt(chain.visibility, files, befores)
    query_chunk, premise_chunk = chunks
    scores, numbers = top_k(
        queries, premises, 6, usable, query_chunk=query_chunk, premise_chunk=premise_chunk
    )
    for row in range(7):
        mask = chain.visibility.mask(files[row], befores[row])
        plain = np.where(mask, (queries[row] @ premises.T).numpy(), -np.inf)
        order = [n for n in np.argsort(-plain, kind="stable")[:6] if mask[n]]
        assert [n for n in numbers[row].tolist() if n >= 0] == order
        assert torch.allclose(
            scores[row, : len(order)], torch.tensor(plain[order], dtype=torch.float32), atol=1e-5
        )
        assert (scores[row, len(order) :] == -torch.inf).all()


def test_fewer_premises_than_asked_for(chain):
    scores, numbers = top_k(torch.randn(2, 4), torch.randn(3, 4), 100)
    assert scores.shape == numbers.shape == (2, 3)
    assert sorted(numbers[0].tolist()) == [0, 1, 2]
    assert top_k(torch.randn(2, 4), torch.zeros(0, 4), 5)[0].shape == (2, 0)


# --- metrics -----------------------------------------------------------------------------------


def test_metrics_by_hand():
    tally = Tally()
    tally.add([5, 3, 1], np.array([3, 9]))  # one of two, at rank 2
    tally.add([7], np.array([7]))
    tally.add([7], np.array([], dtype=np.int64))  # skipped
    tally.add([-1, -1], np.array([4]))
    scores = tally.scores()
    assert scores.count == 3
    assert scores.values["R@1"] == pytest.approx(100 / 3)
    assert scores.values["R@10"] == pytest.approx(50)
    assert scores.values["MRR"] == pytest.approx((0.5 + 1 + 0) / 3)
    spread = np.std([0.5, 1, 0], ddof=1) / np.sqrt(3)
    assert scores.margins["MRR"] == pytest.approx(1.96 * spread)
    assert scores.margins["R@10"] == pytest.approx(100 * 1.96 * spread)
    assert Tally().scores().values == {"R@1": 0, "R@10": 0, "MRR": 0}


def test_metrics_agree_with_trec_eval():
    rng = np.random.default_rng(0)
    tally, truth, runs = Tally(), {}, {}
    for query in range(200):
        ranked = rng.permutation(60)[: rng.integers(1, 40)]
        positives = rng.choice(60, rng.integers(1, 6), replace=False)
        tally.add(ranked.tolist(), positives)
        truth[str(query)] = {str(p): 1 for p in positives}
        runs[str(query)] = {str(p): float(-rank) for rank, p in enumerate(ranked)}
    measures = pytrec_eval.RelevanceEvaluator(truth, {"recall.1,10", "recip_rank"}).evaluate(runs)
    scores = tally.scores()
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
    assert corpus[best].full_name == "alpha.cherry_eq"
    assert best not in baseline.top("⊢ cherry 3 = 3", np.delete(everything, best), 50)
    assert len(baseline.top("∮∮", everything, 5)) == 5, "no known word: any premises"
    assert baseline.top("x", np.array([], dtype=np.int64), 5) == []
    examples = RetrievalExamples.read(exported / "random" / "test.json", corpus, PremisePairs())
    assert baseline.evaluate(examples, 100).values["R@1"] > 90


# --- embedding and index -----------------------------------------------------------------------


def test_every_text_is_embedded_once_in_its_place(model, tmp_path):
    texts = ["x" * size for size in (3, 50, 1, 200, 7, 7)]
    store = TokenStore.build(texts, ByteTokenizer(), 64)
    together = embed_all(model, store)
    for number in range(len(texts)):
        alone = embed_all(model, store, numbers=np.array([number]))
        assert torch.allclose(together[number], alone[0], atol=1e-2)  # bfloat16 where it is fast
    assert embed_all(model, TokenStore.build([], ByteTokenizer(), 9)).shape[0] == 0


def test_batches_bound_their_tokens():
    lengths = np.random.default_rng(0).integers(1, 400, 500)
    batches = length_sorted_batches(lengths, 1000)
    assert sorted(np.concatenate(batches).tolist()) == list(range(500))
    assert all(len(batch) == 1 or len(batch) * lengths[batch].max() <= 1000 for batch in batches)


def test_an_index_is_stored_beside_the_checkpoint_and_reused(model, corpus, tmp_path, caplog):
    checkpoint = tmp_path / "a.ckpt"
    first = PremiseIndex.for_checkpoint(checkpoint, model, corpus)
    path = path_beside(checkpoint, corpus)
    made = path.stat().st_mtime_ns
    assert torch.equal(
        PremiseIndex.for_checkpoint(checkpoint, model, corpus).embeddings, first.embeddings
    )
    assert path.stat().st_mtime_ns == made
    with torch.no_grad():
        model.encoder.shared.weight += 0.1
    with pytest.raises(CheckpointError, match="another model or another corpus"):
        PremiseIndex.load(path, model, corpus)
    with caplog.at_level(logging.WARNING):
        PremiseIndex.for_checkpoint(checkpoint, model, corpus)
    assert "making it again" in caplog.text
    PremiseIndex.load(path, model, corpus)


def test_an_index_of_another_corpus_or_a_broken_one_is_refused(model, corpus, chain, tmp_path):
    path = tmp_path / "i.safetensors"
    PremiseIndex.build(model, chain).save(path)
    with pytest.raises(CheckpointError, match="lean-dojo index"):
        PremiseIndex.load(path, model, corpus)
    path.write_bytes(b"\0" * 20)
    with pytest.raises(CheckpointError, match="cannot be read"):
        PremiseIndex.load(path, model, corpus)
    with pytest.raises(CheckpointError, match="cannot be read"):
        PremiseIndex.load(tmp_path / "nowhere", model, corpus)


# --- the retriever -----------------------------------------------------------------------------


@pytest.fixture
def retriever(encoder_folder, exported):
    return Retriever.open(encoder_folder, exported / "corpus.jsonl", device="cpu")


def test_only_what_the_theorem_may_use_is_retrieved(retriever):
    (everything,) = retriever.retrieve(["⊢ gold 1 = 1"], k=100)
    assert len(everything) == 12
    assert [hit.score for hit in everything] == sorted((h.score for h in everything), reverse=True)
    (inside,) = retriever.retrieve(
        ["⊢ gold 1 = 1"], k=100, file_path="beta/Main.lean", before=(4, 1)
    )
    assert {hit.path for hit in inside} == {"beta/Base.lean"}
    (early,) = retriever.retrieve(["⊢ x"], k=100, file_path="beta/Base.lean", before=(5, 1))
    assert {hit.premise.full_name for hit in early} == {"beta.gold_eq", "beta.iron_eq"}
    assert set(early[0].to_dict()) == {"full_name", "path", "start", "code", "score"}


def test_usage_mistakes(retriever):
    with pytest.raises(UsageError, match=r"Did you mean beta/Main\.lean"):
        retriever.retrieve(["x"], file_path="beta/Mian.lean")
    with pytest.raises(UsageError, match="k=0"):
        retriever.retrieve(["x"], k=0)


def test_score_is_what_the_retriever_finds(retriever, exported):
    examples = RetrievalExamples.read(
        exported / "random" / "test.json", retriever.corpus, PremisePairs()
    )
    scores = score(retriever.model, retriever.corpus, retriever.index, examples, 12)
    tally = Tally()
    for number, state in enumerate(examples.states):
        path = retriever.corpus.paths[examples.files[number]]
        place = divmod(int(examples.befores[number]), 1 << 20)
        (hits,) = retriever.retrieve([state], k=12, file_path=path, before=place)
        found = [retriever.corpus.premises.index(hit.premise) for hit in hits]
        tally.add(found, examples.positives_of(number))
    assert tally.scores().values == pytest.approx(scores.values)
