"""Shell completion of plugin names."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import click
from click.shell_completion import CompletionItem

from lean_dojo_core import registry
from lean_dojo_core.errors import StrictPluginsError

Completer: TypeAlias = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def names_of(*kinds: str, or_a_file: bool = False) -> Completer:
    """Make a completer for names of some kinds of plugin objects, optionally also for files."""

    def complete(
        _context: click.Context, _parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        file = [CompletionItem(incomplete, type="file")] if or_a_file else []
        try:
            registry.current()
        except StrictPluginsError:  # the command itself will report it
            return file
        found = [
            CompletionItem(name, help=registry.REGISTRIES[kind][name].spec.summary)
            for kind in kinds
            for name in registry.REGISTRIES[kind]
            if name.startswith(incomplete.lower().replace("_", "-"))
        ]
        return [*found, *file]

    return complete


complete_trainer = names_of("trainer")
complete_formatter = names_of("dataset-formatter")
complete_reward = names_of("reward-function")
complete_prover = names_of("prover")
complete_benchmark = names_of("benchmark", or_a_file=True)
complete_any_name = names_of(*registry.REGISTRIES)
