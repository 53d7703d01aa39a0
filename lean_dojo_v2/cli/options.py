"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

CommandT = TypeVar("CommandT", bound=Callable[..., Any])


def options(*added: Callable[[CommandT], CommandT]) -> Callable[[CommandT], CommandT]:
    """Make one decorator of several options, which ``--help`` lists in this order."""

    def decorate(command: CommandT) -> CommandT:
        for option in reversed(added):
            command = option(command)
        return command

    return decorate


config_option = click.option(
    "-c",
    "--config",
    "files",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="YAML file with the trainer's settings; later files win.",
)
set_option = click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set one setting, for example lr=1e-5 or lora_config.r=16; may be repeated.",
)
repo_option = click.option(
    "--repo",
    "repositories",
    multiple=True,
    help="Only this repository: owner/name or address, [@commit]; may be repeated.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
