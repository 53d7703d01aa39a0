from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Optional, Union

import attrs
import pytest

from lean_dojo_core.settings import settings_of, type_text

if TYPE_CHECKING:
    from nowhere import Mystery


@attrs.define
class Base:
    """Base.

    Attributes:
        size: From the docstring, over
            two lines.
        rate: Not this one.
    """

    size: int
    rate: float = attrs.field(default=0.5, metadata={"help": "From the metadata."})
    _hidden: str = "h"
    made: list[int] = attrs.Factory(list)
    computed: int = attrs.field(init=False, default=3)


@attrs.define
class Derived(Base):
    path: Path | None = attrs.field(default=None, kw_only=True)


class Plain:
    """Plain.

    Args:
        first (int): The first.
        second: The second.
    """

    def __init__(self, first: int, second: str | None = None, *rest: int, **more: Any) -> None:
        self.first, self.second = first, second


@dataclasses.dataclass
class Data:
    r: int = 8
    names: list[str] = dataclasses.field(default_factory=list)


class Loose:
    def __init__(self, a, b: Mystery = 1) -> None: ...


def test_fields_of_an_attrs_class_in_constructor_order() -> None:
    found = settings_of(Derived)
    assert [s.name for s in found] == ["size", "rate", "hidden", "made", "path"]
    assert [s.required for s in found] == [True, False, False, False, False]
    assert found[0].help == "From the docstring, over two lines."
    assert found[1].help == "From the metadata."
    assert found[3].default == []
    assert found[4].annotation == Path | None
    assert found[4].type_text == "Path | None"


def test_parameters_of_a_plain_class() -> None:
    first, second = settings_of(Plain)
    assert (first.name, first.annotation, first.required) == ("first", int, True)
    assert (second.type_text, second.default) == ("str | None", None)
    assert (first.help, second.help) == ("The first.", "The second.")


def test_a_dataclass() -> None:
    assert [(s.name, s.type_text, s.required) for s in settings_of(Data)] == [
        ("r", "int", False),
        ("names", "list[str]", False),
    ]


def test_an_unresolvable_annotation_becomes_any() -> None:
    missing, mystery = settings_of(Loose)
    assert (missing.annotation, missing.type_text, missing.resolved) == (Any, "any", False)
    assert (mystery.annotation, mystery.type_text, mystery.resolved) == (Any, "Mystery", False)


def test_functions_and_instances_have_no_settings() -> None:
    assert settings_of(len) == ()
    assert settings_of(Plain(1)) == ()


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        (int, "int"),
        (None, "None"),
        (Any, "Any"),
        (Optional[int], "Optional[int]"),  # noqa: UP045 - the old spelling
        (Union[int, str, None], "Union[int, str, NoneType]"),  # noqa: UP007
        (dict[str, list[int]], "dict[str, list[int]]"),
        (tuple[int, ...], "tuple[int, ...]"),
        (Literal["a", 1], "Literal['a', 1]"),
        (Callable[..., float], "Callable[..., float]"),
        ("Unresolved[x]", "Unresolved[x]"),
    ],
)
def test_types_as_text(annotation: Any, text: str) -> None:
    assert type_text(annotation) == text
