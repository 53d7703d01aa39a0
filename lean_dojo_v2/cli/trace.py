"""``lean-dojo trace``: trace a Lean repository into a database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import attrs
import click

from lean_dojo_core import Theorem, UsageError
from lean_dojo_core.wording import counted
from lean_dojo_v2 import database as databases, tracing
from lean_dojo_v2.cli import parameters as args
from lean_dojo_v2.cli.long_commands import long_command
from lean_dojo_v2.cli.output import emit_json, json_option, note
from lean_dojo_v2.runs import report_progress

SHOWN_ERRORS = 20
SHOWN_FILES = 10
SHOWN_REASONS = 5


@click.command()
@args.with_options
@long_command()
def trace(
    *,
    source: str = args.argument(metavar="URL|PATH", type=click.Path()),
    database: Path = args.database_option("-o", "--output", "--database"),
    commit: str | None = args.commit_option,
    url: str | None = args.option(
        metavar="URL", help="Address to record in the database instead of URL or PATH."
    ),
    build_deps: bool = args.option(
        is_flag=True, help="Also trace the dependencies that it imports."
    ),
    engine: str = args.shared(args.engine_option),
    jobs: int | None = args.option(
        "-j",
        "--jobs",
        "--workers",
        **args.NUMBER,
        help="Lean engines to run in parallel (default: one per core, as far as memory allows).",
    ),
    timeout: float = args.option(
        metavar="SECONDS",
        type=click.FloatRange(min=1),
        default=600,
        help="Seconds that a file may take.",
    ),
    date: datetime | None = args.option(
        metavar="DATE",
        type=click.DateTime(),
        help="Date to record instead of now, such as 2026-11-21 (to reproduce the same data).",
    ),
    as_json: bool = args.shared(json_option),
) -> None:
    """Trace a Lean repository into a database, with real Lean.

    The repository is any address that git can clone, a folder, or a single Lean file, which needs
    no project. Its theorems, their tactics with the goals before and after, and its premises are
    added to the database, which is created if needed. If the database already has the repository at
    this commit, it is replaced, and proofs found for it are kept. Files that have not changed since
    an earlier trace are not elaborated again. A PATH without --commit is traced with its files as
    they are now.

    Proofs outside theorems (in a `def`, an `instance`, an `example`, a command of the project's
    own) are training data, not problems to prove. stderr shows how many there are, and how many
    proofs and tactics are left out and why.

    Exits with 1 if nothing can be traced, and with 2 if there is no theorem or other proof. If Lean
    cannot elaborate some commands, the rest is traced, and stderr says how many commands of which
    files failed, with the most common reasons. Lean files that are in no library of the lakefile
    are left out, and named on stderr.
    """
    if tracing.local_file(source) and (url or commit):
        raise UsageError("--url and --commit are for repositories; one file has neither")
    if commit is None and Path(source).expanduser().is_dir():
        repo = tracing.LeanGitRepo.from_path(source, url=url)
    else:
        repo = tracing.LeanGitRepo(source, commit)
        if url is not None:
            repo = attrs.evolve(repo, url=url, folder=repo.path)
    files: list[tracing.TracedFile] = []

    def done(report: tracing.FileDone) -> None:
        files.append(report.file)
        report_progress(f"{report.done} of {report.total} files")

    traced = tracing.trace_repository(
        repo,
        build_deps=build_deps,
        engine=engine,
        jobs=jobs,
        progress=done,
        timeout=timeout,
        date=date,
    )
    counts = _counts(traced, files)
    for error in counts["errors"][:SHOWN_ERRORS]:
        note(error)
    if len(counts["errors"]) > SHOWN_ERRORS:
        note(f"… and {len(counts['errors']) - SHOWN_ERRORS} more; --json lists all")
    for line in (*_summary(counts, files), *_beside(counts)):
        note(line)
    if not counts["theorems"] and not counts["proofs_elsewhere"]:
        raise UsageError(f"{source}: {counted(counts['files'], 'file')} without a proof")
    with databases.DynamicDatabase(database) as store:
        if store.get_repository(traced.url, traced.commit) is None:
            store.add_repository(traced)
        else:
            store.update_repository(traced)
    if as_json:
        emit_json({"database": str(database), **counts})
    else:
        note(
            f"{traced.name} at {traced.commit[:12]}: {counted(counts['theorems'], 'theorem')} "
            f"({counts['sorry']} sorry), {counted(counts['tactics'], 'tactic')}, "
            f"{counted(counts['premises'], 'premise')} in {counted(counts['files'], 'file')} "
            f"→ {database}"
        )


def _summary(counts: dict[str, Any], files: Sequence[tracing.TracedFile]) -> Iterator[str]:
    """Yield how many commands of which files have errors, and the most common reasons."""
    if not (worst := counts["files_with_errors"]):
        return
    each = [f"{path} {one['failed_commands']} of {one['commands']}" for path, one in worst.items()]
    shown = each[:SHOWN_FILES]
    if more := len(each) - len(shown):
        shown.append(f"and {more} more files")
    yield (
        f"{counts['failed_commands']} of {counts['commands']} commands in {len(worst)} of the "
        f"files have errors: {', '.join(shown)}"
    )
    reasons = Counter(error.text.partition("\n")[0] for file in files for error in file.errors)
    for reason, count in reasons.most_common(SHOWN_REASONS):
        if count > 1:
            yield f"  {count} times: {reason}"


def _beside(counts: dict[str, Any]) -> Iterator[str]:
    """Yield the numbers of proofs outside theorems and of proofs left out, with shares."""
    elsewhere, left_out = counts["proofs_elsewhere"], counts["proofs_left_out"]
    if outside := counts["files_left_out"]:
        shown = ", ".join(outside[:SHOWN_FILES]) + (", …" if len(outside) > SHOWN_FILES else "")
        number = counted(len(outside), "file")
        yield f"left out {number} in no library of the lakefile: {shown}"
    if elsewhere:
        tactics = counts["tactics_elsewhere"]
        share = tactics / (tactics + counts["tactics"])
        kinds = ", ".join(f"{kind} {count}" for kind, count in elsewhere.items())
        number = counted(sum(elsewhere.values()), "proof")
        yield (
            f"also {number} outside theorems, with {share:.1%} of all tactics "
            f"({tactics}): {kinds}; they are training data"
        )
    if left_out:
        number = sum(left_out.values())
        share = number / (number + counts["theorems"] + sum(elsewhere.values()))
        reasons = ", ".join(f"{count} {reason}" for reason, count in left_out.items())
        yield f"left out {share:.1%} of the proofs ({number}): {reasons}"
    if steps := counts["tactics_left_out"]:
        reasons = ", ".join(f"{count} {reason}" for reason, count in steps.items())
        number = counted(sum(steps.values()), "tactic")
        yield f"{number} left out, not steps of a proof: {reasons}"
    if unknown := counts["tactics_without_digest"]:
        yield (
            f"{counted(unknown, 'tactic')} without a digest of the state, which the "
            "engine does not provide: rewards compare states by text"
        )


def _counts(traced: databases.Repository, files: Sequence[tracing.TracedFile]) -> dict[str, Any]:
    """Return all numbers for ``--json``; the files with most failed commands come first."""

    def tactics(proofs: Iterable[Theorem]) -> int:
        return sum(len(proof.traced_tactics) for proof in proofs)

    elsewhere = tactics(traced.other_proofs)
    worst = sorted((one for one in files if one.errors), key=lambda one: (-one.failed, one.path))
    return {
        "url": traced.url,
        "commit": traced.commit,
        "theorems": traced.total_theorems,
        "sorry": traced.num_sorry_theorems,
        "tactics": tactics(traced.iter_theorems()) - elsewhere,
        "tactics_elsewhere": elsewhere,
        "proofs_elsewhere": traced.metadata.get(tracing.ELSEWHERE_KEY, {}),
        "proofs_left_out": traced.metadata.get(tracing.LEFT_OUT_KEY, {}),
        "tactics_left_out": traced.metadata.get(tracing.STEPS_KEY, {}),
        "files_left_out": traced.metadata.get(tracing.OUTSIDE_KEY, []),
        "tactics_without_digest": sum(
            tactic.digest is None
            for theorem in traced.iter_theorems()
            for tactic in theorem.traced_tactics
        ),
        "premises": traced.num_premises,
        "files": traced.num_files_traced,
        "errors": list(traced.metadata.get(tracing.ERRORS_KEY, ())),
        "commands": sum(file.commands for file in files),
        "failed_commands": sum(file.failed for file in files),
        "files_with_errors": {
            file.path: {
                "failed_commands": file.failed,
                "commands": file.commands,
                "errors": len(file.errors),
            }
            for file in worst
        },
    }
