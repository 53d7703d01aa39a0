"""An output folder with every part that a report shows, written by hand."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import pytest

from lean_dojo_plugins.demo.run import DemoStage
from lean_dojo_plugins.services.report.page import write_report
from lean_dojo_v2.benchmarks.attempts import Attempt, AttemptFolder
from lean_dojo_v2.benchmarks.statistics import Comparison, Share
from lean_dojo_v2.prover.search.tree import NodeStatus, SearchTree
from lean_dojo_v2.runs.forgetting import Forgetting

URLS = ("https://example.org/lean/<one>", "https://example.org/lean/two")


def search_tree() -> SearchTree:
    grown = SearchTree("Sample.thing")
    root = grown.add(None, "", "⊢ a < b ∧ c", 0.0, 0.0)
    left = grown.add(root, "constructor", "⊢ a < b\n\n⊢ c", -0.5, 0.5)
    root.failures["failed"] = 3
    done = grown.add(left, "simp <;> omega", "no goals", -1.5, 1.5)
    done.status = NodeStatus.SOLVED
    for index in range(200):
        grown.add(root, f"tactic_{index}", f"⊢ {index}", -3.0, 3.0)
    return grown


@pytest.fixture
def tree() -> SearchTree:
    return search_tree()


def lines(*rows: dict) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def sft(folder: Path) -> None:
    folder.mkdir(parents=True)
    step = {"commit": "c" * 40, "rows": 7, "optimizer_steps": 30, "data": ""}
    state = {
        "version": 1, "trainer": "SFTTrainer",
        "settings": {"lr": 1e-3, "lora_config": None, "model_name": "owner/" + 90 * "m"},
        "finished": [{"url": url, **step} for url in URLS], "pending": None, "pending_files": [],
    }  # fmt: skip
    (folder / "training_state.json").write_text(json.dumps(state))
    rows = [
        {"step": n, "repository": f"r{n // 31}", "time": n, "loss": 3 / n} for n in range(1, 61)
    ]
    (folder / "metrics.jsonl").write_text(lines(*rows) + '{"st')
    matrix = Forgetting("loss (nats per token)", higher_is_better=False)
    matrix.add("one@ccccccc", "", {"one@ccccccc": 1.0})
    matrix.add("two@ccccccc", "", {"one@ccccccc": 1.25, "two@ccccccc": 0.75})
    matrix.write(folder)
    (folder / "environment.json").write_text(json.dumps({"Python": "3.11.2", "trl": "1.16.0"}))


def grpo(folder: Path) -> None:
    folder.mkdir(parents=True)
    rows = [
        {
            "step": n, "repository": "r", "time": 100 + n, "loss": 0.0, "reward": n / 50,
            "rewards/pantograph-verified/mean": n / 50, "rewards/short/mean": 0.1,
            "lean/verified": n / 50, "lean/solved": n / 100,
            "lean/refused": 0.05, "lean/refused/sorry": 0.05, "lean/refused/axiom": 0.0,
            "lean/unparsed": 0.2, "lean/unparsed/several-lines": 0.1 + 0.05 * math.cos(n),
            "lean/unparsed/not-a-tactic": 0.1 - 0.05 * math.cos(n),
        }
        for n in range(1, 51)
    ]  # fmt: skip
    (folder / "metrics.jsonl").write_text(lines(*rows))


def progress(folder: Path) -> None:
    folder.mkdir(parents=True)
    rows = [
        {"step": 1, "repository": "p", "time": 900, "loss": 2.5},
        {"step": 2, "repository": "p", "time": 901, "eval_loss": 2.25},
    ]
    (folder / "metrics.jsonl").write_text(lines(*rows))


def merged(folder: Path) -> None:
    (folder / "random").mkdir(parents=True)
    repositories = [
        {"url": url, "name": url[20:], "commit": "c" * 40, "lean_version": "v4.28.0",
         "metadata": {"engine": "embedded"}}
        for url in URLS
    ]  # fmt: skip
    totals = {"total_theorems": 14, "num_premises": 1234}
    (folder / "metadata.json").write_text(json.dumps({"repositories": repositories, **totals}))


def attempt(name: str, proof: str | None, reason: str | None = None) -> Attempt:
    return Attempt(
        name=name, number=0, group=None, success=proof is not None, proof=proof, reason=reason,
        detail="", expansions=3, samples=9, lean_calls=9, refused_proofs=0, ended_by_clock=0,
        seconds=1.0,
    )  # fmt: skip


def proofs(folder: Path, tree: SearchTree) -> None:
    run = AttemptFolder(folder)
    run.begin({"prover": {"label": "SFT"}})
    run.append("prover", attempt("Sample.a", "simp <;> omega"))
    run.append("prover", attempt("Sample." + 120 * "b", None, "no-states-left"))
    tree.save(folder / "trees" / "SFT" / "Sample.thing.json")


def everything(folder: Path) -> Path:
    """Write an output folder with every part."""
    sft(folder / "sft")
    grpo(folder / "grpo")
    progress(folder / "progress")
    merged(folder / "merged")
    proofs(folder / "proofs", search_tree())
    scores = {
        "dataset": "merged",
        "split": "random",
        "method": "dense",
        "R@10": 41.5,
        "states": None,
    }
    (folder / "evaluation.json").write_text(json.dumps({"checkpoint": "x", "rows": [scores]}))
    gain = Comparison.of([(True, False)] * 6 + [(True, True)] + [(False, False)] * 5)
    stages = [
        DemoStage("automation", Share.of(1, 12), 1.0),
        DemoStage("SFT", Share.of(7, 12), 2.0, gain),
    ]
    summary = {"stages": [stage.row() for stage in stages], "seconds": {"SFT": 12.5}}
    (folder / "summary.json").write_text(json.dumps(summary))
    return folder


@pytest.fixture(scope="session")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An output folder with everything; copy it to change it."""
    return everything(tmp_path_factory.mktemp("whole") / "out")


@pytest.fixture
def run(tmp_path: Path, whole_run: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(whole_run, tmp_path / "out"))


@pytest.fixture(scope="session")
def drawn(whole_run: Path) -> Path:
    """The page of such a folder, beside it, for tests that only read them."""
    return write_report(whole_run, whole_run.with_name("page.html"))


@pytest.fixture
def benched(tmp_path):
    folder = AttemptFolder(tmp_path / "bench")
    folder.begin({"prover": {"prover": "hf", "label": "outputs-sft"}})
    folder.append("prover", attempt("a", "rfl"))
    folder.append("prover", attempt("b", None, "cannot-open"))
    folder.append("automation", attempt("a", None, "no-states-left"))
    folder.append("automation", attempt("b", None, "cannot-open"))
    return folder.path
