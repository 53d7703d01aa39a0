"""Rejection sampling: learn from the tactics that one found oneself, and Lean accepted."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, ClassVar

import attrs

from lean_dojo_plugins.causal_lm.generator import TacticGenerator
from lean_dojo_plugins.causal_lm.tokenisation import chunks
from lean_dojo_plugins.rewards.adapter import AdaptedReward
from lean_dojo_plugins.rewards.resolve import resolve_rewards
from lean_dojo_v2.trainer.sft_trainer import SFTTrainer

BATCH = 32


@attrs.define(slots=False, eq=False)
class RejectionSampling(SFTTrainer):
    """Samples tactics at the goals of the data, keeps those that Lean verifies, and learns them.

    At each repository: sample ``samples`` tactics per goal from the model as it is, ask the
    ``verifier`` about each, and fine-tune on those it pays for (and on the human's, with
    ``keep_human``). One round of expert iteration (Anthony et al. 2017, arXiv:1705.08439; for
    theorem proving Polu et al. 2022, arXiv:2202.01344) over single tactics, also called
    rejection-sampling fine-tuning (Yuan et al. 2023, arXiv:2308.01825).

    The curriculum, saving, resuming and logs are ``SFTTrainer``'s: only the rows differ. Sampling is
    seeded, so a run that is killed within a repository finds the same rows again.
    """

    required_columns: ClassVar[tuple[str, ...]] = ("prompt", "problem")

    formatter: str = attrs.field(
        default="tactic-prompt",
        kw_only=True,
        metadata={"help": "Dataset formatter with goals and what an exact replay needs."},
    )
    verifier: str = attrs.field(
        default="pantograph-verified",
        kw_only=True,
        metadata={"help": "Reward that says what is right: a tactic is kept if it is positive."},
    )
    samples: int = attrs.field(
        default=8,
        kw_only=True,
        validator=attrs.validators.ge(1),
        metadata={"help": "Tactics sampled per goal."},
    )
    temperature: float = attrs.field(
        default=1.0,
        kw_only=True,
        validator=attrs.validators.gt(0.0),
        metadata={"help": "Of sampling."},
    )
    goals_per_repo: int | None = attrs.field(
        default=None,
        kw_only=True,
        metadata={"help": "Sample at this many goals of each repository's data at most."},
    )
    keep_human: bool = attrs.field(
        default=True, kw_only=True, metadata={"help": "Learn the human's tactics, too."}
    )

    def prepare_rows(self, rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Put the model's own verified tactics in place of the rows' answers."""
        generator = TacticGenerator.from_model(self.model, self.tokenizer, self.make_formatter())
        (verifier,) = resolve_rewards(self.verifier)
        found = sampled = 0
        goals = islice(rows, self.goals_per_repo)
        for number, batch in enumerate(chunks(goals, BATCH)):
            tried = self.sample(batch, generator, seed=self.seed + number)
            kept = list(self.verified(tried, verifier))
            sampled, found = sampled + len(tried), found + len(kept)
            if self.keep_human:
                kept = _merged(kept, [(row, row["tactic"]) for row in batch if "tactic" in row])
            yield from super().prepare_rows(map(_answered, kept))
        print(f"rejection sampling: {found} of {sampled} sampled tactics verified", file=sys.stderr)

    def sample(
        self, rows: Sequence[dict[str, Any]], generator: TacticGenerator, *, seed: int
    ) -> list[tuple[dict[str, Any], str]]:
        """Sample tactics at the goals of some rows; gives each with its row."""
        suggestions = generator.generate(
            [row["problem"] for row in rows], self.samples, self.temperature, seed=seed
        )
        return [
            (row, tactic)
            for row, found in zip(rows, suggestions, strict=True)
            for tactic, _ in found
        ]

    def verified(
        self, tried: Sequence[tuple[dict[str, Any], str]], verifier: AdaptedReward
    ) -> Iterator[tuple[dict[str, Any], str]]:
        """Keep the tactics that the verifier pays for."""
        if not tried:
            return
        columns = {key: [row[key] for row, _ in tried] for key in tried[0][0] if key != "prompt"}
        scores = verifier(completions=[tactic for _, tactic in tried], **columns)
        for pair, score in zip(tried, scores, strict=True):
            if score is not None and score > 0:
                yield pair


def _merged(
    kept: list[tuple[dict[str, Any], str]], human: list[tuple[dict[str, Any], str]]
) -> list[tuple[dict[str, Any], str]]:
    """Join both; what the model found that the human wrote, too, is learned once."""
    known = {(row["problem"], tactic) for row, tactic in kept}
    return [*kept, *(pair for pair in human if (pair[0]["problem"], pair[1]) not in known)]


def _answered(pair: tuple[dict[str, Any], str]) -> dict[str, Any]:
    row, tactic = pair
    return {"prompt": row["prompt"], "completion": [{"role": "assistant", "content": tactic}]}
