"""Trace with the project's own Lean: ``lake env lean``, any version since 4.9.

Lean is asked for its info trees and an ``.ilean`` file, so no program of ours has to match its
version, and the project is not changed, ``lake build`` apart. A file gets the options that Lake
builds it with. Where constants of other modules are defined is read from the ``.ilean`` files
beside their compiled modules.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import threading
import tomllib
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lean_dojo_core.errors import EngineUnavailableError, LeanError, TraceError
from lean_dojo_core.records import Position
from lean_dojo_v2.lean.engines.groups import ProcessGroups
from lean_dojo_v2.lean.engines.native import warn_of_old_kernel
from lean_dojo_v2.lean.text.positions import PositionMap
from lean_dojo_v2.tracing.project.content import state_of_data
from lean_dojo_v2.tracing.project.lakefile import LakeProject, find_lakefile, lake_state
from lean_dojo_v2.tracing.project.modules import module_path
from lean_dojo_v2.tracing.project.options import LeanArguments, read_arguments
from lean_dojo_v2.tracing.project.workspace import SourceFile
from lean_dojo_v2.tracing.reading.ilean import (
    Home,
    Ident,
    Ilean,
    definitions,
    read_ilean,
    references,
)
from lean_dojo_v2.tracing.reading.infotree import (
    is_info_tree,
    read_messages,
    read_problems,
    read_trees,
)
from lean_dojo_v2.tracing.reading.records import Elaboration

_log = logging.getLogger(__name__)

_VERSION = re.compile(r"version (\d+)\.(\d+)\.(\d+)")
_OLDEST = (4, 9)
_ASYNC_SINCE = (4, 16)
"""From here on proofs are elaborated beside the rest, and info trees would have holes."""
_BUILD_TIMEOUT = 24 * 3600.0
"""Seconds that ``lake build`` may take."""
_ANSWER_TIMEOUT = 1800.0
"""Seconds for a question that Lake answers at once, unless a toolchain is fetched before."""


class NativeLean:
    """The Lean of a project.

    Raises:
        EngineUnavailableError: There is no Lake, or no Lean that is new enough.
    """

    def __init__(self, project: LakeProject) -> None:
        if shutil.which("lake") is None:
            raise EngineUnavailableError(
                "tracing with the project's own Lean needs `lake` on PATH; install it with elan "
                "(https://elan.lean-lang.org)"
            )
        self._project = project
        self._root = project.root
        self._programs = ProcessGroups()
        self.version = self._lake(["env", "lean", "--version"], _ANSWER_TIMEOUT)
        warn_of_old_kernel(self.version)
        found = _VERSION.search(self.version)
        self._number = (int(found[1]), int(found[2])) if found else _OLDEST
        if self._number < _OLDEST:
            raise EngineUnavailableError(
                f"{self._root}: its Lean is too old to be traced ({self.version}); use 4.9 or newer"
            )
        self._search_path: list[Path] | None = None
        self._ileans: dict[str, Ilean | None] = {}
        self._arguments: dict[str, LeanArguments] = {}
        self._lock = threading.Lock()

    def state(self) -> str:
        """Say what an elaboration depends on besides Lean's version and the texts of the files.

        Raises:
            TraceError: If one of Lake's files cannot be read.
        """
        data = state_of_data(self._project)
        return f"{lake_state(self._root)} {self._arguments_of('')} {data}".rstrip()

    def stop(self) -> None:
        """Kill what other threads have running; afterwards nothing can be run any more."""
        self._programs.stop()

    def build(self) -> None:
        """Build the project, so that its files can import each other.

        Files that fail to build are no error here: tracing them says what is wrong.
        """
        try:
            self._lake(["build"], _BUILD_TIMEOUT)
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
            options = [*self._arguments_of(file.package).of(file.module)]
            options += ["-D", "trace.Elab.info=true"]
            if self._number >= _ASYNC_SINCE:
                options += ["-D", "weak.Elab.async=false"]
            command = ["lean", *options, "--json", "-i", str(ilean), f"./{file.path}"]
            done = self._run(["env", *command], timeout, accept=(0, 1))
            messages = read_messages(_text(done.stdout))
            if not messages and not ilean.exists():
                said = _text(done.stdout) or _text(done.stderr)
                raise LeanError(f"{file.path}: Lean printed nothing that can be read: {said[:500]}")
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

    def _arguments_of(self, package: str) -> LeanArguments:
        """Return what Lake builds the files of a package with; the project's own is ``""``.

        Raises:
            TraceError: If its lakefile cannot be read.
        """
        with self._lock:
            if package not in self._arguments:
                named = [d for d in self._project.dependencies if d.name == package]
                folder = self._root / (self._project.place_of(named[0]) if named else ".")
                try:
                    self._arguments[package] = read_arguments(self._configuration(folder))
                except (ValueError, TypeError, AttributeError, KeyError) as error:
                    raise TraceError(
                        f"{folder}: the options of its lakefile cannot be read: {error}"
                    ) from None
            return self._arguments[package]

    def _configuration(self, folder: Path) -> dict[str, Any]:
        """Read a lakefile; one in Lean is a program, so Lake has to say what it amounts to."""
        lakefile = find_lakefile(folder)
        if lakefile is None:
            return {}
        if lakefile.suffix == ".toml":
            return tomllib.loads(lakefile.read_text(encoding="utf-8"))
        with TemporaryDirectory(prefix="lean-dojo-") as made:
            written = Path(made) / "lakefile.toml"
            where = [] if folder == self._root else ["-d", str(folder)]
            try:
                command = [*where, "translate-config", "toml", str(written)]
                self._lake(command, _ANSWER_TIMEOUT)
                return tomllib.loads(written.read_text(encoding="utf-8"))
            except (LeanError, OSError) as error:
                _log.warning("%s: traced without its leanOptions: %s", lakefile, error)
                return {}

    def _lake(self, arguments: Sequence[str], timeout: float) -> str:
        return _text(self._run(arguments, timeout).stdout)

    def _run(
        self, arguments: Sequence[str], timeout: float, accept: Sequence[int] = (0,)
    ) -> subprocess.CompletedProcess[bytes]:
        """Run Lake in the project.

        Raises:
            LeanError: If it takes too long or fails.
        """
        what = f"lake {' '.join(arguments)}"
        try:
            done = self._programs.run(["lake", *arguments], cwd=self._root, timeout=timeout)
        except subprocess.TimeoutExpired:
            raise LeanError(f"{what} took longer than {timeout:.0f} s") from None
        if done.returncode not in accept:
            said = _text(done.stderr or done.stdout)
            raise LeanError(f"{what} failed with code {done.returncode}: {said[-1500:]}")
        return done


def _text(output: bytes) -> str:
    return output.decode(errors="replace").strip()
