"""Elaborate a file in one request, or compile it for files that import it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from lean_dojo_v2.atomic import atomic_write_bytes
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.text.positions import PositionMap
from lean_dojo_v2.tracing.project.modules import module_path
from lean_dojo_v2.tracing.project.workspace import SourceFile
from lean_dojo_v2.tracing.reading.answer import read_answer
from lean_dojo_v2.tracing.reading.records import Elaboration
from lean_dojo_v2.tracing.running.lake import Options


def elaborate(
    server: Server,
    file: SourceFile,
    timeout: float,
    *,
    options: Options | None = None,
    keep: Path | None = None,
) -> Elaboration:
    """Elaborate a file on an engine, which finds the imports in its project.

    Args:
        server: The engine.
        file: The file.
        timeout: Time limit in seconds.
        options: Options of Lean.
        keep: Project folder in which to compile the file, if others import it from sources.

    Raises:
        RequestError: If the engine refuses the file (its imports, for example).
        EngineLostError: If the engine died or took too long.
        TraceError: If its answer cannot be read.
    """
    wanted = {
        "sequenceOnly": True,
        "ilean": True,
        "olean": keep is not None,
        "options": dict(options or {}),
    }
    answer = _ask(server, "dojo.trace", file, timeout, wanted)
    if keep is not None:
        _keep(answer, file, keep)
    return read_answer(answer, PositionMap(file.text))


def compile_module(server: Server, file: SourceFile, timeout: float, *, keep: Path) -> None:
    """Compile a file into its project folder, for files that import it.

    Raises:
        RequestError: If the engine refuses the file.
        EngineLostError: If the engine died or took too long.
    """
    _keep(_ask(server, "dojo.compile", file, timeout, {}), file, keep)


def _ask(
    server: Server, command: str, file: SourceFile, timeout: float, wanted: Mapping[str, Any]
) -> dict[str, Any]:
    request = {
        "file": file.text,
        "fileName": file.path,
        "module": file.module,
        "compiled": True,
    }
    return server.ask(command, {**request, **wanted}, timeout)


def _keep(answer: Mapping[str, Any], file: SourceFile, folder: Path) -> None:
    """Write a compiled module beside its source; none if an import was not compiled."""
    if "olean" in answer:
        path = folder / module_path(file.module).with_suffix(".olean")
        atomic_write_bytes(path, bytes(orjson.loads(answer["olean"])))
