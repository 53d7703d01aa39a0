"""The record of a search: its states, and how they were reached."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import Any

import attrs
import orjson

from lean_dojo_core.errors import DataError
from lean_dojo_v2.atomic import atomic_write_bytes


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

    def tactics(self, node: Node) -> list[str]:
        """Return the tactics from the root to a state."""
        path: list[str] = []
        current: Node | None = node
        while current is not None and current.parent is not None:
            path.append(current.tactic)
            current = self.nodes[current.parent]
        return path[::-1]

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as plain data."""
        return {"name": self.name, "nodes": [attrs.asdict(node) for node in self.nodes]}

    def save(self, path: Path | str) -> None:
        """Write the tree as JSON."""
        atomic_write_bytes(path, orjson.dumps(self.to_dict(), option=orjson.OPT_INDENT_2))

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SearchTree:
        """Restore from :meth:`to_dict`."""
        return cls(data["name"], [Node(**node) for node in data["nodes"]])

    @classmethod
    def load(cls, path: Path | str) -> SearchTree:
        """Load from :meth:`save`.

        Raises:
            DataError: If the file is not a search tree.
        """
        try:
            return cls.from_dict(orjson.loads(Path(path).read_bytes()))
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise DataError(f"is not a search tree: {error}", path=path) from error
