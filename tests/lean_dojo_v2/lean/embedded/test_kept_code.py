"""Machine code that V8 made of Lean is kept between engines; it saves time and changes nothing."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lean_dojo_v2.files import CACHE_VARIABLE
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.engines.embedded import launch
from lean_dojo_v2.lean.engines.embedded.install import (
    ensure_installed,
    find_embedded,
    node_program,
)
from lean_dojo_v2.lean.verify.files import check_file


def code_of(server: Server) -> list[str]:
    return [word for word in server.plan.argv if word.startswith("--code=")]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own, with an installation and no more."""
    installed = find_embedded()
    assert installed is not None
    (tmp_path / "embedded").mkdir()
    (tmp_path / "embedded" / installed.name).symlink_to(installed)
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    return tmp_path


def test_the_text_that_warms_up_is_valid(engine):
    text = (Path(launch.__file__).parent / "warm_up.lean").read_text()
    outcome = check_file(engine, text)
    assert outcome.valid, outcome


LOOK = """
const [, , host, wasm, ...files] = process.argv;
const { readKept } = require(`${host}/code.js`);
const wire = require('node:fs').readFileSync(wasm);
for (const file of files) console.log(readKept(file, wire) instanceof WebAssembly.Module);
"""


def accepted(files: list[Path], script: Path) -> list[bool]:
    """Whether V8 accepts these files, under an engine's flags."""
    home = ensure_installed()
    script.write_text(LOOK)
    host = Path(launch.__file__).parent / "host"
    words = [str(script), str(host), str(home / "bin" / "lean.wasm"), *map(str, files)]
    said = subprocess.check_output([node_program(), *launch._V8_FLAGS, *words], text=True)
    return [line == "true" for line in said.split()]


@pytest.mark.slow
def test_damaged_code_only_costs_time(cache, monkeypatch, tmp_path):
    monkeypatch.setattr(launch, "warm_up_requests", lambda: b"stat {}\n")
    home = ensure_installed()
    with Server(engine="embedded") as server:
        assert code_of(server) == []
        assert server.expr_type("Nat.succ") == "Nat → Nat"
    launch.prepare_embedded(home)
    [file] = (cache / "code").glob("*.code")
    content = file.read_bytes()
    damaged = tmp_path / "damaged.code"
    damaged.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert accepted([file, damaged], tmp_path / "look.js") == [True, False]
    for changed in (content, damaged.read_bytes(), b""):
        file.write_bytes(changed)
        with Server(engine="embedded") as server:
            assert code_of(server) == [f"--code={file}"]
            assert server.expr_type("Nat.succ") == "Nat → Nat"
    launch.prepare_embedded(home)
    assert accepted([file], tmp_path / "look.js") == [True], "it is made again"


def test_a_v8_that_cannot_keep_code_is_no_error(cache, monkeypatch, capsys):
    monkeypatch.setattr(launch, "warm_up_requests", lambda: b"nonsense {}\n")
    launch.prepare_embedded(ensure_installed())
    assert "engines will start more slowly" in capsys.readouterr().err
    assert not list((cache / "code").glob("*.code"))


@pytest.mark.slow
def test_every_request_is_answered(cache):
    launch.prepare_embedded(ensure_installed())
    [file] = (cache / "code").glob("*.code")
    assert file.stat().st_size > 5_000_000
