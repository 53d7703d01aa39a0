"""Chat templates as models bring them: training and proving render the same text."""

from __future__ import annotations

from pathlib import Path

import pytest
from transformers import AutoTokenizer, PreTrainedTokenizerBase

from lean_dojo_plugins.causal_lm.model.bases import load_tokenizer
from lean_dojo_plugins.causal_lm.text import templates
from lean_dojo_plugins.causal_lm.text.formatters import SYSTEM, ask
from lean_dojo_plugins.causal_lm.text.templates import render
from lean_dojo_plugins.causal_lm.text.tokenisation import IGNORED, Tokeniser
from lean_dojo_v2.cli import main
from lean_dojo_v2.errors import TrainingError
from lean_dojo_v2.sample import sample_database_path

GEMMA = (
    "{{ bos_token }}{% if messages[0]['role'] == 'system' %}"
    "{{ raise_exception('System role not supported') }}{% endif %}\n"
    "{% for message in messages %}"
    "{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate') }}{% endif %}"
    "{% set role = 'model' if message['role'] == 'assistant' else message['role'] %}"
    "{{ '<start_of_turn>' + role + '\n' + message['content'] | trim + '<end_of_turn>\n' }}"
    "{% endfor %}\n"
    "{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}\n"
)
ALTERNATING = GEMMA.replace("{{ raise_exception('System role not supported') }}", "")
R1 = (
    "{% for m in messages %}{% if m['role'] == 'user' %}{{ '<U>' + m['content'] }}"
    "{% elif m['role'] == 'system' %}{{ m['content'] }}"
    "{% else %}{{ '<A>' + m['content'].split('</think>')[-1] + '<E>' }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<A><think>\n' }}{% endif %}"
)
QWEN = (
    "{%- for m in messages %}\n"
    "    {%- if m.role == 'assistant' and loop.last %}\n"
    "        {{- '<A>\n<think>\n\n</think>\n\n' + m.content + '<E>\n' }}\n"
    "    {%- else %}\n"
    "        {{- '<' + m.role + '>\n' + m.content + '<E>\n' }}\n"
    "    {%- endif %}\n"
    "{%- endfor %}\n"
    "{%- if add_generation_prompt %}\n"
    "    {{- '<A>\n' }}\n"
    "{%- endif %}\n"
)
NEVER_ASKS = "{% for m in messages %}<{{ m.role }}>\n{{ m.content }}<E>\n{% endfor %}"
DATED = (
    "{% if strftime_now is defined %}<{{ strftime_now('%d %b %Y') }}>{% endif %}"
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}<E>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
SPACED = (
    "{% for m in messages %}{% if m.role == 'user' %}[INST] {{ m.content }} [/INST]"
    "{% elif m.role == 'assistant' %} {{ m.content }}{{ eos_token }}{% endif %}{% endfor %}"
)
PROMPT, GOAL, TACTIC = ask("⊢ p"), "⊢ p", {"role": "assistant", "content": "exact h"}
BEFORE = {
    "gemma": (
        GEMMA,
        f"<start_of_turn>user\n{SYSTEM}\n\n{GOAL}<end_of_turn>\n<start_of_turn>model\n",
    ),
    "alternating": (
        ALTERNATING,
        f"<start_of_turn>user\n{SYSTEM}\n\n{GOAL}<end_of_turn>\n<start_of_turn>model\n",
    ),
    "r1": (R1, f"{SYSTEM}<U>{GOAL}<A>"),
    "qwen": (QWEN, f"<system>\n{SYSTEM}<E>\n<user>\n{GOAL}<E>\n<A>\n<think>\n\n</think>\n\n"),
    "never asks": (NEVER_ASKS, f"<system>\n{SYSTEM}<E>\n<user>\n{GOAL}<E>\n<assistant>\n"),
    "dated": (DATED, f"<26 Jul 2024><system>{SYSTEM}<E><user>{GOAL}<E><assistant>"),
    "spaced": (SPACED, f"[INST] {GOAL} [/INST]"),
}


@pytest.fixture
def with_template(tiny_model: Path, tmp_path: Path):
    """Save the tiny model's tokenizer with a template; give the folder."""

    def save(template: object) -> Path:
        made = AutoTokenizer.from_pretrained(tiny_model)
        made.chat_template = template
        made.save_pretrained(tmp_path / "model")
        return tmp_path / "model"

    templates._say_once.cache_clear()
    return save


def texts(tokenizer: PreTrainedTokenizerBase) -> tuple[str, str]:
    (asked,) = render(tokenizer, [PROMPT], ask=True)
    (whole,) = render(tokenizer, [[*PROMPT, TACTIC]], ask=False)
    return asked, whole


@pytest.mark.parametrize("kind", BEFORE)
def test_the_prompt_is_what_precedes_the_answer_in_training(with_template, kind):
    template, before = BEFORE[kind]
    tokenizer = load_tokenizer(with_template(template))
    asked, whole = texts(tokenizer)
    assert asked.removeprefix(tokenizer.bos_token or "").lstrip("\n") == before
    assert whole.startswith(asked)
    assert whole[len(asked) :].lstrip().startswith("exact h")
    (example,) = Tokeniser(tokenizer, None).examples([{"prompt": PROMPT, "completion": [TACTIC]}])
    learned = tokenizer.decode([token for token in example.labels if token != IGNORED])
    assert learned.lstrip().startswith("exact h")
    assert "think" not in learned


@pytest.mark.parametrize("kind", ["gemma", "r1", "dated"])
def test_the_mended_template_goes_with_the_model_and_is_told_once(
    with_template, kind, tmp_path, capsys
):
    folder = with_template(BEFORE[kind][0])
    first = load_tokenizer(folder)
    load_tokenizer(folder)
    assert len(capsys.readouterr().err.splitlines()) == 1
    first.save_pretrained(tmp_path / "trained")
    again = AutoTokenizer.from_pretrained(tmp_path / "trained")  # as any other program loads it
    assert texts(again) == texts(first)
    assert load_tokenizer(tmp_path / "trained").chat_template == first.chat_template
    assert capsys.readouterr().err == ""


def test_a_template_that_fits_stays_as_it_is(tiny_model, capsys):
    assert load_tokenizer(tiny_model).chat_template == (
        AutoTokenizer.from_pretrained(tiny_model).chat_template
    )
    assert capsys.readouterr().err == ""


def test_one_of_several_named_templates_is_mended(with_template):
    folder = with_template({"default": GEMMA, "tool_use": NEVER_ASKS})
    tokenizer = load_tokenizer(folder)
    assert SYSTEM in texts(tokenizer)[0]
    assert tokenizer.chat_template["tool_use"] == NEVER_ASKS


WITHOUT = "{% for m in messages %}{% if m.role != 'ROLE' %}{{ m.content }}{% endif %}{% endfor %}"
NO_GOOD = {
    "no user": ("{{ raise_exception('nobody may speak') }}", "nobody may speak"),
    "no answer": (WITHOUT.replace("ROLE", "assistant"), "leaves out what the assistant says"),
    "no goal": (WITHOUT.replace("ROLE", "user"), "leaves out what the user says"),
    "no Jinja": ("{% for m in messages %}", "Unexpected end of template"),
    "no function": ("{{ messages[0].contents.strip() }}", "has no attribute"),
}


@pytest.mark.parametrize("kind", NO_GOOD)
def test_a_dry_run_finds_a_template_that_renders_nothing(
    with_template, kind, tiny_model, tmp_path, monkeypatch, capsys
):
    template, said = NO_GOOD[kind]
    monkeypatch.chdir(tmp_path)
    folder = with_template(template)
    (folder / "config.json").write_bytes((tiny_model / "config.json").read_bytes())
    code = main([
        "train", "sft", "--dry-run", "--database", str(sample_database_path()),
        "--set", f"model_name={folder}",
    ])  # fmt: skip
    message = capsys.readouterr().err
    assert code == TrainingError.exit_code
    assert message.startswith(f"Error: {folder}: its chat template")
    assert said in message
    assert len(message.splitlines()) == 1
