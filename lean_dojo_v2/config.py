"""Settings out of YAML files and ``--set key=value``: read, place by place, and turned into types.

A value keeps the place it was written at, so that an error can say ``sft.yaml, line 3``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import yaml

from lean_dojo_core.errors import ConfigError, LeanDojoError
from lean_dojo_core.settings import Setting, settings_of
from lean_dojo_v2.structuring import WrongValue, structure, suggestion

KeyPath: TypeAlias = tuple[str | int, ...]


@attrs.define
class Settings:
    """Values by key, and where each was written.

    Attributes:
        values: Nested mappings and lists, as YAML gives them.
        places: Place of each key path, for example ``"sft.yaml, line 3"``.
    """

    values: dict[str, Any] = attrs.Factory(dict)
    places: dict[KeyPath, str] = attrs.Factory(dict)

    def place(self, path: KeyPath) -> str:
        """Say where a key path, or the nearest key above it, was written."""
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path, "")

    def update(self, other: Settings) -> None:
        """Let another's values win, key by key; mappings are merged, lists replaced."""
        _merge(self.values, other.values)
        self.places.update(other.places)

    def take(self, key: str) -> Settings:
        """Remove a top-level key and give its mapping as settings of its own.

        Raises:
            ConfigError: If its value is not a mapping.
        """
        values = self.values.pop(key, None) or {}
        places = {path[1:]: place for path, place in self.places.items() if path[:1] == (key,)}
        if not isinstance(values, dict):
            raise ConfigError(f"{self.place((key,))}: {key} should be a mapping of keys to values")
        return Settings(values, places)


def read_settings(path: Path) -> Settings:
    """Read a YAML (or JSON) file.

    Numbers and booleans are read as YAML 1.2 has them: ``2e-5`` is a number, ``no`` is a word.

    Raises:
        ConfigError: If the file cannot be read, is not YAML, has a key twice, or is not a mapping.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(f"{path}: cannot be read: {reason}") from error
    return _parse(text, str(path))


def parse_assignment(text: str) -> Settings:
    """Read one ``key=value`` or ``key.inner=value``; the value is YAML.

    >>> parse_assignment("lora_config.r=16").values
    {'lora_config': {'r': 16}}

    Raises:
        ConfigError: If there is no ``=`` or no key, or the value is not YAML.
    """
    key, equals, value = text.partition("=")
    path = tuple(key.strip().split("."))
    if not equals or not all(path):
        raise ConfigError(f"--set {text}: write it as key=value, for example --set lr=1e-5")
    place = f"--set {key.strip()}"
    loader = _Loader(value)
    try:
        parsed = loader.get_single_data()
    except yaml.YAMLError as error:
        raise ConfigError(f"{place}: {value!r} is not a YAML value; quote it") from error
    finally:
        loader.dispose()
    for part in reversed(path):
        parsed = {part: parsed}
    return Settings(parsed, {path[:depth]: place for depth in range(1, len(path) + 1)})


def resolve(settings: Settings, known: Sequence[Setting], *, owner: str) -> dict[str, Any]:
    """Turn values into the types of an object's settings.

    Args:
        settings: What the user wrote.
        known: The object's settings.
        owner: What they belong to, for messages: ``"trainer 'sft'"``.

    Returns:
        Constructor arguments; settings that the user did not write are left to their defaults.

    Raises:
        ConfigError: Naming every unknown, missing and ill-typed key with its place.
    """
    by_name = {setting.name: setting for setting in known}
    problems: list[str] = []
    found: dict[str, Any] = {}
    for name, value in settings.values.items():
        if name not in by_name:
            hint = suggestion(str(name), by_name)
            problems.append(_at(settings, (name,), f"{owner} has no setting {name!r}.{hint}"))
            continue
        try:
            found[name] = structure(value, by_name[name].annotation)
        except WrongValue as error:
            path = (name, *error.path)
            problems.append(_at(settings, path, f"{dotted(path)}: {error}"))
    missing = [
        name for name, part in by_name.items() if part.required and name not in settings.values
    ]
    if missing:
        problems.append(
            f"{owner} needs {', '.join(missing)}: set it in the file or with --set {missing[0]}=…"
        )
    if problems:
        raise ConfigError("\n".join(problems))
    return found


def construct(target: Any, settings: Settings, *, owner: str) -> Any:
    """Make an instance of a class from settings.

    Raises:
        ConfigError: For settings that do not fit, or values that the constructor refuses.
    """
    arguments = resolve(settings, settings_of(target), owner=owner)
    try:
        return target(**arguments)
    except LeanDojoError:
        raise
    except (TypeError, ValueError) as error:
        places = sorted({settings.place((name,)) for name in arguments} - {""})
        where = f" (from {'; '.join(places)})" if places else ""
        raise ConfigError(f"{owner} refuses its settings: {error}{where}") from error


def dotted(path: KeyPath) -> str:
    """Write a key path as ``a.b[0]``.

    >>> dotted(("run", "repositories", 0))
    'run.repositories[0]'
    """
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


def _at(settings: Settings, path: KeyPath, message: str) -> str:
    place = settings.place(path)
    return f"{place}: {message}" if place else message


def _merge(into: dict[str, Any], other: Mapping[str, Any]) -> None:
    for key, value in other.items():
        mine = into.get(key)
        if isinstance(mine, dict) and isinstance(value, dict):
            _merge(mine, value)
        else:
            into[key] = value


class _Loader(yaml.SafeLoader):
    """YAML 1.2's scalars: PyYAML's own read ``no`` as false and ``2e-5`` as text."""


_Loader.yaml_implicit_resolvers = {
    letter: [
        (tag, pattern)
        for tag, pattern in resolvers
        if tag not in {"tag:yaml.org,2002:bool", "tag:yaml.org,2002:float", "tag:yaml.org,2002:int"}
    ]
    for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_FLOAT = (
    r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?[0-9]+[eE][-+]?[0-9]+|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
for _tag, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?(?:0|[1-9][0-9_]*)|0x[0-9a-fA-F]+", "-+0123456789"),
    ("float", _FLOAT, "-+0123456789."),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(rf"(?:{_pattern})\Z"), list(_first)
    )


def _parse(text: str, source: str) -> Settings:
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return Settings()
        if not isinstance(node, yaml.MappingNode):
            raise ConfigError(
                f"{source}: should be a mapping of keys to values, such as 'lr: 1e-5'"
            )
        places: dict[KeyPath, str] = {}
        _collect_places(node, (), source, places)
        values = loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise ConfigError(f"{source}{where}: not valid YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{source}: not valid YAML: {error}") from error
    finally:
        loader.dispose()
    return Settings(values, places)


def _collect_places(
    node: yaml.Node, path: KeyPath, source: str, places: dict[KeyPath, str]
) -> None:
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            places[*path, index] = f"{source}, line {item.start_mark.line + 1}"
            _collect_places(item, (*path, index), source, places)
    elif isinstance(node, yaml.MappingNode):
        seen: dict[str, int] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if seen.setdefault(key.value, line) != line:
                raise ConfigError(
                    f"{source}, line {line}: key {key.value!r} is already set on line "
                    f"{seen[key.value]}"
                )
            places[*path, key.value] = f"{source}, line {line}"
            _collect_places(value, (*path, key.value), source, places)
