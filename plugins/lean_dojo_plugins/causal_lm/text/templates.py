"""Chat templates of models, and fixes for those that do not fit.

Training and proving render the same messages with the tokenizer's own template. Three kinds of
templates would break that, and are fixed when the tokenizer is loaded. The fixed template is saved
with the trained model, so every server that loads it renders the same text.

* A template that refuses the system role (Gemma's): the system text begins the user's turn.
* A template whose prompt is not what precedes the assistant's text in a whole conversation.
  Those of reasoning models end a prompt with ``<think>``, but put a finished (empty) thought, or
  none, before an answer. The prompt then is the text before the answer.
* A template that writes today's date (Llama's): training and proving would see different prompts.
  It always writes the date that such templates fall back to.
"""

from __future__ import annotations

import functools
import itertools
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from lean_dojo_core import Message
from lean_dojo_v2.errors import TrainingError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

PLAIN_TEMPLATE = (
    "{% for message in messages %}"
    "{% if message['role'] == 'system' %}{{ message['content'] + '\n\n' }}"
    "{% elif message['role'] == 'user' %}{{ '### Goal\n' + message['content'] + '\n\n' }}"
    "{% else %}{{ '### Tactic\n' + message['content'] + (eos_token or '') }}{% endif %}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '### Tactic\n' }}{% endif %}"
)
"""Chat template for base models that come without one; saved with the tokenizer."""

_ANSWER = "[the answer]"
"""Placeholder for the assistant's text, to find what a template writes before it."""
# An empty expression keeps Jinja from removing a newline at the template's own begin or end.
_JOIN_SYSTEM = (
    "{% if messages[0]['role'] == 'system' and messages | length > 1 %}"
    "{% set messages = [{'role': messages[1]['role'], 'content': "
    "messages[0]['content'] + '\n\n' + messages[1]['content']}] + messages[2:] %}"
    "{% endif %}{{ '' }}"
)
_BEFORE_ANSWER = (
    "{% set _ask = add_generation_prompt and messages[-1]['role'] != 'assistant' %}"
    "{% if _ask %}{% set add_generation_prompt = false %}"
    f"{{% set messages = messages + [{{'role': 'assistant', 'content': '{_ANSWER}'}}] %}}"
    "{% endif %}{% set _text %}{{ '' }}"
)
_CUT_ANSWER = (
    f"{{{{ '' }}}}{{% endset %}}{{{{ _text.rpartition('{_ANSWER}')[0] if _ask else _text }}}}"
)
_SAME_DAY = (
    "{% macro strftime_now(format) %}{% if format == '%Y-%m-%d' %}2024-07-26"
    "{% else %}26 Jul 2024{% endif %}{% endmacro %}{{ '' }}"
)
"""Takes the place of transformers' function of that name."""
_PROBE: list[Message] = [
    {"role": "system", "content": "[the system]"},
    {"role": "user", "content": "[the user]"},
]
_REPLY: Message = {"role": "assistant", "content": _ANSWER}
A_TURN: list[Message] = [
    {"role": "user", "content": "x"},
    {"role": "assistant", "content": "x"},
]
"""A conversation to see which tokens a template adds."""


def render(
    tokenizer: PreTrainedTokenizerBase, conversations: Sequence[list[Message]], *, ask: bool
) -> list[str]:
    """Render conversations by the chat template; with ``ask``, up to the start of the answer."""
    from jinja2 import TemplateError

    try:
        texts = tokenizer.apply_chat_template(
            list(conversations), tokenize=False, add_generation_prompt=ask
        )
    except (TemplateError, TypeError, ValueError, KeyError, AttributeError) as error:
        roles = ", ".join(message["role"] for message in conversations[0]) if conversations else ""
        raise TrainingError(
            f"{tokenizer.name_or_path}: its chat template cannot render a conversation of {roles}: "
            f"{' '.join(str(error).split())[:300]}; correct the chat template of the model"
        ) from error
    return cast("list[str]", texts)


def mend_template(tokenizer: PreTrainedTokenizerBase) -> None:
    """Fix a tokenizer's template if necessary (see the module's text), and report it once."""
    name = tokenizer.name_or_path
    if tokenizer.chat_template is None:
        tokenizer.chat_template = PLAIN_TEMPLATE
    template = _template(tokenizer)
    if "strftime_now" in template and _SAME_DAY not in template:
        _set_template(tokenizer, _SAME_DAY + template)
        _say_once(
            name,
            "writes today's date, so that a model would be asked with another prompt than it was "
            "trained on; 26 Jul 2024 takes its place",
        )
    if _refuses_system(tokenizer):
        _set_template(tokenizer, _JOIN_SYSTEM + _template(tokenizer))
        _say_once(name, "refuses a system message; its text begins the user's turn")
    (asked,) = render(tokenizer, [_PROBE], ask=True)
    (whole,) = render(tokenizer, [[*_PROBE, _REPLY]], ask=False)
    for message in (_PROBE[-1], _REPLY):
        if message["content"] not in whole:
            raise TrainingError(
                f"{name}: its chat template leaves out what the {message['role']} says; correct "
                "the chat template of the model"
            )
    before = whole.rpartition(_ANSWER)[0]
    if asked.rstrip(" ") != before.rstrip(" "):
        _set_template(tokenizer, _BEFORE_ANSWER + _template(tokenizer) + _CUT_ANSWER)
        _say_once(
            name,
            f"writes {_end(before, asked)!r} before an answer, but {_end(asked, before)!r} where "
            "it asks for one; the model is asked with the former",
        )


def _refuses_system(tokenizer: PreTrainedTokenizerBase) -> bool:
    """Whether a system message is the reason why the template raises an error."""
    try:
        render(tokenizer, [_PROBE], ask=True)
    except TrainingError:
        render(tokenizer, [_PROBE[1:]], ask=True)  # raises if the reason is another
        return True
    return False


def _template(tokenizer: PreTrainedTokenizerBase) -> str:
    # Jinja drops one newline at the end of a template, but only there.
    return tokenizer.get_chat_template().removesuffix("\n")


def _set_template(tokenizer: PreTrainedTokenizerBase, text: str) -> None:
    named = tokenizer.chat_template
    tokenizer.chat_template = {**named, "default": text} if isinstance(named, dict) else text


def _end(text: str, other: str) -> str:
    """Return the rest of a text after its common prefix with another."""
    pairs = zip(text, other, strict=False)
    return text[sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs)) :]


@functools.cache
def _say_once(model: str, what: str) -> None:
    if os.environ.get("RANK", "0") == "0":  # only the first process
        print(f"{model}: its chat template {what}", file=sys.stderr)
