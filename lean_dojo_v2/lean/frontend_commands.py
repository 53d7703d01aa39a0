"""Requests about whole texts: ``frontend.*``."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from lean_dojo_v2.lean.connection import Connection
from lean_dojo_v2.lean.errors import RequestError
from lean_dojo_v2.lean.messages import CompilationUnit, Message, SearchTarget
from lean_dojo_v2.lean.records import GoalState


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
        with tempfile.TemporaryDirectory(prefix="lean-dojo-") as folder, self._lock:
            listing = Path(folder) / "invocations.json"
            if invocations:
                fields["invocations"] = str(listing)
            answer = self.ask("frontend.process", fields, timeout)
            found = _invocations(answer, listing) if invocations else None
            return self._read(answer, lambda a: self._units(a, found))

    def tactic_invocations(
        self, file_name: str | Path, *, timeout: float | None = None
    ) -> list[CompilationUnit]:
        """List every tactic of a file, header and all.

        Raises:
            RequestError: The file cannot be read.
        """
        try:
            text = Path(file_name).read_text(encoding="utf-8")
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
        with self._lock:
            self._load_text(header, True, timeout)

    def load_definitions(self, snippet: str, *, timeout: float | None = None) -> None:
        """Add the definitions of a text to the environment. Goal states of before do not see them.

        Raises:
            RequestError: The text has an error; what stands before it may have been added.
        """
        with self._lock:
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

    def check_track(
        self, src: str, dst: str, *, timeout: float | None = None
    ) -> tuple[str | None, list[Message], list[Message]]:
        """Check that ``dst`` proves what ``src`` states (native engine).

        Returns:
            Why not, or ``None``; the messages about ``src``; the messages about ``dst``.
        """
        answer = self.ask("frontend.track", {"src": src, "dst": dst}, timeout)
        return self._read(
            answer,
            lambda a: (
                a.get("failure"),
                [Message.parse(message) for message in a["srcMessages"]],
                [Message.parse(message) for message in a["dstMessages"]],
            ),
        )

    def _load_text(self, text: str, header: bool, timeout: float | None) -> None:
        fields = {"file": text, "newConstants": False, "readHeader": header, "inheritEnv": True}
        answer = self.ask("frontend.process", fields, timeout)
        errors = [e for u in self._read(answer, self._units) for e in u.errors]
        if errors:
            listed = "\n".join(map(str, errors))
            raise RequestError(f"The text has errors:\n{listed}", "elab")
        if header:
            self._loaded.clear()  # a header replaces the whole environment
        self._loaded.append(("frontend.process", fields))

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


def _invocations(answer: Mapping[str, Any], listing: Path) -> list[list[Mapping[str, Any]]]:
    """Find the tactics of each unit: in the answer, or in the file that Pantograph wrote."""
    units = answer["units"]
    if all("invocations" in unit for unit in units):
        return [unit["invocations"] for unit in units]
    written = orjson.loads(listing.read_bytes())["units"]
    return [unit.get("invocations") or [] for unit in written]
