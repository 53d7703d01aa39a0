"""The SFT dataset class of the documented API: chat conversations in one column."""

from __future__ import annotations

from typing import ClassVar

import datasets

from lean_dojo_plugins.training import SplitDataset


class SFTDataset(SplitDataset):
    """Conversations from a split file written by ``export_merged_data``.

    Args:
        data_path: The file (``…/random/train.json``), or the folder of the merged data.
        formatter: Name of the dataset formatter (default: ``tactic-chat``).

    Raises:
        DataError: If the file does not exist.
    """

    default_formatter: ClassVar[str] = "tactic-chat"

    def to_hf(self) -> datasets.Dataset:
        """Return one column ``messages``: system, user (the goal), assistant (the tactic)."""
        message = {"role": datasets.Value("string"), "content": datasets.Value("string")}
        return datasets.Dataset.from_dict(
            {"messages": [[*row["prompt"], *row["completion"]] for row in self.rows()]},
            features=datasets.Features({"messages": [message]}),
        )
