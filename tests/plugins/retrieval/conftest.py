"""Small worlds for retrieval: repositories in a real database, and a tiny T5 encoder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import T5Config, T5EncoderModel

from lean_dojo_core import Premise, PremiseFile
from lean_dojo_plugins.retrieval.data.corpus import Corpus
from lean_dojo_v2.database import DynamicDatabase, Repository
from lean_dojo_v2.lean_agent.config import TrainingConfig


@pytest.fixture(autouse=True)
def own_raid(tmp_path, monkeypatch):
    """Nothing is read from or written to the project; one thread, since cores are shared."""
    monkeypatch.setenv("RAID_DIR", str(tmp_path / "raid"))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def premise(name: str, line: int, code: str | None = None, lines: int = 1) -> Premise:
    text = code or f"theorem {name.rpartition('.')[2]} : {name} = {name}"
    return Premise(name, text, (line, 1), (line + lines - 1, 60), "theorem")


@pytest.fixture
def make_premise():
    return premise


@pytest.fixture
def chain() -> Corpus:
    """Three files, A ← B ← C, and D alone."""
    files = [
        PremiseFile("A.lean", (), tuple(premise(f"A.p{i}", 1 + 2 * i) for i in range(4))),
        PremiseFile("B.lean", ("A.lean",), tuple(premise(f"B.p{i}", 1 + 2 * i) for i in range(3))),
        PremiseFile("C.lean", ("B.lean",), tuple(premise(f"C.p{i}", 1 + 2 * i) for i in range(5))),
        PremiseFile("D.lean", (), (premise("D.p0", 1),)),
    ]
    return Corpus.build(files)


def repository(
    name: str, words: list[str], *, repeats: int = 8, shift: int = 0, date: str = "2026-01-01"
) -> Repository:
    """A repository with one premise per word and ``repeats`` theorems that use each.

    The state names a word, so retrieval can be learnt: that of the premise, or with a ``shift``
    that of another one, which contradicts what is learnt without.
    """
    url, commit = f"https://example.org/owner/{name}", (name * 40)[:40]
    base, main = f"{name}/Base.lean", f"{name}/Main.lean"
    premises = [
        {
            "full_name": f"{name}.{word}_eq",
            "code": f"theorem {word}_eq (n : Nat) : {word} n = n",
            "start": [2 * i + 1, 1],
            "end": [2 * i + 1, 50],
            "kind": "theorem",
        }
        for i, word in enumerate(words)
    ]
    theorems = []
    for number in range(repeats * len(words)):
        place = (number + shift) % len(words)
        word = words[number % len(words)]
        full_name = f"{name}.{words[place]}_eq"
        theorems.append(
            {
                "full_name": f"{name}.t{number}",
                "theorem_statement": f"theorem t{number} : {word} {number} = {number} :=",
                "file_path": main,
                "start": [3 * number + 1, 1],
                "end": [3 * number + 2, 20],
                "url": url,
                "commit": commit,
                "traced_tactics": [
                    {
                        "tactic": f"exact {full_name} _",
                        "annotated_tactic": [
                            f"exact <a>{full_name}</a> _",
                            [
                                {
                                    "full_name": full_name,
                                    "def_path": base,
                                    "def_pos": [2 * place + 1, 9],
                                    "def_end_pos": [2 * place + 1, 20],
                                }
                            ],
                        ],
                        "state_before": f"⊢ {word} {number} = {number}",
                        "state_after": "no goals",
                    }
                ],
            }
        )
    return Repository.from_dict(
        {
            "url": url,
            "name": f"owner/{name}",
            "commit": commit,
            "lean_version": "v4.28.0",
            "lean_dojo_version": "2.0.0",
            "metadata": {"date_processed": f"{date}T00:00:00"},
            "proven_theorems": theorems,
            "sorry_theorems_proved": [],
            "sorry_theorems_unproved": [],
            "premise_files": [
                {"path": base, "imports": [], "premises": premises},
                {"path": main, "imports": [base], "premises": []},
            ],
            "files_traced": [base, main],
            "pr_url": None,
        }
    )


FRUIT = ["apple", "banana", "cherry", "damson", "elder", "fig"]
METAL = ["gold", "iron", "zinc", "lead", "copper", "nickel"]


@pytest.fixture(scope="session")
def make_repository():
    return repository


@pytest.fixture
def database(tmp_path) -> DynamicDatabase:
    """Two repositories, ``alpha`` and ``beta``, in a real database."""
    database = DynamicDatabase(tmp_path / "database.json")
    database.add_repository(repository("alpha", FRUIT))
    database.add_repository(repository("beta", METAL))
    return database


@pytest.fixture
def repos(database: DynamicDatabase) -> list[Repository]:
    return sorted(database.repositories, key=lambda repo: repo.name)


@pytest.fixture
def exported(database, repos, tmp_path) -> Path:
    database.export_merged_data(repos, tmp_path / "export")
    return tmp_path / "export"


def save_encoder(folder: Path, **changes: Any) -> Path:
    torch.manual_seed(0)
    settings: dict[str, Any] = {
        "vocab_size": 384,
        "d_model": 32,
        "d_kv": 8,
        "d_ff": 64,
        "num_layers": 1,
        "num_heads": 2,
        "feed_forward_proj": "gated-gelu",
        "dropout_rate": 0.0,
    }
    T5EncoderModel(T5Config(**{**settings, **changes})).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def encoder_folder(tmp_path_factory) -> Path:
    """A random T5 encoder of one layer and 32 dimensions."""
    return save_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture
def make_encoder():
    return save_encoder


@pytest.fixture
def make_config(encoder_folder, tmp_path):
    """A configuration that trains in a second or two, the same on every machine."""

    def build(**changes: Any) -> TrainingConfig:
        settings: dict[str, Any] = {
            "model_name": str(encoder_folder),
            "precision": "32-true",
            "num_workers": 0,
            "batch_size": 8,
            "accumulate_grad_batches": 1,
            "max_seq_len": 128,
            "accelerator": "cpu",
        }
        return TrainingConfig(**{**settings, **changes})

    return build
