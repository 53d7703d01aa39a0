"""Every install line of the documents gives this program, and not the 1.x under the same name."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
OTHERS = {"build", "pantograph", "shortness-bonus", "twine"}
"""Distributions of others, and the one that a page writes."""

_LINE = re.compile(r"(?:^|`)(?:[\w/.]*python -m )?pip install ([^`#\n]+)", re.MULTILINE)


def lines() -> list[tuple[str, list[str]]]:
    """Give what each line asks pip for, and where it stands."""
    return [
        (page.name, shlex.split(match[1]))
        for page in PAGES
        for match in _LINE.finditer(page.read_text("utf-8"))
    ]


def targets() -> list[str]:
    found = [word for _, words in lines() for word in words if not word.startswith("-")]
    return sorted(set(found) - {"dist", "…"})


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory, make_wheel: Callable[..., Path]) -> Path:
    """A folder with wheels of 1.x and of this version, as an index may have them."""
    folder = tmp_path_factory.mktemp("shelf")
    for version in ("1.0.9", "2.0.0"):
        make_wheel(folder, "lean-dojo-v2", {"nothing.py": ""}, version=version)
    return folder


def test_there_are_such_lines() -> None:
    assert len(lines()) >= 10
    assert "." in targets()


@pytest.mark.parametrize("target", targets())
def test_a_line_resolves(target: str, shelf: Path) -> None:
    extras = PROJECT["optional-dependencies"]
    if target.startswith("git+"):
        return
    if target.startswith("./"):
        assert (ROOT / target / "pyproject.toml").is_file()
        return
    if target.startswith("."):
        named = re.fullmatch(r"\.(?:\[([\w,]+)\])?", target)
        assert named, target
        assert set((named[1] or "").split(",")) <= {"", "test", *extras}
        return
    requirement = Requirement(target)
    if requirement.name != "lean-dojo-v2":
        assert requirement.name in OTHERS
        return
    assert requirement.extras <= set(extras)
    chosen = subprocess.run(
        [
            sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--no-deps",
            "--ignore-installed", "--no-index", "--find-links", str(shelf), "--report", "-",
            str(requirement),
        ],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    [installed] = json.loads(chosen.stdout)["install"]
    assert installed["metadata"]["version"] == "2.0.0"
