"""The documented view of the training data: chat conversations in one column."""

from __future__ import annotations

from pathlib import Path

import datasets

from lean_dojo_core import registry
from lean_dojo_plugins.causal_lm.data import formatted_rows, split_file


class SFTDataset:
    """Conversations out of a split file that ``export_merged_data`` wrote.

    Args:
        data_path: The file (``…/random/train.json``), or the folder of the merged data.
        formatter: Name of the dataset formatter.
    """

    def __init__(self, data_path: Path | str, formatter: str = "tactic-chat") -> None:
        self.data_path = split_file(data_path)
        self.formatter = formatter

    def to_hf(self) -> datasets.Dataset:
        """Give one column ``messages``: system, user (the goal), assistant (the tactic)."""
        made = registry.dataset_formatters[self.formatter].create()
        messages = [
            [*row["prompt"], *row["completion"]] for row in formatted_rows(self.data_path, made)
        ]
        message = {"role": datasets.Value("string"), "content": datasets.Value("string")}
        return datasets.Dataset.from_dict(
            {"messages": messages}, features=datasets.Features({"messages": [message]})
        )
