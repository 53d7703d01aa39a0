"""A server of a model, started by a command that the user gives, and ended after its work.

The processes of a machine share it.
"""

from __future__ import annotations

import http.client
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from lean_dojo_core.errors import ConfigError, UsageError
from lean_dojo_plugins.causal_lm.model.bases import is_adapter
from lean_dojo_plugins.training import resolve_model, say
from lean_dojo_v2.runs import processes_here

if TYPE_CHECKING:
    from accelerate import PartialState

MODEL, PORT = "{model}", "{port}"
"""Placeholders in a command for the model's folder or hub id, and for the port."""
HOST = "127.0.0.1"

_SAID_AGAIN = 30.0
"""Seconds between two lines that say that the server has not answered yet."""
_LOOK_AGAIN = 0.5
_TO_END = 30.0
"""Seconds that a server has to end before it is killed."""
_LAST_LINES = 15
_WATCHER = "cat >/dev/null; kill -s TERM -- -$1; sleep 10; kill -s KILL -- -$1"
"""Ends the server's process group once this process is gone, however it went."""
_OF_THE_LAUNCHER = re.compile(
    "(LOCAL_|GROUP_|ROLE_)?(RANK|WORLD_SIZE)|ROLE_NAME|MASTER_(ADDR|PORT)|(TORCHELASTIC|ACCELERATE)_.*"
)
"""Variables that would tell the server that it is one of several processes."""


def check_command(command: str) -> None:
    """Refuse a command that does not say which model to serve, or where."""
    missing = [one for one in (MODEL, PORT) if one not in command]
    if missing:
        raise ConfigError(
            f"server_command: {' and '.join(missing)} must stand in it, for example "
            f"'vllm serve {MODEL} --port {PORT}', not {command!r}"
        )


@contextmanager
def served_here(
    command: str, model: str, folder: Path, *, timeout: float, needed: bool, processes: PartialState
) -> Iterator[str | None]:
    """Have one process of each machine serve a model until all of its processes leave the context.

    All processes enter it, each saying whether a server is ``needed``; the log goes to ``folder``.
    A LoRA adapter is merged into its base first. Gives the address of the server's API; ``None``
    where no process of this machine needs one. If a server does not start, all processes raise.
    """
    from accelerate.utils import gather_object
    from accelerate.utils.memory import clear_device_cache

    first = processes.process_index - processes.local_process_index  # of this machine
    clear_device_cache(garbage_collection=True)  # the server needs the memory
    wanted = gather_object([needed])[first : first + processes_here(processes.num_processes)]
    number = f"-{first}" if first else ""
    with ExitStack() as stack:
        address, failure = None, None
        if processes.is_local_main_process and any(wanted):
            try:
                plain = stack.enter_context(_plain(model, folder / f"merged{number}"))
                log = folder / f"server{number}.log"
                address = stack.enter_context(model_server(command, plain, log, timeout=timeout))
            except Exception as error:
                failure = error
        answers = gather_object([(address, failure and (str(failure) or repr(failure)))])
        if failure is not None:
            raise failure
        if why := next((text for _, text in answers if text), None):
            raise UsageError(f"the model is not served: {why}")
        yield answers[first][0]
        processes.wait_for_everyone()


@contextmanager
def _plain(model: str, merged: Path) -> Iterator[str]:
    """Give the model as servers take it: whole."""
    from lean_dojo_plugins.causal_lm.model.adapters import merge_lora

    source = resolve_model(model)
    if not is_adapter(source):
        yield source
        return
    shutil.rmtree(merged, ignore_errors=True)  # of a run that was killed
    try:
        merge_lora(Path(source), merged)
        yield str(merged)
    finally:
        shutil.rmtree(merged, ignore_errors=True)


@contextmanager
def model_server(command: str, model: str, log: Path, *, timeout: float) -> Iterator[str]:
    """Serve a model on this machine until the context ends; gives the address of its API.

    The command is a shell's. What it starts is one process group, which gets a ``SIGTERM`` at the
    end, however the context ends, and a ``SIGKILL`` 30 s later (10 s if this process is killed).
    Its output is appended to ``log``; ``timeout`` is how long it may take to answer, in seconds.
    """
    from accelerate.utils.other import get_free_port

    port = get_free_port()
    asked = command.replace(MODEL, shlex.quote(model)).replace(PORT, str(port))
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        output.write(f"$ {asked}\n".encode())
        output.flush()
        server = subprocess.Popen(
            ["sh", "-c", asked], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            start_new_session=True,
            env={k: v for k, v in os.environ.items() if not _OF_THE_LAUNCHER.fullmatch(k)},
        )  # fmt: skip
    try:
        with _watched(server.pid):
            _wait(server, port, log, timeout)
            yield f"http://{HOST}:{port}/v1"
            if server.poll() is not None:
                say(f"the model's server ended before its work was done; see {log}")
    finally:
        _end(server)


@contextmanager
def _watched(group: int) -> Iterator[None]:
    """End a process group if this process is killed."""
    watcher = subprocess.Popen(
        ["sh", "-c", _WATCHER, "sh", str(group)],
        stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        yield
    finally:
        watcher.kill()
        watcher.communicate()


def _wait(server: subprocess.Popen[bytes], port: int, log: Path, timeout: float) -> None:
    """Wait until the server answers."""
    began = said = time.monotonic()
    while not _answers(port):
        if (code := server.poll()) is not None:
            raise UsageError(
                f"server_command ended with exit code {code} before it answered; {_end_of(log)}"
            )
        now = time.monotonic()
        if now - began > timeout:
            raise UsageError(
                f"server_command did not answer at port {port} within {timeout:g} s; raise "
                f"server_timeout if it needs longer; {_end_of(log)}"
            )
        if now - said >= _SAID_AGAIN:
            said = now
            say(f"waiting for the model's server, {now - began:.0f} s so far (log: {log})")
        time.sleep(_LOOK_AGAIN)
    say(f"the model's server answers after {time.monotonic() - began:.0f} s (log: {log})")


def _answers(port: int) -> bool:
    asked = http.client.HTTPConnection(HOST, port, timeout=5)
    try:
        asked.request("GET", "/v1/models")
        return asked.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        asked.close()


def _end(server: subprocess.Popen[bytes]) -> None:
    """End the server's process group, and wait until it is gone, with its memory."""
    members = _members(server.pid)
    for how in (signal.SIGTERM, signal.SIGKILL):
        if not all(map(_is_over, members)):
            with suppress(ProcessLookupError):  # the last one has just ended
                os.killpg(server.pid, how)
        deadline = time.monotonic() + _TO_END
        while not all(map(_is_over, members)) and time.monotonic() < deadline:
            time.sleep(0.1)
    server.wait()


def _members(group: int) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        with suppress(OSError):  # it has just ended
            if os.getpgid(process.pid) == group:
                found.append(process)
    return found


def _is_over(process: psutil.Process) -> bool:
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:  # it ended between two questions, or is a zombie
        return True


def _end_of(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LAST_LINES:]
    return f"its log, {log}, ends with:\n" + "\n".join(lines)
