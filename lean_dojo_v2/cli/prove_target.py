"""The options of ``lean-dojo prove`` that select problems."""

from __future__ import annotations

from pathlib import Path

import attrs

from lean_dojo_core.errors import UsageError
from lean_dojo_v2.cli.options import (
    EXISTING_FILE,
    FOLDER,
    database_option,
    filled_by,
    goal_option,
    import_option,
    option,
    repo_option,
)


@attrs.frozen(kw_only=True)
class ProveTarget:
    """The options that select problems."""

    goal: str | None = filled_by(goal_option)
    theorem: str | None = option(metavar="NAME", help="One theorem of the database, proved or not.")
    file: Path | None = option(
        metavar="FILE.lean", type=EXISTING_FILE, help="Every `sorry` of a Lean file."
    )
    problems: Path | None = option(
        metavar="FILE.jsonl",
        type=EXISTING_FILE,
        help="Theorems in miniF2F's format: a JSON object with name and formal_statement per line.",
    )
    imports: tuple[str, ...] = filled_by(import_option, default=())
    database: Path | None = filled_by(database_option(default=None))
    repositories: tuple[str, ...] = filled_by(repo_option, default=())
    project: Path | None = option(
        **FOLDER,
        help="Folder with the repository's files as they were traced (default: a clone), or with "
        "the Lake project that a file, goal or problem imports from.",
    )

    def __attrs_post_init__(self) -> None:
        named = ("goal", "theorem", "file", "problems")
        given = [f"--{name}" for name in named if getattr(self, name) is not None]
        if len(given) > 1:
            raise UsageError(f"name one thing to prove, not {' and '.join(given)}")
        traced = self.database is not None or self.repositories
        if given and given != ["--theorem"] and traced:
            raise UsageError(f"{given[0]} needs no database: leave out --database and --repo")
        if self.imports and self.goal is None:
            raise UsageError("--import is for --goal; a file has its own imports")

    @property
    def is_traced(self) -> bool:
        """Whether it is in a database."""
        return self.goal is None and self.file is None and self.problems is None
