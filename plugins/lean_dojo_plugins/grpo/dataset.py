"""The GRPO dataset class of the documented API."""

from typing import ClassVar

import datasets

from lean_dojo_plugins.training import SplitDataset


class GRPODataset(SplitDataset):
    """Prompts from a split file (``…/random/train.json``) or folder of ``export_merged_data``.

    ``formatter`` names the dataset formatter (default: ``tactic-prompt``). DataError if there is no
    such file.
    """

    default_formatter: ClassVar[str] = "tactic-prompt"

    def to_hf(self) -> datasets.Dataset:
        """Return ``problem`` (the goal), ``prompt`` (system and user) and what rewards may read."""
        return datasets.Dataset.from_list(list(self.rows()))
