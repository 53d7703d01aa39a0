"""Lake in a project: builds, and the options of every file."""

from __future__ import annotations

import logging
import shutil
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lean_dojo_v2.errors import TraceError
from lean_dojo_v2.lean.engines.native import INSTALL, run_tool
from lean_dojo_v2.lean.errors import EngineUnavailableError
from lean_dojo_v2.tracing.project.content import state_of_data
from lean_dojo_v2.tracing.project.lakefile import LakeProject, find_lakefile, lake_state
from lean_dojo_v2.tracing.project.options import LeanOptions, Options, read_options
from lean_dojo_v2.tracing.project.workspace import SourceFile

_log = logging.getLogger(__name__)

_BUILD_TIMEOUT = 24 * 3600.0
"""Time limit of ``lake build``, in seconds."""


class Lake:
    """The Lake of a project, which is only changed by ``lake build``.

    Raises:
        EngineUnavailableError: There is none.
    """

    def __init__(self, project: LakeProject) -> None:
        if shutil.which("lake") is None:
            raise EngineUnavailableError(
                "Tracing with the project's own Lean needs `lake` on the PATH. Install it with "
                f"elan ({INSTALL})."
            )
        self._project = project
        self._root = project.root
        self._options: dict[str, LeanOptions] = {}

    def build(self) -> None:
        """Build the project, so that its files can import each other.

        Files that fail to build are not an error here; tracing reports their errors.
        """
        if find_lakefile(self._root) is None:
            return
        try:
            run_tool(["lake", "build"], self._root, timeout=_BUILD_TIMEOUT, advice="")
        except EngineUnavailableError as error:
            _log.warning("%s", error)

    def state(self) -> str:
        """Return everything else that an elaboration depends on besides Lean and the files.

        Raises:
            TraceError: If one of Lake's files cannot be read.
        """
        data = state_of_data(self._project)
        return f"{lake_state(self._root)} {self._options_of('')} {data}".rstrip()

    def options_of(self, file: SourceFile) -> Options:
        """Return Lake's Lean options for a file.

        Raises:
            TraceError: If the lakefile of its package cannot be read.
        """
        return self._options_of(file.package).of(file.module)

    def _options_of(self, package: str) -> LeanOptions:
        """Read the options of a package; ``""`` is the project itself."""
        if package not in self._options:
            named = [d for d in self._project.dependencies if d.name == package]
            folder = self._root / (self._project.place_of(named[0]) if named else ".")
            try:
                found = read_options(self._configuration(folder))
            except (ValueError, TypeError, AttributeError, KeyError) as error:
                raise TraceError(
                    f"{folder}: the options of its lakefile cannot be read: {error}"
                ) from None
            if found.left_out:
                _log.warning("%s: traced without %s", folder, " ".join(found.left_out))
            self._options[package] = found
        return self._options[package]

    def _configuration(self, folder: Path) -> dict[str, Any]:
        """Read a lakefile; one in Lean is a program, so Lake must translate it."""
        lakefile = find_lakefile(folder)
        if lakefile is None:
            return {}
        if lakefile.suffix == ".toml":
            return tomllib.loads(lakefile.read_text(encoding="utf-8"))
        with TemporaryDirectory(prefix="lean-dojo-") as made:
            written = Path(made) / "lakefile.toml"
            where = [] if folder == self._root else ["-d", str(folder)]
            try:
                words = ["lake", *where, "translate-config", "toml", str(written)]
                run_tool(words, self._root, advice="")
                return tomllib.loads(written.read_text(encoding="utf-8"))
            except (EngineUnavailableError, OSError) as error:
                _log.warning("%s: traced without its leanOptions: %s", lakefile, error)
                return {}
