"""Theorems of a text, a generator that proposes and an endpoint that answers what it is told to."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from lean_dojo_v2.lean.text.source import SourceTheorem
from lean_dojo_v2.prover.suggestion import Suggestion

Proposals = Sequence[tuple[str, float]]


class Scripted:
    """Proposes tactics by a word that the state holds; it keeps what it was asked.

    Args:
        proposals: Tactics with log-probabilities, for every state that holds the key.
    """

    def __init__(self, proposals: Mapping[str, Proposals]) -> None:
        self.proposals = proposals
        self.batches: list[list[str]] = []
        self.samples: set[int] = set()
        self.premises: list[Sequence[Sequence[str]]] = []

    def generate(
        self, goals: Sequence[str], *, num_samples: int, premises: Sequence[Sequence[str]] = ()
    ) -> list[list[Suggestion]]:
        self.batches.append(list(goals))
        self.samples.add(num_samples)
        self.premises.append(premises)
        return [
            [
                Suggestion(tactic, logprob)
                for key, tactics in self.proposals.items()
                if key in goal
                for tactic, logprob in tactics
            ][:num_samples]
            for goal in goals
        ]

    @property
    def states(self) -> list[str]:
        """Every state it was asked about, in order."""
        return [goal for batch in self.batches for goal in batch]


@pytest.fixture
def theorem_in() -> Callable[[str, str], SourceTheorem]:
    """Find a theorem of a text by its full name, as a trace would place it."""

    def find(text: str, full_name: str) -> SourceTheorem:
        name = re.escape(full_name.partition(".")[2])
        match = re.search(
            rf"^((?:private )?theorem {name} .*?)(?=\n\n|\ntheorem |\nend)",
            text,
            re.DOTALL | re.MULTILINE,
        )
        assert match

        def place(offset: int) -> tuple[int, int]:
            before = text[:offset]
            return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1

        return SourceTheorem(text, full_name, "Zoo.lean", place(match.start()), place(match.end()))

    return find


@pytest.fixture
def scripted() -> type[Scripted]:
    return Scripted


class Endpoint:
    """Speaks OpenAI's chat completions; ``answers`` are given in turn, the last one for ever.

    An answer is a status, raw bytes, seconds to wait, or a function from the request to choices.
    """

    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests = []
        self.lock = threading.Lock()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with endpoint.lock:
                    endpoint.requests.append(
                        (self.path, {k.lower(): v for k, v in self.headers.items()}, body)
                    )
                    more = len(endpoint.answers) > 1
                    answer = endpoint.answers.pop(0) if more else endpoint.answers[0]
                status, content = 200, b""
                if isinstance(answer, int):
                    status, content = answer, b'{"error": {"message": "not now"}}'
                elif isinstance(answer, float):
                    time.sleep(answer)
                elif isinstance(answer, bytes):
                    content = answer
                else:
                    choices = answer(body)
                    if isinstance(choices, int):
                        status, content = choices, b'{"error": {"message": "unknown field"}}'
                    else:
                        content = json.dumps(completion(choices)).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}/v1"

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


def completion(choices):
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [
            {
                "index": index,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": text},
                "logprobs": {"content": tokens} if tokens else None,
            }
            for index, (text, tokens) in enumerate(choices)
        ],
    }


def answering(*texts, logprobs=False):
    def answer(body):
        wanted = [texts[index % len(texts)] for index in range(body.get("n", 1))]
        return [(text, tokens(text) if logprobs else None) for text in wanted]

    return answer


def tokens(text):
    """Every word a token of log-probability -1."""
    words = text.replace("\n", "\n ").split(" ")
    return [
        {"token": f"{word} ", "logprob": -1.0, "bytes": None, "top_logprobs": []} for word in words
    ]


@pytest.fixture
def endpoint(monkeypatch):
    opened = []

    def start(*answers):
        made = Endpoint(*answers)
        opened.append(made)
        monkeypatch.setenv("OPENAI_BASE_URL", made.url)
        monkeypatch.setenv("OPENAI_API_KEY", "secret")
        return made

    yield start
    for made in opened:
        made.close()


@pytest.fixture
def say():
    """Make an answer of texts, in turn, with or without log-probabilities."""
    return answering
