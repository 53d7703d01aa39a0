"""Plugins in and out: install, uninstall, enable, disable, search; plugins of one file; broken ones."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lean_dojo_core import registry

Run = Callable[..., Any]

ONE_FILE = """\
from lean_dojo_core import RewardFunctionSpec, hookimpl

LEAN_DOJO_API_VERSION = "1.0"


@hookimpl
def lean_dojo_reward_functions():
    for name in ("few", "exits", "endless", "late"):
        yield RewardFunctionSpec(name=name, target=f"{__name__}:{name}", summary=f"The {name} one.")
    yield RewardFunctionSpec(name="raises", target=f"{__name__}:Raises", summary="Cannot be made.")


def few(completions, **kwargs):
    return [1.0 / (1 + len(text)) for text in completions]


def exits(completions, **kwargs):
    raise SystemExit(3)


def endless(completions, **kwargs):
    import time

    while not few.over:
        time.sleep(0.01)


async def late(completions, **kwargs):
    import asyncio

    await asyncio.sleep(600)


few.over = False


class Raises:
    def __init__(self):
        raise RuntimeError("no such server")

    def __call__(self, completions, **kwargs):
        return []
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is also that of the user's settings."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LEAN_DOJO_CONFIG_DIR", str(tmp_path / "settings"))
    monkeypatch.delenv("LEAN_DOJO_PLUGINS_DIR", raising=False)
    return tmp_path


@pytest.fixture
def one_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A plugin that is one file, found by `LEAN_DOJO_PLUGINS_DIR`."""
    (home / "mine").mkdir()
    (home / "mine" / "my_rewards.py").write_text(ONE_FILE)
    (home / "c.jsonl").write_text('{"completion": "rfl"}\n')
    monkeypatch.setenv("LEAN_DOJO_PLUGINS_DIR", str(home / "mine"))
    registry.refresh()
    yield home
    if (module := sys.modules.pop("lean_dojo_core.local.my_rewards", None)) is not None:
        module.few.over = True
    monkeypatch.undo()
    registry.refresh()


def test_a_plugin_of_one_file_is_one_like_any_other(lean_dojo: Run, one_file: Path) -> None:
    listed = lean_dojo("plugins", "--json").json
    [mine] = [one for one in listed["plugins"] if one["distribution"] == "my_rewards.py"]
    assert mine["status"] == "active"
    assert (mine["api"], mine["requires"]) == ("1.0", None)
    ran = lean_dojo("reward", "score", "few", "c.jsonl")
    assert "0.25" in ran.out
    assert lean_dojo("reward", "score", "my_rewards.py:few", "c.jsonl").code == 0
    (one_file / "mine" / "broken.py").write_text("1 / 0\n")
    registry.refresh()
    failed = lean_dojo("plugins", "--failed")
    assert "broken.py:broken" in failed.out
    assert "ZeroDivisionError" in failed.out
    assert lean_dojo("reward", "score", "few", "c.jsonl").code == 0


def test_a_plugin_of_one_file_is_checked(lean_dojo: Run, one_file: Path) -> None:
    file = one_file / "mine" / "other.py"
    file.write_text(ONE_FILE.replace("def lean_dojo_reward_functions", "def lean_dojo_rewards"))
    registry.refresh()
    checked = lean_dojo("plugins", "check", "other.py")
    assert checked.code == 1
    assert "unknown hook 'lean_dojo_rewards'" in checked.out
    file.write_text(ONE_FILE.replace("{__name__}", "nowhere"))
    sys.modules.pop("lean_dojo_core.local.other")
    registry.refresh()
    checked = lean_dojo("plugins", "check", "other.py")
    assert checked.code == 1
    assert "No module named 'nowhere'" in checked.out
    sys.modules.pop("lean_dojo_core.local.other")
    missing = lean_dojo("plugins", "check", "nothing.py")
    assert missing.code == 2
    assert "any file in the folder that LEAN_DOJO_PLUGINS_DIR names" in missing.err


def test_the_file_in_the_users_folder(lean_dojo: Run, home: Path) -> None:
    (home / "settings").mkdir()
    (home / "settings" / "lean_dojo_plugins.py").write_text(ONE_FILE)
    registry.refresh()
    try:
        assert "few" in lean_dojo("plugins").out
        reward = registry.reward_functions["few"].load()
        assert reward.__module__ == "lean_dojo_core.local.lean_dojo_plugins"  # it pickles
    finally:
        (home / "settings" / "lean_dojo_plugins.py").unlink()
        sys.modules.pop("lean_dojo_core.local.lean_dojo_plugins", None)
        registry.refresh()


def test_disable_and_enable(lean_dojo: Run, one_file: Path) -> None:
    ran = lean_dojo("plugins", "disable", "my-rewards")
    assert "my_rewards.py is disabled now" in ran.err
    assert "disabled already" in lean_dojo("plugins", "disable", "my_rewards.py").err
    assert "few" not in lean_dojo("plugins").out
    refused = lean_dojo("reward", "score", "few", "c.jsonl")
    assert refused.code == 2
    assert "my_rewards.py:my_rewards (disabled)" in refused.err
    assert lean_dojo("plugins", "enable", "my_rewards").code == 0
    assert lean_dojo("reward", "score", "few", "c.jsonl").code == 0
    for name in ("lean-dojo-v2", "no-such"):
        wrong = lean_dojo("plugins", "disable", name)
        assert (wrong.code, wrong.err.count("Error: ")) == (2, 1)
    assert "is a file" in lean_dojo("plugins", "uninstall", "my_rewards").err


def test_a_folder_that_cannot_be_is_no_folder(
    lean_dojo: Run, one_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("/dev/null", str(one_file / "missing")):
        monkeypatch.setenv("LEAN_DOJO_CONFIG_DIR", place)
        monkeypatch.setenv("LEAN_DOJO_PLUGINS_DIR", place)
        monkeypatch.setattr(registry, "_discovered", None)
        assert lean_dojo("plugins").code == 0


def test_an_unreadable_list_loads_nothing(
    lean_dojo: Run, one_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (one_file / "settings" / "disabled-plugins.txt").mkdir(parents=True)
    for command in (
        ("reward", "score", "few", "c.jsonl"),
        ("plugins", "disable", "my_rewards"),
        ("plugins",),
        ("--help",),
    ):
        monkeypatch.setattr(registry, "_discovered", None)
        ran = lean_dojo(*command)
        if command == ("--help",):  # is never refused
            assert ran.code == 0
            continue
        assert ran.code == 1
        assert (ran.err.count("Error: "), ran.err.count("disabled-plugins.txt")) == (1, 1)


@pytest.mark.parametrize(
    ("reward", "code", "said"),
    [
        ("raises", 1, "making it raised RuntimeError: no such server"),
        ("exits", 1, "reward 'exits' of my_rewards.py local raised SystemExit: 3"),
        ("endless", 1, "reward 'endless' of my_rewards.py local has run for more than 1 s"),
        ("late", 1, "reward 'late' of my_rewards.py local has run for more than 1 s"),
    ],
)
def test_a_broken_reward_is_one_message_that_names_it(
    lean_dojo: Run, one_file: Path, reward: str, code: int, said: str
) -> None:
    ran = lean_dojo("reward", "score", reward, "c.jsonl", "--set", "timeout=1")
    if reward == "raises":
        ran = lean_dojo("reward", "score", reward, "c.jsonl")
    assert ran.code == code
    assert said in ran.err
    assert "my_rewards.py" in ran.err
    assert [line[:7] for line in ran.err.splitlines()].count("Error: ") == 1
    assert "Traceback" not in ran.err


def test_a_slow_reward_is_reported(
    lean_dojo: Run, one_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lean_dojo_core.foreign.SAY_AFTER", 0.25)
    ran = lean_dojo("reward", "score", "endless", "c.jsonl", "--timeout", 1)
    assert "reward 'endless' of my_rewards.py local has run for 0.25 s" in ran.err


def test_checks_have_a_limit_and_stream(lean_dojo: Run, one_file: Path) -> None:
    ran = lean_dojo("plugins", "check", "my_rewards.py", "--timeout", 1, "--all")
    assert ran.code == 1
    out = " ".join(ran.out.split())
    assert "FAILED reward-function my-rewards-py:endless: " in out
    assert "it has run for more than 1 s; give it less to do, or raise --timeout" in out
    assert "SystemExit" in out
    assert "no such server" in out
    assert "ok reward-function my-rewards-py:few" in out


def test_a_disabled_plugin_cannot_be_checked(lean_dojo: Run, one_file: Path) -> None:
    lean_dojo("plugins", "disable", "my_rewards.py")
    ran = lean_dojo("plugins", "check", "my_rewards.py")
    assert ran.code == 2
    assert "my_rewards.py is disabled, so nothing of it can be checked: by `lean-dojo" in ran.err


def test_a_name_clash_lists_the_distributions(lean_dojo: Run, one_file: Path) -> None:
    other = one_file / "mine" / "others.py"
    other.write_text(ONE_FILE.replace('("few", "exits", "endless", "late")', '("few",)'))
    registry.refresh()
    ran = lean_dojo("plugins")
    assert (
        "The short name of reward-function 'few' is offered by my-rewards-py:few and others-py:few"
    ) in ran.err
    [clash, _] = lean_dojo("plugins", "--json").json["clashes"]
    assert clash["offered_by"] == ["my-rewards-py:few", "others-py:few"]
    sys.modules.pop("lean_dojo_core.local.others", None)


@pytest.mark.slow
def test_install_and_uninstall(
    tmp_path: Path, make_wheel: Callable[..., Path], environment: Callable[..., dict[str, str]]
) -> None:
    """In an environment of its own, by the commands of the page."""
    home = tmp_path / "venv"
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    [site] = home.glob("lib/*/site-packages")
    paths = [path for path in sys.path if path and Path(path).is_dir()]
    (site / "dependencies.pth").write_text("\n".join(paths) + "\n")
    wheel = make_wheel(tmp_path, "shiny", {"shiny.py": ONE_FILE}, entry_points={"shiny": "shiny"})
    variables = environment(PIP_NO_INDEX="1", LEAN_DOJO_CONFIG_DIR=str(tmp_path / "settings"))

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [python, "-m", "lean_dojo_v2", *arguments],
            input="",
            env={**variables, "PATH": f"{home / 'bin'}{os.pathsep}{variables['PATH']}"},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    installed = run("plugins", "install", wheel)
    assert installed.returncode == 0, installed.stderr
    assert (
        "there is no terminal to ask on; use --yes" in run("plugins", "uninstall", "shiny").stderr
    )
    assert installed.stdout.startswith("shiny 1.0 offers: reward-function few")
    assert "shiny 1.0" in run("plugins").stdout
    again = run("plugins", "install", wheel)
    assert again.returncode == 1
    assert "there is no new plugin" in again.stderr
    assert run("plugins", "install", "no-such-distribution-here").returncode == 1
    gone = run("plugins", "uninstall", "--yes", "shiny")
    assert gone.returncode == 0, gone.stderr
    assert "shiny is gone." in gone.stderr
    assert "shiny 1.0" not in run("plugins").stdout
