"""Module names and the import graph of a Lean project."""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import PurePosixPath

import attrs

from lean_dojo_v2.lean.text.header import Header


def module_path(module: str) -> PurePosixPath:
    """Return a module's file, relative to its source folder.

    >>> str(module_path("Sample.Logic"))
    'Sample/Logic.lean'
    """
    return PurePosixPath(module.replace(".", "/") + ".lean")


def module_name(path: PurePosixPath | str) -> str:
    """Return the module of a file, given relative to its source folder.

    >>> module_name("Sample/Logic.lean")
    'Sample.Logic'
    """
    return ".".join(PurePosixPath(path).with_suffix("").parts)


@attrs.frozen
class ImportGraph:
    """The import graph of a project's modules.

    Attributes:
        imports: For each module its direct imports inside the project, in the order of its header.
        circles: For each module that imports itself through others: the cycle, itself first and
            last. These modules are not among ``imports``.
    """

    imports: Mapping[str, tuple[str, ...]]
    circles: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)

    @classmethod
    def build(cls, headers: Mapping[str, Header]) -> ImportGraph:
        """Make the graph of a project's headers; imports of other packages are left out."""
        inside = {
            module: tuple(name for name in header.modules if name in headers)
            for module, header in headers.items()
        }
        circles: dict[str, tuple[str, ...]] = {}
        while found := _circle(inside):
            for index, module in enumerate(found):
                circles[module] = (*found[index:], *found[: index + 1])
            inside = {
                module: tuple(name for name in imports if name not in circles)
                for module, imports in inside.items()
                if module not in circles
            }
        return cls(inside, circles)

    def order(self) -> list[str]:
        """Return all modules, imported ones first, otherwise by name."""
        done: dict[str, None] = {}
        for root in sorted(self.imports):
            self._visit(root, done)
        return list(done)

    def closure(self, module: str) -> list[str]:
        """Return a module's direct and indirect imports, imported ones first."""
        done: dict[str, None] = {}
        self._visit(module, done)
        return [name for name in done if name != module]

    def _visit(self, root: str, done: dict[str, None]) -> None:
        """Add ``root`` to ``done`` after its imports; without recursion, since chains are long.

        graphlib sorts, but cannot restrict to what one module reaches; both orders come from this
        walk, and cache keys depend on the second.
        """
        stack: list[tuple[str, bool]] = [(root, False)]
        while stack:
            module, finished = stack.pop()
            if finished:
                done[module] = None
            elif module not in done:
                stack.append((module, True))
                stack.extend((name, False) for name in reversed(self.imports[module]))


def _circle(imports: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Find a cycle of imports, if any."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        circle: list[str] = error.args[1][:0:-1]
        return circle
    return []
