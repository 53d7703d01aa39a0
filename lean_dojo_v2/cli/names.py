"""Completion of plugin names, and of what may be a path, in the shell."""

from __future__ import annotations

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem

from lean_dojo_core import registry
from lean_dojo_core.errors import StrictPluginsError


def complete_trainer(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the names of trainers."""
    return _complete(["trainer"], incomplete)


def complete_formatter(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the names of dataset formatters."""
    return _complete(["dataset-formatter"], incomplete)


def complete_reward(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the names of reward functions."""
    return _complete(["reward-function"], incomplete)


def complete_prover(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the names of provers."""
    return _complete(["prover"], incomplete)


def complete_benchmark(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the names of benchmarks; a file will do too."""
    found = _complete(["benchmark"], incomplete)
    return [*found, CompletionItem(incomplete, type="file")]


def complete_path(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Leave it to the shell to complete a path, where an address or a hub's name would do too."""
    return [CompletionItem(incomplete, type="file")]


def complete_any_name(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete names of every kind."""
    return _complete(registry.REGISTRIES, incomplete)


def _complete(kinds: Iterable[str], incomplete: str) -> list[CompletionItem]:
    try:
        registry.current()
    except StrictPluginsError:  # the command itself will say so
        return []
    return [
        CompletionItem(name, help=registry.REGISTRIES[kind][name].spec.summary)
        for kind in kinds
        for name in registry.REGISTRIES[kind]
        if name.startswith(incomplete.lower().replace("_", "-"))
    ]
