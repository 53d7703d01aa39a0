"""``lean-dojo database browse``: theorems with their tactics and goals, in the terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import click

from lean_dojo_core.records import Theorem, remove_marks
from lean_dojo_v2.cli.options import NUMBER, database_option, repo_option
from lean_dojo_v2.cli.output import emit_json, json_option, note
from lean_dojo_v2.cli.run import open_database, select_repositories

if TYPE_CHECKING:
    from lean_dojo_v2.database import Repository


@click.command(short_help="Show theorems with their tactics and goals, page by page.")
@click.argument("words", metavar="[WORD]…", nargs=-1)
@database_option("--database", "path")
@repo_option
@click.option("--sorry", is_flag=True, help="Only theorems that their author left sorry.")
@click.option("-n", "--limit", **NUMBER, help="Show at most this many theorems.")
@json_option
def browse(
    *,
    words: tuple[str, ...],
    path: Path,
    repositories: tuple[str, ...],
    sorry: bool,
    limit: int | None,
    as_json: bool,
) -> None:
    """Show the theorems whose name, file, statement or tactics contain all WORDS.

    Shows the place, split and statement of each theorem, and every tactic with the goals before it.
    On a terminal, the output goes through the pager ($PAGER).
    """
    with open_database(path, read_only=True) as opened:
        chosen = select_repositories(opened, list(repositories), path)
        found = (
            theorem
            for repository in chosen
            for theorem in _theorems(repository, sorry=sorry)
            if _holds(theorem, words)
        )
        shown = islice(found, limit)
        if as_json:
            emit_json([{**attrs.asdict(one), "split": _split(one)} for one in shown])
            return
        if (first := next(shown, None)) is None:
            note("no theorem contains all of these words")
            return
        click.echo_via_pager(map(_page, chain([first], shown)))


def _theorems(repository: Repository, *, sorry: bool) -> Iterator[Theorem]:
    if not sorry:
        yield from repository.iter_theorems()
        return
    yield from repository.iter_list("sorry_theorems_unproved")
    yield from repository.iter_list("sorry_theorems_proved")


def _holds(theorem: Theorem, words: tuple[str, ...]) -> bool:
    texts = [theorem.full_name, theorem.file_path, theorem.theorem_statement or ""]
    texts += [step.tactic for step in theorem.traced_tactics]
    text = remove_marks("\n".join(texts)).lower()
    return all(word.lower() in text for word in words)


def _split(theorem: Theorem) -> str:
    from lean_dojo_v2.database.export.splits import split_of

    return split_of(theorem)


def _page(theorem: Theorem) -> str:
    place = f"{theorem.file_path}:{theorem.start[0]}"
    lines = [f"{click.style(theorem.full_name, bold=True)}  {place}  ({_split(theorem)})"]
    statement = theorem.theorem_statement
    if statement is not None:
        lines += [f"  {line}" for line in statement.rstrip().split("\n")]
    if not theorem.traced_tactics:
        lines.append("  (no tactics: a term, or sorry)")
    for step in theorem.traced_tactics:
        lines += [f"    {line}" for line in remove_marks(step.state_before).split("\n")]
        tactic = re.sub(r"\n", "\n    ", remove_marks(step.tactic))
        lines.append(f"  ▸ {click.style(tactic, fg='green')}")
    if theorem.traced_tactics:
        last = remove_marks(theorem.traced_tactics[-1].state_after)
        lines += [f"    {line}" for line in last.split("\n")]
    return "\n".join([*lines, "", ""])
