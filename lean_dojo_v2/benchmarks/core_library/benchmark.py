"""The benchmark ``core-library``: theorems of Lean's own library, excluded from training."""

from __future__ import annotations

import hashlib
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

import attrs
import orjson

from lean_dojo_core.errors import DataError, UsageError
from lean_dojo_core.records import BenchmarkProblem
from lean_dojo_v2.atomic import atomic_write_bytes
from lean_dojo_v2.benchmarks.core_library.listing import (
    Module,
    library_server,
    modules,
    stated,
)
from lean_dojo_v2.benchmarks.jsonl import JsonlBenchmark
from lean_dojo_v2.lean.engines.embedded.install import version_key
from lean_dojo_v2.paths import user_cache

HELD_OUT_FILE = Path(__file__).with_name("held_out.txt")
"""The list of theorems, one line each: module and name."""


@attrs.frozen
class CoreLibraryBenchmark:
    """Theorems of a tenth of the modules of Init and Std, Lean's own library.

    Each is opened with what its module imports, so that neither itself nor anything that builds on
    it is in scope. The shipped model was trained on none of these modules. The package contains
    only their names; the statements are read once from the embedded engine's library and cached.

    Attributes:
        module: Only modules whose names begin with this.
    """

    name: ClassVar[str] = "core-library"

    module: str | None = None

    def problems(self) -> list[BenchmarkProblem]:
        """Return the theorems, module by module.

        Raises:
            UsageError: If there is no such module.
            DataError: If the library lacks some of them: it is another version of Lean.
        """
        every = read_names(HELD_OUT_FILE.read_text(encoding="utf-8"))
        chosen = {one: names for one, names in every.items() if one.startswith(self.module or "")}
        if not chosen:
            raise UsageError(
                f"core-library: no module name begins with {self.module!r}; the modules are "
                + ", ".join(every)
            )
        digest = hashlib.sha256(orjson.dumps(chosen)).hexdigest()[:12]
        file = user_cache() / "core-library" / f"{version_key()}-{digest}.jsonl"
        if not file.exists():
            write_problems(_read(chosen), file)
        return [attrs.evolve(one, split=None) for one in JsonlBenchmark(file).problems()]


def read_names(text: str) -> dict[str, list[str]]:
    r"""Read a list of theorems.

    >>> read_names("Init.A A.x\nInit.A A.y\n")
    {'Init.A': ['A.x', 'A.y']}
    """
    found: dict[str, list[str]] = defaultdict(list)
    for line in text.splitlines():
        module, name = line.split()
        found[module].append(name)
    return dict(found)


def write_problems(found: Iterable[BenchmarkProblem], file: Path) -> None:
    """Write problems in miniF2F's format."""
    rows = (
        {
            "name": one.full_name,
            "header": one.header,
            "formal_statement": one.statement,
            "split": one.split,
        }
        for one in found
    )
    lines = [orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows]
    atomic_write_bytes(file, b"".join(lines))


def _read(chosen: dict[str, list[str]]) -> list[BenchmarkProblem]:
    found: list[BenchmarkProblem] = []
    total = sum(map(len, chosen.values()))
    _say("core-library: reading the statements of Lean's library (once per machine)")
    with library_server(list(chosen)) as library:
        known: dict[str, Module] = {one.name: one for one in modules(library, chosen)}
        if lost := chosen.keys() - known.keys():
            raise DataError(f"Lean's library has no module {min(lost)}", path=HELD_OUT_FILE)
        for module, names in chosen.items():
            found += [one.problem for one in stated(library, library, known[module], names)]
            _say(f"core-library: {len(found)} of {total} statements read")
    if len(found) < total:
        raise DataError(
            f"Lean's library states {total - len(found)} of these theorems differently",
            path=HELD_OUT_FILE,
        )
    return found


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
