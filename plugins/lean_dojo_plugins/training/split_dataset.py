"""What the documented dataset classes share: a split file and the formatter that reads it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from lean_dojo_core import registry
from lean_dojo_plugins.training.data import formatted_rows, split_file


class SplitDataset:
    """Rows out of a split file that ``export_merged_data`` wrote.

    Args:
        data_path: The file (``…/random/train.json``), or the folder of the merged data.
        formatter: Name of the dataset formatter; that of the trainer if not given.

    Raises:
        DataError: If the file is not there.
    """

    default_formatter: ClassVar[str]

    def __init__(self, data_path: Path | str, formatter: str | None = None) -> None:
        self.data_path = split_file(data_path)
        self.formatter = formatter or self.default_formatter

    def rows(self) -> Iterator[dict[str, Any]]:
        """Stream the rows, in the file's order.

        Raises:
            UnknownNameError: If there is no such formatter.
            DataError: If the file is bad.
        """
        made = registry.dataset_formatters[self.formatter].create()
        yield from formatted_rows(self.data_path, made)
