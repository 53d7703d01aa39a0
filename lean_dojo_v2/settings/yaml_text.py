"""YAML 1.2 texts of users, parsed within limits, with the line of each value.

With aliases a hundred bytes can mean a billion values, or refer to themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from lean_dojo_v2.settings.structuring import KeyPath

MAX_YAML = 1_000_000
"""Maximum length of a YAML text, in characters."""
MAX_NODES = 100_000
"""Maximum number of values in a YAML document, counting aliases each time."""


class YamlTextError(ValueError):
    """A text is not valid or too large YAML; its place, such as ``"line 2"``, may be empty."""

    def __init__(self, message: object, place: str = "") -> None:
        super().__init__(" ".join(str(message).split()))
        self.place = place


def parse_yaml(text: str) -> tuple[Any, dict[KeyPath, int]]:
    """Parse the one document of a YAML 1.2 text.

    Returns:
        Its value, ``None`` for an empty text, and the line of each key path.

    Raises:
        YamlTextError: If it is not YAML, has a key twice, asks for Python objects, refers to
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
    lines: dict[KeyPath, int] = {}
    for path, line in _lines(document, ()):
        lines[path] = line
        if len(lines) > MAX_NODES:
            message = f"with its aliases it has more than {MAX_NODES:,} values"
            raise YamlTextError(message, f"line {line}")
    return lines


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
