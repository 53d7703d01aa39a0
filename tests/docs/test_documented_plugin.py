"""The plugin that the documentation writes, file by file, is installed, listed and checked."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

NAME = "shortness-bonus"


@pytest.fixture(scope="module")
def installed(
    all_blocks: list[Any],
    make_wheel: Callable[..., Path],
    pip_target: Callable[[Path, Sequence[Path]], Mapping[str, str]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Mapping[str, str]:
    """The environment in which the plugin of plugins.md is installed."""
    folder = tmp_path_factory.mktemp("plugin")
    blocks = [block for block in all_blocks if block.page == "plugins.md"]
    files = {b.title: b.code for b in blocks if b.title.startswith("shortness_bonus/")}
    assert len(files) == 2
    [toml] = [b.code for b in blocks if b.language == "toml" and not b.title]
    entry_points = tomllib.loads(toml)["project"]["entry-points"]["lean_dojo"]
    files["shortness_bonus/__init__.py"] = '"""A reward."""\n'
    wheel = make_wheel(
        folder, NAME, files, entry_points=entry_points, requires=["lean-dojo-v2>=2.0,<3"]
    )
    return pip_target(folder / "site", [wheel])


def run(environment: Mapping[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False
    )


def test_it_is_listed_with_its_setting(installed: Mapping[str, str]) -> None:
    shown = run(installed, "-m", "lean_dojo_v2", "show", NAME, "--json")
    assert shown.returncode == 0, shown.stderr
    found = json.loads(shown.stdout)
    assert found["distribution"] == NAME
    assert [setting["name"] for setting in found["settings"]] == ["best"]


def test_it_passes_the_conformance_checks(installed: Mapping[str, str]) -> None:
    checked = run(installed, "-m", "lean_dojo_v2", "plugins", "check", NAME)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_its_own_tests_pass(
    installed: Mapping[str, str], all_blocks: list[Any], tmp_path: Path
) -> None:
    [block] = [b for b in all_blocks if b.title == "tests/test_shortness_bonus.py"]
    (tmp_path / "test_shortness_bonus.py").write_text(block.code, encoding="utf-8")
    done = run(installed, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_smallest_one_is_installed_listed_and_scores(
    all_blocks: list[Any],
    pip_target: Callable[[Path, Sequence[Path]], Mapping[str, str]],
    tmp_path: Path,
) -> None:
    for block in all_blocks:
        if block.title.startswith("few-words/"):
            (tmp_path / block.title).parent.mkdir(exist_ok=True)
            (tmp_path / block.title).write_text(block.code, encoding="utf-8")
    folder = tmp_path / "few-words"
    assert sorted(file.name for file in folder.iterdir()) == ["few_words.py", "pyproject.toml"]
    small = pip_target(tmp_path / "site", [folder])
    listed = run(small, "-m", "lean_dojo_v2", "plugins", "--json")
    assert "few-words:few-words" in listed.stdout
    checked = run(small, "-m", "lean_dojo_v2", "plugins", "check", "few-words")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"completion": "rfl"}\n{"completion": "exact h"}\n')
    scored = run(small, "-m", "lean_dojo_v2", "reward", "score", "few-words", str(rows), "--json")
    assert [row["score"] for row in json.loads(scored.stdout)] == [1.0, 0.5]


TYPED = """
from typing import assert_type

from lean_dashboards.kind import Dashboard, dashboards

assert_type(dashboards["plain"].load(), type[Dashboard])
assert_type(dashboards["plain"].create(digits=2), Dashboard)
"""


def test_a_kind_of_ones_own_is_listed_shown_loaded_checked_and_typed(
    all_blocks: list[Any],
    pip_target: Callable[[Path, Sequence[Path]], Mapping[str, str]],
    tmp_path: Path,
) -> None:
    package = tmp_path / "lean-dashboards" / "lean_dashboards"
    package.mkdir(parents=True)
    for name in ("__init__.py", "py.typed"):
        (package / name).touch()
    for block in all_blocks:
        if block.title.startswith("lean-dashboards/"):
            (tmp_path / block.title).write_text(block.code, encoding="utf-8")
    site = tmp_path / "site"
    there = pip_target(site, [package.parent])
    listed = run(there, "-m", "lean_dojo_v2", "plugins")
    assert "DASHBOARDS" in listed.stdout
    shown = run(there, "-m", "lean_dojo_v2", "show", "plain", "--kind", "dashboard")
    assert "digits: int = 3" in shown.stdout, shown.stderr
    checked = run(there, "-m", "lean_dojo_v2", "plugins", "check", "lean-dashboards")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    code = (
        "from lean_dashboards.kind import dashboards\n"
        "print(dashboards['plain'].create(digits=2).show({'loss': 0.123, 'step': 4}))"
    )
    assert run(there, "-c", code).stdout == "loss 0.12, step 4\n"
    script = tmp_path / "typed.py"
    script.write_text(TYPED)
    strict = ["--strict", "--config-file=", "--cache-dir", str(tmp_path / "cache")]
    typed = run({**there, "MYPYPATH": str(site)}, "-m", "mypy", *strict, str(script))
    assert typed.returncode == 0, typed.stdout
