"""The SFT dataset class of the documented API: chat conversations in one column."""

from typing import ClassVar

import datasets

from lean_dojo_plugins.training import SplitDataset


class SFTDataset(SplitDataset):
    """Chats from a split file (``…/random/train.json``) or folder of ``export_merged_data``.

    ``formatter`` names the dataset formatter (default: ``tactic-chat``). DataError if there is no
    such file.
    """

    default_formatter: ClassVar[str] = "tactic-chat"

    def to_hf(self) -> datasets.Dataset:
        """Return one column ``messages``: system, user (the goal), assistant (the tactic)."""
        message = {"role": datasets.Value("string"), "content": datasets.Value("string")}
        return datasets.Dataset.from_dict(
            {"messages": [[*row["prompt"], *row["completion"]] for row in self.rows()]},
            features=datasets.Features({"messages": [message]}),
        )
