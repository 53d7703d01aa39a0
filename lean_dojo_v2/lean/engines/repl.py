"""``lean-dojo lean repl``: an engine with the interface of Pantograph's own program."""

from __future__ import annotations

import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import orjson

from lean_dojo_core.errors import UsageError
from lean_dojo_v2.lean.engines.host import needs_files, with_files
from lean_dojo_v2.lean.engines.process import READY, EngineProcess
from lean_dojo_v2.lean.engines.selection import EngineName, engine_plan


def serve(
    words: Sequence[str],
    *,
    project: Path | None = None,
    engine: EngineName = "auto",
    requests: IO[bytes] | None = None,
    answers: IO[bytes] | None = None,
) -> None:
    """Answer requests until the input ends or an empty line comes.

    Args:
        words: The arguments of ``pantograph-repl``: modules to import, and Lean's options, each
            ``--name=value``.
        project: The Lake project whose modules may be imported.
        engine: The engine; see :func:`.selection.select`.
        requests: Input lines; default: standard input.
        answers: Output lines; default: standard output.

    Raises:
        UsageError: A module of the project cannot be imported.
        EngineUnavailableError: The engine cannot be installed or started.
        EngineLostError: The engine died.
    """
    source, sink = requests or sys.stdin.buffer, answers or sys.stdout.buffer
    modules = [word for word in words if not word.startswith("--")]
    options = [word.removeprefix("--") for word in words if word.startswith("--")]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # so that the engine is stopped too
    plan = engine_plan(engine, modules, project=project, core_options=options)
    process = EngineProcess(plan)
    try:
        if plan.unloaded:
            line = b"frontend.process " + orjson.dumps(plan.loads)
            if "error" in (answer := orjson.loads(_answer(process, line))):
                raise UsageError(f"{' '.join(modules)} cannot be imported: {answer['desc']}")
        _say(sink, READY)
        for line in source:
            if not line.strip():
                return
            _say(sink, _answer(process, line.strip()))
    finally:
        process.close()


def _say(sink: IO[bytes], line: bytes) -> None:
    sink.write(line + b"\n")
    sink.flush()


def _answer(process: EngineProcess, line: bytes) -> bytes:
    """Forward a line unchanged, unless it names files."""
    cmd, payload = _command(line)
    if payload is None or not needs_files(cmd):
        return process.request(line, None)

    def ask(cmd: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        line = cmd.encode() + b" " + orjson.dumps(fields)
        return dict(orjson.loads(process.request(line, None)))

    return orjson.dumps(with_files(cmd, payload, ask))


def _command(line: bytes) -> tuple[str, Mapping[str, Any] | None]:
    """Read ``command {…}`` or ``{"cmd": …, "payload": …}``; anything else is left to the engine."""
    word, _, rest = line.partition(b" ")
    try:
        if line.startswith(b"{"):
            whole = orjson.loads(line)
            cmd, payload = str(whole.get("cmd", "")), whole.get("payload", {})
        else:
            cmd, payload = word.decode(), orjson.loads(rest) if rest.strip() else {}
    except (orjson.JSONDecodeError, UnicodeDecodeError):
        return "", None
    return cmd, payload if isinstance(payload, dict) else None
