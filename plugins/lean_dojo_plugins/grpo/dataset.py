"""The GRPO dataset as the documents describe it."""

from __future__ import annotations

from pathlib import Path

import datasets

from lean_dojo_core import registry
from lean_dojo_plugins.causal_lm.data import formatted_rows, split_file


class GRPODataset:
    """Prompts out of a split file that ``export_merged_data`` wrote.

    Args:
        data_path: The file (``…/random/train.json``), or the folder of the merged data.
        formatter: Name of the dataset formatter.
    """

    def __init__(self, data_path: Path | str, formatter: str = "tactic-prompt") -> None:
        self.data_path = split_file(data_path)
        self.formatter = formatter

    def to_hf(self) -> datasets.Dataset:
        """Give ``problem`` (the goal), ``prompt`` (system and user) and what rewards may read."""
        made = registry.dataset_formatters[self.formatter].create()
        return datasets.Dataset.from_list(list(formatted_rows(self.data_path, made)))
