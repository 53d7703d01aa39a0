"""``lean-dojo reward``: score completions without training, check a reward function."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import attrs
import click

from lean_dojo_core import registry
from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.rewards.adapter import completion_texts
from lean_dojo_v2 import cli
from lean_dojo_v2.errors import UnreadableFileError
from lean_dojo_v2.files import parse_json, read_named
from lean_dojo_v2.settings import parse_assignment


@click.group()
def reward() -> None:
    """Score completions with a reward, or check a reward function.

    A reward is the name of an installed plugin, `module:attribute`, or `trl:NAME`.
    """


_set_option = cli.option("--set", multiple=True, metavar="KEY=VALUE", help="Option of the reward.")


@reward.command(short_help="Score the completions of a JSONL file without training.")
@cli.with_options
def score(
    name: str = cli.argument(shell_complete=cli.complete_reward),
    file: Path = cli.argument(type=cli.EXISTING_FILE),
    assignments: tuple[str, ...] = _set_option,
    timeout: float | None = cli.option(
        metavar="SECONDS",
        type=click.FloatRange(min=0, min_open=True),
        help="Seconds that the reward may take (default: as long as it takes).",
    ),
    as_json: bool = cli.shared(cli.json_option),
) -> None:
    """Score the completions of FILE with the reward NAME.

    Each line of FILE is a JSON object with `completion` and the columns that the reward reads (for
    pantograph-verified: `problem`, the goal as Lean prints it).
    """
    from lean_dojo_plugins.rewards.resolve import resolve_rewards

    rows = _read(file)
    options = _options(assignments)
    [adapted] = resolve_rewards({name: {"weight": 1.0, **options}})
    if timeout is not None:
        adapted.timeout = timeout
    columns = {key: [row.get(key) for row in rows] for key in {k for row in rows for k in row}}
    completions = columns.pop("completion")
    if missing := [key for key in adapted.columns_needed({"completions"}) if key not in columns]:
        training = " (in training TRL gives it)" if missing[0] == "completion_ids" else ""
        raise UnreadableFileError(
            f"lacks the column {missing[0]!r}, which {name} reads{training}", path=file
        )
    with closing(adapted):
        scores = adapted(completions, **columns)
    if as_json:
        pairs = zip(scores, rows, strict=True)
        cli.emit_json([{"score": one, "completion": row["completion"]} for one, row in pairs])
    else:
        cells = [
            ["-" if one is None else f"{one:g}", " ".join(str(row["completion"]).split())]
            for one, row in zip(scores, rows, strict=True)
        ]
        cli.table(["SCORE", "COMPLETION"], cells)
    known = [one for one in scores if one is not None]
    mean = f", mean {sum(known) / len(known):.3f}" if known else ""
    cli.note(f"{len(known)} of {len(scores)} completions scored by {adapted.name}{mean}.")


@reward.command(short_help="Run the conformance checks on a reward function.")
@click.pass_context
@cli.with_options
def check(
    context: click.Context,
    target: str = cli.argument(shell_complete=cli.complete_reward),
    assignments: tuple[str, ...] = _set_option,
    timeout: float | None = cli.shared(cli.timeout_option),
    as_json: bool = cli.shared(cli.json_option),
) -> None:
    """Run the conformance checks on TARGET; exits with 1 if one fails.

    TRL's own rewards receive completions as messages, as in training.
    """
    from lean_dojo_core.testing import RewardFunctionSuite, run_suite
    from lean_dojo_plugins.rewards.resolve import resolve_rewards

    [adapted] = resolve_rewards({target: {"weight": 1.0, **_options(assignments)}})
    name = "checked-reward"
    suite = type("CheckedReward", (RewardFunctionSuite,), {"name": name})
    if "completion_ids" in adapted.columns_needed({"completions"}):
        raise UsageError(
            f"{target} reads completion_ids, the tokens that only training has; try it with "
            "`lean-dojo reward score` and a column of that name"
        )
    # TRL's own read message lists, which the adapter makes of the suite's texts, as in training.
    function = adapted.__call__ if adapted.messages else adapted.function
    with registry.reward_functions.override(name, function):
        findings = run_suite(suite, timeout=timeout)
    failed = [finding for finding in findings if finding.problem is not None]
    if as_json:
        cli.emit_json([attrs.asdict(finding) for finding in findings])
    else:
        for finding in failed:
            click.echo(f"FAILED  {finding.check.replace('_', ' ')}")
            click.echo(cli.paragraph(str(finding.problem), indent=8))
        click.echo(f"{len(findings) - len(failed)} of {len(findings)} checks passed.")
    if failed:
        context.exit(1)


def _options(assignments: Sequence[str]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for text in assignments:
        options.update(parse_assignment(text).values)
    if "weight" in options:
        raise UsageError("--set weight: a weight means nothing for a single reward")
    return options


def _read(file: Path) -> list[dict[str, Any]]:
    rows = []
    # Not str.splitlines(): a JSON text may hold U+2028.
    for number, line in enumerate(read_named(file).split(b"\n"), 1):
        if not line.strip():
            continue
        place = f"line {number}"
        try:
            row = parse_json(line)
        except ValueError as error:  # no JSON, or no UTF-8
            raise UnreadableFileError(f"is not JSON: {error}", path=file, place=place) from error
        try:
            completion_texts([row["completion"]])
        except (KeyError, TypeError) as error:
            what = "is not an object with 'completion', a text or a list of messages"
            raise UnreadableFileError(what, path=file, place=place) from error
        rows.append(row)
    if not rows:
        raise UnreadableFileError("holds no completions", path=file)
    return rows
