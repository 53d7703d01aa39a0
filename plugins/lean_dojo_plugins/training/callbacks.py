"""Callbacks that a user names: transformers' ``TrainerCallback``, Lightning's for retrieval."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from transformers import TrainerCallback

from lean_dojo_core.discovery import import_target
from lean_dojo_core.errors import ConfigError

Callbacks: TypeAlias = Sequence[Any]
"""Callbacks, what makes them, or their names ``module:attribute``."""

CallbackT = TypeVar("CallbackT")


def announced(value: Any) -> tuple[Any, ...]:
    """Take one callback or several, as a user writes them.

    Raises:
        ConfigError: For a mapping.
    """
    if isinstance(value, Mapping):
        raise ConfigError("callbacks is a list of module:attribute names, not a mapping")
    several = isinstance(value, Sequence) and not isinstance(value, str)
    return tuple(value) if several else (value,)


def resolve_callbacks(
    given: Callbacks,
    kind: type[CallbackT] = TrainerCallback,  # type: ignore[assignment]
) -> list[CallbackT]:
    """Make callbacks from the setting ``callbacks`` of a trainer.

    Args:
        given: See :data:`Callbacks`; a name of the current folder's files is found, too.
        kind: What each must be.

    Raises:
        ConfigError: For one that cannot be imported, or is not a callback of that kind.
    """
    return [_resolved(one, kind) for one in given]


def _resolved(given: Any, kind: type[CallbackT]) -> CallbackT:
    found = _imported(given) if isinstance(given, str) else given
    if not isinstance(found, kind) and callable(found):
        try:
            found = found()
        except Exception as error:  # a user's code: anything may come out of it
            raise ConfigError(
                f"callbacks: {given!r} cannot be made: {type(error).__name__}: {error}"
            ) from error
    if not isinstance(found, kind):
        raise ConfigError(
            f"callbacks: {given!r} is a {type(found).__name__}; give a {kind.__module__}."
            f"{kind.__qualname__}, its class, or a function that makes one"
        )
    return found


def _imported(name: str) -> Any:
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise ConfigError(f"callbacks: {name!r} is not of the form 'package.module:attribute'")
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)  # last: a file here hides no installed module
    try:
        return import_target(name)
    except Exception as error:  # a user's code: anything may come out of it
        raise ConfigError(
            f"callbacks: {name!r} cannot be imported: {type(error).__name__}: {error}"
        ) from error
