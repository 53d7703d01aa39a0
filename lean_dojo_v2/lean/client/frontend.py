"""Requests about whole texts: ``frontend.*``."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from lean_dojo_v2.lean.client.connection import Connection
from lean_dojo_v2.lean.client.records import GoalState
from lean_dojo_v2.lean.client.units import CheckTrackResult, CompilationUnit, SearchTarget
from lean_dojo_v2.lean.errors import RequestError
from lean_dojo_v2.lean.messages import Message


class FrontendCommands(Connection):
    """Whole texts: elaborate them, load them into the environment, take their goals out."""

    def process(
        self,
        text: str,
        *,
        file_name: str | None = None,
        read_header: bool = False,
        inherit_env: bool = False,
        invocations: bool = False,
        sorrys: bool = False,
        new_constants: bool = False,
        options: Mapping[str, int] | None = None,
        timeout: float | None = None,
    ) -> list[CompilationUnit]:
        """Elaborate a text (``frontend.process``).

        Args:
            text: Commands of Lean; with a header if ``read_header``.
            file_name: What messages call the text; in a project, the module that it is
                (embedded engine).
            read_header: Whether to import what the text imports, in place of the environment.
            inherit_env: Whether the environment changes to the one after the text.
            invocations: Whether to report every tactic.
            sorrys: Whether to open the goal of every ``sorry``.
            new_constants: Whether to name the constants that each command defines.
            options: Limits of Lean for this call (embedded engine).
            timeout: Seconds it may take, in place of the server's.

        Returns:
            One record for each command, also for one with errors: read their messages.
        """
        named = file_name is not None and self.kind == "embedded"
        fields: dict[str, Any] = {
            "file": text,
            **({"fileName": file_name} if named else {}),
            "readHeader": read_header,
            "inheritEnv": inherit_env,
            "sorrys": sorrys,
            "newConstants": new_constants,
            "typeErrorsAsGoals": False,
            **({"options": dict(options)} if options else {}),
        }
        with self._lock:
            if invocations:
                answer, found = self._with_invocations(fields, timeout)
            else:
                answer, found = self.ask("frontend.process", fields, timeout), None
            units = self._read(answer, lambda a: self._units(a, found))
            if inherit_env:
                self._remember(fields)
            return units

    def tactic_invocations(
        self, file_name: str | Path, *, timeout: float | None = None
    ) -> list[CompilationUnit]:
        """List every tactic of a file, header and all.

        Raises:
            RequestError: The file cannot be read.
        """
        try:
            text = Path(file_name).read_bytes().decode()
        except (OSError, UnicodeDecodeError) as error:
            raise RequestError(f"frontend.process: {file_name}: {error}", "io") from error
        return self.process(
            text, file_name=str(file_name), read_header=True, invocations=True, timeout=timeout
        )

    def check_compile(
        self,
        code: str,
        new_constants: bool = False,
        read_header: bool = False,
        *,
        timeout: float | None = None,
    ) -> list[CompilationUnit]:
        """Elaborate a text and leave the environment as it is."""
        return self.process(
            code, read_header=read_header, new_constants=new_constants, timeout=timeout
        )

    def load_header(self, header: str, *, timeout: float | None = None) -> None:
        """Change the environment to what a header gives: its imports and the commands after them.

        Raises:
            RequestError: The header has an error; the environment may have changed.
        """
        self._load_text(header, True, timeout)

    def load_definitions(self, snippet: str, *, timeout: float | None = None) -> None:
        """Add the definitions of a text to the environment. Goal states of before do not see them.

        Raises:
            RequestError: The text has an error; what stands before it may have been added.
        """
        self._load_text(snippet, False, timeout)

    def load_sorry(
        self,
        src: str,
        binder_name: str | None = None,
        ignore_values: bool = False,
        *,
        timeout: float | None = None,
    ) -> list[SearchTarget]:
        """Take the goals of all ``sorry``s out of a text (``frontend.distil``).

        Args:
            src: The text.
            binder_name: Name of the binder that several coupled ``sorry``s are condensed into.
            ignore_values: Whether to start from the bare statements, dropping the proofs so far.
            timeout: Seconds it may take, in place of the server's.
        """
        fields: dict[str, Any] = {"file": src, "ignoreValues": ignore_values}
        if binder_name is not None:
            fields["binderName"] = binder_name
        with self._lock:
            answer = self.ask("frontend.distil", fields, timeout)
            return self._read(
                answer,
                lambda a: [
                    SearchTarget(GoalState.parse(t["stateId"], t["goals"], self._session))
                    for t in a["targets"]
                ],
            )

    def check_track(self, src: str, dst: str, *, timeout: float | None = None) -> CheckTrackResult:
        """Check that ``dst`` proves what ``src`` states (native engine)."""
        answer = self.ask("frontend.track", {"src": src, "dst": dst}, timeout)
        return self._read(
            answer,
            lambda a: CheckTrackResult(
                [Message.parse(message) for message in a["srcMessages"]],
                [Message.parse(message) for message in a["dstMessages"]],
                a.get("failure"),
            ),
        )

    def refactor_search_target(
        self, code: str, core_options: Sequence[str] = (), *, timeout: float | None = None
    ) -> str:
        """Combine the ``sorry``s of a text into one (native engine; experimental in Pantograph)."""
        fields = {"file": code, "coreOptions": list(core_options)}
        answer = self.ask("frontend.refactor", fields, timeout)
        return self._read(answer, lambda a: str(a["file"]))

    def _load_text(self, text: str, header: bool, timeout: float | None) -> None:
        units = self.process(text, read_header=header, inherit_env=True, timeout=timeout)
        errors = [error for unit in units for error in unit.errors]
        if errors:
            listed = "\n".join(map(str, errors))
            raise RequestError(f"The text has errors:\n{listed}", "elab")

    def _remember(self, fields: Mapping[str, Any]) -> None:
        """Note what changed the environment, for the engine that may replace this one."""
        if fields["readHeader"]:
            self._loaded.clear()  # a header replaces the whole environment
        self._loaded.append(("frontend.process", {**fields, "sorrys": False}))

    def _with_invocations(
        self, fields: Mapping[str, Any], timeout: float | None
    ) -> tuple[dict[str, Any], list[list[Mapping[str, Any]]]]:
        """Process a text; find its tactics in the answer, or in the file that Pantograph wrote."""
        with tempfile.TemporaryDirectory(prefix="lean-dojo-") as folder:
            listing = Path(folder) / "invocations.json"
            asked = {**fields, "invocations": str(listing)}
            answer = self.ask("frontend.process", asked, timeout)
            units = answer.get("units", ())
            if not all("invocations" in unit for unit in units):
                units = orjson.loads(listing.read_bytes())["units"]
            return answer, [unit.get("invocations") or [] for unit in units]

    def _units(
        self,
        answer: Mapping[str, Any],
        invocations: Sequence[list[Mapping[str, Any]]] | None = None,
    ) -> list[CompilationUnit]:
        units = answer["units"]
        tactics = invocations if invocations is not None else [None] * len(units)
        return [
            CompilationUnit.parse(unit, self._session, found)
            for unit, found in zip(units, tactics, strict=True)
        ]
