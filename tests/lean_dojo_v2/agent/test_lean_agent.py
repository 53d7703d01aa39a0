"""The corpus that LeanAgent retrieves from is that of its database."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lean_dojo_v2.agent import LeanAgent
from lean_dojo_v2.database import DynamicDatabase, Repository
from lean_dojo_v2.lean_agent.config import TrainingConfig

OTHER = {
    "url": "https://example.org/lean/other",
    "name": "lean/other",
    "commit": "a" * 40,
    "lean_version": "v4.28.0",
    "lean_dojo_version": "2.0.0",
    "metadata": {"date_processed": "2026-01-01T00:00:00"},
    "proven_theorems": [],
    "sorry_theorems_proved": [],
    "sorry_theorems_unproved": [],
    "premise_files": [{"path": "Other.lean", "imports": [], "premises": []}],
    "files_traced": ["Other.lean"],
    "pr_url": None,
}


@pytest.fixture
def agent(own_raid: Path, database_copy: Path, tiny_t5: tuple[Path, Path]) -> LeanAgent:
    generator, encoder = tiny_t5
    config = TrainingConfig(model_name=str(encoder))
    return LeanAgent(database_copy, config, gen_ckpt_path=str(generator))


@pytest.fixture
def paths(agent: LeanAgent) -> Callable[[], list[str]]:
    """Give the files of the corpus that lies there."""
    corpus = agent.data_path / "corpus.jsonl"
    return lambda: [json.loads(line)["path"] for line in corpus.read_text().splitlines()]


def test_a_corpus_of_other_repositories_is_replaced(agent, paths, tmp_path):
    with DynamicDatabase(tmp_path / "other.json") as other:
        other.add_repository(Repository.from_dict(OTHER))
        other.export_merged_data(other.repositories, agent.data_path)
    assert paths() == ["Other.lean"]
    agent.initialize_prover()
    assert "Tiny/Basic.lean" in paths()
    assert "Other.lean" not in paths()
    retrieved = agent.prover.premises.retriever.corpus
    assert set(retrieved.paths) == set(paths())


def test_a_corpus_of_another_commit_is_replaced(agent, paths):
    agent.database.export_merged_data(agent.database.repositories, agent.data_path)
    metadata = agent.data_path / "metadata.json"
    [repository] = agent.database.repositories
    metadata.write_text(metadata.read_text().replace(repository.commit, "b" * 40))
    (agent.data_path / "corpus.jsonl").write_text("")
    agent.initialize_prover()
    assert "Tiny/Basic.lean" in paths()


@pytest.mark.parametrize("text", [None, "", "[]", '{"repositories": [1]}', '{"repositories": 3}'])
def test_a_corpus_of_which_nothing_is_said_is_replaced(agent, paths, text):
    agent.data_path.mkdir(parents=True)
    (agent.data_path / "corpus.jsonl").write_text("")
    if text is not None:
        (agent.data_path / "metadata.json").write_text(text)
    agent.initialize_prover()
    assert "Tiny/Basic.lean" in paths()


def test_the_corpus_of_the_databases_repositories_stays(agent):
    agent.database.add_repository(Repository.from_dict(OTHER))
    reverse = agent.database.repositories[::-1]  # a curriculum's order is its own
    agent.database.export_merged_data(reverse, agent.data_path)
    before = (agent.data_path / "corpus.jsonl").stat().st_ino
    agent.initialize_prover()
    assert (agent.data_path / "corpus.jsonl").stat().st_ino == before
