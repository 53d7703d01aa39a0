"""Traced data: the database, its repositories, splits, curriculum and export."""

from __future__ import annotations

from lean_dojo_v2.database.database import DynamicDatabase
from lean_dojo_v2.database.difficulty import difficulty
from lean_dojo_v2.database.errors import NotInDatabaseError
from lean_dojo_v2.database.export import export_merged_data
from lean_dojo_v2.database.repository import Repository
from lean_dojo_v2.database.splits import split_of

__all__ = [
    "DynamicDatabase",
    "NotInDatabaseError",
    "Repository",
    "difficulty",
    "export_merged_data",
    "split_of",
]
