"""The record of a search, its states and how they were reached, and its picture."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any, Self
from xml.sax.saxutils import escape

import attrs
import orjson

from lean_dojo_core.errors import DataError
from lean_dojo_v2.files import atomic_write_bytes, atomic_write_text, safe_name


class NodeStatus(StrEnum):
    """The status of a state."""

    OPEN = "open"
    EXPANDED = "expanded"
    SOLVED = "solved"
    PROOF_REFUSED = "proof-refused"


@attrs.define
class Node:
    """A state of the search.

    Attributes:
        id: Its number; the root is 0.
        parent: Number of the state it was reached from; ``None`` for the root.
        tactic: The tactic that reached it; empty for the root.
        state: The goals, as Lean prints them.
        logprob: Cumulative log-probability of the tactics from the root.
        depth: Number of tactics from the root.
        priority: Queue key; the smallest comes first.
        status: Its status.
        failures: Number of tactics tried here with each verdict.
        failed: Rejected tactics with their verdicts.
        expansions: Numbers of its expansions within the search, from 1; empty while it waits.
    """

    id: int
    parent: int | None
    tactic: str
    state: str
    logprob: float
    depth: int
    priority: float
    status: NodeStatus = attrs.field(default=NodeStatus.OPEN, converter=NodeStatus)
    failures: Counter[str] = attrs.field(factory=Counter, converter=Counter)
    failed: dict[str, str] = attrs.Factory(dict)
    expansions: list[int] = attrs.Factory(list)


@attrs.define
class SearchTree:
    """All states of one search, by number.

    Attributes:
        name: The theorem.
        nodes: The states, in the order they were reached.
    """

    name: str
    nodes: list[Node] = attrs.Factory(list)

    def add(
        self, parent: Node | None, tactic: str, state: str, logprob: float, priority: float
    ) -> Node:
        """Add a state reached from ``parent``."""
        node = Node(
            id=len(self.nodes),
            parent=None if parent is None else parent.id,
            tactic=tactic,
            state=state,
            logprob=logprob,
            depth=0 if parent is None else parent.depth + 1,
            priority=priority,
        )
        self.nodes.append(node)
        return node

    def path(self, node: Node) -> list[Node]:
        """Return the states from the root to a state."""
        path = [node]
        while node.parent is not None:
            node = self.nodes[node.parent]
            path.append(node)
        return path[::-1]

    def tactics(self, node: Node) -> list[str]:
        """Return the tactics from the root to a state."""
        return [one.tactic for one in self.path(node)[1:]]

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as plain data."""
        return attrs.asdict(self)

    def save(self, path: Path | str) -> None:
        """Write the tree as JSON."""
        atomic_write_bytes(path, orjson.dumps(self.to_dict(), option=orjson.OPT_INDENT_2))

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Restore from :meth:`to_dict`."""
        return cls(data["name"], [Node(**node) for node in data["nodes"]])

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Load from :meth:`save`; ``DataError`` if the file is not a search tree."""
        try:
            return cls.from_dict(orjson.loads(Path(path).read_bytes()))
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise DataError(f"is not a search tree: {error}", path=path) from error


# The picture: a row for each state, indented by its depth, the proof in green.
_INDENT, _ROW, _WIDTH, _HEIGHT, _MARGIN = 36, 28, 340, 22, 16
_LETTERS = 46
_FILL = {
    NodeStatus.OPEN: "#f3f4f6",
    NodeStatus.EXPANDED: "#dbeafe",
    NodeStatus.SOLVED: "#86efac",
    NodeStatus.PROOF_REFUSED: "#fca5a5",
}
# A style within HTML applies to the whole page, so each rule names this picture. Colours are
# variables of the page, with defaults.
_STYLE = (
    ".search-tree text{font:12px ui-monospace,monospace;fill:#111827}"
    ".search-tree>text{fill:var(--text,#111827)}"
    ".search-tree rect{stroke:#9ca3af}"
    ".search-tree path{fill:none;stroke:var(--line,#d1d5db)}"
    ".search-tree .proof rect,.search-tree .proof path{stroke:var(--good,#15803d);stroke-width:2.5}"
)
# Characters not allowed in XML 1.0, which a tactic may contain.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def draw_tree(tree: SearchTree, *, most: int = 200) -> str:
    """Draw at most ``most`` states: those on the way to a proof or a refused one, then the first.

    The result is an SVG document, which may be embedded in HTML. Hovering over a state shows its
    goals, log-probability and failed tactics.
    """
    drawn = _chosen(tree, most)
    solved = next((node for node in tree.nodes if node.status is NodeStatus.SOLVED), None)
    proof = set() if solved is None else {node.id for node in tree.path(solved)}
    rows = {node.id: row for row, node in enumerate(_depth_first(drawn), 1)}
    deepest = max((node.depth for node in drawn.values()), default=0)
    width = deepest * _INDENT + _WIDTH + 2 * _MARGIN
    height = (len(rows) + 1) * _ROW + _MARGIN
    left_out = len(tree.nodes) - len(drawn)
    caption = f"{tree.name}: {len(tree.nodes)} states" + (
        f", of which {left_out} are not drawn" if left_out else ""
    )
    states = (_state(tree, node, rows, in_proof=node.id in proof) for node in drawn.values())
    return "\n".join(
        [
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" class="search-tree" role="img" '
                f'viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
            ),
            f"<style>{_STYLE}</style>",
            f"<title>{_text(caption)}</title>",
            f'<text x="{_MARGIN}" y="{_MARGIN + 4}">{_text(caption)}</text>',
            *states,
            "</svg>\n",
        ]
    )


def save_tree(tree: SearchTree | None, folder: Path, name: str) -> None:
    """Write a search tree, if there is one, into a folder: as JSON, and as a picture (SVG)."""
    if tree is not None:
        file = folder / safe_name(name)
        tree.save(file.with_name(f"{file.name}.json"))
        atomic_write_text(file.with_name(f"{file.name}.svg"), draw_tree(tree))


def _chosen(tree: SearchTree, most: int) -> dict[int, Node]:
    """Return the states to draw, parents before children."""
    ended = [n for n in tree.nodes if n.status in {NodeStatus.SOLVED, NodeStatus.PROOF_REFUSED}]
    ended.sort(key=lambda n: n.status is not NodeStatus.SOLVED)
    chosen: dict[int, Node] = {}
    for node in [*ended, *tree.nodes]:
        path = {one.id: one for one in tree.path(node)}
        if len(chosen.keys() | path.keys()) <= most:
            chosen |= path
    return dict(sorted(chosen.items()))


def _depth_first(drawn: dict[int, Node]) -> Iterator[Node]:
    children: dict[int | None, list[Node]] = defaultdict(list)
    for node in drawn.values():
        children[node.parent].append(node)
    stack = children[None]  # an explicit one: a search may go deeper than Python recurses
    while stack:
        node = stack.pop()
        yield node
        stack += reversed(children[node.id])


def _state(tree: SearchTree, node: Node, rows: dict[int, int], *, in_proof: bool) -> str:
    """Draw a state's box, with a line from its parent's."""
    x, y = _MARGIN + node.depth * _INDENT, _MARGIN + rows[node.id] * _ROW - _HEIGHT // 2
    label = node.tactic or tree.name
    if len(label) > _LETTERS:
        label = label[: _LETTERS - 1] + "…"
    failed = ", ".join(f"{count} × {what}" for what, count in node.failures.items())
    facts = [
        node.tactic,
        node.state,
        f"{node.status}, log-probability {node.logprob:.2f}, priority {node.priority:.2f}",
        f"failed here: {failed}" if failed else "",
    ]
    line = ""
    if node.parent is not None:
        rise = (rows[node.id] - rows[node.parent]) * _ROW - _HEIGHT // 2
        line = f'<path d="M{x - _INDENT // 2} {y + _HEIGHT // 2 - rise}v{rise}h{_INDENT // 2}"/>'
    kind = ' class="proof"' if in_proof else ""
    return (
        f"<g{kind}>{line}"
        f"<title>{_text(chr(10).join(filter(None, facts)))}</title>"
        f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="4" '
        f'fill="{_FILL[node.status]}"/><text x="{x + 6}" y="{y + 15}">{_text(label)}</text></g>'
    )


def _text(text: str) -> str:
    return escape(_NOT_XML.sub("\ufffd", text))
