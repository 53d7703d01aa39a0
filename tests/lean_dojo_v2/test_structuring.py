from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Optional

import attrs
import pytest

from lean_dojo_v2.structuring import WrongValue, structure, suggestion


@attrs.frozen
class Inner:
    r: int
    names: list[str] | None = None


@attrs.frozen
class Outer:
    inner: Inner
    scale: float = 1.0


@dataclasses.dataclass
class Foreign:
    """As ``peft.LoraConfig``: a dataclass that checks itself."""

    r: int = 8
    target: str | list[str] | None = None

    def __post_init__(self) -> None:
        if self.r < 0:
            raise ValueError("r must not be negative")


Reward = Callable[..., Any] | str | list[str] | Mapping[str, float]

FITS = [
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
    ({"r": 4}, Inner, Inner(4)),
    ({"inner": {"r": 4, "names": ["q"]}}, Outer, Outer(Inner(4, ["q"]))),
    ({"r": 4, "target": ["q"]}, Foreign | None, Foreign(4, ["q"])),
    (Inner(3), Inner, Inner(3)),
]

REFUSED = [
    ("3", int, (), "expected int, got '3' (str)"),
    (3.0, int, (), "expected int, got 3.0 (float)"),
    (True, int, (), "expected int, got True (bool)"),
    (1, bool, (), "expected bool, got 1 (int)"),
    (1, str, (), "expected str, got 1 (int)"),
    (None, int, (), "expected int, got nothing (null)"),
    ("3", float, (), "expected float, got '3' (str)"),
    ("x", int | None, (), "expected int | None"),
    (3, Path, (), "expected a path"),
    ("", Path, (), "expected a path"),
    ("ab", list[int], (), "expected a list (list[int]), got 'ab'"),
    ("ab", tuple[float, ...], (), "expected a list"),
    (["a", 1], list[str], (1,), "expected str, got 1"),
    ({"a": {"b": "x"}}, dict[str, dict[str, int]], ("a", "b"), "expected int"),
    (["a"], dict[str, int], (), "expected a mapping"),
    ("sine", Literal["cosine", "linear"], (), "expected 'cosine' | 'linear'"),
    ({"a": "much"}, Reward, ("a",), "expected float"),
    (3, Reward, (), "expected Callable | str"),
    ({"r": "4"}, Inner, ("r",), "expected int"),
    ({}, Inner, (), "Inner needs r"),
    ({"R": 4}, Inner, ("R",), "Did you mean 'r'?"),
    ({"inner": {"r": 4, "name": 1}}, Outer, ("inner", "name"), "Did you mean 'names'?"),
    ({"inner": {"r": 1, "names": ["a", 2]}}, Outer, ("inner", "names"), "list[str] | None"),
    (7, Inner, (), "expected a mapping with the keys of Inner"),
    ({"r": -1}, Foreign | None, (), "Foreign refuses this: r must not be negative"),
    (3, Callable[..., Any], (), "which can only be given in Python"),
    (3, Exception, (), "cannot be written in a file"),
]


@pytest.mark.parametrize(("value", "annotation", "expected"), FITS)
def test_fits(value: Any, annotation: Any, expected: Any) -> None:
    found = structure(value, annotation)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(("value", "annotation", "path", "message"), REFUSED)
def test_refuses_and_says_where(
    value: Any, annotation: Any, path: tuple[str | int, ...], message: str
) -> None:
    with pytest.raises(WrongValue) as caught:
        structure(value, annotation)
    assert caught.value.path == path
    assert message in str(caught.value)


def test_a_function_is_kept() -> None:
    assert structure(len, Reward) is len


def test_a_real_lora_config() -> None:
    from peft import LoraConfig

    made = structure(
        {"r": 4, "lora_alpha": 8, "target_modules": ["q_proj"], "lora_dropout": 0.1},
        LoraConfig | None,
    )
    assert isinstance(made, LoraConfig)
    assert (made.r, set(made.target_modules)) == (4, {"q_proj"})
    with pytest.raises(WrongValue, match="Did you mean 'lora_alpha'"):
        structure({"lora_alfa": 8}, LoraConfig | None)


def test_long_values_are_cut_in_messages() -> None:
    with pytest.raises(WrongValue) as caught:
        structure("x" * 10_000, int)
    assert len(str(caught.value)) < 100


def test_suggestion_without_anything_near_lists_what_there_is() -> None:
    assert suggestion("zzz", ["lr", "seed"]) == " It has: lr, seed."
    assert suggestion("zzz", []) == " It has: none."
