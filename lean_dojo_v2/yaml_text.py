"""Parsing of users' YAML, within limits.

With aliases a hundred bytes can mean a billion values, or refer to themselves.
"""

from __future__ import annotations

from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

MAX_YAML = 1_000_000
"""Maximum length of a YAML text, in characters."""
MAX_NODES = 100_000
"""Maximum number of values in a YAML document, counting aliases each time."""
MAX_DEPTH = 100
"""Maximum nesting depth of a YAML document."""

_TOO_DEEP = "it is nested too deeply"


class YamlTextError(ValueError):
    """A text is not valid or too large YAML.

    Args:
        message: What is wrong.
        place: Where, for example ``"line 2, column 4"``; empty if it is not known.
    """

    def __init__(self, message: object, place: str = "") -> None:
        super().__init__(" ".join(str(message).split()))
        self.place = place


def parse_yaml(text: str) -> tuple[Any, Node | None]:
    """Parse the one document of a YAML 1.2 text.

    Returns:
        Its value, and the nodes with their places; ``(None, None)`` for an empty text.

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
            return None, None
        _measure(node)
        return yaml.constructor.construct_document(node), node
    except YamlTextError:
        raise
    except RecursionError:
        raise YamlTextError(_TOO_DEEP) from None
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise YamlTextError(error.problem, place) from error
    except (YAMLError, ValueError, TypeError, AttributeError, OverflowError) as error:
        raise YamlTextError(error) from error  # also a wrong date, a key that is a mapping


def _measure(document: Node) -> None:
    """Walk a document, following aliases, and stop if it is too large.

    Raises:
        YamlTextError: If it is too large or too deep.
    """
    count = 0
    open_nodes: list[tuple[Node, int]] = [(document, 1)]
    while open_nodes:
        node, depth = open_nodes.pop()
        count += 1
        place = f"line {node.start_mark.line + 1}"
        if depth > MAX_DEPTH:
            raise YamlTextError(f"{_TOO_DEEP}, or an alias refers to what it is part of", place)
        if count > MAX_NODES:
            raise YamlTextError(f"with its aliases it has more than {MAX_NODES:,} values", place)
        open_nodes.extend((child, depth + 1) for child in children(node))


def children(node: Node) -> list[Node]:
    """Return the nodes directly inside a node: items of a list, keys and values of a mapping."""
    if isinstance(node, MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value) if isinstance(node, SequenceNode) else []


def key_of(node: Node) -> str:
    """Return the text of a mapping's key, or the kind of a non-scalar key."""
    return str(node.value) if isinstance(node, ScalarNode) else "(no text)"
