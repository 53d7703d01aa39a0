"""The trainer ``process-grpo``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import torch
from lean_dojo_core import Span
from lean_dojo_core.errors import ConfigError
from lean_dojo_plugins.api import GRPOTrainer, RowTheorem, about, problem_of_row, token_values
from lean_dojo_v2.lean import LeanError, ProofTrace, Server, trace_proof


def trace(server: Server, theorem: RowTheorem, proof: str, timeout: float) -> ProofTrace | None:
    """Have Lean judge a proof; runs in an engine's thread. ``None``: nothing is known of it."""
    try:
        return trace_proof(server, theorem, proof, timeout=timeout)
    except LeanError:
        return None


@attrs.define(slots=False, eq=False)
class ProcessGRPO(GRPOTrainer):
    """Process-verified GRPO on whole proofs (arXiv:2606.20068).

    Lean elaborates each sampled proof. Tokens of sound tactics get an advantage of
    ``sound_weight``, those of the first failing one and of all that follows ``-failing_weight``;
    both are added to the advantage of the outcome over the group.
    """

    formatter: str = attrs.field(
        default="whole-proof",
        kw_only=True,
        metadata=about("Dataset formatter; it must ask for whole proofs."),
    )
    sound_weight: float = attrs.field(
        default=0.5,
        kw_only=True,
        converter=float,
        validator=attrs.validators.ge(0),
        metadata=about("What a token of a sound tactic gains, beside the outcome's advantage."),
    )
    failing_weight: float = attrs.field(
        default=0.5,
        kw_only=True,
        converter=float,
        validator=attrs.validators.ge(0),
        metadata=about("What a token from the first failing tactic on loses."),
    )
    trace_timeout: float = attrs.field(
        default=30.0, kw_only=True, metadata=about("Seconds that Lean may take for one proof.")
    )

    def __attrs_post_init__(self) -> None:
        """Refuse what is no whole proof, before the base class checks its own settings."""
        if self.episodes or not self.writes_whole_proofs:
            raise ConfigError("process-grpo learns whole proofs: no episodes, no single tactics")
        super().__attrs_post_init__()

    def token_advantages(
        self,
        *,
        rows: Sequence[dict[str, Any]],
        completions: Sequence[str],
        completion_ids: torch.Tensor,
        completion_mask: torch.Tensor,
        rewards: torch.Tensor,
        advantages: torch.Tensor,
    ) -> torch.Tensor:
        """Add what Lean says of each tactic."""
        traces = self.traces(rows, completions)
        spans = [
            () if found is None else self.spans(text, found)
            for text, found in zip(completions, traces, strict=True)
        ]
        known = [found for found in traces if found is not None]
        count = max(1, len(known))
        self.log_metric("process/sound", sum(len(one.sound) for one in known) / count)
        self.log_metric("process/failing", sum(one.failing is not None for one in known) / count)
        self.log_metric("process/unknown", 1 - len(known) / len(traces))
        values = token_values(self.tokenizer, spans, completions, completion_ids, completion_mask)
        return advantages.unsqueeze(1) + values

    def traces(
        self, rows: Sequence[dict[str, Any]], completions: Sequence[str]
    ) -> list[ProofTrace | None]:
        """Have Lean judge each proof, with the engines that the rewards use."""
        asked = []
        for row, text in zip(rows, completions, strict=True):
            theorem = problem_of_row(row, self.projects)
            assert isinstance(theorem, RowTheorem)  # whole proofs are of theorems
            asked.append(theorem.submit(self.lean, trace, text, self.trace_timeout))
        return [future.result() for future in asked]

    def spans(self, proof: str, found: ProofTrace) -> list[Span]:
        """Value each tactic of a proof."""
        valued = [Span(one.start, one.end, self.sound_weight) for one in found.sound]
        if found.failing is not None:
            valued.append(Span(found.failing.start, len(proof), -self.failing_weight))
        if found.goals_left:
            valued.append(Span(len(proof), len(proof), -self.failing_weight))
        return valued
