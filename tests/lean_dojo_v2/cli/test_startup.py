"""Start-up: few imports, no learning library; the program as the shell sees it."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import pytest

from lean_dojo_v2.cli import main
from lean_dojo_v2.cli.long_commands import heartbeat
from lean_dojo_v2.runs.progress import latest_progress, report_progress
from lean_dojo_v2.sample import sample_database_path

Environment = Callable[..., dict[str, str]]

LEARNING = {
    "torch", "transformers", "trl", "peft", "datasets", "accelerate", "pytorch_lightning",
    "tokenizers",
}  # fmt: skip
HEAVY = LEARNING | {
    "numpy", "pandas", "ray", "rich", "ruamel.yaml", "cattrs", "orjson", "asyncio",
}  # fmt: skip
"""Learning libraries and others that are slow to import, which listings must not need."""

MODULES = """
import json, sys
before = set(sys.modules)
from lean_dojo_v2.cli import main
main(sys.argv[1:])
print("\\0" + json.dumps([sorted(sys.modules), len(set(sys.modules) - before)]))
"""


def modules(environment: Environment, *arguments: str) -> tuple[set[str], int]:
    ran = subprocess.run(
        [sys.executable, "-c", MODULES, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env=environment(),
    )
    names, count = json.loads(ran.stdout.partition("\0")[2])
    return set(names), count


@pytest.mark.parametrize(
    ("arguments", "most"),
    [
        (["--help"], 200),
        (["plugins"], 200),
        (["plugins", "--json"], 200),
        (["train", "--help"], 250),
        (["--version"], 200),
    ],
)
def test_imports_are_few_and_light(
    environment: Environment, arguments: list[str], most: int
) -> None:
    names, count = modules(environment, *arguments)
    allowed = {"ruamel.yaml"} if "train" in arguments else set()
    assert names & HEAVY <= allowed
    assert count <= most, f"{count} modules imported"


EVERY_CLASS = """
import json, sys
from lean_dojo_core import registry
for kind, entries in registry.registries().items():
    for name in entries:
        entries[name].load()
        if heavy := sorted(set(sys.modules) & set(json.loads(sys.argv[1]))):
            sys.exit(f"{kind} {name} imports {heavy}")
"""


def test_no_class_imports_a_learning_library(environment: Environment) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", EVERY_CLASS, json.dumps(sorted(LEARNING))],
        capture_output=True,
        text=True,
        check=False,
        env=environment(),
    )
    assert ran.returncode == 0, ran.stderr


def processor_seconds(environment: Environment, *arguments: str) -> float:
    """Return the least processor time that a command takes in three runs."""
    command = [sys.executable, "-m", "lean_dojo_v2", *arguments]
    found = []
    for _ in range(3):
        before = os.times()
        subprocess.run(command, capture_output=True, check=True, env=environment())
        after = os.times()
        user = after.children_user - before.children_user
        found.append(user + after.children_system - before.children_system)
    return min(found)


def test_a_trainer_is_shown_as_soon_as_the_plugins_are_listed(environment: Environment) -> None:
    """A ratio of processor times, which other programs on the machine change little."""
    listed = processor_seconds(environment, "plugins")
    for arguments in (("show", "sft"), ("train", "sft", "--help")):
        assert processor_seconds(environment, *arguments) <= 3 * listed


def test_python_m_is_the_same_program(environment: Environment) -> None:
    script = Path(sys.executable).with_name("lean-dojo")
    outputs = [
        subprocess.run(
            [*command, "--help"], capture_output=True, text=True, check=True, env=environment()
        ).stdout
        for command in ([str(script)], [sys.executable, "-m", "lean_dojo_v2"])
    ]
    assert outputs[0] == outputs[1]
    assert outputs[0].startswith("Usage: lean-dojo ")


def test_a_closed_pipe_is_quiet(environment: Environment) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as closed:
        ran = subprocess.run(
            [sys.executable, "-m", "lean_dojo_v2", "plugins", "--json"],
            stdout=closed,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env=environment(),
        )
    assert ran.stderr == ""


def test_a_full_disk_is_a_message(environment: Environment) -> None:
    with Path("/dev/full").open("wb") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "lean_dojo_v2", "plugins", "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env=environment(),
        )
    assert ran.returncode == 1
    assert ran.stderr == "Error: the output: No space left on device\n"


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_are_no_traceback(environment: Environment, closed: str) -> None:
    command = f'"{sys.executable}" -m lean_dojo_v2 plugins {closed}'
    ran = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, check=False, env=environment()
    )
    assert ran.returncode == 0
    assert ran.stderr == ""


def test_a_progress_line_ends_a_long_silence(capsys: pytest.CaptureFixture[str]) -> None:
    said = threading.Event()

    class Listener(io.StringIO):
        def write(self, text: str) -> int:
            if "still working" in text:
                said.set()
            return super().write(text)

    with redirect_stderr(Listener()) as listener, heartbeat(silence=0.2):
        assert said.wait(60)
        print("a word", file=sys.stderr)
    assert re.match(r"… still working after \d+ s\n", listener.getvalue())
    assert "a word" in listener.getvalue()


def test_nested_commands_print_one_progress_line() -> None:
    with (
        redirect_stderr(io.StringIO()) as listener,
        heartbeat(silence=0.05),
        heartbeat(silence=0.05),
    ):
        report_progress("step 3 of 8")
        while listener.getvalue().count("\n") < 2:
            time.sleep(0.01)
    assert set(listener.getvalue().splitlines()) == {"… still working after 0 s: step 3 of 8"}
    assert latest_progress() == ""


def test_the_interrupt_signal_exits_with_130(environment: Environment) -> None:
    """A real signal, while a command waits: the reading of a file that never ends."""
    reader, writer = os.pipe()
    code = (
        "import sys, click\n"
        "from lean_dojo_v2.cli import cli, main\n"
        "@cli.command()\n"
        "def wait():\n"
        "    click.echo('waiting'); sys.stdout.flush(); sys.stdin.read()\n"
        "sys.exit(main(['wait']))"
    )
    with os.fdopen(writer, "wb"), os.fdopen(reader, "rb") as silence:
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=silence,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.strip() == "Interrupted."


BASH = """
eval "$("$PROGRAM" completion bash)"
complete -p lean-dojo
try() {
    local IFS=' '; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); OPTIONS=
    _lean_dojo_completion lean-dojo
    echo "${COMPREPLY[*]}$OPTIONS"
}
compopt() { local IFS=' '; OPTIONS="($*)"; }
try lean-dojo pl
try lean-dojo show pantograph-
try lean-dojo train sft --no-
try lean-dojo database import ./
try lean-dojo trace ./
try lean-dojo train sft -c ./
_LEAN_DOJO_COMPLETE=bash_complete lean-dojo || echo "no words, no completions"
"""


@pytest.mark.slow
def test_bash_completes(environment: Environment) -> None:
    """In a real bash; `compopt`, which only readline may call, is written down."""
    script = Path(sys.executable).with_name("lean-dojo")
    path = f"{script.parent}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        ["bash", "-c", BASH],
        capture_output=True,
        text=True,
        check=True,
        env=environment(PROGRAM=str(script), PATH=path),
    )
    assert ran.stderr == ""
    assert ran.stdout.splitlines() == [
        "complete -o nosort -F _lean_dojo_completion lean-dojo",
        "plugins",
        "pantograph-verified",
        "--no-resume",
        "(-o default)",
        "(-o default)",
        "(-o default)",
        "no words, no completions",
    ]


def on_a_terminal(environment: Environment, *arguments: str, **changes: Any) -> str:
    """Give what a command prints on a pseudo-terminal."""
    import pty

    main, other = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "lean_dojo_v2", *arguments],
        stdout=other,
        stderr=subprocess.DEVNULL,
        env=environment(TERM="xterm-256color", **changes),
    )
    os.close(other)
    output = b""
    while True:
        try:
            chunk = os.read(main, 65_536)
        except OSError:  # Linux: the other end is closed
            break
        if not chunk:
            break
        output += chunk
    os.close(main)
    assert process.wait() == 0
    return output.decode()


def test_thirty_columns_show_numbers(environment: Environment, tmp_path: Path) -> None:
    lines = [{"completion": word * 30} for word in ("simp ", "norm_num ")]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    text = on_a_terminal(
        environment,
        "reward",
        "score",
        "constant",
        str(file),
        "--set",
        "value=-1234.56",
        COLUMNS="30",
    )
    assert text.count("-1234.56") == 2
    plain = re.sub("\x1b[^m]*m", "", text)
    assert max(len(line.rstrip("\r")) for line in plain.split("\n")) <= 30


def test_a_table_too_wide_for_thirty_columns_is_a_list_of_its_cells(
    environment: Environment,
) -> None:
    database = str(sample_database_path())
    text = on_a_terminal(environment, "database", "show", "--database", database, COLUMNS="30")
    lines = text.replace("\r", "").split("\n")
    assert max(map(len, lines)) <= 30
    fields = dict(line.split(maxsplit=1) for line in lines if line[:1].isalpha())
    assert {"THEOREMS", "PROVEN", "SORRY", "PROVED", "PREMISES"} <= fields.keys()
    assert fields["THEOREMS"].isdigit()


@pytest.mark.parametrize("no_color", ["", "1"])
def test_a_table_on_a_terminal(environment: Environment, no_color: str) -> None:
    """On a pseudo-terminal; NO_COLOR takes colours away."""
    changes: dict[str, Any] = {"NO_COLOR": no_color} if no_color else {}
    text = on_a_terminal(environment, "plugins", **changes)
    assert "tactic-chat" in text
    assert "\x1b[3" not in text or not no_color


@pytest.mark.parametrize(("given", "used"), [(None, "1000"), ("7", "7")])
def test_threads_of_the_program_wait_only_shortly_for_each_other(
    monkeypatch: pytest.MonkeyPatch, given: str | None, used: str
) -> None:
    """So that it is not slowed down many times by other work on the machine."""
    monkeypatch.setenv("GOMP_SPINCOUNT", given or "")
    if given is None:
        monkeypatch.delenv("GOMP_SPINCOUNT")
    monkeypatch.setattr(sys, "argv", ["lean-dojo", "--version"])
    main()
    assert os.environ["GOMP_SPINCOUNT"] == used
