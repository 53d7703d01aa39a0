"""File access for requests to an engine that has none.

Pantograph's REPL opens files itself. The embedded engine has no access to the user's files, so our
client and ``lean-dojo lean repl`` read and write them. Requests and answers are thus Pantograph's
for every engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import orjson

from lean_dojo_v2.atomic import atomic_write_bytes

Fields: TypeAlias = Mapping[str, Any]
Answer: TypeAlias = dict[str, Any]

_MAGIC = b"lean-dojo state\n"


def with_files(cmd: str, payload: Fields, ask: Callable[[str, Fields], Answer]) -> Answer:
    """Send one request with ``ask``, reading and writing the files it names.

    Fields and answer are those of Pantograph's REPL. ``ask`` returns answers, including errors.
    """
    handler = _HANDLERS.get(cmd)
    if handler is None:
        return ask(cmd, payload)
    try:
        return handler(payload, lambda fields: ask(cmd, fields))
    except (OSError, UnicodeDecodeError) as error:
        return {"error": "io", "desc": str(error)}


def needs_files(cmd: str) -> bool:
    """Whether requests of this command may name files."""
    return cmd in _HANDLERS


_Ask: TypeAlias = Callable[[Fields], Answer]


def _process(payload: Fields, ask: _Ask) -> Answer:
    """``frontend.process``: read the text of ``fileName``, write the tactics to ``invocations``."""
    asked = dict(payload)
    name, target = asked.get("fileName"), asked.get("invocations")
    if isinstance(name, str) and asked.get("file") is None:
        asked["file"] = Path(name).read_bytes().decode()
    answer = ask(asked)
    if isinstance(target, str) and "units" in answer:
        found = [{"invocations": unit.pop("invocations", [])} for unit in answer["units"]]
        atomic_write_bytes(Path(target), orjson.dumps({"units": found}))
    return answer


def _catalog(payload: Fields, ask: _Ask) -> Answer:
    """``env.catalog``: write the names to ``filename``, one in a line."""
    asked = dict(payload)
    target = asked.pop("filename", None)
    answer = ask(asked)
    if not isinstance(target, str) or "symbols" not in answer:
        return answer
    symbols = answer["symbols"]
    # In place: a client may hold the file open.
    Path(target).write_bytes("".join(f"{symbol}\n" for symbol in symbols).encode())
    return {"nSymbols": len(symbols)}


def _save(payload: Fields, ask: _Ask) -> Answer:
    """``goal.save``, ``env.save``: write the engine's data to ``path``."""
    asked = dict(payload)
    target = asked.pop("path", None)
    if not isinstance(target, str):
        return _no_path()
    answer = ask(asked)
    if "packed" not in answer:
        return answer
    atomic_write_bytes(Path(target), _MAGIC + str(answer["packed"]).encode())
    return {}


def _load(payload: Fields, ask: _Ask) -> Answer:
    """``goal.load``, ``env.load``: send the content of ``path`` to the engine."""
    asked = dict(payload)
    source = asked.pop("path", None)
    if not isinstance(source, str):
        return _no_path()
    data = Path(source).read_bytes()
    if not data.startswith(_MAGIC):
        return {"error": "io", "desc": f"{source} was not written by the embedded engine"}
    return ask({**asked, "packed": data[len(_MAGIC) :].decode()})


def _no_path() -> Answer:
    return {"error": "command", "desc": "Unable to parse json: path: expected a text"}


_HANDLERS: dict[str, Callable[[Fields, _Ask], Answer]] = {
    "frontend.process": _process,
    "env.catalog": _catalog,
    "goal.save": _save,
    "goal.load": _load,
    "env.save": _save,
    "env.load": _load,
}
