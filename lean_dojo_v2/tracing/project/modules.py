"""Module names and the import graph of a Lean project."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

import attrs

from lean_dojo_core.errors import TraceError
from lean_dojo_v2.lean.text.header import Header


def module_path(module: str) -> PurePosixPath:
    """Give a module's file, relative to its source folder.

    >>> str(module_path("Sample.Logic"))
    'Sample/Logic.lean'
    """
    return PurePosixPath(module.replace(".", "/") + ".lean")


def module_name(path: PurePosixPath | str) -> str:
    """Give the module of a file, given relative to its source folder.

    >>> module_name("Sample/Logic.lean")
    'Sample.Logic'
    """
    return ".".join(PurePosixPath(path).with_suffix("").parts)


@attrs.frozen
class ImportGraph:
    """Which modules of a project import which others of it.

    Attributes:
        imports: For each module its direct imports inside the project, in the order of its header.
    """

    imports: Mapping[str, tuple[str, ...]]

    @classmethod
    def build(cls, headers: Mapping[str, Header]) -> ImportGraph:
        """Make the graph of a project's headers; imports of other packages are left out.

        Raises:
            TraceError: If modules import each other in a circle.
        """
        inside = {
            module: tuple(name for name in header.modules if name in headers)
            for module, header in headers.items()
        }
        graph = cls(inside)
        graph.order()
        return graph

    def order(self) -> list[str]:
        """Give all modules, imported ones first, otherwise by name.

        Raises:
            TraceError: If modules import each other in a circle; the message shows the circle.
        """
        done: dict[str, None] = {}
        for root in sorted(self.imports):
            self._visit(root, done)
        return list(done)

    def closure(self, module: str) -> list[str]:
        """Give what a module imports, directly or not, imported ones first, without itself.

        Raises:
            TraceError: If modules import each other in a circle.
        """
        done: dict[str, None] = {}
        self._visit(module, done)
        return [name for name in done if name != module]

    def _visit(self, root: str, done: dict[str, None]) -> None:
        """Add ``root`` to ``done`` after all that it imports; no recursion, for chains are long."""
        path: list[str] = []
        on_path: set[str] = set()
        stack: list[tuple[str, bool]] = [(root, False)]
        while stack:
            module, finished = stack.pop()
            if finished:
                done[path.pop()] = None
                on_path.discard(module)
            elif module in on_path:
                circle = [*path[path.index(module) :], module]
                raise TraceError(
                    f"import cycle: {' → '.join(circle)}; break it to trace the project"
                )
            elif module not in done:
                path.append(module)
                on_path.add(module)
                stack.append((module, True))
                stack.extend((name, False) for name in reversed(self.imports[module]))
