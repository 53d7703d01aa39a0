"""The prover on a causal language model, constructed as the documents do, with real Lean."""

from __future__ import annotations

import shutil

import pytest
import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

from lean_dojo_core import Theorem
from lean_dojo_core.errors import UnknownNameError
from lean_dojo_plugins.causal_lm.model.bases import load_tokenizer
from lean_dojo_plugins.training.run_folder import FinishedStep, RunFolder, RunState
from lean_dojo_v2.lean.text.source import SourceTheorem
from lean_dojo_v2.lean_agent.config import ProverConfig
from lean_dojo_v2.prover import HFProver
from lean_dojo_v2.prover.problem import GoalProblem, TheoremProblem

CONFIG = ProverConfig(num_workers=1, num_sampled_tactics=2, max_expansions=1)
STATEMENT = "theorem both (p q : Prop) (hp : p) (hq : q) : p ∧ q :="
SOURCE = SourceTheorem(f"{STATEMENT} by\n  sorry\n", "both", "A.lean", (1, 1), (2, 8))


@pytest.fixture(scope="module")
def adapter(tiny_model, tmp_path_factory):
    """The folder of a LoRA adapter, as a trainer saves it."""
    folder = tmp_path_factory.mktemp("adapter")
    base = AutoModelForCausalLM.from_pretrained(tiny_model)
    torch.manual_seed(1)
    lora = LoraConfig(r=4, target_modules=["q_proj"], init_lora_weights=False)
    get_peft_model(base, lora).save_pretrained(folder)
    load_tokenizer(tiny_model).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module", params=["checkpoint", "adapter"])
def prover(request, tiny_model, adapter):
    options = {"device": "cpu", "config": CONFIG, "max_new_tokens": 8}
    if request.param == "adapter":
        return HFProver(adapter, use_lora=True, **options)
    return HFProver(tiny_model, **options)


def test_it_searches_with_lean(prover, engine):
    result, tactics = prover.search(engine, theorem=SOURCE)
    assert result.name == "both"
    assert result.expansions == 1
    assert result.success is (tactics is not None) is (result.reason is None)
    problems = [TheoremProblem(SOURCE), GoalProblem("∀ n : Nat, n = n")]
    found = dict(prover.search_many(problems, [engine]))
    assert sorted(found) == [0, 1]
    assert all(each.expansions == 1 for each in found.values())


def test_the_temperature_of_the_configuration_counts(tiny_model, monkeypatch):
    config = ProverConfig(temperature=0.0)
    prover = HFProver(tiny_model, device="cpu", config=config, temperature=2.0, max_new_tokens=8)
    asked = []
    write = prover.tactics.generate
    monkeypatch.setattr(
        prover.tactics, "generate", lambda *args, **kw: asked.append(args) or write(*args, **kw)
    )
    prover.generator.generate(["⊢ True"], num_samples=4, seeds=[1])
    assert asked[0][:3] == (["⊢ True"], 4, 0.0)


SLOW_ADAPTER = pytest.mark.parametrize(
    "prover", ["checkpoint", pytest.param("adapter", marks=pytest.mark.slow)], indirect=True
)


@SLOW_ADAPTER
def test_it_writes_whole_proofs(prover):
    traced = Theorem("both", "A.lean", (1, 1), (2, 8), "u", "c", STATEMENT)
    written = prover.generate_whole_proof(STATEMENT)
    assert isinstance(written, str)
    assert prover.generate_whole_proof(traced) == written


def test_sampled_proofs_belong_to_their_seeds(tiny_model):
    config = ProverConfig(temperature=1.5)
    prover = HFProver(tiny_model, device="cpu", config=config, max_proof_tokens=24)
    prover.tactics.turn_ends = torch.arange(0, 2000, 7)  # it ends now and then
    statements = [STATEMENT, STATEMENT.replace("both", "other"), STATEMENT]
    written = prover.write_proofs(statements, [1, 2, 3])
    assert written[0] != written[2]
    assert prover.write_proofs(statements[:0:-1], [3, 2]) == written[:0:-1]


@SLOW_ADAPTER
def test_a_statement_beyond_the_context_is_shortened(prover):
    hypotheses = " ".join(f"(h{n} : p {n})" for n in range(900))
    statement = f"theorem long (p : Nat → Prop) {hypotheses} : p 1 :="
    assert len(prover.tactics.tokenizer(statement)["input_ids"]) > prover.tactics.max_length
    assert isinstance(prover.generate_whole_proof(statement), str)


def finished_run(tiny_model, folder, **settings):
    """The folder of a model that a run with these settings has finished."""
    shutil.copytree(tiny_model, folder)
    step = FinishedStep("u", "c", 10, 5, "d")
    RunFolder(folder).save(RunState("SFTTrainer", settings, [step]))
    return folder


def test_a_formatter_that_is_gone_is_told_with_the_model_that_recorded_it(tiny_model, tmp_path):
    folder = finished_run(tiny_model, tmp_path / "out", formatter="somebodys-chat")
    with pytest.raises(UnknownNameError) as caught:
        HFProver(folder, device="cpu")
    message = str(caught.value)
    assert message.startswith(f"{folder} was trained with the formatter 'somebodys-chat'")
    assert "--formatter" in message
    assert HFProver(folder, device="cpu", formatter="tactic-chat").tactics.max_length == 1024


@pytest.mark.parametrize(("trained", "found"), [(300, 300), (None, 1024), (4096, 1024)])
def test_goals_are_shortened_as_in_training(tiny_model, tmp_path, trained, found):
    folder = finished_run(tiny_model, tmp_path / "out", max_length=trained)
    assert HFProver(folder, device="cpu").tactics.max_length == found  # the context is 1024
    assert HFProver(folder, device="cpu", max_length=200).tactics.max_length == 200


def test_a_short_max_length_leaves_half_to_the_prompt(tiny_model, tmp_path):
    prover = HFProver(tiny_model, device="cpu", max_length=200, max_new_tokens=128)
    assert prover.tactics.longest_answer(128) == 100
    assert prover.tactics.longest_answer(40) == 40
    asked = []
    generate = prover.tactics.generate
    prover.tactics.generate = lambda *args, **options: (
        asked.append(options) or generate(*args, **options)
    )
    prover.generator.generate(["⊢ True"], num_samples=1)
    assert asked[0]["max_new_tokens"] == 100


def test_a_run_that_has_finished_nothing_says_nothing_of_the_model(tiny_model, tmp_path):
    shutil.copytree(tiny_model, tmp_path / "out")
    RunFolder(tmp_path / "out").save(RunState("SFTTrainer", {"max_length": 300}))
    assert HFProver(tmp_path / "out", device="cpu").tactics.max_length == 1024
    (tmp_path / "out" / "training_state.json").write_text('{"of": "somebody else"}')
    assert HFProver(tmp_path / "out", device="cpu").tactics.max_length == 1024
