"""The site builds, and what its tables say is what the code does."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import attrs
import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "docs" / "tools"


def tool(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"docs_{name}", TOOLS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` does: every warning, a dead link or anchor too, is an error."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "docs", folder / "docs")
    shutil.copy(ROOT / "mkdocs.yml", folder)
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


def test_the_site_builds_without_warnings(site: Path) -> None:
    assert (site / "index.html").is_file()
    assert not list(site.rglob("*.py"))


def test_every_command_stands_in_the_reference(site: Path) -> None:
    import click

    from lean_dojo_v2.cli import cli

    text = (site / "reference" / "cli" / "index.html").read_text(encoding="utf-8")
    for name in cli.list_commands(click.Context(cli)):
        assert f'id="lean-dojo-{name}"' in text
    assert "Sentinel" not in text


def test_public_names_stand_in_the_reference() -> None:
    text = "".join(p.read_text("utf-8") for p in (ROOT / "docs" / "reference").glob("*.md"))
    import lean_dojo_core

    modules = {"API_VERSION", "errors", "registry"}
    from lean_dojo_core.discovery import PluginInfo  # noqa: F401 - described with `plugins --json`

    hidden = {"PluginInfo", "hookimpl"}
    for name in set(lean_dojo_core.__all__) - modules - hidden:
        assert re.search(rf"^#+ `lean_dojo_core\.\w+\.{name}`", text, re.MULTILINE), name


@pytest.mark.slow
def test_reference_pages_are_up_to_date() -> None:
    """They are committed, so that they can be read on a code host; `make reference` writes them."""
    command = [sys.executable, str(TOOLS / "reference.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_tables_of_settings_are_up_to_date() -> None:
    assert tool("settings_tables").main(["--check"]) == 0


def test_the_files_of_a_new_plugin_are_those_that_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lean_dojo_v2.cli import main

    monkeypatch.chdir(tmp_path)
    assert main(["plugins", "new", "reward", "shortness-bonus", "--author", "A"]) == 0
    folder = tmp_path / "shortness-bonus"
    written = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    listed = page("plugins.md").partition("| file | |")[2].partition("\n\n")[0]
    names = {name for name in re.findall(r"`([^`]+)`", listed) if "/" in name or "." in name}
    names = {name for name in names if not name.startswith("lean-dojo-v2")}
    assert names <= written
    empty = {"src/shortness_bonus/__init__.py", "src/shortness_bonus/py.typed"}
    assert written - names <= empty | {"LICENSE"}


def test_docstrings_become_markdown() -> None:
    convert = tool("docstrings").as_markdown
    text = "See :class:`~a.B`, for example::\n\n    x = 1\n\n>>> [1][0]\n1\n\nEnd."
    assert convert(text) == (
        "See `a.B`, for example:\n\n    x = 1\n\n```pycon\n>>> [1][0]\n1\n```\n\nEnd."
    )


def test_every_environment_variable_is_described() -> None:
    sources = [
        path.read_text(encoding="utf-8")
        for room in ("core", "plugins", "lean_dojo_v2")
        for path in (ROOT / room).rglob("*.py")
    ]
    pattern = re.compile(r'^\w*VARIABLE = "([A-Z_]+)"$', re.MULTILINE)
    found = {name for text in sources for name in pattern.findall(text)}
    assert "RAID_DIR" in found
    described = set(re.findall(r"`([A-Z_0-9]+)`", page("reference/shell.md")))
    assert found - described == set()


def test_every_reason_of_refusal_is_described() -> None:
    from lean_dojo_v2.lean.verify.screening import Reason

    said = set(re.findall(r"`([a-z-]+)`", page("security.md")))
    # These two come of the second and third wall, which the page describes in words.
    assert {str(reason) for reason in Reason} - said <= {
        "not-one-tactic", "forbidden-syntax", "statement-changed"
    }  # fmt: skip


def test_everything_that_scores_stands_in_the_table() -> None:
    from lean_dojo_plugins.rewards.verified import PantographVerified

    text = page("rewards/pantograph-verified.md")
    rows = re.findall(r"^\| `\w+` \| [^|]+ \| `(\w+)` (−?\d+) \|$", text, re.MULTILINE)
    defaults = {
        field.name: field.default
        for field in attrs.fields(PantographVerified)
        if isinstance(field.default, float) and field.name != "timeout"
    }
    assert {name for name, _ in rows} == set(defaults)
    for name, value in rows:
        assert float(value.replace("−", "-")) == defaults[name]


def test_the_pages_name_no_machine() -> None:
    for path in [*(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.yaml")]:
        text = path.read_text(encoding="utf-8")
        assert re.search(r"/(work|tmp|root|home|Users)/", text) is None, path
