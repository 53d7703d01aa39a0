"""Fixtures for all three rooms: real distributions, really installed."""

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from lean_dojo_v2.lean.embedded.launch import ensure_installed
from lean_dojo_v2.lean.server import Server

WheelMaker = Callable[..., Path]

# A distribution of its own, with its own tests: test_example_plugin.py installs it and runs them.
collect_ignore = ["example_plugin"]


def _make_wheel(
    folder: Path,
    name: str,
    files: Mapping[str, str],
    *,
    version: str = "1.0",
    entry_points: Mapping[str, str] | None = None,
    requires: Sequence[str] = (),
) -> Path:
    """Write a pure-Python wheel (PEP 427) that pip installs."""
    stem = f"{name.replace('-', '_')}-{version}"
    info = f"{stem}.dist-info"
    metadata = [f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}"]
    metadata += [f"Requires-Dist: {text}" for text in requires]
    content = dict(files)
    content[f"{info}/METADATA"] = "\n".join(metadata) + "\n"
    content[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    if entry_points:
        lines = [f"{key} = {value}" for key, value in entry_points.items()]
        content[f"{info}/entry_points.txt"] = "\n".join(["[lean_dojo]", *lines]) + "\n"
    record = []
    for path, text in content.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
        record.append(f"{path},sha256={digest.decode()},{len(text.encode())}")
    content[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,"]) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in content.items():
            archive.writestr(path, text)
    return wheel


@pytest.fixture(scope="session")
def make_wheel() -> WheelMaker:
    return _make_wheel


@pytest.fixture(scope="session")
def pip_target() -> Callable[[Path, Sequence[Path]], Mapping[str, str]]:
    """Install wheels into a folder with pip; give the environment in which they are found."""

    def install(folder: Path, wheels: Sequence[Path]) -> Mapping[str, str]:
        command = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--no-index",
            "--no-build-isolation",
        ]
        subprocess.run(
            [*command, "--disable-pip-version-check", "--target", str(folder), *map(str, wheels)],
            check=True,
        )
        return clean_environment(PYTHONPATH=str(folder))

    return install


def clean_environment(**changes: str) -> dict[str, str]:
    """The process's environment without what steers plugins and output."""
    ours = ("LEAN_DOJO_", "_LEAN_DOJO", "NO_COLOR", "FORCE_COLOR", "RAID_DIR", "PYTHONPATH")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
    return {**kept, "COLUMNS": "80", "OMP_NUM_THREADS": "1", **changes}


@pytest.fixture(scope="session")
def environment() -> Callable[..., dict[str, str]]:
    return clean_environment


@pytest.fixture(scope="session")
def engine() -> Iterator[Server]:
    """One embedded engine for all tests that leave it as they found it."""
    ensure_installed()
    with Server(engine="embedded", timeout=60) as server:
        yield server


@pytest.fixture
def fresh_engine() -> Iterator[Server]:
    """An embedded engine that a test may kill."""
    ensure_installed()
    with Server(engine="embedded", timeout=60) as server:
        yield server
