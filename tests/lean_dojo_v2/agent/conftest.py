"""A traced repository with gaps, and an agent that proves them as it is told to."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from lean_dojo_v2.agent import ProverAgent
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean_agent.config import ProverConfig
from lean_dojo_v2.prover.base import BaseProver

PROOFS = {
    "⊢ p ∧ q": [("constructor", -0.1), ("exact cheat", -0.2)],
    "case left": [("exact hp", -0.1)],
    "case right": [("exact hq", -0.1)],
    "⊢ r": [("apply hqr", -1.0)],
    "⊢ q": [("apply hpq", -1.0)],
    "⊢ p": [("exact hp", -1.0)],
    "⊢ n = n": [("rfl", -0.1)],
}


class ScriptedProver(BaseProver):
    """Proves with a given generator; writes the whole proofs it is given."""

    def __init__(self, generator: Any, config: ProverConfig, whole: dict[str, str]) -> None:
        super().__init__(config)
        self._generator = generator
        self.whole = whole
        self.asked: list[Any] = []

    @property
    def generator(self) -> Any:
        return self._generator

    def generate_whole_proof(self, theorem: Any) -> str:
        self.asked.append(theorem)
        answer = self.whole[theorem.full_name]
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture
def own_raid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RAID_DIR", str(tmp_path / "raid"))
    monkeypatch.delenv("LEANPROGRESS_MODEL", raising=False)
    return tmp_path / "raid"


@pytest.fixture
def database_copy(tmp_path: Path, tiny_database: Path) -> Path:
    return Path(shutil.copy(tiny_database, tmp_path / "database.json"))


@pytest.fixture
def make_agent(
    own_raid: Path,
    database_copy: Path,
    tiny_repository: tuple[Path, str],
    project_engine: Server,
    scripted: Any,
) -> Callable[..., ProverAgent]:
    """An agent on the traced repository; all share one engine."""

    class Agent(ProverAgent):
        def _server(self, repo: Any) -> Any:
            return nullcontext(project_engine)

    def make(proposals: Any = PROOFS, whole: Any = None, generator: Any = None, **limits: Any):
        config = ProverConfig(**{"num_workers": 1, "max_expansions": 10, **limits})
        agent = Agent(
            lambda config: ScriptedProver(generator or scripted(proposals), config, whole or {}),
            database_copy,
            config,
        )
        agent.setup_local_repository(tiny_repository[0])
        return agent

    return make
