"""YAML that people hand in, within limits.

Aliases let a hundred bytes stand for a billion values, or for themselves.
"""

from __future__ import annotations

from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

MAX_YAML = 1_000_000
"""Characters of the longest YAML text that is read."""
MAX_NODES = 100_000
"""Values of the largest YAML document, those that aliases repeat counted each time."""
MAX_DEPTH = 100
"""How deep the values of a YAML document may be nested in each other."""

_TOO_DEEP = "it is nested too deeply"


class YamlTextError(ValueError):
    """A text is not the YAML that is read here.

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
    """Walk a document as it is meant, aliases followed, and stop where it is too large.

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
    """Return the text of a mapping's key; of a key that is no scalar its kind."""
    return str(node.value) if isinstance(node, ScalarNode) else "(no text)"
