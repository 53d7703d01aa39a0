"""What `evaluate()` measures on when it is not told."""

from __future__ import annotations

from lean_dojo_plugins.retrieval.trainer import RetrievalTrainer


def test_the_data_trained_on_wherever_it_lies(tmp_path, monkeypatch):
    monkeypatch.setenv("RAID_DIR", str(tmp_path / "raid"))
    trainer = RetrievalTrainer()
    assert trainer._dataset_path() == tmp_path / "raid" / "data"
    trainer._trained_on = tmp_path / "raid" / "data" / "merged"
    assert trainer._dataset_path() == tmp_path / "raid" / "data"
    trainer._trained_on = tmp_path / "elsewhere"
    assert trainer._dataset_path() == tmp_path / "elsewhere"
