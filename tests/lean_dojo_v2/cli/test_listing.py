"""`plugins`, `show`, `--version`, `--help`, completion."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lean_dojo_core import registry
from lean_dojo_v2.cli import cli

Run = Callable[..., Any]


def test_plugins_lists_builtins_with_provenance(lean_dojo: Run) -> None:
    ran = lean_dojo("plugins")
    assert ran.code == 0
    line = next(line for line in ran.out.splitlines() if line.startswith("sft "))
    assert "lean-dojo-v2 2." in line
    assert max(map(len, ran.out.splitlines())) <= 80


def test_plugins_of_one_kind(lean_dojo: Run) -> None:
    ran = lean_dojo("plugins", "--kind", "reward-function", "--json")
    assert {offer["kind"] for offer in ran.json["offers"]} == {"reward-function"}


def test_json_holds_every_offer_and_plugin(lean_dojo: Run) -> None:
    data = lean_dojo("plugins", "--json").json
    assert {(o["kind"], o["name"]) for o in data["offers"]} == {
        (kind, entry.name)
        for kind, entries in registry.registries().items()
        for entry in entries.entries()
    }
    assert all(plugin["status"] == "active" for plugin in data["plugins"])


def test_a_check_of_what_is_not_there_is_a_usage_error(lean_dojo: Run) -> None:
    ran = lean_dojo("plugins", "check", "lean-dojo-v3")
    assert ran.code == 2
    assert "Did you mean 'lean-dojo-v2'?" in ran.err


@pytest.mark.usefixtures("toy")
def test_show_gives_every_setting_with_type_default_and_help(lean_dojo: Run) -> None:
    ran = lean_dojo("show", "Toy")
    assert ran.code == 0
    assert "model_name: str (required)" in ran.out
    assert "lr: float = 0.001\n      Step size." in ran.out
    assert "steps: int = 3\n      How far to count." in ran.out
    assert "inner: Inner | None = None" in ran.out
    assert "Counts instead of training." in ran.out
    assert "Attributes:" not in ran.out


@pytest.mark.usefixtures("toy")
def test_show_as_json(lean_dojo: Run) -> None:
    data = lean_dojo("show", "toy", "--json").json
    assert data["kind"] == "trainer"
    assert data["distribution"] == "override"
    file, _, line = data["defined_in"].rpartition(":")
    assert "class Toy" in "".join(Path(file).read_text().splitlines()[int(line) - 1 :][:2])
    settings = {setting["name"]: setting for setting in data["settings"]}
    assert settings["model_name"]["required"] is True
    assert settings["lr"] == {
        "name": "lr",
        "type": "float",
        "required": False,
        "default": 1e-3,
        "help": "Step size.",
    }


def test_show_of_a_name_in_two_kinds_asks_which(lean_dojo: Run) -> None:
    reward = registry.reward_functions.override("twice", lambda completions, **kwargs: [])
    with reward, registry.trainers.override("twice", type("T", (), {"train": print})):
        ran = lean_dojo("show", "twice")
        assert ran.code == 2
        assert "--kind" in ran.err
        assert lean_dojo("show", "twice", "--kind", "reward-function").code == 0


def test_show_of_an_unknown_name_suggests(lean_dojo: Run) -> None:
    ran = lean_dojo("show", "tactic-chta")
    assert ran.code == 2
    assert "Did you mean 'tactic-chat'" in ran.err


def test_version(lean_dojo: Run) -> None:
    ran = lean_dojo("--version")
    assert ran.code == 0
    assert ran.out.startswith("lean-dojo 2.")
    assert "plugin API 1.1" in ran.out


def test_unknown_command_suggests(lean_dojo: Run) -> None:
    ran = lean_dojo("docter")
    assert ran.code == 2
    assert "Did you mean 'doctor'?" in ran.err


def test_the_command_that_lists_plugins_is_suggested(lean_dojo: Run) -> None:
    ran = lean_dojo("plugins", "list")
    assert ran.code == 2
    assert "No such command 'list'. `lean-dojo plugins` alone lists the plugins." in ran.err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["pre"], {"preview"}),
        (["train", "sf"], {"sft"}),
        (["show", "TACTIC_"], {"tactic-chat", "tactic-prompt"}),
        (["train", "sft", "--formatter", "prog"], {"progress-text"}),
        (["train", "grpo", "--reward", "const"], {"constant"}),
        (["reward", "score", "len"], {"length-penalised"}),
        (["prove", "--formatter", "tactic-c"], {"tactic-chat"}),
        (["plugins", "check", "lean"], {"lean-dojo-v2"}),
        (["plugins", "ch"], {"check"}),
    ],
)
def test_completion_knows_commands_and_plugins(words: list[str], expected: set[str]) -> None:
    from click.shell_completion import ShellComplete

    complete = ShellComplete(cli, {}, "lean-dojo", "_LEAN_DOJO_COMPLETE")
    found = complete.get_completions(words[:-1], words[-1])
    assert expected <= {item.value for item in found}
    assert all(item.value.startswith(words[-1].lower().replace("_", "-")) for item in found)
