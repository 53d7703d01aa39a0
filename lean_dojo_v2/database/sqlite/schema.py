"""The schema of our SQLite databases."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

APPLICATION_ID = 0x4C444A32
"""``LDJ2`` in the file's header marks our databases."""
SCHEMA_VERSION = 1

SCHEMA = """
CREATE TABLE repository (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL,
    revision TEXT NOT NULL,  -- the commit; "commit" is a word of SQL
    name TEXT NOT NULL,
    lean_version TEXT NOT NULL,
    lean_dojo_version TEXT NOT NULL,
    metadata BLOB NOT NULL,  -- JSON
    pr_url TEXT,
    UNIQUE (url, revision)
);
-- What is asked about theorems without reading them; rows are small, so a scan is cheap.
CREATE TABLE theorem (
    id INTEGER PRIMARY KEY,
    repository INTEGER NOT NULL REFERENCES repository ON DELETE CASCADE,
    list INTEGER NOT NULL,  -- 0 proven, 1 sorry and proved since, 2 sorry, 3 other proofs
    position INTEGER NOT NULL,  -- order within the list; may have gaps
    full_name TEXT NOT NULL,
    file_path TEXT NOT NULL,
    difficulty REAL,
    identity BLOB NOT NULL,  -- see ExportEntry
    name BLOB NOT NULL,
    random INTEGER NOT NULL,
    novel_premises INTEGER NOT NULL,
    digest BLOB NOT NULL  -- of the record
);
CREATE TABLE theorem_record (
    id INTEGER PRIMARY KEY REFERENCES theorem ON DELETE CASCADE,
    line BLOB NOT NULL,  -- the theorem exactly as it stands in an exported split
    extra BLOB  -- what an exported split leaves out
);
CREATE TABLE premise_file (
    id INTEGER PRIMARY KEY,
    repository INTEGER NOT NULL REFERENCES repository ON DELETE CASCADE,
    position INTEGER NOT NULL,
    path TEXT NOT NULL,
    num_premises INTEGER NOT NULL,
    imports BLOB NOT NULL,  -- JSON
    line BLOB NOT NULL  -- the file exactly as it stands in corpus.jsonl
);
CREATE TABLE traced_file (
    repository INTEGER NOT NULL REFERENCES repository ON DELETE CASCADE,
    position INTEGER NOT NULL,
    path TEXT NOT NULL,
    PRIMARY KEY (repository, position)
) WITHOUT ROWID;
"""

INDEXES = """
CREATE INDEX theorem_order ON theorem (repository, list, position);
CREATE INDEX theorem_name ON theorem (repository, full_name);
CREATE INDEX premise_file_order ON premise_file (repository, position);
CREATE INDEX premise_file_path ON premise_file (repository, path);
"""
"""Indexes, created separately, because bulk inserts are faster without."""


def create_database(path: Path) -> None:
    """Create an empty database under another name and rename it into place."""
    path.resolve().parent.mkdir(parents=True, exist_ok=True)
    temporary = path.resolve().with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.unlink(missing_ok=True)
    with closing(sqlite3.connect(temporary, isolation_level=None)) as connection:
        connection.execute("PRAGMA page_size = 8192")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.executescript(SCHEMA + INDEXES)
        connection.execute("PRAGMA journal_mode = WAL")
    temporary.replace(path.resolve())
