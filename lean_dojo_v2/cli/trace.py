"""``lean-dojo trace``: trace a Lean repository into a database."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lean_dojo_v2.cli.names import complete_path
from lean_dojo_v2.cli.options import commit_option, database_option, engine_option, json_option
from lean_dojo_v2.cli.output import emit_json, note
from lean_dojo_v2.cli.waiting import long_command

if TYPE_CHECKING:
    from lean_dojo_v2.database import Repository

SHOWN_ERRORS = 20


@click.command(short_help="Trace a Lean repository into a database, with real Lean.")
@click.argument("source", metavar="URL|PATH", shell_complete=complete_path)
@database_option("-o", "--output", "--database", "database")
@commit_option
@click.option(
    "--url", metavar="URL", help="Address to record in the database in place of URL or PATH."
)
@click.option("--build-deps", is_flag=True, help="Trace the dependencies that it imports too.")
@engine_option
@click.option(
    "-j",
    "--jobs",
    "--workers",
    "jobs",
    metavar="N",
    type=click.IntRange(min=1),
    help="Lean engines side by side (default: one a core, as far as memory goes).",
)
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(min=1),
    default=600,
    show_default=True,
    help="Seconds that a file may take.",
)
@click.option(
    "--date",
    metavar="DATE",
    type=click.DateTime(),
    help="Date to record, such as 2026-11-21, in place of now (to make the same data again).",
)
@json_option
@long_command()
def trace(
    *,
    source: str,
    database: Path,
    commit: str | None,
    url: str | None,
    build_deps: bool,
    engine: str,
    jobs: int | None,
    timeout: float,
    date: datetime | None,
    as_json: bool,
) -> None:
    """Trace a Lean repository into a database, with real Lean.

    The repository is any address that git clones, or a folder. Its theorems, their tactics with
    the goals before and after, and its premises are added to the database, which is made if it is
    not there; a repository that is there at this commit is replaced, and proofs found for it are
    kept. Files that have not changed since an earlier trace are not elaborated again. A PATH
    without --commit is traced as its files are now.

    Exits with 1 if nothing can be traced. Files with errors are listed on stderr, and the others
    are traced.
    """
    import attrs

    from lean_dojo_v2.database import DynamicDatabase
    from lean_dojo_v2.tracing import LeanGitRepo, trace_repository

    if commit is None and Path(source).expanduser().is_dir():
        repo = LeanGitRepo.from_path(source, url=url)
    else:
        repo = LeanGitRepo(source, commit)
        if url is not None:
            repo = attrs.evolve(repo, url=url, folder=repo.path)
    with _warnings_held_back("lean_dojo_v2.tracing.tracer"):  # the errors are printed here, in full
        traced = trace_repository(
            repo, build_deps=build_deps, engine=engine, jobs=jobs, timeout=timeout, date=date
        )
    with DynamicDatabase(database) as store:
        if store.get_repository(traced.url, traced.commit) is None:
            store.add_repository(traced)
        else:
            store.update_repository(traced)
    counts = _counts(traced)
    for error in counts["errors"][:SHOWN_ERRORS]:
        note(error)
    if len(counts["errors"]) > SHOWN_ERRORS:
        note(f"… and {len(counts['errors']) - SHOWN_ERRORS} more; --json lists all")
    if as_json:
        emit_json({"database": str(database), **counts})
    else:
        note(
            f"{traced.name} at {traced.commit[:12]}: {counts['theorems']} theorems "
            f"({counts['sorry']} sorry), {counts['tactics']} tactics, "
            f"{counts['premises']} premises in {counts['files']} files → {database}"
        )


@contextmanager
def _warnings_held_back(name: str) -> Iterator[None]:
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _counts(traced: Repository) -> dict[str, Any]:
    from lean_dojo_v2.tracing.tracer import ERRORS_KEY

    return {
        "url": traced.url,
        "commit": traced.commit,
        "theorems": traced.total_theorems,
        "sorry": traced.num_sorry_theorems,
        "tactics": sum(len(theorem.traced_tactics) for theorem in traced.iter_theorems()),
        "premises": traced.num_premises,
        "files": traced.num_files_traced,
        "errors": list(traced.metadata.get(ERRORS_KEY, ())),
    }
