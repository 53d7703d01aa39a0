"""Draw a search tree as SVG: time runs to the right, the proof is green, goals show on hovering."""

from __future__ import annotations

from collections import defaultdict
from xml.sax.saxutils import escape

from lean_dojo_v2.prover.search_tree import Node, NodeStatus, SearchTree

MAX_NODES = 80
_WIDTH, _HEIGHT, _GAP_X, _GAP_Y, _MARGIN = 190, 26, 40, 10, 12
_FILL = {
    NodeStatus.SOLVED: "#c9ead7",
    NodeStatus.EXPANDED: "#e8eef5",
    NodeStatus.OPEN: "#ffffff",
    NodeStatus.PROOF_REFUSED: "#f7d6d0",
}


def tree_svg(tree: SearchTree, *, max_nodes: int = MAX_NODES) -> str:
    """Draw a search tree.

    Args:
        tree: The tree; with more states than ``max_nodes``, the proof and the states reached first
            are drawn, and a line says how many are left out.
        max_nodes: States to draw at most.

    Returns:
        The text of an SVG document.
    """
    shown = _shown(tree, max_nodes)
    rows = _rows(shown)
    proof = _proof_path(tree)
    depth = max((node.depth for node in shown), default=0)
    width = 2 * _MARGIN + (depth + 1) * _WIDTH + depth * _GAP_X
    height = 2 * _MARGIN + (max(rows.values(), default=0) + 1) * (_HEIGHT + _GAP_Y) + _HEIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}">',
        "<style>text { font: 11px ui-monospace, monospace; }</style>",
        *(_edge(node, tree, rows, node.id in proof) for node in shown if node.parent is not None),
        *(_box(node, rows, node.id in proof) for node in shown),
    ]
    if left := len(tree.nodes) - len(shown):
        parts.append(
            f'<text x="{_MARGIN}" y="{height - _MARGIN:.0f}" fill="#57606a">'
            f"{left} more states are not drawn</text>"
        )
    return "\n".join([*parts, "</svg>\n"])


def _proof_path(tree: SearchTree) -> set[int]:
    node = next((node for node in tree.nodes if node.status is NodeStatus.SOLVED), None)
    path: set[int] = set()
    while node is not None:
        path.add(node.id)
        node = None if node.parent is None else tree.nodes[node.parent]
    return path


def _shown(tree: SearchTree, max_nodes: int) -> list[Node]:
    """Choose the states to draw; the parent of each is among them."""
    chosen = _proof_path(tree)
    for node in tree.nodes:  # a parent stands before its children
        if len(chosen) >= max_nodes:
            break
        if node.parent is None or node.parent in chosen:
            chosen.add(node.id)
    return [node for node in tree.nodes if node.id in chosen]


def _rows(nodes: list[Node]) -> dict[int, float]:
    """Give every state a row: leaves one by one, a parent in the middle of its children."""
    children: dict[int | None, list[int]] = defaultdict(list)
    for node in nodes:
        children[node.parent].append(node.id)
    order: list[int] = []
    waiting = list(reversed(children[None]))
    while waiting:
        current = waiting.pop()
        order.append(current)
        waiting.extend(reversed(children[current]))
    rows: dict[int, float] = {}
    next_row = 0.0
    for current in order:
        if not children[current]:
            rows[current] = next_row
            next_row += 1
    for current in reversed(order):
        if below := [rows[child] for child in children[current]]:
            rows[current] = (below[0] + below[-1]) / 2
    return rows


def _corner(node: Node, rows: dict[int, float]) -> tuple[float, float]:
    return (
        _MARGIN + node.depth * (_WIDTH + _GAP_X),
        _MARGIN + rows[node.id] * (_HEIGHT + _GAP_Y),
    )


def _edge(node: Node, tree: SearchTree, rows: dict[int, float], on_path: bool) -> str:
    assert node.parent is not None
    x1, y1 = _corner(tree.nodes[node.parent], rows)
    x2, y2 = _corner(node, rows)
    x1, y1, y2 = x1 + _WIDTH, y1 + _HEIGHT / 2, y2 + _HEIGHT / 2
    middle = (x1 + x2) / 2
    stroke = 'stroke="#2a7f62" stroke-width="2"' if on_path else 'stroke="#afb8c1"'
    path = f"M{x1:.1f},{y1:.1f} C{middle:.1f},{y1:.1f} {middle:.1f},{y2:.1f} {x2:.1f},{y2:.1f}"
    return f'<path d="{path}" fill="none" {stroke}/>'


def _box(node: Node, rows: dict[int, float], on_path: bool) -> str:
    x, y = _corner(node, rows)
    label = node.tactic or "start"
    if len(label) > 27:
        label = label[:26] + "…"
    told = [
        node.state,
        f"log-probability {node.logprob:.2f}",
        *(f"{count} × {name}" for name, count in sorted(node.failures.items())),
    ]
    stroke = 'stroke="#2a7f62" stroke-width="2"' if on_path else 'stroke="#afb8c1"'
    return (
        f"<g><title>{escape(chr(10).join([node.tactic, *told]))}</title>"
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{_WIDTH}" height="{_HEIGHT}" rx="4" '
        f'fill="{_FILL[node.status]}" {stroke}/>'
        f'<text x="{x + 7:.1f}" y="{y + 17:.1f}" fill="#1b1f24">{escape(label)}</text></g>'
    )
