"""Traced data in files: the database, splits, curriculum and exports."""

from __future__ import annotations

from lean_dojo_v2.data.difficulty import difficulty
from lean_dojo_v2.data.errors import NotInDatabaseError
from lean_dojo_v2.data.repository import Repository
from lean_dojo_v2.database.database import DynamicDatabase
from lean_dojo_v2.database.export.splits import split_of
from lean_dojo_v2.database.export.write import export_merged_data

__all__ = [
    "DynamicDatabase",
    "NotInDatabaseError",
    "Repository",
    "difficulty",
    "export_merged_data",
    "split_of",
]
