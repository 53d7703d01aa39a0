"""A share of the human proofs, for training on few of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import attrs
import orjson

from lean_dojo_core import Database, Repository
from lean_dojo_core.records import Theorem
from lean_dojo_plugins.training.data import split_file
from lean_dojo_v2.atomic import atomic_write_bytes
from lean_dojo_v2.database.export.read import read_theorems
from lean_dojo_v2.database.export.splits import name_across_commits, unit_hash
from lean_dojo_v2.database.export.write import write_theorems
from lean_dojo_v2.runs.files import METADATA


def is_in_share(theorem: Theorem, share: float) -> bool:
    """Whether a theorem is in the share whose human proofs are learned.

    The choice depends on the theorem's names alone, so a larger share includes a smaller one.
    """
    return unit_hash(f"human\n{name_across_commits(theorem)}") < share


@attrs.frozen
class HumanShare:
    """A database that exports a share of its training theorems.

    Attributes:
        database: The whole database.
        share: The share, from 0 to 1.
        hidden: Whether to export the theorems that the share leaves out instead.
    """

    database: Database
    share: float
    hidden: bool = False

    def export_merged_data(self, repositories: Sequence[Repository], output_path: Path) -> None:
        """Export everything, then drop the other theorems from the training split."""
        self.database.export_merged_data(repositories, output_path)
        file = split_file(output_path)
        write_theorems(
            file,
            (t for t in read_theorems(file) if is_in_share(t, self.share) is not self.hidden),
        )
        metadata = output_path / METADATA
        counts = orjson.loads(metadata.read_bytes())
        counts |= {"human_share": self.share, "hidden": self.hidden}
        atomic_write_bytes(metadata, orjson.dumps(counts, option=orjson.OPT_INDENT_2))
