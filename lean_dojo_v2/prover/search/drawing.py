"""Draw a search tree as SVG: one row per leaf, one column per tactic, the proof in green."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from xml.sax.saxutils import escape

import attrs

from lean_dojo_v2.atomic import atomic_write_text
from lean_dojo_v2.paths import safe_name
from lean_dojo_v2.prover.search.tree import Node, NodeStatus, SearchTree

_COLUMN, _ROW, _WIDTH, _HEIGHT, _MARGIN = 230, 30, 200, 22, 16
_LETTERS = 26
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
    ".search-tree .proof rect,.search-tree .proof{stroke:var(--good,#15803d);stroke-width:2.5}"
    ".search-tree .proof text{stroke:none}"
)
# Characters not allowed in XML 1.0, which a tactic may contain.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@attrs.frozen
class _Drawing:
    """Positions of the drawn states, by number."""

    tree: SearchTree
    drawn: dict[int, Node]
    row: dict[int, float]  # halfway between its first and last child
    proof: frozenset[int]  # the states on the way to the proof


def draw(tree: SearchTree, *, most: int = 200) -> str:
    """Draw a search tree.

    Hovering over a state shows its goals, log-probability and failed tactics.

    Args:
        tree: The tree.
        most: Maximum number of states: those on the way to a proof or a refused one, then the
            first ones reached.

    Returns:
        An SVG document, which may be embedded in HTML.
    """
    drawing = _lay_out(tree, most)
    width = (max((n.depth for n in drawing.drawn.values()), default=0) + 1) * _COLUMN + _MARGIN
    height = int((max(drawing.row.values(), default=0) + 1) * _ROW + 2 * _MARGIN + _ROW)
    left_out = len(tree.nodes) - len(drawing.drawn)
    caption = f"{tree.name}: {len(tree.nodes)} states" + (
        f", of which {left_out} are not drawn" if left_out else ""
    )
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="search-tree" '
            f'viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img">'
        ),
        f"<style>{_STYLE}</style>",
        f"<title>{_text(caption)}</title>",
        f'<text x="{_MARGIN}" y="{_MARGIN + 4}">{_text(caption)}</text>',
        *(_edge(drawing, node) for node in drawing.drawn.values() if node.parent is not None),
        *(_box(drawing, node) for node in drawing.drawn.values()),
        "</svg>\n",
    ]
    return "\n".join(parts)


def save_tree(tree: SearchTree | None, folder: Path, name: str) -> None:
    """Write a search tree, if there is one, into a folder: as JSON, and as a picture (SVG)."""
    if tree is not None:
        file = folder / safe_name(name)
        tree.save(file.with_name(f"{file.name}.json"))
        atomic_write_text(file.with_name(f"{file.name}.svg"), draw(tree))


def _lay_out(tree: SearchTree, most: int) -> _Drawing:
    ended = [n for n in tree.nodes if n.status in {NodeStatus.SOLVED, NodeStatus.PROOF_REFUSED}]
    ended.sort(key=lambda n: n.status is not NodeStatus.SOLVED)
    chosen: dict[int, Node] = {}
    for node in [*ended, *tree.nodes]:
        path = _path(tree, node)
        if len(chosen.keys() | path.keys()) <= most:
            chosen |= path
    drawn = dict(sorted(chosen.items()))
    proof = next((_path(tree, n) for n in ended if n.status is NodeStatus.SOLVED), {})
    return _Drawing(tree, drawn, _rows(drawn), frozenset(proof))


def _path(tree: SearchTree, node: Node) -> dict[int, Node]:
    """Return a state and its ancestors."""
    path = {node.id: node}
    while node.parent is not None:
        node = tree.nodes[node.parent]
        path[node.id] = node
    return path


def _rows(drawn: dict[int, Node]) -> dict[int, float]:
    children: dict[int, list[int]] = defaultdict(list)
    for node in drawn.values():
        if node.parent is not None:
            children[node.parent].append(node.id)
    rows: dict[int, float] = {}
    leaves = 0
    # Children first. An explicit stack: a search may go deeper than Python recurses.
    stack = [(0, False)] if drawn else []
    while stack:
        number, done = stack.pop()
        if done:
            rows[number] = (rows[children[number][0]] + rows[children[number][-1]]) / 2
        elif number in children:
            stack.append((number, True))
            stack += [(child, False) for child in reversed(children[number])]
        else:
            rows[number] = leaves
            leaves += 1
    return rows


def _place(drawing: _Drawing, node: Node) -> tuple[float, float]:
    """Return the upper left corner of a state's box."""
    return _MARGIN + node.depth * _COLUMN, _MARGIN + _ROW * (drawing.row[node.id] + 0.6)


def _edge(drawing: _Drawing, node: Node) -> str:
    assert node.parent is not None
    x1, y1 = _place(drawing, drawing.drawn[node.parent])
    x2, y2 = _place(drawing, node)
    start, end = (x1 + _WIDTH, y1 + _HEIGHT / 2), (x2, y2 + _HEIGHT / 2)
    middle = (start[0] + end[0]) / 2
    kind = ' class="proof"' if {node.id, node.parent} <= drawing.proof else ""
    return (
        f'<path{kind} d="M{start[0]:g} {start[1]:g}C{middle:g} {start[1]:g} {middle:g} {end[1]:g} '
        f'{end[0]:g} {end[1]:g}"/>'
    )


def _box(drawing: _Drawing, node: Node) -> str:
    x, y = _place(drawing, node)
    label = node.tactic or drawing.tree.name
    if len(label) > _LETTERS:
        label = label[: _LETTERS - 1] + "…"
    failed = ", ".join(f"{count} × {what}" for what, count in node.failures.items())
    told = [
        node.tactic,
        node.state,
        f"{node.status}, log-probability {node.logprob:.2f}, priority {node.priority:.2f}",
        f"failed here: {failed}" if failed else "",
    ]
    kind = ' class="proof"' if node.id in drawing.proof else ""
    return (
        f"<g{kind}><title>{_text(chr(10).join(filter(None, told)))}</title>"
        f'<rect x="{x:g}" y="{y:g}" width="{_WIDTH}" height="{_HEIGHT}" rx="4" '
        f'fill="{_FILL[node.status]}"/>'
        f'<text x="{x + 6:g}" y="{y + 15:g}">{_text(label)}</text></g>'
    )


def _text(text: str) -> str:
    return escape(_NOT_XML.sub("\ufffd", text))
