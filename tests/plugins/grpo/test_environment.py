"""TRL's own trainer plays theorems as environments: tools are called, and full verification pays."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
import torch
import trl
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils import get_json_schema

from lean_dojo_plugins.causal_lm.tiny_model import build_tiny_model
from lean_dojo_plugins.services.environment import LeanProofEnvironment, engines_of

GOAL = "∀ n : Nat, n + 0 = n"
PROMPT = [{"role": "user", "content": "Prove it."}]
SCRIPT = ["intro n", "rfl"]


def test_the_tools_have_schemas() -> None:
    environment = LeanProofEnvironment()
    schemas = [get_json_schema(getattr(environment, name))["function"] for name in TOOLS]
    assert [schema["name"] for schema in schemas] == TOOLS
    assert schemas[0]["parameters"]["required"] == ["tactic"]
    assert all(schema["description"] for schema in schemas)


TOOLS = ["tactic", "undo", "state"]


def conversation(environment: LeanProofEnvironment) -> list[dict]:
    """What a rollout is that plays the script."""
    said = environment.reset(goal=GOAL, prompt=PROMPT)
    messages: list[dict] = [{"role": "user", "content": PROMPT[0]["content"] + said}]
    for tactic in SCRIPT:
        function = {"name": "tactic", "arguments": {"tactic": tactic}}
        call = {"type": "function", "function": function}
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        answer = environment.tactic(tactic)
        messages.append({"role": "tool", "name": "tactic", "content": answer})
    return [*messages, {"role": "assistant", "content": "Done."}]


def taught(folder: Path, messages: list[dict], tools: list) -> Path:
    """Make a tiny model that knows this one conversation by heart."""
    templates = Path(trl.__file__).parent / "chat_templates"
    template = (templates / "qwen2_5_training.jinja").read_text(encoding="utf-8")
    build_tiny_model(
        [str(messages), str([get_json_schema(tool) for tool in tools])] * 4,
        folder, hidden_size=64, layers=2, vocab_size=600, max_length=4096,
    )  # fmt: skip
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.add_special_tokens({"eos_token": "<|im_end|>"})
    tokenizer.chat_template = template
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    model.resize_token_embeddings(len(tokenizer))
    model.config.eos_token_id = model.generation_config.eos_token_id = tokenizer.eos_token_id
    encoded = tokenizer.apply_chat_template(
        messages, tools=tools, return_dict=True, return_tensors="pt",
        return_assistant_tokens_mask=True,
    )  # fmt: skip
    ids = encoded["input_ids"]
    labels = ids.masked_fill(torch.as_tensor(encoded["assistant_masks"]) == 0, -100)
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(400):
        loss = model(input_ids=ids, labels=labels).loss
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if loss < 0.01:
            break
    assert loss < 0.05
    model.save_pretrained(folder)
    tokenizer.chat_template = (templates / "qwen2_5.jinja").read_text(encoding="utf-8")
    tokenizer.save_pretrained(folder)
    return folder


@pytest.mark.slow
def test_trl_takes_two_steps(tmp_path: Path) -> None:
    factory = partial(LeanProofEnvironment, engines=1, engine="embedded", max_calls=4)
    environment = factory()
    tools = [getattr(environment, name) for name in sorted(TOOLS)]
    model = taught(tmp_path / "model", conversation(environment), tools)
    assert environment.get_reward() == 1.0
    trainer = trl.GRPOTrainer(
        model=str(model),
        environment_factory=factory,
        train_dataset=Dataset.from_list([{"prompt": PROMPT, "goal": GOAL}] * 4),
        args=trl.GRPOConfig(
            output_dir=str(tmp_path / "out"), max_steps=2, per_device_train_batch_size=4,
            num_generations=4, max_completion_length=400, learning_rate=1e-6, logging_steps=1,
            use_cpu=True, bf16=False, gradient_checkpointing=False, report_to="none",
            model_init_kwargs={"dtype": "float32"}, save_strategy="no", seed=0,
        ),
    )  # fmt: skip
    trainer.train()
    engines_of.cache_clear()
    steps = [log for log in trainer.state.log_history if "tools/call_frequency" in log]
    assert trainer.state.global_step == len(steps) == 2
    assert all(log["tools/call_frequency"] >= 1 for log in steps), "tools were called"
    assert max(log["rewards/LeanProofEnvironment/mean"] for log in steps) > 0, "proofs were paid"
