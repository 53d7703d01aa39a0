"""What a search shows while it runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from lean_dojo_v2.prover.search.tree import Node
from lean_dojo_v2.prover.suggestion import Suggestion


def print_batch(batch: Sequence[tuple[str, Node, Sequence[Suggestion]]]) -> None:
    """Print to standard error which states are expanded, and with what."""
    for name, node, suggestions in batch:
        goal = node.state.rpartition("\n")[2]
        print(
            f"{name}: depth {node.depth}, log-probability {node.logprob:.2f}: {goal}",
            file=sys.stderr,
        )
        for suggestion in sorted(suggestions, key=lambda s: -s.logprob)[:5]:
            print(f"  {suggestion.logprob:8.2f}  {suggestion.tactic}", file=sys.stderr)
