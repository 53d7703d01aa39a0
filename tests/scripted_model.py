"""A model that plays scripts, behind an OpenAI-style endpoint on this machine."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@contextlib.contextmanager
def scripted_model(scripts: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, list[Any]]]:
    """Serve it; give the endpoint's address, and the requests that it gets.

    Args:
        scripts: Tactics to play, by a text that the first user message ends with. ``"undo"`` and
            ``"state"`` call the tools of these names.
    """
    seen: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append(asked)
            message, reason = _next(asked, scripts)
            if asked.get("stream"):
                self._answer("text/event-stream", _events(message, reason, asked["model"]))
            else:
                choice = {"index": 0, "message": message, "finish_reason": reason}
                whole = {**_frame(asked["model"]), "object": "chat.completion"}
                body = json.dumps({**whole, "choices": [choice], "usage": USAGE}).encode()
                self._answer("application/json", body)

        def _answer(self, kind: str, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", seen
    finally:
        server.shutdown()
        server.server_close()


USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def _next(asked: Any, scripts: Mapping[str, Sequence[str]]) -> tuple[dict[str, Any], str]:
    messages = asked["messages"]
    first = next(m["content"] for m in messages if m["role"] == "user")
    text = first if isinstance(first, str) else "".join(part["text"] for part in first)
    script = next(script for end, script in scripts.items() if text.strip().endswith(end))
    turn = sum(message["role"] == "assistant" for message in messages)
    if turn >= len(script):
        return {"role": "assistant", "content": "Done."}, "stop"
    move = script[turn]
    name, arguments = (move, {}) if move in {"undo", "state"} else ("tactic", {"tactic": move})
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"index": 0, "id": f"call-{turn}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"


def _events(message: dict[str, Any], reason: str, model: str) -> bytes:
    chunks: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        {"choices": [], "usage": USAGE},
    ]
    frame = {**_frame(model), "object": "chat.completion.chunk"}
    lines = [json.dumps({**frame, **chunk}) for chunk in chunks]
    return "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]).encode()


def _frame(model: str) -> dict[str, Any]:
    return {"id": "scripted", "created": 0, "model": model}
