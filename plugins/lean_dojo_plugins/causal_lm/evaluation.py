"""Evaluation on held-out tactics: loss, and exact match of the greedy tactic."""

from collections.abc import Iterable, Sequence
from typing import Any

import attrs
from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

from lean_dojo_core import DatasetFormatter
from lean_dojo_plugins.causal_lm.generate.generator import CausalTacticGenerator
from lean_dojo_plugins.causal_lm.model.label_head import label_log_probs, restore_forward
from lean_dojo_plugins.causal_lm.text.tokenisation import TokenisedExample, Tokeniser
from lean_dojo_plugins.training import chunks, nothing_fits
from lean_dojo_v2.errors import EmptyDatasetError

BATCH = 8
TACTIC_TOKENS = 128
"""Longest greedy tactic that is compared with the human one."""


def evaluate_rows(
    model: Any,
    tokeniser: Tokeniser,
    formatter: DatasetFormatter,
    rows: Sequence[dict[str, Any]],
) -> dict[str, float]:
    """Return ``loss`` and ``exact_match`` on prompt/completion rows; the model stays as it was.

    They are the mean negative log-likelihood per label token in nats, and the share (0 to 1) of the
    goals at which the greedy tactic is the human one. Examples that are too long are shortened as
    in training, or left out of the loss.
    """
    tokenizer, longest = tokeniser.tokenizer, tokeniser.max_length
    loss = _mean_loss(model, tokenizer, tokeniser.examples(rows))
    if loss is None:
        raise EmptyDatasetError(nothing_fits(len(rows), longest))
    generator = CausalTacticGenerator.from_model(model, tokenizer, formatter, max_length=longest)
    new_tokens = generator.longest_answer(TACTIC_TOKENS)
    correct = 0
    for chunk in chunks(rows, 64):
        goals = [row["prompt"][-1]["content"] for row in chunk]
        greedy = generator.generate(goals, temperature=0, max_new_tokens=new_tokens)
        for row, found in zip(chunk, greedy, strict=True):
            correct += [text for text, _ in found] == [row["completion"][0]["content"]]
    return {"loss": loss, "exact_match": correct / len(rows)}


def _mean_loss(model: Any, tokenizer: Any, given: Iterable[TokenisedExample]) -> float | None:
    """Return the mean negative log-likelihood per label token, in nats; ``None`` of no example."""
    examples = sorted(given, key=lambda example: len(example.input_ids))
    collate = DataCollatorForLanguageModeling(tokenizer.pad_token_id)
    restore_forward(model)
    training = model.training
    model.eval()
    total, count = 0.0, 0
    try:
        for batch in chunks(examples, BATCH):
            inputs = collate([attrs.asdict(example, recurse=False) for example in batch])
            log_probs = label_log_probs(
                model, **{name: one.to(model.device) for name, one in inputs.items()}
            )
            total -= float(log_probs.sum())
            count += len(log_probs)
    finally:
        model.train(training)
    return total / count if count else None
