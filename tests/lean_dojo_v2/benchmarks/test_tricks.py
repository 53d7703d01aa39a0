"""The scoreboard of tricks: nobody else's simplest check holds, ours accepts none."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from native_lean import use_toolchain

from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.verify.proofs import check_goal_proof


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


def accepted(server: Server, tricks: ModuleType, some: list[Any]) -> list[str]:
    """The tricks that this library accepts, on a host that proves what is true before and after."""
    found = []
    assert check_goal_proof(server, "2 + 2 = 4", "rfl").valid
    for trick in some:
        with server.alone(trick.name):  # its programs may last as long as its engine
            found += [trick.name] * tricks.CHECKS["lean-dojo"](server, trick)
    assert check_goal_proof(server, "2 + 2 = 4", "rfl").valid
    return found


@pytest.mark.slow
def test_this_library_accepts_none(tricks: ModuleType) -> None:
    with Server(engine="embedded", timeout=60) as server:
        assert accepted(server, tricks, tricks.read_tricks()) == []


@pytest.mark.slow
def test_every_other_check_is_fooled(tricks: ModuleType) -> None:
    with Server(engine="embedded", timeout=60) as server:
        rows = tricks.scoreboard(server, tricks.read_tricks()[::6])
    for check in set(tricks.CHECKS) - {"lean-dojo"}:
        assert any(row[check] for row in rows), f"{check} is fooled by no trick"


@pytest.mark.slow
def test_a_native_host_accepts_none(
    tricks: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sample of each kind, since every trick needs a new process."""
    use_toolchain(tmp_path, monkeypatch)
    some = tricks.read_tricks()[::5]
    assert {trick.kind for trick in some} == {"tactic", "proof", "file"}
    with Server(engine="native", timeout=60) as server:
        assert accepted(server, tricks, some) == []
