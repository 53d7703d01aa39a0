"""Pictures of a run: mean reward, verified rate, refusals by reason over the steps."""

from __future__ import annotations

from pathlib import Path

from lean_dojo_v2.runs import figures, metrics

PICTURES = {
    "rewards.svg": figures.rewards,
    "verified.svg": figures.verified,
    "refusals.svg": figures.refusals,
}


def draw_rewards(output_dir: Path | str) -> None:
    """Draw the pictures for which the run's ``metrics.jsonl`` has numbers.

    Args:
        output_dir: The run's output folder.
    """
    folder = Path(output_dir)
    rows = metrics.read(folder)
    for name, draw in PICTURES.items():
        figures.save(draw(rows), folder / name)
