"""The GRPO dataset class of the documented API."""

from __future__ import annotations

from typing import ClassVar

import datasets

from lean_dojo_plugins.training import SplitDataset


class GRPODataset(SplitDataset):
    """Prompts from a split file written by ``export_merged_data``.

    Args:
        data_path: The file (``…/random/train.json``), or the folder of the merged data.
        formatter: Name of the dataset formatter (default: ``tactic-prompt``).

    Raises:
        DataError: If the file does not exist.
    """

    default_formatter: ClassVar[str] = "tactic-prompt"

    def to_hf(self) -> datasets.Dataset:
        """Return ``problem`` (the goal), ``prompt`` (system and user) and what rewards may read."""
        return datasets.Dataset.from_list(list(self.rows()))
