"""What tests of engines share; the engines themselves are in tests/conftest.py."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest


@pytest.fixture
def gone() -> Callable[[int], bool]:
    """Whether a process is gone (waits up to 10 s for it)."""

    def check(pid: int) -> bool:
        end = time.monotonic() + 10
        while time.monotonic() < end:
            try:
                process = psutil.Process(pid)
                # Nobody is told of a death before the last thread is dead.
                if process.status() == psutil.STATUS_ZOMBIE and process.num_threads() <= 1:
                    return True
            except psutil.NoSuchProcess:
                return True
            time.sleep(0.01)
        return False

    return check


PANTOGRAPH_REPL = """\
#!{python}
import os, sys
from lean_dojo_v2.lean.engines.embedded.launch import embedded_plan

words = sys.argv[1:]
options = [word.removeprefix("--") for word in words if word.startswith("--")]
plan = embedded_plan([w for w in words if not w.startswith("--")], core_options=options)
os.execve(plan.argv[0], plan.argv, plan.env)
"""


@pytest.fixture
def repl(tmp_path: Path) -> Path:
    """An executable that speaks Pantograph's protocol: the embedded engine behind a script.

    It takes the arguments of ``pantograph-repl``: modules, then ``--name=value``.
    """
    script = tmp_path / "bin" / "pantograph-repl"
    script.parent.mkdir()
    script.write_text(PANTOGRAPH_REPL.format(python=sys.executable))
    script.chmod(0o755)
    return script


MINI_REPL = """\
#!{python}
import json, os, sys, time

hoard, loaded, states = [], [], 0
print("ready.", flush=True)
for line in sys.stdin:
    command, _, payload = line.partition(" ")
    payload = json.loads(payload or "{{}}")
    answer = {{}}
    if command == "sleep":
        time.sleep(payload["seconds"])
    elif command == "die":
        os._exit(7)
    elif command == "grow":
        hoard.append(bytearray(payload["mb"] << 20))
    elif command == "frontend.process":
        loaded.append(payload["file"])
        answer = {{"units": []}}
    elif command == "goal.start":
        states += 1
        answer = {{"stateId": states, "root": "_uniq.1"}}
    elif command == "goal.save":
        open(payload["path"], "w").write(str(payload["id"]))
    elif command == "goal.load":
        answer = {{"id": int(open(payload["path"]).read())}}
    elif command == "goal.print":
        goal = {{"name": "_uniq.1", "target": {{"pp": "True"}}, "vars": []}}
        answer = {{"goals": [goal]}}
    elif command == "frontend.track":
        answer = {{"srcMessages": [], "dstMessages": [], "failure": "f is not there"}}
    elif command == "loaded":
        answer = {{"loaded": loaded}}
    elif command == "pid":
        answer = {{"pid": os.getpid()}}
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def mini_repl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A native engine without Lean in it, which starts at once: for what is not about Lean.

    It speaks the protocol and sleeps, dies and grows on command.
    """
    import sys

    script = tmp_path / "mini-repl"
    script.write_text(MINI_REPL.format(python=sys.executable))
    script.chmod(0o755)
    monkeypatch.setenv("LEAN_DOJO_PANTOGRAPH", str(script))
    return script
