"""Says that it serves a model, with a helper in its process group: ``MODEL PORT`` are arguments."""

from __future__ import annotations

import http.server
import os
import subprocess
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()


if __name__ == "__main__":
    model, port = sys.argv[1:]
    helper = subprocess.Popen(["sleep", "600"])
    said = f"serving {model} RANK={os.environ.get('RANK')} pids {os.getpid()} {helper.pid}"
    print(said, flush=True)
    http.server.HTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
