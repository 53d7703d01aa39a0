"""A tiny model, a traced database, and processes to train in: for all tests of trainers."""

from __future__ import annotations

import json
import multiprocessing
import os
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from small_worlds import example, save_bert, save_encoder

from lean_dojo_v2.lean_progress.examples import read_examples, write_examples

torch.set_num_threads(1)

CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] "
    "+ eos_token + '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
"""Without generation markers, and with text after the end-of-turn token, as real ones have."""


def theorem(url: str, number: int) -> dict[str, Any]:
    """A theorem in the format of ``dynamic_database.json``."""
    hypotheses = [f"h{k} : x{k} = {number}" for k in range(number % 6)]
    goal = "\n".join([*hypotheses, f"⊢ x{number} + {number % 4} = {number % 4} + x{number}"])
    tactics = [
        ("intro h", goal, goal),
        (f"rw [<a>Nat.add_comm</a> x{number}]", goal, "no goals"),
    ]
    if number % 7 == 3:
        tactics[0] = ("sorry", goal, goal)
    if number % 7 == 4:
        tactics[0] = ("rw [foo,\n  bar]", goal, goal)
    return {
        "full_name": f"T.t{number}",
        "theorem_statement": f"theorem t{number} : x :=",
        "file_path": "T/Basic.lean",
        "start": f"({number * 3 + 1}, 1)",
        "end": f"({number * 3 + 2}, 9)",
        "url": url,
        "commit": "c" * 40,
        "traced_tactics": [
            {
                "tactic": text.replace("<a>", "").replace("</a>", ""),
                "annotated_tactic": [text, []],
                "state_before": before,
                "state_after": after,
            }
            for text, before, after in tactics
        ],
        "difficulty_rating": 2.7,
    }


def repository(url: str, theorems: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "url": url,
        "name": "/".join(url.split("/")[-2:]),
        "commit": "c" * 40,
        "lean_version": "v4.28.0",
        "lean_dojo_version": "2.0.0",
        "metadata": {"date_processed": "2026-11-01T00:00:00"},
        "total_theorems": len(theorems),
        "num_proven_theorems": len(theorems),
        "num_sorry_theorems": 0,
        "num_sorry_theorems_proved": 0,
        "num_sorry_theorems_unproved": 0,
        "num_premise_files": 0,
        "num_premises": 0,
        "num_files_traced": 0,
        "proven_theorems": theorems,
        "sorry_theorems_proved": [],
        "sorry_theorems_unproved": [],
        "premise_files": [],
        "files_traced": [],
        "pr_url": "",
    }


@pytest.fixture(scope="session")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file with three small repositories and one in which all is ``sorry``."""
    urls = [f"https://example.org/lean/{name}" for name in ("one", "two", "three")]
    repositories = [
        repository(url, [theorem(url, 100 * k + n) for n in range(14)])
        for k, url in enumerate(urls)
    ]
    empty = "https://example.org/lean/empty"
    hopeless = theorem(empty, 3)
    hopeless["traced_tactics"] = hopeless["traced_tactics"][:1]
    repositories.append(repository(empty, [hopeless]))
    path = tmp_path_factory.mktemp("traced") / "dynamic_database.json"
    path.write_text(json.dumps({"repositories": repositories}))
    return path


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Llama of two layers with a ChatML template."""
    from lean_dojo_plugins.causal_lm.tiny_model import build_tiny_model

    texts = [str(theorem("u", number)["traced_tactics"]) for number in range(40)]
    folder = build_tiny_model(
        [*texts, "<|im_start|>system user assistant"] * 2,
        tmp_path_factory.mktemp("tiny") / "model",
        hidden_size=64,
        layers=2,
        vocab_size=500,
        max_length=1024,
    )
    (folder / "chat_template.jinja").write_text(CHATML)
    return folder


@pytest.fixture(scope="session")
def encoder_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random T5 encoder of one layer and 32 dimensions."""
    return save_encoder(tmp_path_factory.mktemp("t5"))


@pytest.fixture(scope="session")
def dataset_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A progress dataset that is easy to learn."""
    path = tmp_path_factory.mktemp("data") / "progress.jsonl"
    write_examples(path, [example(t, i, 1 + t % 5) for t in range(40) for i in range(1 + t % 5)])
    return path


@pytest.fixture(scope="session")
def encoder(tmp_path_factory: pytest.TempPathFactory, dataset_file: Path) -> str:
    """A small BERT with a tokenizer trained on the progress dataset."""
    texts = [e.text for e in read_examples(dataset_file)]
    return str(save_bert(tmp_path_factory.mktemp("bert"), texts))


@pytest.fixture(scope="session")
def run_script() -> Callable[..., int]:
    """Run a script in a process forked from one that has the learning libraries loaded.

    The fixture's value is called with the script and its environment, and gives the exit code.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        [
            "trl.trainer.sft_trainer",
            "trl.trainer.grpo_trainer",
            "peft",
            "pytorch_lightning",
            "torch.utils.tensorboard",
        ]
    )
    os.environ.setdefault("OMP_NUM_THREADS", "1")

    def run(script: Path, **environment: str) -> int:
        process = context.Process(target=_run, args=(str(script), environment))
        process.start()
        process.join(240)
        if process.is_alive():
            process.kill()
            process.join()
            raise TimeoutError(f"{script.name} did not end")
        assert process.exitcode is not None
        return process.exitcode

    return run


def _run(script: str, environment: dict[str, str]) -> None:
    os.environ.update(environment)
    runpy.run_path(script, run_name="__main__")
