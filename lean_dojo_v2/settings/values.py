"""Settings from YAML files and ``--set key=value``, read with their places and converted to types.

A value keeps its place, so that an error can say ``sft.yaml, line 3``. Texts are parsed within
limits, since with aliases a hundred bytes can mean a billion values, or refer to themselves.
"""

import io
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path, PurePath
from typing import Any

import attrs
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from lean_dojo_core.errors import ConfigError, LeanDojoError, PluginLoadError, UsageError
from lean_dojo_v2.settings.structuring import KeyPath, structure

MAX_YAML = 1_000_000
"""Maximum length of a YAML text, in characters."""
MAX_NODES = 100_000
"""Maximum number of values in a YAML document, counting aliases each time."""
_KEY = r"""(?:"[^"]+"|'[^']+'|[^.="']+)"""
_EXAMPLES = {"--set": "lr=1e-5", "--prover-set": "max_length=512"}
_ASSIGNMENT = re.compile(rf"\s*(?P<path>{_KEY}(?:\.{_KEY})*)\s*=(?P<value>.*)", re.DOTALL)


@attrs.define
class Settings:
    """Values by key, with their places.

    Attributes:
        values: Nested mappings and lists, as YAML gives them.
        places: Place of each key path, for example ``"sft.yaml, line 3"``.
    """

    values: dict[str, Any] = attrs.Factory(dict)
    places: dict[KeyPath, str] = attrs.Factory(dict)

    def place(self, path: KeyPath) -> str:
        """Return the place of a key path, or of the nearest key above it."""
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path, "")

    def placed(self, path: KeyPath, message: str) -> str:
        """Return a message with the place of a key path, if it is known, before it."""
        place = self.place(path)
        return f"{place}: {message}" if place else message

    def put(self, key: str, value: Any, place: str) -> None:
        """Set a top-level key, for example by an option."""
        self.update(Settings({key: value}, {(key,): place}))

    def update(self, other: "Settings") -> None:
        """Override values by another's, key by key; mappings are merged, lists replaced."""
        _merge(self.values, other.values)
        self.places.update(other.places)

    def take(self, key: str) -> "Settings":
        """Remove a top-level key, whose value must be a mapping, and return it as settings."""
        values = self.values.pop(key, None) or {}
        places = {path[1:]: place for path, place in self.places.items() if path[:1] == (key,)}
        if not isinstance(values, dict):
            raise ConfigError(self.placed((key,), f"{key} should be a mapping of keys to values"))
        return Settings(values, places)


def read_settings(path: Path) -> Settings:
    """Read a YAML (or JSON) file, which must be a mapping without a key that occurs twice.

    Numbers and booleans are those of YAML 1.2: ``2e-5`` is a number, ``no`` is a string. Any other
    file is a ``ConfigError``.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(f"{path}: cannot be read: {reason}") from error
    try:
        values, lines = parse_yaml(text)
    except YamlTextError as error:
        where = f", {error.place}" if error.place else ""
        raise ConfigError(f"{path}{where}: not valid YAML: {error}") from error
    if not isinstance(values, dict | None):
        raise ConfigError(f"{path}: should be a mapping of keys to values, such as 'lr: 1e-5'")
    found = Settings(values or {}, {key: f"{path}, line {line}" for key, line in lines.items()})
    for key in found.values:
        if not isinstance(key, str):
            place = found.place((str(key),)) or path
            raise ConfigError(f"{place}: {key!r:.80} is not the name of a setting")
    return found


def parse_assignment(text: str, option: str = "--set") -> Settings:
    """Read one ``key=value`` or ``key.inner=value``; the value is YAML.

    A key that contains dots must be quoted. Messages name ``option``.

    >>> parse_assignment("lora_config.r=16").values
    {'lora_config': {'r': 16}}
    >>> parse_assignment("projects.'example.org/a'=here").values
    {'projects': {'example.org/a': 'here'}}

    Raises:
        ConfigError: If there is no ``=`` or no key, or the value is not YAML.
    """
    match = _ASSIGNMENT.fullmatch(text)
    path = [part.strip(" \t\"'") for part in re.findall(_KEY, match["path"])] if match else []
    if match is None or not all(path):
        raise ConfigError(
            f"{option} {text}: write it as key=value, for example {option} {_EXAMPLES[option]}; "
            "quote a key that holds dots"
        )
    try:
        parsed = parse_yaml(match["value"])[0]
    except YamlTextError as error:
        raise ConfigError(f"{option} {text:.200}: quote the value ({error})") from error
    for part in reversed(path):
        parsed = {part: parsed}
    return Settings(parsed, {tuple(path[:depth]): option for depth in range(1, len(path) + 1)})


class YamlTextError(ValueError):
    """A text is not valid or too large YAML; its place, such as ``"line 2"``, may be empty."""

    def __init__(self, message: object, place: str = "") -> None:
        super().__init__(" ".join(str(message).split()))
        self.place = place


def parse_yaml(text: str) -> tuple[Any, dict[KeyPath, int]]:
    """Return the value of a YAML 1.2 text, ``None`` if empty, and the line of each key path.

    A ``YamlTextError`` if it is not YAML, has a key twice, asks for Python objects, refers to
    itself, or is too large or too deep.
    """
    if len(text) > MAX_YAML:
        raise YamlTextError(f"it has {len(text):,} characters; at most {MAX_YAML:,} are read")
    yaml = YAML(typ="safe", pure=True)
    try:
        node = yaml.compose(text)
        if node is None:
            return None, {}
        lines = _measured(node)
        return yaml.constructor.construct_document(node), lines
    except YamlTextError:
        raise
    except RecursionError:
        message = "it is nested too deeply, or an alias refers to what it is part of"
        raise YamlTextError(message) from None
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise YamlTextError(error.problem, place) from error
    except (YAMLError, ValueError, TypeError, AttributeError, OverflowError) as error:
        raise YamlTextError(error) from error  # such as a wrong date


def _measured(document: Node) -> dict[KeyPath, int]:
    """Return the line of each key path, unless the document is too large."""
    lines = list(islice(_lines(document, ()), MAX_NODES + 1))
    if len(lines) > MAX_NODES:
        message = f"with its aliases it has more than {MAX_NODES:,} values"
        raise YamlTextError(message, f"line {lines[-1][1]}")
    return dict(lines)


def _lines(node: Node, path: KeyPath) -> Iterator[tuple[KeyPath, int]]:
    """Yield the key path and line of every value, following aliases."""
    parts: list[tuple[Any, Node, Node]] = []
    if isinstance(node, SequenceNode):
        parts = [(index, item, item) for index, item in enumerate(node.value)]
    if isinstance(node, MappingNode):
        parts = [(key.value, key, value) for key, value in node.value]
    for name, begin, value in parts:
        line = begin.start_mark.line + 1
        if isinstance(node, MappingNode) and not isinstance(begin, ScalarNode):
            raise YamlTextError("a list or mapping is not the name of a setting", f"line {line}")
        yield (*path, name), line
        yield from _lines(value, (*path, name))


def write_yaml(values: Mapping[str, Any]) -> str:
    """Return values as YAML, in their order, with paths as texts; others are a ``YAMLError``."""
    stream = io.StringIO()
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment] # None in its class
    yaml.representer.add_multi_representer(PurePath, lambda to, path: to.represent_str(str(path)))
    yaml.dump(dict(values), stream)
    return stream.getvalue()


def resolve(
    settings: Settings, target: Any, *, owner: str, how: str = "in the file or with --set"
) -> dict[str, Any]:
    """Return the constructor's arguments that values give, in the types of a class's settings.

    A ``ConfigError`` names every unknown, missing and ill-typed key with its place, and the
    ``owner``, as ``"trainer 'sft'"``; it says ``how`` a missing setting is given.
    """
    found, problems = structure(settings.values, target, owner=owner, how=how)
    if problems:
        raise ConfigError("\n".join(settings.placed(path, text) for path, text in problems))
    return found


def construct(target: Any, settings: Settings, *, owner: str) -> Any:
    """Make an instance of a class from settings.

    Raises:
        ConfigError: For settings that do not fit, or values that the constructor refuses.
        PluginLoadError: If the constructor raises anything else.
    """
    arguments = resolve(settings, target, owner=owner)
    try:
        return target(**arguments)
    except LeanDojoError as error:
        raise _with_place(error, settings) from error
    except (TypeError, ValueError) as error:
        places = sorted({settings.place((name,)) for name in arguments} - {""})
        where = f" (from {'; '.join(places)})" if places else ""
        said = error.args[0] if error.args else error  # attrs' validators add the field, and more
        raise ConfigError(f"{owner} refuses its settings: {said}{where}") from error
    except (Exception, SystemExit) as error:  # plugin code: anything may come out of it
        raise PluginLoadError(
            f"{owner} cannot be made: it raised {type(error).__name__}: {error}"
        ) from error


def _with_place(error: LeanDojoError, settings: Settings) -> LeanDojoError:
    """Add the place of the key with which a constructor's message begins."""
    text = str(error)
    key = re.match(r"\w+(\.\w+)*", text)
    path = tuple(key[0].split(".")) if key else ()
    if type(error) not in {ConfigError, UsageError} or path not in settings.places:
        return error
    return type(error)(settings.placed(path, text))


def _merge(into: dict[str, Any], other: Mapping[str, Any]) -> None:
    for key, value in other.items():
        mine = into.get(key)
        if isinstance(mine, dict) and isinstance(value, dict):
            _merge(mine, value)
        else:
            into[key] = value
