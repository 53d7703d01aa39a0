"""Fields of settings: each with its help text, checked when the object is made."""

import os
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeAlias

import attrs

from lean_dojo_core.errors import ConfigError

Validator: TypeAlias = Callable[[Any, "attrs.Attribute[Any]", Any], None]


def about(
    text: str, *, shapes_result: bool = True, types: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return a field's metadata: one line of help, and whether it makes another run.

    A run resumes even if settings that do not shape its result have changed. ``types`` says where
    a type of the annotation is that is imported under ``TYPE_CHECKING`` only, as
    ``{"LoraConfig": "peft:LoraConfig"}``; it is imported when a value is given.
    """
    return {"help": text, "shapes_result": shapes_result, "types": types or {}}


def setting(
    default: Any,
    text: str,
    validator: Validator | None = None,
    *,
    shapes_result: bool = True,
    **options: Any,
) -> Any:
    """Make a field of a default, its help text and its validator; other options are those of attrs.

    One whose default is true or false, or a text, takes no value of another type.

    Type checkers take its place among the arguments, and whether it is one by name only, from the
    class; a field with a converter is better made by ``attrs.field``, whose type they follow.
    """
    if validator is None and isinstance(default, (bool, str)):
        validator = true_or_false if isinstance(default, bool) else a_text
    metadata = about(text, shapes_result=shapes_result)
    return attrs.field(default=default, validator=validator, metadata=metadata, **options)


def must_be(what: str, fits: Callable[[Any], bool]) -> Validator:
    """Make a validator, which raises a ``ConfigError`` with the expected value."""

    def check(_owner: Any, field: "attrs.Attribute[Any]", value: Any) -> None:
        if not fits(value):
            raise ConfigError(f"{field.name} must be {what}, not {value!r}")

    return check


def is_int(value: Any) -> bool:
    """Whether a value is an integer; booleans are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether a value is a number; booleans are not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def whole(minimum: int, *, unless: int | None = None) -> Validator:
    """Make a validator of whole numbers: of at least ``minimum``, or ``unless``."""
    other = "" if unless is None else f" (or {unless})"
    return must_be(
        f"a whole number of at least {minimum}{other}",
        lambda v: is_int(v) and (v >= minimum or v == unless),
    )


def one_of(*choices: str) -> Validator:
    """Make a validator of texts."""
    return must_be(f"one of {', '.join(choices)}", choices.__contains__)


optional = attrs.validators.optional
true_or_false = must_be("true or false", lambda v: isinstance(v, bool))
a_text = must_be("a text", lambda v: isinstance(v, str))
positive_int = whole(1)
not_negative_int = whole(0)
positive_int_or_none = optional(positive_int)
positive = must_be("a number above 0", lambda v: is_number(v) and v > 0)
not_negative = must_be("a number of at least 0", lambda v: is_number(v) and v >= 0)
share = must_be("a number from 0 to 1", lambda v: is_number(v) and 0 <= v <= 1)
non_empty_text = must_be("a name or path", lambda v: isinstance(v, str) and bool(v.strip()))


def text_of_path(value: str | os.PathLike[str]) -> str:
    """Return a path as text; anything else unchanged, for the validator."""
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def folders(value: Mapping[str, str | Path]) -> dict[str, Path]:
    """Convert folders of repositories, by address."""
    return {url: Path(path) for url, path in value.items()}
