"""Callbacks in settings: transformers' ``TrainerCallback``, Lightning's for retrieval."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

import attrs

from lean_dojo_core.discovery import import_target
from lean_dojo_core.errors import ConfigError, LeanDojoError, UnknownNameError
from lean_dojo_v2.kinds import callbacks as registered
from lean_dojo_v2.settings import about

if TYPE_CHECKING:
    from transformers import TrainerCallback

Callbacks: TypeAlias = Sequence[Any]
"""Callbacks, their factories, or their names: a plugin's, or ``module:attribute``."""

CallbackT = TypeVar("CallbackT")


def callbacks_setting(library: str = "transformers.TrainerCallback") -> Any:
    """Make the field ``callbacks`` of a trainer, to be given by name."""
    return attrs.field(
        factory=tuple,
        kw_only=True,
        converter=announced,
        metadata=about(
            f"{library} objects, classes or functions that make one, or their names: a plugin's, "
            "or module:attribute.",
            shapes_result=False,
        ),
    )


def announced(value: Any) -> tuple[Any, ...]:
    """Normalise one callback or several to a tuple."""
    if isinstance(value, Mapping):
        raise ConfigError("callbacks is a list of names, not a mapping")
    several = isinstance(value, Sequence) and not isinstance(value, str)
    return tuple(value) if several else (value,)


@overload
def resolve_callbacks(given: Callbacks) -> list[TrainerCallback]: ...
@overload
def resolve_callbacks(given: Callbacks, kind: type[CallbackT]) -> list[CallbackT]: ...
def resolve_callbacks(given: Callbacks, kind: type[Any] | None = None) -> list[Any]:
    """Make callbacks of a kind, transformers' by default, from a trainer's setting ``callbacks``.

    The module of ``module:attribute`` may be a file in the current folder. An object need only have
    some of the methods of ``kind``.

    Raises:
        UnknownNameError: For a name that no plugin offers; suggests similar ones.
        ConfigError: For one that cannot be imported, or is not a callback of that kind.
        PluginLoadError: For a plugin's that cannot be loaded or made.
    """
    if kind is None:
        from transformers import TrainerCallback

        kind = TrainerCallback
    return [_resolved(one, kind) for one in given]


def _resolved(given: Any, kind: type[CallbackT]) -> CallbackT:
    found = _named(given) if isinstance(given, str) else given
    if not isinstance(found, kind) and callable(found):
        try:
            found = found()
        except LeanDojoError:
            raise
        except Exception as error:  # a user's code: anything may come out of it
            raise ConfigError(
                f"callbacks: {given!r} cannot be made: {type(error).__name__}: {error}"
            ) from error
    return found if isinstance(found, kind) else _adopted(given, found, kind)


def _adopted(given: Any, found: object, kind: type[CallbackT]) -> CallbackT:
    """Make a callback of an object that has some of the methods, but not the base class."""
    # Some of Lightning's are not called on_…: `setup`, `teardown`, `state_dict`.
    shared = {name for name in dir(kind) if not name.startswith("_")}
    words = [name for name in dir(found) if name.startswith("on_") or name in shared]
    methods = [name for name in words if callable(getattr(found, name))]
    if kind.__name__ == "TrainerCallback":
        shared.add("on_rewards_scored")  # grpo calls it besides transformers' own
    unknown = [name for name in methods if name not in shared]
    if unknown or not any(name.startswith("on_") for name in methods):
        what = f"has {', '.join(unknown)}" if unknown else "has no method on_…"
        raise ConfigError(
            f"callbacks: {given!r} is a {type(found).__name__}, which {what}; give a "
            f"{kind.__module__}.{kind.__qualname__}, an object with some of its methods, its "
            "class, or a function that makes one"
        )
    # A new class each time, since the libraries warn about two callbacks of one class.
    adopted: CallbackT = type(type(found).__name__, (kind,), {})()
    for name in methods:
        setattr(adopted, name, getattr(found, name))
    return adopted


def _named(name: str) -> Any:
    """Return a plugin's callback class, or the object of ``module:attribute``."""
    try:
        entry = registered.named(name)
    except UnknownNameError as error:
        hint = "" if ":" in name else " A class without a plugin is named package.module:attribute."
        raise UnknownNameError(f"callbacks: {error}{hint}") from error
    if entry is not None:
        return entry.create
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)  # last: a file here hides no installed module
    try:
        return import_target(name)
    except Exception as error:  # a user's code: anything may come out of it
        raise ConfigError(
            f"callbacks: {name!r} cannot be imported: {type(error).__name__}: {error}"
        ) from error
