"""Provers and the agent that retrieve premises."""

from __future__ import annotations

import shutil

import pytest
import torch
from transformers import ByT5Tokenizer, T5Config, T5ForConditionalGeneration

from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.causal_lm.text.formatters import TacticChat
from lean_dojo_plugins.retrieval.search.prover import RetrievalProver, WithPremises
from lean_dojo_plugins.retrieval.search.seq2seq import Seq2SeqGenerator
from lean_dojo_v2.agent import LeanAgent
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.lean_agent.config import ProverConfig
from lean_dojo_v2.prover.suggestion import Place


@pytest.fixture(scope="session")
def seq2seq_folder(tmp_path_factory):
    """A random T5 with encoder and decoder that reads and writes bytes."""
    torch.manual_seed(0)
    config = T5Config(
        vocab_size=384, d_model=32, d_kv=8, d_ff=64, num_layers=1, num_decoder_layers=1,
        num_heads=2, feed_forward_proj="gated-gelu", decoder_start_token_id=0,
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("seq2seq")
    model = T5ForConditionalGeneration(config)
    model.save_pretrained(folder)
    return folder


# --- the generator -------------------------------------------------------------------------------


def test_samples_have_the_models_own_log_probabilities(seq2seq_folder):
    generator = Seq2SeqGenerator(seq2seq_folder, device="cpu", max_new_tokens=3)
    generator.model.float()
    bias = torch.full((384,), -60.0)
    bias[36:129] = 0.0  # visible ASCII, so that a text has one spelling in tokens
    bias[1] = 3.0  # or few would end within three tokens
    generator.model.lm_head.bias = torch.nn.Parameter(bias)
    ids = torch.tensor([generator.input_ids("⊢ p", ["theorem a : p"])])
    [found] = generator.generate(["⊢ p"], num_samples=64, premises=[["theorem a : p"]])
    assert {len(suggestion.tactic) for suggestion in found} == {1, 2}
    for suggestion in found:
        written = [*generator._encode(suggestion.tactic), 1]
        logits = generator.model(input_ids=ids, labels=torch.tensor([written])).logits[0]
        wanted = torch.log_softmax(logits.float(), -1)[range(len(written)), written].sum()
        assert suggestion.logprob == pytest.approx(wanted.item(), abs=1e-3)


def test_sampling_is_repeatable_and_moves_on(seq2seq_folder):
    def sample():
        generator = Seq2SeqGenerator(seq2seq_folder, device="cpu", max_new_tokens=8, seed=3)
        return [generator.generate(["⊢ p"], num_samples=4) for _ in range(2)]

    before = torch.get_rng_state()
    assert sample() == sample()
    assert torch.equal(torch.get_rng_state(), before)


def test_a_seed_of_a_goal_gives_its_samples_whatever_else_is_in_the_batch(seq2seq_folder):
    generator = Seq2SeqGenerator(seq2seq_folder, device="cpu", max_new_tokens=4)
    generator.model.lm_head.weight.data[1] = 0.0  # or hardly any would end
    goals = ["⊢ p", "⊢ a longer goal", "⊢ q"]
    together = generator.generate(goals, num_samples=8, seeds=[1, 2, 3])
    alone = [
        generator.generate([goal], num_samples=8, seeds=[seed])[0]
        for goal, seed in zip(goals, [1, 2, 3], strict=True)
    ]
    assert [[s.tactic for s in one] for one in together] == [
        [s.tactic for s in one] for one in alone
    ]


def test_the_goal_stays_and_the_best_premises_come_first(seq2seq_folder):
    generator = Seq2SeqGenerator(seq2seq_folder, device="cpu", max_length=30)

    def text(goal, premises):
        return ByT5Tokenizer().decode(generator.input_ids(goal, premises))

    assert text("<a>g</a>", ["one", "two"]) == "one\n\ntwo\n\ng</s>"
    assert text("g" * 20, ["one", "two"]) == "one\n\n" + "g" * 20 + "</s>"
    assert text("g" * 90, ["one"]) == "g" * 29 + "</s>"


def test_premises_stand_before_the_goal_of_a_chat():
    with_premises = WithPremises(TacticChat(), letters=20)
    system, user = with_premises.prompt("⊢ p", premises=["<a>one</a> : p", "x" * 30, "two"])
    assert system["role"] == "system"
    assert user == {"role": "user", "content": "one : p\n\n⊢ p"}
    assert with_premises.prompt("⊢ p") == TacticChat().prompt("⊢ p")


# --- the prover ----------------------------------------------------------------------------------


def test_only_premises_in_reach_are_retrieved(encoder_folder, seq2seq_folder, exported):
    prover = RetrievalProver(
        encoder_folder, seq2seq_folder, exported / "corpus.jsonl", num_premises=50
    )
    inside = Place("alpha/Base.lean", (5, 1))
    found = prover.premises.retrieve(["⊢ p"] * 3, [inside, None, Place("Elsewhere.lean", (1, 1))])
    assert len(found[0]) == 2  # the two that end before line 5
    assert len(found[1]) == len(found[2]) == 12
    assert all("<a>alpha." in text for text in found[0])


def test_a_causal_generator_reads_the_premises(encoder_folder, tiny_model, exported, monkeypatch):
    prover = RetrievalProver(
        encoder_folder,
        tiny_model,
        exported / "corpus.jsonl",
        config=ProverConfig(num_sampled_tactics=2),
        num_premises=3,
    )
    seen = []
    monkeypatch.setattr(
        type(prover._causal.formatter),
        "prompt",
        lambda self, goal, *, premises=(): seen.append(premises) or TacticChat().prompt(goal),
    )
    texts = prover.premises.retrieve(["⊢ apple 1 = 1"], [None])
    prover.generator.generate(["⊢ apple 1 = 1"], num_samples=2, premises=texts)
    assert seen == texts
    assert len(texts[0]) == 3
    assert isinstance(prover.generate_whole_proof("theorem a : 1 = 1 :="), str)


def test_mistakes_are_said(encoder_folder, seq2seq_folder, exported, tmp_path):
    with pytest.raises(UsageError, match="no such corpus"):
        RetrievalProver(encoder_folder, seq2seq_folder, tmp_path / "none.jsonl")
    corpus = exported / "corpus.jsonl"
    with pytest.raises(UsageError, match="no model at"):
        RetrievalProver(encoder_folder, tmp_path / "nothing", corpus)
    prover = RetrievalProver(encoder_folder, seq2seq_folder, corpus)
    with pytest.raises(UsageError, match="one tactic at a time"):
        prover.generate_whole_proof("theorem a : 1 = 1 :=")


# --- the agent -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_lean_agent_trains_and_proves(
    make_config, make_repository, seq2seq_folder, tiny_database, tiny_repository, tmp_path, capsys
):
    """The document's own calls; a small retriever and generator, and a second repository."""
    path = shutil.copy(tiny_database, tmp_path / "database.json")
    DynamicDatabase(path).add_repository(make_repository("alpha", ["apple", "fig"]))
    agent = LeanAgent(
        path,
        make_config(max_epochs=1),
        ProverConfig(num_workers=1, num_sampled_tactics=2, max_expansions=1),
        gen_ckpt_path=str(seq2seq_folder),
    )
    agent.setup_local_repository(tiny_repository[0])
    agent.train()
    assert agent.trainer.find_best_checkpoint() is not None
    results = agent.prove()
    out = capsys.readouterr().out
    assert "Found 4 sorry theorems to prove" in out
    assert out.count("Proving ") == 4
    assert {result.expansions for result in results} == {1}
    assert agent.prover.premises.retriever.model.model_name == agent.config.model_name


def test_lean_agent_without_training_takes_the_named_model(
    make_config, seq2seq_folder, tiny_database, tmp_path
):
    path = shutil.copy(tiny_database, tmp_path / "database.json")
    agent = LeanAgent(path, make_config(), gen_ckpt_path=str(seq2seq_folder))
    assert agent.initialize_prover() == []
    assert (agent.data_path / "corpus.jsonl").is_file()
    assert agent.prover.generator.model.config.is_encoder_decoder
    assert agent._get_build_deps() is True
