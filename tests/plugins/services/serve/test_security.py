"""Pages of other sites, foreign names and slow clients are kept out."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from lean_dojo_plugins.services.serve import security
from lean_dojo_plugins.services.serve.security import LOCAL_HOSTS, PunctualProtocol, Walls

JSON = {"content-type": "application/json"}


async def hello(_request: object) -> PlainTextResponse:
    return PlainTextResponse("hello")


APP = Starlette(routes=[Route("/", hello, methods=["GET", "POST"])])


@pytest.fixture(scope="module")
def client() -> TestClient:
    return TestClient(Walls(APP, LOCAL_HOSTS), base_url="http://127.0.0.1:8000")


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("GET", {}, 200),
        ("GET", {"host": "localhost:8000"}, 200),
        ("GET", {"host": "LOCALHOST"}, 200),
        ("GET", {"host": "[::1]:8000"}, 200),
        ("GET", {"host": "evil.example"}, 421),
        ("GET", {"host": "localhost.evil.example"}, 421),
        ("GET", {"host": "evil.example#localhost"}, 421),
        ("GET", {"host": ""}, 421),
        ("GET", {"host": "evil.example@127.0.0.1"}, 421),
        ("GET", {"host": "evil.example@127.0.0.1:8000"}, 421),
        ("GET", {"host": "user:secret@localhost"}, 421),
        ("GET", {"host": "127.0.0.1:8000@evil.example"}, 421),
        ("GET", {"host": "localhost:8000:8000"}, 421),
        ("GET", {"host": "localhost, evil.example"}, 421),
        ("GET", {"host": "localhost/evil.example"}, 421),
        ("GET", {"host": "[::1].evil.example"}, 421),
        ("POST", JSON, 200),
        ("POST", {"content-type": "application/json; charset=utf-8"}, 200),
        ("POST", {"content-type": "APPLICATION/JSON"}, 200),
        ("POST", {"content-type": "text/plain"}, 415),
        ("POST", {"content-type": "text/plain; application/json"}, 415),
        ("POST", {"content-type": "application/x-www-form-urlencoded"}, 415),
        ("POST", {"content-type": "multipart/form-data; boundary=x"}, 415),
        ("POST", {}, 415),
        ("POST", {**JSON, "origin": "http://127.0.0.1:8000"}, 200),
        ("POST", {**JSON, "origin": "http://127.0.0.1:9000"}, 403),
        ("POST", {**JSON, "origin": "http://evil.example"}, 403),
        ("POST", {**JSON, "origin": "null"}, 403),
        ("POST", {**JSON, "origin": ""}, 403),
        ("POST", {**JSON, "origin": "http://evil.example@127.0.0.1:8000"}, 403),
        ("POST", {**JSON, "origin": "http://127.0.0.1:8000/evil"}, 403),
        ("GET", {"origin": "http://evil.example"}, 403),
    ],
)
def test_who_may_ask(client, method, headers, status):
    answer = client.request(method, "/", headers=headers)
    assert answer.status_code == status
    if status != 200:
        assert set(answer.json()["error"]) == {"code", "message"}


def test_any_name_where_the_server_is_for_others():
    client = TestClient(Walls(APP, None), base_url="http://lean.example")
    assert client.get("/").status_code == 200
    assert client.get("/", headers={"origin": "http://evil.example"}).status_code == 403


def test_every_answer_keeps_frames_and_scripts_of_others_out(client):
    for answer in (client.get("/"), client.get("/none"), client.post("/")):
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["x-content-type-options"] == "nosniff"


@contextlib.contextmanager
def listening() -> Iterator[int]:
    place = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(Walls(APP, None), http=PunctualProtocol, log_level="warning")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([place],), daemon=True)
    thread.start()
    try:
        yield place.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()


@pytest.mark.parametrize("begun", [b"", b"GET / HTTP/1.1\r\nHost: local", b"G"])
def test_headers_that_do_not_come_close_the_connection(monkeypatch, begun):
    monkeypatch.setattr(security, "HEADER_SECONDS", 0.2)
    with listening() as port, socket.create_connection(("127.0.0.1", port), timeout=60) as slow:
        slow.sendall(begun)
        assert slow.recv(1000) == b""


def test_a_second_request_must_come_in_time_too(monkeypatch):
    monkeypatch.setattr(security, "HEADER_SECONDS", 0.2)
    with listening() as port, socket.create_connection(("127.0.0.1", port), timeout=60) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = b""
        while not answer.endswith(b"hello"):
            answer += slow.recv(1000)
        slow.sendall(b"GET / HTTP/1.1\r\nHo")
        assert slow.recv(1000) == b""


def test_a_file_without_a_theorem_is_said(served):
    found = served.post("/v1/file", {"text": "def a := 1"}).json()
    assert (found["valid"], found["theorems"]) == (False, [])
    assert "no theorem" in found["detail"]


def answered(served, *headers: str, method: str = "GET", path: str = "/health") -> int:
    """The status of a request with exactly these headers; no client library would send them."""
    port = int(served.url.rpartition(":")[2])
    lines = [f"{method} {path} HTTP/1.1", *headers, "Connection: close", "", ""]
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall("\r\n".join(lines).encode("latin-1"))
        return int(connection.makefile("rb").readline().split()[1])


def test_the_real_server_reads_every_host_and_origin(served):
    host = "Host: " + served.url.removeprefix("http://")
    own, evil = f"Origin: {served.url}", "Origin: http://evil.example"
    assert answered(served, host) == 200
    assert answered(served, host, own) == 200
    assert answered(served, host, own, own) == 200
    assert answered(served, host, own, evil) == 403
    assert answered(served, host, evil, own) == 403
    assert answered(served, "Host: evil.example@127.0.0.1") == 421
    # h11, the parser of HTTP, refuses these two itself
    assert answered(served, host, "Host: evil.example") == 400
    assert answered(served) == 400
    kinds = ["Content-Type: application/json", "Content-Type: text/plain", "Content-Length: 0"]
    assert answered(served, host, *kinds, method="POST", path="/v1/proof") == 415


def test_the_real_server_has_the_walls(served):
    assert "content-security-policy" in served.get("/").headers
    assert served.get("/health", headers={"host": "evil.example"}).status_code == 421
    question = b'{"goal": "True", "proof": "trivial"}'
    sent = httpx.post(f"{served.url}/v1/proof", content=question, timeout=60)
    assert sent.status_code == 415
