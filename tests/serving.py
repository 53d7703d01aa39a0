"""A real verdict server on a free port, with real engines."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import uvicorn

from lean_dojo_plugins.services.folders import ServedFolders
from lean_dojo_plugins.services.serve.app import make_app
from lean_dojo_plugins.services.serve.security import LOCAL_HOSTS, PunctualProtocol
from lean_dojo_plugins.services.serve.service import RequestLimits, VerdictService
from lean_dojo_v2.lean.engines.embedded.install import ensure_installed
from lean_dojo_v2.lean.pool.local import PoolConfig


class Running:
    """A server in a thread of this process."""

    def __init__(self, service: VerdictService, token: str | None) -> None:
        self.service = service
        listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        app = make_app(service, token=token, hosts=LOCAL_HOSTS)
        config = uvicorn.Config(app, http=PunctualProtocol, log_level="warning")
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, args=([listening],), daemon=True)
        self.thread.start()

    def post(self, path: str, question: Any, **kwargs: Any) -> httpx.Response:
        return httpx.post(self.url + path, json=question, timeout=300, **kwargs)

    def get(self, path: str, **kwargs: Any) -> httpx.Response:
        return httpx.get(self.url + path, timeout=300, **kwargs)

    def close(self) -> None:
        self.server.should_exit = True
        self.thread.join()


@contextlib.contextmanager
def running(
    size: int = 1,
    *,
    token: str | None = None,
    limits: RequestLimits | None = None,
    folders: ServedFolders | None = None,
) -> Iterator[Running]:
    ensure_installed()
    service = VerdictService(PoolConfig(size=size, engine="embedded"), limits, folders)
    server = Running(service, token)
    try:
        yield server
    finally:
        server.close()
