from __future__ import annotations

from pathlib import Path

import pytest

from lean_dojo_core.errors import ConfigError
from lean_dojo_v2.settings import Settings, parse_assignment, read_settings, write_yaml


def read(folder: Path, text: str) -> Settings:
    path = folder / "f.yaml"
    path.write_text(text, encoding="utf-8")
    return read_settings(path)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-5", 1e-5),
        ("no", "no"),
        ("on", "on"),
        ("true", True),
        ("null", None),
        ("1:30", "1:30"),
        ("owner/name@1e5", "owner/name@1e5"),
        ("[q_proj, v_proj]", ["q_proj", "v_proj"]),
        ("'3'", "3"),
    ],
)
def test_scalars_are_read_as_yaml_1_2_has_them(tmp_path: Path, text: str, value: object) -> None:
    assert read(tmp_path, f"key: {text}\n").values == {"key": value}
    assert parse_assignment(f"key={text}").values == {"key": value}


def test_an_empty_file_sets_nothing(tmp_path: Path) -> None:
    assert read(tmp_path, "# nothing\n").values == {}


def test_json_is_read_too(tmp_path: Path) -> None:
    assert read(tmp_path, '{"a": {"b": [1, 2]}}').values == {"a": {"b": [1, 2]}}


def test_places_of_nested_keys_and_items(tmp_path: Path) -> None:
    settings = read(tmp_path, "a:\n  b:\n    - x\n    - y\n")
    file = tmp_path / "f.yaml"
    assert settings.place(("a",)) == f"{file}, line 1"
    assert settings.place(("a", "b", 1)) == f"{file}, line 4"
    assert settings.place(("a", "b", 1, "deeper")) == f"{file}, line 4"
    assert settings.place(("z",)) == ""


def test_later_settings_win_and_mappings_merge() -> None:
    settings = parse_assignment("a.b=1")
    settings.update(parse_assignment("a.c=2"))
    settings.update(parse_assignment("a.b=3"))
    assert settings.values == {"a": {"b": 3, "c": 2}}
    settings.update(parse_assignment("a=null"))
    assert settings.values == {"a": None}


def test_a_value_may_hold_equals_signs() -> None:
    assert parse_assignment("url=https://x?a=b").values == {"url": "https://x?a=b"}
    assert parse_assignment("empty=").values == {"empty": None}


def test_a_key_that_holds_dots_is_quoted() -> None:
    settings = parse_assignment('projects."https://example.org/a.b?c=d".r=1')
    assert settings.values == {"projects": {"https://example.org/a.b?c=d": {"r": 1}}}
    assert parse_assignment("'a.b'=c=d").values == {"a.b": "c=d"}


@pytest.mark.parametrize("text", ["", "=1", "a..b=1", "a", ".a=1", "'a=1", "a'b'=1"])
def test_a_bad_assignment(text: str) -> None:
    with pytest.raises(ConfigError, match="key=value"):
        parse_assignment(text)


def test_an_unreadable_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        read_settings(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"a: \xe9\n")
    with pytest.raises(ConfigError, match="not UTF-8"):
        read_settings(tmp_path / "latin.yaml")


def test_paths_and_tuples_are_written_as_yaml_has_them() -> None:
    assert write_yaml({"b": Path("x/y"), "a": (1, 2)}) == "b: x/y\na:\n- 1\n- 2\n"
