"""A stand-in for vLLM, SGLang and llama.cpp: a real model behind a completions endpoint.

It answers in their forms, with transformers' own arithmetic and draws of its own, and can be made
to fail. ``llama_server.py`` is a real one.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import attrs
import torch

FORMS = ("vllm", "sglang", "llama.cpp")


@attrs.define
class CompletionsServer:
    """What a test may change of the server, and what it saw.

    Attributes:
        model: A causal language model.
        tokenizer: Its tokenizer.
        form: Whose answers to imitate: one of :data:`FORMS`, or ``"mute"``, without probabilities.
        seen: The requests.
        drawn: Token ids of the completions, in the order of the answers.
    """

    model: Any
    tokenizer: Any
    form: str = "vllm"
    names: tuple[str, ...] = ("a-model",)
    address: str = ""
    seen: list[dict[str, Any]] = attrs.field(factory=list)
    drawn: list[list[int]] = attrs.field(factory=list)
    lock: Any = attrs.field(factory=threading.Lock)

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        count = 1 if self.form == "llama.cpp" else asked["n"]
        choices = [self._choice(asked, asked["seed"] + index) for index in range(count)]
        usage = {"prompt_tokens": len(asked["prompt"]), "completion_tokens": 1, "total_tokens": 1}
        return {
            "id": "1", "object": "text_completion", "created": 0, "model": asked["model"],
            "choices": [{**one, "index": place} for place, one in enumerate(choices)],
            "usage": usage,
        }  # fmt: skip

    @torch.inference_mode()
    def _choice(self, asked: dict[str, Any], seed: int) -> dict[str, Any]:
        draws, ids, logprobs = torch.Generator().manual_seed(seed), [], []
        heeds = self.form != "llama.cpp"
        ends = {self.tokenizer.eos_token_id, *(asked["stop_token_ids"] if heeds else ())}
        given, cache = asked["prompt"], None
        while len(ids) < asked["max_tokens"] and not ends.intersection(ids):
            output = self.model(input_ids=torch.tensor([given]), past_key_values=cache)
            raw, cache = output.logits[0, -1].float().log_softmax(-1), output.past_key_values
            if asked["temperature"] == 0:
                token = int(raw.argmax())
            else:
                chances = (raw / asked["temperature"]).softmax(-1)
                token = int(torch.multinomial(chances, 1, generator=draws))
            given = [token]
            ids.append(token)
            logprobs.append(float(raw[token]))
        self.drawn.append(ids)
        texts = [self.tokenizer.decode([token]) for token in ids]
        told: Any = {"tokens": texts, "token_logprobs": logprobs}
        if self.form == "llama.cpp":
            pairs = zip(ids, texts, logprobs, strict=True)
            told = {"content": [{"id": i, "token": t, "logprob": p} for i, t, p in pairs]}
        return {
            "text": self.tokenizer.decode(ids, skip_special_tokens=True),
            "finish_reason": "stop" if ends.intersection(ids) else "length",
            "logprobs": None if self.form == "mute" else told,
            **({"token_ids": ids} if self.form == "vllm" else {}),
        }


@contextlib.contextmanager
def completions_server(model: Any, tokenizer: Any) -> Iterator[CompletionsServer]:
    """Serve a model on this machine until the context ends."""
    served = CompletionsServer(model, tokenizer)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            models = [
                {"id": n, "object": "model", "created": 0, "owned_by": ""} for n in served.names
            ]
            self._send({"object": "list", "data": models})

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with served.lock:
                served.seen.append(asked)
                self._send(served.answer(asked))

        def _send(self, answer: Any) -> None:
            body = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    served.address = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
