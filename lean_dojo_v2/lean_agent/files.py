"""Configurations as YAML and JSON files, read strictly: mistakes are errors that name the key."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, TypeVar

import attrs
import cattrs
import orjson
import yaml
from cattrs.gen import make_dict_structure_fn
from cattrs.v import format_exception, transform_error

from lean_dojo_core.errors import ConfigError
from lean_dojo_v2.atomic import atomic_write_bytes, atomic_write_text

ConfigT = TypeVar("ConfigT")

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def _strict(kind: type[Any]) -> Any:
    def check(value: Any, _: Any) -> Any:
        if type(value) is kind:
            return value
        raise TypeError(f"{value!r} is of type {type(value).__name__}, wanted {kind.__name__}")

    return check


def _float(value: Any, _: Any) -> float:
    # YAML 1.1 reads `1e-3` (no dot) as text; for a number's field the intent is plain.
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return float(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    raise TypeError(f"{value!r} is of type {type(value).__name__}, wanted float")


def _path(value: Any, _: Any) -> Path:
    if isinstance(value, (str, Path)):
        return Path(value)
    raise TypeError(f"{value!r} is of type {type(value).__name__}, wanted a path")


def strict_converter() -> cattrs.Converter:
    """Build a converter that forbids unknown keys and never turns one type into another."""
    converter = cattrs.Converter(forbid_extra_keys=True)
    for kind in (int, str, bool):
        converter.register_structure_hook(kind, _strict(kind))
    converter.register_structure_hook(float, _float)
    converter.register_structure_hook(Path, _path)
    converter.register_unstructure_hook(Path, str)
    return converter


def structure(kind: type[ConfigT], values: Any, *, where: str = "") -> ConfigT:
    """Build a configuration from plain values.

    Args:
        kind: An attrs class.
        values: A mapping of its fields.
        where: What to name in errors, for example the file.

    Raises:
        ConfigError: For an unknown key, a wrong type or a value out of range; names the key.
    """
    prefix = f"{where}: " if where else ""
    if not isinstance(values, dict):
        raise ConfigError(f"{prefix}wanted a mapping of {kind.__name__}'s fields, got {values!r}")
    converter = strict_converter()
    attrs.resolve_types(kind)  # type: ignore[type-var]
    converter.register_structure_hook(
        kind, make_dict_structure_fn(kind, converter, _cattrs_forbid_extra_keys=True)
    )
    try:
        return converter.structure(values, kind)
    except cattrs.BaseValidationError as error:
        problems = "; ".join(transform_error(error, path=kind.__name__, format_exception=_reason))
        known = ", ".join(field.name for field in attrs.fields(kind))  # type: ignore[arg-type]
        raise ConfigError(f"{prefix}{problems}. Known keys: {known}") from error


def _reason(error: BaseException, kind: type | None) -> str:
    if isinstance(error, (TypeError, ConfigError)):
        return str(error)
    return str(format_exception(error, kind))


def read_config(kind: type[ConfigT], path: Path | str) -> ConfigT:
    """Read a configuration from a ``.json``, ``.yaml`` or ``.yml`` file.

    Raises:
        ConfigError: If the file is missing, is not YAML/JSON or does not fit; names file and key.
    """
    file = Path(path)
    try:
        text = file.read_bytes()
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}") from error
    try:
        values = orjson.loads(text) if file.suffix == ".json" else yaml.safe_load(text)
    except (ValueError, yaml.YAMLError) as error:
        raise ConfigError(f"{file}: {error}") from error
    return structure(kind, {} if values is None else values, where=str(file))


def write_config(config: Any, path: Path | str) -> None:
    """Write a configuration as YAML, or as JSON where the file ends in ``.json``."""
    values = strict_converter().unstructure(config)
    if Path(path).suffix == ".json":
        atomic_write_bytes(path, orjson.dumps(values, option=orjson.OPT_INDENT_2))
    else:
        atomic_write_text(path, yaml.safe_dump(values, sort_keys=False, allow_unicode=True))
