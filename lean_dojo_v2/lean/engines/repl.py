"""``lean-dojo lean repl``: the embedded engine behind the face of Pantograph's own program."""

from __future__ import annotations

import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import orjson

from lean_dojo_v2.lean.engines.embedded.launch import embedded_plan
from lean_dojo_v2.lean.engines.host import needs_files, with_files
from lean_dojo_v2.lean.engines.process import READY, EngineProcess

PROTOCOL_VERSION = "0.3.15"
"""The Pantograph whose protocol the embedded engine speaks."""


def serve(
    words: Sequence[str],
    *,
    project: Path | None = None,
    requests: IO[bytes] | None = None,
    answers: IO[bytes] | None = None,
) -> None:
    """Answer requests until the input ends or an empty line comes.

    Args:
        words: The arguments of ``pantograph-repl``: modules to import, and Lean's options, each
            ``--name=value``.
        project: Folder whose modules may be imported from source.
        requests: Where lines are read from; standard input if not given.
        answers: Where lines are written to; standard output if not given.

    Raises:
        EngineUnavailableError: The engine cannot be installed or started.
        EngineLostError: The engine died.
    """
    source, sink = requests or sys.stdin.buffer, answers or sys.stdout.buffer
    modules = [word for word in words if not word.startswith("--")]
    options = [word.removeprefix("--") for word in words if word.startswith("--")]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # so that the engine is stopped too
    engine = EngineProcess(embedded_plan(modules, project=project, core_options=options))
    try:
        _say(sink, READY)
        for line in source:
            if not line.strip():
                return
            _say(sink, _answer(engine, line.strip()))
    finally:
        engine.close()


def _say(sink: IO[bytes], line: bytes) -> None:
    sink.write(line + b"\n")
    sink.flush()


def _answer(engine: EngineProcess, line: bytes) -> bytes:
    """Pass a line on as it is, unless it names files."""
    cmd, payload = _command(line)
    if payload is None or not needs_files(cmd):
        return engine.request(line, None, "a request")

    def ask(cmd: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        line = cmd.encode() + b" " + orjson.dumps(fields)
        return dict(orjson.loads(engine.request(line, None, cmd)))

    return orjson.dumps(with_files(cmd, payload, ask))


def _command(line: bytes) -> tuple[str, Mapping[str, Any] | None]:
    """Read ``command {…}`` or ``{"cmd": …, "payload": …}``; what is neither, the engine judges."""
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
