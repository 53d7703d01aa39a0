"""Labels, and goals that are too long."""

from __future__ import annotations

import datasets
import pytest
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer

from lean_dojo_plugins.causal_lm.model.bases import load_tokenizer
from lean_dojo_plugins.causal_lm.text.formatters import ask
from lean_dojo_plugins.causal_lm.text.templates import PLAIN_TEMPLATE
from lean_dojo_plugins.causal_lm.text.tokenisation import (
    IGNORED,
    Tokeniser,
    encode_prompt,
)


def row(goal: str, tactic: str) -> dict:
    return {"prompt": ask(goal), "completion": [{"role": "assistant", "content": tactic}]}


ROWS = [row("h : p\n⊢ q", "exact h"), row("⊢ ∀ x, x = x", "intro x"), row("⊢ a + b = b + a", "rfl")]


@pytest.fixture(params=["chatml", "plain"])
def tokenizer(tiny_model, request):
    made = load_tokenizer(tiny_model)
    if request.param == "plain":
        made.chat_template = PLAIN_TEMPLATE
    return made


def test_only_the_assistant_turn_carries_loss_with_its_end(tokenizer):
    for given, example in zip(ROWS, Tokeniser(tokenizer).examples(ROWS), strict=True):
        pairs = list(zip(example.input_ids, example.labels, strict=True))
        masked = [token for token, label in pairs if label == IGNORED]
        kept = [label for _, label in pairs if label != IGNORED]
        asked = tokenizer.apply_chat_template(
            given["prompt"], tokenize=False, add_generation_prompt=True
        )
        assert tokenizer.decode(masked) == asked
        tactic = given["completion"][0]["content"]
        assert tokenizer.decode(kept).rstrip("\n") == tactic + tokenizer.eos_token
        assert tokenizer.eos_token_id in kept
        assert [token for token, label in pairs if label != IGNORED] == kept


def test_the_same_ids_and_labels_as_trl(tokenizer, tiny_model, tmp_path):
    trainer = SFTTrainer(
        AutoModelForCausalLM.from_pretrained(tiny_model),
        SFTConfig(str(tmp_path), use_cpu=True, completion_only_loss=True, max_length=None),
        train_dataset=datasets.Dataset.from_list(ROWS),
        processing_class=tokenizer,
    )
    for theirs, ours in zip(
        trainer.train_dataset, Tokeniser(tokenizer, None).examples(ROWS), strict=True
    ):
        assert theirs["input_ids"] == ours.input_ids
        assert theirs["labels"] == ours.labels


def test_a_long_goal_loses_hypotheses_from_the_top_and_nothing_of_the_tactic(tokenizer):
    goal = "\n".join(f"h{k} : p{k} ∧ q{k}" for k in range(60)) + "\n⊢ conclusion"
    tokeniser = Tokeniser(tokenizer, 400)
    (example,) = tokeniser.examples([row(goal, "exact h59")])
    assert len(example.input_ids) <= 400
    text = tokenizer.decode(example.input_ids)
    assert "h59 : p59 ∧ q59\n⊢ conclusion" in text
    assert "h0 :" not in text
    assert "You are a Lean 4" in text
    assert "exact h59" in tokenizer.decode([label for label in example.labels if label != IGNORED])
    assert (tokeniser.too_long.shortened, tokeniser.too_long.skipped) == (1, 0)
    # The same goal is shortened to the same text when a tactic is asked for.
    ids = encode_prompt(tokenizer, ask(goal), 390)
    assert len(ids) <= 390
    assert "⊢ conclusion" in tokenizer.decode(ids)


def test_as_many_goals_go_as_are_too_many(tokenizer):
    goals = [f"case c{k}\nh : p{k} ∧ q{k}\n⊢ q{k} ∧ p{k}" for k in range(30)]
    state = "\n\n".join(goals)
    tokeniser = Tokeniser(tokenizer, 400)
    (example,) = tokeniser.examples([row(state, "exact h.symm")])
    (asked,) = tokeniser.prompts([{"prompt": ask(state), "problem": state}])
    assert (tokeniser.too_long.shortened, tokeniser.too_long.skipped) == (2, 0)
    assert asked["problem"] == state
    ids = encode_prompt(tokenizer, ask(state), 400)
    assert ids == encode_prompt(tokenizer, asked["prompt"], None)
    for found in (ids, example.input_ids):
        assert 300 < len(found) <= 400
        text = tokenizer.decode(found)
        assert "You are a Lean 4" in text
        assert "\n\n".join(goals[:2]) in text
        assert goals[-1] not in text


def test_the_first_goal_is_asked_about_where_nothing_fits(tiny_model):
    tokenizer = load_tokenizer(tiny_model)
    ids = encode_prompt(tokenizer, ask("h : p\n⊢ first\n\n⊢ second"), 30)
    assert len(ids) == 30
    assert "⊢ first" in tokenizer.decode(ids)


def test_a_tokenizer_without_template_and_padding_gets_both(tiny_model, tmp_path):
    bare = AutoTokenizer.from_pretrained(tiny_model)
    bare.chat_template = None
    bare.pad_token = None
    bare.save_pretrained(tmp_path)
    (tmp_path / "chat_template.jinja").unlink(missing_ok=True)
    loaded = load_tokenizer(tmp_path)
    assert loaded.chat_template == PLAIN_TEMPLATE
    assert loaded.pad_token == loaded.eos_token
