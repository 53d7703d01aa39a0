"""``lean-dojo preview NAME``: show training examples."""

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import attrs
import click

from lean_dojo_core import PreviewExample, Previews, PreviewToken, Theorem, UsageError, registry
from lean_dojo_v2.cli import parameters as args, run
from lean_dojo_v2.cli.output import emit_json, json_option, note
from lean_dojo_v2.cli.show import find_entry
from lean_dojo_v2.settings import Settings, construct


@click.command(cls=run.SettingsCommand)
@args.with_options
def preview(
    name: str = args.argument(shell_complete=args.complete_any_name),
    given: run.RunOptions = args.group(run.RunOptions),
    limit: int = args.option("-n", "--limit", **args.NUMBER, default=3, help="How many examples."),
    as_json: bool = args.shared(json_option),
) -> None:
    """Show the first examples that the trainer or formatter NAME makes from the database.

    A trainer with its own data, such as statements, makes them from that.
    A trainer's examples are shown as the model reads them, including special tokens. Tokens
    with loss are between ⟦ and ⟧ (and in colour on a terminal). A formatter's examples
    are shown as rows.
    """
    places, kinds = registry.registries(), registry.current().kinds
    makers = [key for key, spec in kinds.items() if spec.gives_rows and name in places[key]]
    entry = find_entry(name, makers[0] if makers else None)
    settings, section = run.gather(given)
    maker = _maker(entry, settings)
    theorems: Iterable[Theorem] = ()
    if getattr(maker, "own_data", None) is None:
        path = section.database_path
        database = run.open_database(path, read_only=True)
        repositories = run.select_repositories(database, section.repositories, path)
        theorems = itertools.chain.from_iterable(one.iter_theorems() for one in repositories)
    if isinstance(maker, Previews):
        _show_examples(maker.preview(theorems, limit), as_json=as_json)
    else:
        rows = ((one.full_name, row) for one in theorems for row in maker.rows(one))
        _show_rows(list(itertools.islice(rows, limit)), as_json=as_json)


def _maker(entry: registry.Entry[Any, Any], settings: Settings) -> Any:
    """Return the maker of the examples: the trainer, if it has a preview, or a formatter."""
    kind = entry.spec.kind
    if not entry.spec.gives_rows:
        raise UsageError(f"{entry.name!r} is a {kind.replace('-', ' ')}: it makes no examples")
    target: Any = entry.load()
    if hasattr(target, "rows"):
        owner = f"{kind} {entry.name!r}"
        return construct(target, settings, owner=owner) if isinstance(target, type) else target
    if hasattr(target, "preview"):
        return run.make_trainer(entry, settings)
    chosen = settings.values.get("formatter") or entry.spec.default_formatter
    if not isinstance(chosen, str):
        raise UsageError(
            f"trainer {entry.name!r} has neither a preview method nor a dataset formatter to show"
        )
    return registry.dataset_formatters[chosen].create()


def _show_rows(rows: list[tuple[str, dict[str, Any]]], *, as_json: bool) -> None:
    if as_json:
        emit_json([{"theorem": theorem, "row": row} for theorem, row in rows])
        return
    for number, (theorem, row) in enumerate(rows, 1):
        click.echo(f"--- row {number}: {theorem}")
        for column, value in row.items():
            click.echo(f"{column}:")
            for line in _cell(value):
                click.echo(f"    {line}")
    _end(len(rows), "row")


def _cell(value: Any) -> list[str]:
    """Write one cell as lines: a conversation message by message."""
    parts = value if isinstance(value, list) else []
    if parts and all(isinstance(one, dict) and {"role", "content"} <= one.keys() for one in parts):
        value = "\n".join(f"[{one['role']}] {one['content']}" for one in parts)
    return str(value).split("\n")


def _show_examples(examples: Sequence[PreviewExample], *, as_json: bool) -> None:
    if as_json:
        emit_json([attrs.asdict(example) for example in examples])
        return
    for number, example in enumerate(examples, 1):
        loss = sum(token.loss for token in example.tokens)
        click.echo(f"--- example {number}: {example.source}")
        remark = f"; {example.remark}" if example.remark else ""
        click.echo(f"    {len(example.tokens)} tokens, {loss} with loss{remark}")
        click.echo(marked(example.tokens))
    _end(len(examples), "example")


def marked(tokens: Iterable[PreviewToken]) -> str:
    """Join tokens, with those that carry loss between marks, and in colour.

    >>> tokens = PreviewToken("⊢ 1 = 1", False), PreviewToken("rf", True), PreviewToken("l", True)
    >>> click.unstyle(marked(tokens))
    '⊢ 1 = 1⟦rfl⟧'
    """
    parts = []
    for loss, alike in itertools.groupby(tokens, key=lambda token: token.loss):
        text = "".join(token.text for token in alike)
        parts.append(click.style(f"⟦{text}⟧", fg="green", bold=True) if loss else text)
    return "".join(parts)


def _end(count: int, word: str) -> None:
    if count == 0:
        note(f"There is no {word} to show: no theorem of the database has anything to learn from.")
