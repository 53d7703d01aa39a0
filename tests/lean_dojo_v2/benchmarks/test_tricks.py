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
@pytest.mark.parametrize("host", ["embedded", "native"])
def test_only_this_library_accepts_none(
    host: str, tricks: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if host == "native":
        use_toolchain(tmp_path, monkeypatch)
    with Server(engine=host, timeout=60) as server:
        rows = tricks.scoreboard(server, tricks.read_tricks())
    assert [row["name"] for row in rows if row["lean-dojo"]] == []
    for check in set(tricks.CHECKS) - {"lean-dojo"}:
        assert any(row[check] for row in rows), f"{check} is fooled by no trick"
