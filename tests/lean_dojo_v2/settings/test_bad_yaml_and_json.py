"""YAML and JSON that are made to be trouble: one message each, and soon."""

from __future__ import annotations

from pathlib import Path

import pytest

from lean_dojo_v2.cli import main
from lean_dojo_v2.files import parse_json
from lean_dojo_v2.lean_agent.config import TrainingConfig
from lean_dojo_v2.settings import YamlTextError, parse_assignment, parse_yaml
from lean_dojo_v2.settings.values import MAX_YAML

BOMB = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10)
)
TROUBLE = {
    "bomb": (BOMB + "model_name: *a9\n", "more than 100,000 values"),
    "a merged bomb": (BOMB.replace("[", "{").replace("]", "}").replace("x,x,x,x,x,x,x,x,x", "k: v")
                      .replace("*a", "? *a") + "model_name: x\n", ""),
    "itself": ("model_name: &x [*x]\n", "refers to what it is part of"),
    "itself as a key": ("? &x [*x]\n: 1\n", "not the name of a setting"),
    "itself, merged": ("model_name: &x\n  <<: *x\n", ""),
    "deep list": ("model_name: " + "[" * 5000 + "]" * 5000, "nested too deeply"),
    "rather deep list": ("model_name: " + "[" * 120 + "]" * 120, "a valid string"),
    "deep map": ("".join(" " * n + "a:\n" for n in range(400)), "has no setting"),
    "deep JSON": ('{"model_name": ' + '{"a":' * 3000, ""),
    "twice": ("lr: 1\nlr: 2\n", "found duplicate key"),
    "twice in JSON": ('{"lr": 1, "lr": 2}', "found duplicate key"),
    "a wrong date": ("lr: 2024-99-99\n", ""),
    "many digits": ("lr: " + "9" * 5000 + "\n", ""),
    "a list as key": ("? [a, b]\n: 1\n", "not the name of a setting"),
    "a number as key": ("1: 1\n", "not the name of a setting"),
    "a map as key": ("? {a: b}\n: 1\n", ""),
    "objects": ("lr: !!python/object/apply:os.system [true]\n", ""),
    "two documents": ("lr: 1\n---\nlr: 2\n", "another document"),
    "large": ("#" * (MAX_YAML + 1), "characters"),
    "control": ("lr: \x01\n", ""),
    "tabs": ("\tlr: 1\n", ""),
}  # fmt: skip


@pytest.mark.parametrize("which", TROUBLE)
def test_a_settings_file_is_refused_with_one_message(
    which: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, said = TROUBLE[which]
    file = tmp_path / "settings.yaml"
    file.write_text(text)
    assert main(["train", "progress", "-c", str(file), "--dry-run"]) == 2
    message = capsys.readouterr().err
    assert message.startswith(f"Error: {file}")
    assert said in message
    assert "Traceback" not in message
    with pytest.raises(Exception, match=r"settings\.yaml") as caught:
        TrainingConfig.from_yaml(file)
    assert not isinstance(caught.value, RecursionError)


@pytest.mark.parametrize("value", ["[" * 3000, "&x [*x]", "2024-99-99", "9" * 5000, "!!python/x 1"])
def test_a_value_of_set_is_refused_with_one_message(value: str) -> None:
    with pytest.raises(Exception, match=r"--set lr=.*: quote the value") as caught:
        parse_assignment(f"lr={value}")
    assert len(str(caught.value)) < 600


def test_aliases_that_are_no_bomb_are_read() -> None:
    values, _ = parse_yaml("a: &a {r: 16}\nb: *a\nc:\n  <<: *a\n  s: 2\n")
    assert values == {"a": {"r": 16}, "b": {"r": 16}, "c": {"r": 16, "s": 2}}
    assert parse_yaml("") == (None, {})
    with pytest.raises(YamlTextError) as caught:
        parse_yaml("a: 1\nb: [")
    assert caught.value.place.startswith("line 2")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "the key 'c' occurs twice"),
        ("9" * 5000, "digits"),
        (b"\xff", "utf-8"),
        ("{", "Expecting"),
    ],
)
def test_json_is_refused_with_a_value_error(text: str | bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_json(text)


def test_json_as_python_writes_it() -> None:
    assert parse_json('{"a": Infinity, "b": [1, {"a": null}]}') == {
        "a": float("inf"), "b": [1, {"a": None}],
    }  # fmt: skip
