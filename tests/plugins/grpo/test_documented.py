"""The documented GRPO examples, unchanged but for the model, the folders and the repository."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig, PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer

from lean_dojo_plugins.causal_lm.tiny_model import build_tiny_model
from lean_dojo_plugins.services.report.page import write_report
from lean_dojo_v2.agent.hf_agent import HFAgent
from lean_dojo_v2.cli import main
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.lean.engines.embedded.install import ensure_installed
from lean_dojo_v2.tracing import LeanGitRepo
from lean_dojo_v2.trainer.grpo_trainer import GRPOTrainer

LEAN = """\
namespace Barn

def double (n : Nat) : Nat := n + n

theorem swap (p q : Prop) (hp : p) (hq : q) : q ∧ p := by
  constructor
  · exact hq
  · exact hp

theorem left (p q : Prop) (hp : p) : p ∨ q := by
  exact Or.inl hp

theorem double_two : double 2 = 4 := by
  unfold double
  rfl

theorem flip (a b : Nat) (h : a = b) : b = a := by
  rw [h]

FURTHER
theorem open_question (p q : Prop) (hp : p) (hq : q) : p ∧ q := by
  sorry

end Barn
""".replace(
    # A theorem's split follows from its address, here a temporary folder: with some more of them,
    # one is in the training split wherever the folder is.
    "FURTHER\n",
    "\n".join(
        f"theorem more_{n} (h : {n} = {n}) : {n} = {n} := by\n  exact h\n" for n in range(20)
    ),
)


@pytest.fixture(scope="module")
def barn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project, and a current folder with its traced database."""
    ensure_installed()
    root = tmp_path_factory.mktemp("barn")
    project = root / "project"
    project.mkdir()
    (project / "Barn.lean").write_text(LEAN)
    (project / "lakefile.toml").write_text('name = "barn"\n[[lean_lib]]\nname = "Barn"\n')
    (project / "lean-toolchain").write_text("leanprover/lean4:v4.28.0\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAID_DIR", str(root / "raid"))
        patch.chdir(root)
        yield project


@pytest.fixture(scope="module")
def traced_barn(barn: Path) -> tuple[list[LeanGitRepo], DynamicDatabase, Path]:
    repo = LeanGitRepo.from_path(barn)
    database = DynamicDatabase("dynamic_database.json")
    database.trace_repository(repo.url, repo.commit, build_deps=False)
    return [repo], database, Path("raid/data/merged")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("model") / "tiny"
    # Its prompts and completions are short: one optimiser step takes a fraction of a second.
    return str(build_tiny_model([LEAN], folder, hidden_size=32, layers=2, heads=2))


def reward_func(completions, **kwargs):
    """Trivial placeholder — replace with domain-specific logic."""
    return torch.tensor([1.0] * len(completions))


def penalised(completions, **kwargs):
    rewards = []
    for tactic in completions:
        # Penalise long tactics; reward short ones
        length_penalty = max(0.0, 1.0 - len(tactic) / 200)
        # Hard block on sorry
        if "sorry" in tactic or "admit" in tactic:
            rewards.append(-1.0)
        else:
            rewards.append(length_penalty)
    return torch.tensor(rewards)


def metrics(folder: str) -> list[dict[str, Any]]:
    lines = (Path(folder) / "metrics.jsonl").read_text().splitlines()
    return [row for row in map(json.loads, lines) if "reward" in row]


@pytest.mark.slow
def test_the_full_example_with_an_agent(barn, model, capsys):
    trainer = GRPOTrainer(
        model_name=model,
        output_dir="outputs-deepseek",
        reward_func=reward_func,
        epochs_per_repo=1,
        batch_size=8,
        lr=2e-5,
    )

    agent = HFAgent(trainer=trainer)
    agent.prover_config.timeout = 5
    agent.prover_config.max_expansions = 1
    agent.prover_config.num_sampled_tactics = 2
    agent.setup_local_repository(barn)
    agent.train()
    agent.prove()

    said = capsys.readouterr().out
    assert "Found 1 sorry theorems to prove" in said
    assert "Proving Barn.open_question" in said
    AutoModelForCausalLM.from_pretrained("outputs-deepseek")
    AutoTokenizer.from_pretrained("outputs-deepseek")
    assert all(row["reward"] == 1.0 for row in metrics("outputs-deepseek"))


@pytest.mark.slow
def test_the_length_penalised_example(traced_barn, model):
    trainer = GRPOTrainer(model_name=model, reward_func=penalised, output_dir="outputs-penalised")
    trainer.train(*traced_barn)
    assert all(-1.0 <= row["reward"] <= 1.0 for row in metrics("outputs-penalised"))
    assert Path("outputs-penalised/model.safetensors").exists()


@pytest.mark.slow
def test_the_lora_example(traced_barn, model):
    lora_config = LoraConfig(
        r=16,
        lora_alpha=32,
        target_modules=["q_proj", "v_proj", "k_proj", "o_proj"],
        lora_dropout=0.1,
    )

    trainer = GRPOTrainer(
        model_name=model,
        output_dir="outputs-grpo-lora",
        reward_func=reward_func,
        epochs_per_repo=1,
        batch_size=4,
        lr=2e-5,
        lora_config=lora_config,
    )
    trainer.train(*traced_barn)
    base = AutoModelForCausalLM.from_pretrained(model)
    PeftModel.from_pretrained(base, "outputs-grpo-lora")
    assert not Path("outputs-grpo-lora/model.safetensors").exists()


@pytest.mark.slow
def test_the_verified_reward_by_name_and_its_evaluation(traced_barn, model):
    trainer = GRPOTrainer(
        model_name=model,
        reward_func={"pantograph-verified": {"engines": 1}, "length-penalised": 0.1},
        output_dir="outputs-verified",
        trainer_args={"max_completion_length": 16},
    )
    trainer.train(*traced_barn)
    rows = metrics("outputs-verified")
    assert all(row["lean/unopened"] == 0 for row in rows), "every state was replayed"
    assert {"rewards/pantograph-verified/mean", "lean/verified", "lean/refused"} <= rows[0].keys()
    for name in ("rewards", "verified", "refusals"):
        assert Path(f"outputs-verified/{name}.svg").read_text().count("<path") > 3
    page = write_report(Path("outputs-verified")).read_text()
    assert "over the first fifth of the steps" in page
    assert "<td>unparsed</td>" in page, "an untrained model writes no tactics"

    found = trainer.evaluate("raid/data/merged", "train", limit=2, samples=3)
    assert (found.examples, found.split) == (2, "train")
    assert 0 <= found["lean/verified"] <= 1
    assert found["lean/unopened"] == 0
    total = found["reward/pantograph-verified"] + 0.1 * found["reward/length-penalised"]
    assert found["reward"] == pytest.approx(total)
    again = trainer.evaluate("raid/data/merged", "train", limit=2, samples=3)
    took = {"lean/calls": 0.0, "lean/seconds": 0.0}  # less, for what Lean has already opened
    assert again.metrics | took == found.metrics | took, "samples are seeded"
    trainer.rewards[0].function.close()


@pytest.mark.slow
def test_on_the_command_line(traced_barn, model, capsys):
    code = main([
        "train", "grpo", "--set", f"model_name={model}", "--set", "output_dir=outputs-cli",
        "--set", "trainer_args.max_steps=1", "--set", "trainer_args.max_completion_length=8",
        "--reward", "length-penalised:0.5", "--reward", "constant",
    ])  # fmt: skip
    assert code == 0, capsys.readouterr().err
    [row] = metrics("outputs-cli")
    expected = 0.5 * row["rewards/length-penalised/mean"] + row["rewards/constant/mean"]
    assert row["reward"] == pytest.approx(expected, abs=1e-5)
