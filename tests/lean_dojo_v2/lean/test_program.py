"""The engine's program: one text of many files, compiled once for each Lean."""

from __future__ import annotations

import threading
from pathlib import Path

import attrs
import pytest

from lean_dojo_v2.lean.engines.embedded.shipped import SHIPPED, shipped_program
from lean_dojo_v2.lean.engines.program import (
    MODULE,
    Program,
    compiled_program,
    errors_of,
    main,
    program,
)
from lean_dojo_v2.lean.errors import EngineUnavailableError


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder."""
    monkeypatch.setenv("LEAN_DOJO_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "program"


def test_each_file_stands_behind_those_that_it_imports():
    text = program().text
    names = [name for _, name in program().starts]
    assert names.index("Dojo/Session.lean") < names.index("Dojo/Start.lean")
    assert len(names) == len(set(names))
    header, body = text.split("section", 1)
    assert "import Lean\n" in header
    assert "import " not in "\n".join(line[:7] for line in body.splitlines())


def test_an_error_is_reported_at_its_place_in_the_file():
    source = Path(__file__).parents[3] / "lean_dojo_v2/lean/program/Dojo/Session.lean"
    line = next(
        i for i, text in enumerate(source.read_text().splitlines(), 1) if "structure Host" in text
    )
    joined = next(
        i for i, text in enumerate(program().text.splitlines(), 1) if "structure Host" in text
    )
    assert program().place(joined) == f"Dojo/Session.lean:{line}"
    said = (
        f'{{"severity":"error","pos":{{"line":{joined}}},"data":"unknown identifier"}}\n'
        '{"severity":"warning","pos":{"line":1},"data":"unused"}\n'
    )
    assert errors_of(program(), said) == [f"Dojo/Session.lean:{line}: unknown identifier"]


def test_the_command_line_imports_the_one_compiled_module():
    assert main().startswith(f"import {MODULE}\n")
    assert main().count("import ") == 1
    assert "def main" in main()


def test_it_is_compiled_once_and_again_if_it_is_damaged(cache):
    compiled: list[str] = []

    def compile_program(one: Program) -> bytes:
        compiled.append(one.digest)
        return b"olean of " + one.digest.encode()

    first = compiled_program("lean-1", compile_program, program())
    assert first == compiled_program("lean-1", compile_program, program())
    assert first.parent.parent == cache / "lean-1"
    assert compiled == [program().digest]
    first.write_bytes(b"half an ole")
    assert (
        compiled_program("lean-1", compile_program, program()).read_bytes().startswith(b"olean of")
    )
    assert len(compiled) == 2
    compiled_program("lean-2", compile_program, program())
    assert len(compiled) == 3, "another Lean has its own"


def test_two_processes_that_need_it_at_once_compile_it_once():
    compiled = []

    def compile_program(one: Program) -> bytes:
        compiled.append(one)
        return b"x"

    threads = [
        threading.Thread(target=compiled_program, args=("lean-1", compile_program, program()))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(compiled) == 1


def test_what_does_not_compile_leaves_nothing(cache):
    def fail(_: Program) -> bytes:
        raise EngineUnavailableError("no")

    with pytest.raises(EngineUnavailableError, match="no"):
        compiled_program("lean-1", fail, program())
    assert not list(cache.rglob("*.olean"))


def test_a_cache_that_cannot_be_written_is_named(cache):
    cache.parent.mkdir()
    cache.write_text("a file where a folder should be")
    with pytest.raises(EngineUnavailableError, match=r"cannot be written into .*LEAN_DOJO_CACHE"):
        compiled_program("lean-1", lambda _: b"x", program())


def test_the_compiled_program_that_comes_with_us_is_that_of_the_sources():
    content = shipped_program(program(SHIPPED))
    assert content is not None, "the Lean sources have changed: run `make engine-program`"
    assert content.startswith(b"olean")


def test_a_program_of_other_sources_is_not_taken_for_ours():
    ours = program(SHIPPED)
    assert shipped_program(attrs.evolve(ours, text=f"{ours.text}\n")) is None
