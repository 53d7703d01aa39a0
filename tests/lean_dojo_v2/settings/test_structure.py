from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Optional, Protocol

import attrs
import pytest

from lean_dojo_core.settings import settings_of
from lean_dojo_v2.settings import json_schema, structure, with_inner


@attrs.frozen
class Inner:
    r: int
    names: list[str] | None = None


@attrs.frozen
class Outer:
    inner: Inner
    scale: float = 1.0


@attrs.frozen
class Nested:
    name: str
    inside: Nested | None = None


class OnlyPython(Protocol):
    def run(self) -> int: ...


@dataclasses.dataclass
class Foreign:
    """As ``peft.LoraConfig``: a dataclass that checks itself."""

    r: int = 8
    target: list[str] | str | None = None

    def __post_init__(self) -> None:
        if self.r < 0:
            raise ValueError("r must not be negative")


Reward = Callable[..., Any] | str | list[str] | Mapping[str, float]


def structured(value: Any, annotation: Any) -> tuple[Any, list[tuple[tuple[str | int, ...], str]]]:
    """Structure one setting ``it``; paths and messages are those inside it."""
    target = attrs.make_class("Target", {"it": attrs.field(type=annotation)})
    found, problems = structure({"it": value}, target, owner="target", how="with --set")
    return found.get("it"), [(path[1:], text) for path, text in problems]


FITS = [
    (Inner(2), Inner, Inner(2)),
    ([Foreign(1), {"r": 2}], list[Foreign], [Foreign(1), Foreign(2)]),
    (3, int, 3),
    (3, float, 3.0),
    (True, bool, True),
    ("x", str, "x"),
    (None, Optional[int], None),  # noqa: UP045 - the old spelling
    (3, int | float, 3),
    (3.5, int | float, 3.5),
    ("a/b", Path, Path("a/b")),
    ("a", str | Path, "a"),
    (["a"], list[str], ["a"]),
    (["a"], Sequence[str], ["a"]),
    ("ab", list[str], ["ab"]),  # a single text is a list of one
    ("m:x", tuple[str, ...], ("m:x",)),
    ("m:x", Sequence[Any], ["m:x"]),
    (["m:x", len], Sequence[Any], ["m:x", len]),
    ("ab", Sequence[str] | None, ["ab"]),
    (None, Sequence[str] | None, None),
    ("ab", Sequence[str] | str | None, "ab"),
    ({"a": {"r": 1}}, dict[str, Inner], {"a": Inner(1)}),
    ([1, 2], tuple[int, ...], (1, 2)),
    ([1, 2], tuple[int, int], (1, 2)),
    ({"a": 1}, dict[str, float], {"a": 1.0}),
    ({"a": 1}, dict, {"a": 1}),
    ([1, "a"], list, [1, "a"]),
    (5, Any, 5),
    ({"a": [1]}, object, {"a": [1]}),
    ("cosine", Literal["cosine", "linear"], "cosine"),
    ("constant", Reward, "constant"),
    (["a", "b"], Reward, ["a", "b"]),
    ({"a": 1}, Reward, {"a": 1.0}),
    ("of Python", OnlyPython | None, "of Python"),  # the constructor checks it
    ({"r": 4}, Inner, Inner(4)),
    ({"inner": {"r": 4, "names": ["q"]}}, Outer, Outer(Inner(4, ["q"]))),
    ({"target": "all"}, Foreign | None, Foreign(target="all")),
    ({"r": 4, "target": ["q"]}, Foreign | None, Foreign(4, ["q"])),
]

REFUSED = [
    ("3", int, (), "it: expected a valid integer, got '3' (str)"),
    (3.0, int, (), "expected a valid integer, got 3.0 (float)"),
    (True, int, (), "expected a valid integer, got True (bool)"),
    (1, bool, (), "expected a valid boolean, got 1 (int)"),
    (1, str, (), "expected a valid string, got 1 (int)"),
    (None, int, (), "expected a valid integer, got null"),
    ("3", float, (), "expected a valid number, got '3' (str)"),
    ("x", int | None, (), "expected a valid integer"),
    (3, Path, (), "path"),
    ("ab", list[int], (), "expected a valid list, got 'ab'"),
    ("ab", tuple[float, ...], (), "expected a valid tuple"),
    (["a", 1], list[str], (1,), "it[1]: expected a valid string, got 1"),
    ({"a": {"b": "x"}}, dict[str, dict[str, int]], ("a", "b"), "it.a.b: expected a valid integer"),
    (["a"], dict[str, int], (), "expected a valid mapping of keys to values"),
    ("sine", Literal["cosine", "linear"], (), "expected 'cosine' or 'linear'"),
    ({"a": "much"}, Reward, ("a",), "expected a valid number"),
    (3, Reward, (), "expected callable or a valid string or a valid list or a valid mapping"),
    ({"r": "4"}, Inner, ("r",), "expected a valid integer"),
    ({}, Inner, ("r",), "it needs r: set it with --set it.r=…"),
    ({"r": 1, "R": 4}, Inner, ("R",), "it has no setting 'R'. Did you mean 'r'?"),
    ({"inner": {"r": 4, "name": 1}}, Outer, ("inner", "name"), "Did you mean 'names'?"),
    ({"inner": {"r": 1, "names": ["a", 2]}}, Outer, ("inner", "names", 1), "a valid string"),
    ({"r": 1, 1: 4}, Inner, (1,), "it: the key 1 must be a string; put it in quotes"),
    ({1: 4.0}, dict[str, float], (1,), "it: the key 1 must be a string; put it in quotes"),
    (7, Inner, (), "expected a valid mapping of keys to values"),
    ({"r": -1}, Foreign | None, (), "Foreign refuses this: r must not be negative"),
    (3, Callable[..., Any], (), "expected callable"),
]


@pytest.mark.parametrize(("value", "annotation", "expected"), FITS)
def test_fits(value: Any, annotation: Any, expected: Any) -> None:
    found, problems = structured(value, annotation)
    assert not problems
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(("value", "annotation", "path", "message"), REFUSED)
def test_refuses_and_says_where(
    value: Any, annotation: Any, path: tuple[str | int, ...], message: str
) -> None:
    [(found, text)] = structured(value, annotation)[1]
    assert found == path
    assert message in text


def test_a_function_is_kept() -> None:
    assert structured(len, Reward)[0] is len


def test_a_class_inside_itself() -> None:
    found = structured({"name": "a", "inside": {"name": "b"}}, Nested)
    assert found == (Nested("a", Nested("b")), [])
    assert "additionalProperties" in json_schema(Nested)
    keys = [key for key, _ in with_inner(settings_of(Nested))]
    assert keys[:4] == ["name", "inside", "inside.name", "inside.inside"]


def test_a_real_lora_config() -> None:
    from peft import LoraConfig

    given = {"r": 4, "lora_alpha": 8, "target_modules": ["q_proj"], "lora_dropout": 0.1}
    made, _ = structured(given, LoraConfig | None)
    assert isinstance(made, LoraConfig)
    assert (made.r, set(made.target_modules or ())) == (4, {"q_proj"})
    [(path, text)] = structured({"lora_alfa": 8}, LoraConfig | None)[1]
    assert path == ("lora_alfa",)
    assert "Did you mean 'lora_alpha'" in text


def test_long_values_are_cut_in_messages() -> None:
    [(_, text)] = structured("x" * 10_000, int)[1]
    assert len(text) < 100
