"""Pantograph's protocol, for engines that have no files: the client's requests and ``lean repl``.

Pantograph's own program opens files itself. The embedded engine has no access to the user's files,
so our client and ``lean-dojo lean repl`` read and write them. Requests and answers are thus
Pantograph's for every engine.
"""

import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import orjson

from lean_dojo_core.errors import UsageError
from lean_dojo_v2.files import atomic_write_bytes
from lean_dojo_v2.lean.engines.process import READY, EngineProcess
from lean_dojo_v2.lean.engines.selection import EngineName, engine_plan

PROTOCOL_VERSION = "0.3.15"
"""Version of Pantograph's protocol that our engines speak."""
Fields: TypeAlias = Mapping[str, Any]
Answer: TypeAlias = dict[str, Any]
_Ask: TypeAlias = Callable[[str, Fields], Answer]

_MAGIC = b"lean-dojo state\n"


def with_files(cmd: str, payload: Fields, ask: _Ask) -> Answer:
    """Send one request of Pantograph's with ``ask``, reading and writing the files it names."""
    handler = _HANDLERS.get(cmd)
    if handler is None:
        return ask(cmd, payload)
    try:
        return handler(cmd, payload, ask)
    except (OSError, UnicodeDecodeError) as error:
        return {"error": "io", "desc": str(error)}


def _process(cmd: str, payload: Fields, ask: _Ask) -> Answer:
    """Read the text of ``fileName``, write the tactics to ``invocations``."""
    name, target = payload.get("fileName"), payload.get("invocations")
    if isinstance(name, str) and payload.get("file") is None:
        payload = {**payload, "file": Path(name).read_bytes().decode()}
    answer = ask(cmd, payload)
    if isinstance(target, str) and "units" in answer:
        found = [{"invocations": unit.pop("invocations", [])} for unit in answer["units"]]
        atomic_write_bytes(Path(target), orjson.dumps({"units": found}))
    return answer


def _catalog(cmd: str, payload: Fields, ask: _Ask) -> Answer:
    """Write the names to ``filename``, one in a line."""
    asked = dict(payload)
    target = asked.pop("filename", None)
    answer = ask(cmd, asked)
    if not isinstance(target, str) or "symbols" not in answer:
        return answer
    symbols = answer["symbols"]
    # In place: a client may hold the file open.
    Path(target).write_bytes("".join(f"{symbol}\n" for symbol in symbols).encode())
    return {"nSymbols": len(symbols)}


def _state_file(cmd: str, payload: Fields, ask: _Ask) -> Answer:
    """Write the engine's data to ``path``, or send it what was written there."""
    asked = dict(payload)
    file = asked.pop("path", None)
    if not isinstance(file, str):
        return {"error": "command", "desc": "Unable to parse json: path: expected a text"}
    if cmd.endswith(".load"):
        data = Path(file).read_bytes()
        if not data.startswith(_MAGIC):
            return {"error": "io", "desc": f"{file} was not written by the embedded engine"}
        asked["packed"] = data[len(_MAGIC) :].decode()
    answer = ask(cmd, asked)
    if "packed" not in answer:
        return answer
    atomic_write_bytes(Path(file), _MAGIC + str(answer["packed"]).encode())
    return {}


_HANDLERS: dict[str, Callable[[str, Fields, _Ask], Answer]] = {
    "frontend.process": _process,
    "env.catalog": _catalog,
    "goal.save": _state_file,
    "goal.load": _state_file,
    "env.save": _state_file,
    "env.load": _state_file,
}


def serve_protocol(
    words: Sequence[str], *, project: Path | None = None, engine: EngineName = "auto"
) -> None:
    """Answer standard input as ``pantograph-repl`` does, until it ends or an empty line comes.

    The words are that program's arguments: modules, and Lean's options, each ``--name=value``.
    """
    modules = [word for word in words if not word.startswith("--")]
    options = [word.removeprefix("--") for word in words if word.startswith("--")]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # so that the engine is stopped too
    plan = engine_plan(engine, modules, project=project, core_options=options)
    process = EngineProcess(plan)
    try:
        answer = _ask(process, "frontend.process", plan.loads) if plan.loads else {}
        if "error" in answer:
            raise UsageError(f"{' '.join(modules)} cannot be imported: {answer['desc']}")
        _say(READY)
        for line in sys.stdin.buffer:
            if not line.strip():
                return
            _say(_answer(process, line.strip()))
    finally:
        process.close()


def _say(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


def _answer(process: EngineProcess, line: bytes) -> bytes:
    """Forward a line unchanged, unless it names files."""
    cmd, payload = _command(line)
    if payload is None or cmd not in _HANDLERS:
        return process.request(line, None)
    return orjson.dumps(with_files(cmd, payload, partial(_ask, process)))


def _ask(process: EngineProcess, cmd: str, fields: Fields) -> Answer:
    line = cmd.encode() + b" " + orjson.dumps(fields)
    return dict(orjson.loads(process.request(line, None)))


def _command(line: bytes) -> tuple[str, Fields | None]:
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
