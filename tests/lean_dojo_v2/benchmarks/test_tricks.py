"""The scoreboard of tricks: nobody else's simplest check holds, ours accepts none."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from native_lean import use_toolchain

from lean_dojo_v2.lean.client.server import Server


@pytest.fixture(scope="module")
def tricks() -> ModuleType:
    path = Path(__file__).parents[3] / "experiments" / "tricks.py"
    spec = importlib.util.spec_from_file_location("tricks", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_are_many_of_every_kind(tricks: ModuleType) -> None:
    found = tricks.read_tricks()
    assert len(found) >= 60
    assert {trick.kind for trick in found} == {"tactic", "proof", "file"}
    assert len({(trick.kind, trick.name) for trick in found}) == len(found)


@pytest.mark.slow
def test_only_this_library_accepts_none(tricks: ModuleType) -> None:
    """Of every third; test_without_walls.py asks about all of them, without any wall."""
    with Server(engine="embedded", timeout=60) as server:
        rows = tricks.scoreboard(server, tricks.read_tricks()[::3])
    assert [row["name"] for row in rows if row["lean-dojo"]] == []
    for check in set(tricks.CHECKS) - {"lean-dojo"}:
        assert any(row[check] for row in rows), f"{check} is fooled by no trick"


@pytest.mark.slow
def test_nor_does_a_native_host(
    tricks: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process for each trick takes its time: some of each kind."""
    use_toolchain(tmp_path, monkeypatch)
    some = tricks.read_tricks()[::5]
    assert {trick.kind for trick in some} == {"tactic", "proof", "file"}
    accepted = []
    with Server(engine="native", timeout=60) as server:
        for trick in some:
            with server.alone(trick.name):
                accepted += [trick.name] * tricks.CHECKS["lean-dojo"](server, trick)
    assert accepted == []
