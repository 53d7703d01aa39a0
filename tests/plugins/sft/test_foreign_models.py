"""Models as they are: odd templates and padding train, and prove as they were trained."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from transformers import AutoTokenizer

from lean_dojo_plugins.causal_lm.generate.generator import CausalTacticGenerator
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.errors import TrainingError
from lean_dojo_v2.trainer.sft_trainer import SFTTrainer

NO_SYSTEM = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}"
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n<think>\n{% endif %}"
)


def pad_outside(tokenizer) -> None:
    tokenizer.add_special_tokens({"pad_token": "<|outside|>"})


KINDS = {
    "no system role, open thought": lambda tokenizer: setattr(
        tokenizer, "chat_template", NO_SYSTEM
    ),
    "padding is the end": lambda tokenizer: setattr(tokenizer, "pad_token", tokenizer.eos_token),
    "no padding": lambda tokenizer: setattr(tokenizer, "pad_token", None),
    "padding outside the model": pad_outside,
}


def changed(tiny_model: Path, folder: Path, change) -> Path:
    shutil.copytree(tiny_model, folder)
    tokenizer = AutoTokenizer.from_pretrained(tiny_model)
    change(tokenizer)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.mark.parametrize("kind", KINDS)
def test_it_trains_and_proves_with_the_same_prompt(traced, tiny_model, tmp_path, kind):
    (tmp_path / "database.json").write_bytes(traced.read_bytes())
    database = DynamicDatabase(tmp_path / "database.json")
    model = changed(tiny_model, tmp_path / "model", KINDS[kind])
    trainer = SFTTrainer(
        str(model), str(tmp_path / "out"), batch_size=4, trainer_args={"max_steps": 2},
        report_to="none",
    )  # fmt: skip
    trainer.train(database.repositories[:1], database, tmp_path / "merged")
    generator = CausalTacticGenerator(tmp_path / "out")
    goals = ["⊢ p", "h : p ∧ q\n⊢ q ∧ p"]
    assert [len(found) for found in generator.generate(goals, 2, merge=False, seed=1)] == [2, 2]
    theorem = next(one for one in database.repositories[0].iter_theorems() if one.traced_tactics)
    (shown,) = trainer.preview([theorem], limit=1)
    prompt = "".join(token.text for token in shown.tokens if not token.loss)
    goal = theorem.traced_tactics[0].state_before
    asked = generator.tokenizer.decode(generator.prompt_ids(goal))
    assert asked.removeprefix(generator.tokenizer.bos_token or "") == prompt.removeprefix(
        generator.tokenizer.bos_token or ""
    )


def test_a_tokenizer_of_another_model_is_named(traced, tiny_model, tmp_path):
    def change(tokenizer) -> None:
        tokenizer.add_tokens(["<assistant>"], special_tokens=True)
        tokenizer.chat_template = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"

    model = changed(tiny_model, tmp_path / "model", change)
    with pytest.raises(TrainingError, match=r"writes '<assistant>' \(number \d+\), but the model"):
        CausalTacticGenerator(model)
