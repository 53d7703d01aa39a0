"""The clients that the page on the server shows do what it says of them."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

ANSWERS = ["intro n\nexact (sorry)", "intro n\nsimp [h]", "intro n\nrfl"]


class Model(BaseHTTPRequestHandler):
    """Speaks OpenAI's chat completions: a trick, a mistake, and a proof."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        choices = [
            {"index": n, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
            for n, text in enumerate(ANSWERS[: asked["n"]])
        ]
        frame = {"id": "1", "object": "chat.completion", "created": 0, "model": asked["model"]}
        body = json.dumps({**frame, "choices": choices}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


@pytest.mark.slow
def test_the_clients_of_the_server(
    all_blocks: list[Any], verdict_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: dict[str, Any] = {}
    for block in all_blocks:
        if block.page == "serve.md" and block.language == "python":
            exec(block.code.replace("http://127.0.0.1:8000", verdict_server), names)
    assert names["proved"](["intro n\nomega", "sorry"], ["∀ n : Nat, n < n + 1"] * 2) == [1.0, 0.0]

    model = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{model.server_port}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    goal = "∀ n : Nat, n + 0 = n"
    try:
        assert names["prove"](goal, "scripted") == ANSWERS[2]
        assert names["prove"](goal, "scripted", samples=2) is None
    finally:
        model.shutdown()
        model.server_close()
