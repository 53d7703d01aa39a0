"""Rows that hold the lines of ``dynamic_database.json`` as they stand there.

So the file is written by copying lines, and read without making a record of each theorem.
"""

from __future__ import annotations

from typing import ClassVar

import orjson

from lean_dojo_core.records import PremiseFile, Theorem
from lean_dojo_v2.data.codec import (
    corpus_form,
    dump_theorem_dict,
    dumps,
    is_database_form,
    is_database_form_of_premises,
    load_theorem_dict,
    premise_file_from_dict,
    premise_file_to_dict,
    split_form,
    theorem_from_dict,
    theorem_to_dict,
)
from lean_dojo_v2.data.difficulty import difficulty_of
from lean_dojo_v2.data.repository import rated
from lean_dojo_v2.database.sqlite.rows import TheoremRow, row_of


class JsonForm:
    """Lines as ``dynamic_database.json`` has them."""

    is_json: ClassVar[bool] = True

    def theorem(self, theorem: Theorem) -> TheoremRow:
        """See :meth:`RowForm.theorem`."""
        theorem = rated(theorem)
        data = theorem_to_dict(theorem)
        line = dump_theorem_dict(data)
        return row_of(data, theorem.difficulty_rating, line)

    def premise_file(self, file: PremiseFile) -> tuple[str, int, bytes, bytes]:
        """See :meth:`RowForm.premise_file`."""
        line = dumps(premise_file_to_dict(file, position=str))
        return (file.path, len(file.premises), dumps(file.imports), line)

    def split_line(self, line: bytes) -> bytes:
        """See :meth:`RowForm.split_line`."""
        return dumps(split_form(load_theorem_dict(line)))

    def corpus_line(self, line: bytes) -> bytes:
        """See :meth:`RowForm.corpus_line`."""
        return dumps(corpus_form(orjson.loads(line)))


JSON_FORM = JsonForm()


def row_of_line(line: bytes, url: str, commit: str) -> TheoremRow:
    """Make a row of a line of the file.

    One that is just as we write it is kept; any other is read, and written as we do.

    Args:
        line: A theorem.
        url: Of its repository; taken where the theorem does not say its own.
        commit: Likewise.

    Raises:
        MalformedError: If it is no theorem.
    """
    data = load_theorem_dict(line)
    if is_database_form(data):
        rating = difficulty_of([tactic["tactic"] for tactic in data["traced_tactics"]])
        if data["difficulty_rating"] == rating:
            return row_of(data, rating, line)
    return JSON_FORM.theorem(theorem_from_dict(data, url=url, commit=commit))


def premise_row_of_line(line: bytes) -> tuple[str, int, bytes, bytes]:
    """Make a row of a corpus file's line, likewise."""
    data = orjson.loads(line)
    if is_database_form_of_premises(data):
        return (data["path"], len(data["premises"]), dumps(data["imports"]), line)
    return JSON_FORM.premise_file(premise_file_from_dict(data))
