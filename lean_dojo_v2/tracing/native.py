"""Trace with the project's own Lean: ``lake env lean``, any version since 4.9.

Lean is asked for its info trees and an ``.ilean`` file, so no program of ours has to match its
version, and the project is not changed, ``lake build`` apart. Where constants of other modules are
defined is read from the ``.ilean`` files beside their compiled modules.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from lean_dojo_core.errors import EngineUnavailableError, LeanError
from lean_dojo_core.records import Position
from lean_dojo_v2.tracing.ilean import Home, Ident, Ilean, definitions, read_ilean, references
from lean_dojo_v2.tracing.infotree import is_info_tree, read_messages, read_problems, read_trees
from lean_dojo_v2.tracing.modules import module_path
from lean_dojo_v2.tracing.positions import PositionMap
from lean_dojo_v2.tracing.records import Elaboration
from lean_dojo_v2.tracing.workspace import SourceFile

_log = logging.getLogger(__name__)

_VERSION = re.compile(r"version (\d+)\.(\d+)\.(\d+)")
_OLDEST = (4, 9)
_ASYNC_SINCE = (4, 16)
"""From here on proofs are elaborated beside the rest, and info trees would have holes."""


def has_lake() -> bool:
    """Whether ``lake`` can be run here."""
    return shutil.which("lake") is not None


class NativeLean:
    """The Lean of a project.

    Args:
        root: The project's folder.
        build_timeout: Seconds that ``lake build`` may take.

    Raises:
        EngineUnavailableError: There is no Lake, or no Lean that is new enough.
    """

    def __init__(self, root: Path, build_timeout: float = 24 * 3600) -> None:
        if not has_lake():
            raise EngineUnavailableError(
                "tracing with the project's own Lean needs `lake` on PATH; install it with elan "
                "(https://elan.lean-lang.org)"
            )
        self._root = root
        self.version = self._lake(["env", "lean", "--version"], 1800)
        found = _VERSION.search(self.version)
        self._number = (int(found[1]), int(found[2])) if found else _OLDEST
        if self._number < _OLDEST:
            raise EngineUnavailableError(
                f"{root}: its Lean is too old to be traced ({self.version}); 4.9 is needed"
            )
        self._build_timeout = build_timeout
        self._search_path: list[Path] | None = None
        self._ileans: dict[str, Ilean | None] = {}
        self._lock = threading.Lock()

    def build(self) -> None:
        """Build the project, so that its files can import each other.

        Files that fail to build are no error here: tracing them says what is wrong.
        """
        try:
            self._lake(["build"], self._build_timeout)
        except LeanError as error:
            _log.warning("%s", error)

    def elaborate(self, file: SourceFile, timeout: float) -> Elaboration:
        """Have Lean elaborate a file.

        Raises:
            LeanError: If Lean does not answer in time or breaks down.
            TraceError: If it prints something unknown.
        """
        places = PositionMap(file.text)
        with TemporaryDirectory(prefix="lean-dojo-") as folder:
            ilean = Path(folder) / "file.ilean"
            options = ["-D", "trace.Elab.info=true"]
            if self._number >= _ASYNC_SINCE:
                options += ["-D", "weak.Elab.async=false"]
            command = ["lean", *options, "--json", "-i", str(ilean), file.path]
            output = self._lake(["env", *command], timeout, accept=(0, 1))
            messages = read_messages(output)
            if not messages and not ilean.exists():
                raise LeanError(
                    f"{file.path}: Lean printed nothing that can be read: {output[:500]}"
                )
            known = read_ilean(ilean) if ilean.exists() else Ilean(file.module, {}, {})
        commands, steps = read_trees(filter(is_info_tree, messages), places)
        return Elaboration(
            tuple(commands),
            tuple(steps),
            tuple(definitions(known, places)),
            tuple(references(known, places, self._home)),
            tuple(read_problems((m for m in messages if not is_info_tree(m)), places)),
        )

    def _home(self, ident: Ident) -> Home:
        return ident.module, self._position(ident)

    def _position(self, ident: Ident) -> tuple[Position, Position] | None:
        with self._lock:
            if ident.module not in self._ileans:
                path = self._find(ident.module)
                self._ileans[ident.module] = read_ilean(path) if path else None
            ilean = self._ileans[ident.module]
        return ilean.position(ident) if ilean else None

    def _find(self, module: str) -> Path | None:
        if self._search_path is None:
            paths = self._lake(["env", "printenv", "LEAN_PATH"], 600).split(os.pathsep)
            paths.append(self._lake(["env", "lean", "--print-libdir"], 600))
            self._search_path = [self._root / path for path in paths if path]
        inner = module_path(module).with_suffix(".ilean")
        return next((p for base in self._search_path if (p := base / inner).is_file()), None)

    def _lake(self, arguments: Sequence[str], timeout: float, accept: Sequence[int] = (0,)) -> str:
        """Run Lake in the project and give what it prints.

        Raises:
            LeanError: If it takes too long or fails.
        """
        what = f"lake {' '.join(arguments)}"
        try:
            done = subprocess.run(
                ["lake", *arguments],
                cwd=self._root,
                capture_output=True,
                timeout=timeout,
                check=False,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            raise LeanError(f"{what} took longer than {timeout:.0f} s") from None
        if done.returncode not in accept:
            said = (done.stderr or done.stdout).decode(errors="replace").strip()
            raise LeanError(f"{what} failed with code {done.returncode}: {said[-1500:]}")
        return done.stdout.decode(errors="replace").strip()
