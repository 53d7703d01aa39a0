"""Two CPU processes (gloo): as many optimiser steps as configured, metrics that count once."""

import math
import os
import subprocess
import sys

import pytest
import torch

from lean_dojo_plugins.retrieval.data.datamodule import RetrievalDataModule
from lean_dojo_plugins.retrieval.model.premise_retriever import PremiseRetriever
from lean_dojo_plugins.retrieval.search.retriever import Retriever
from lean_dojo_plugins.training.run_folder import RunFolder
from lean_dojo_v2.files import checkpoint_dir, merged_data_dir

SCRIPT = """
import sys
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.lean_agent.config import TrainingConfig
from lean_dojo_v2.trainer.retrieval_trainer import RetrievalTrainer

if __name__ == "__main__":
    database = DynamicDatabase(sys.argv[1])
    repos = sorted(database.repositories, key=lambda repo: repo.name)
    repos = repos[: int(sys.argv[3])]
    RetrievalTrainer(TrainingConfig.from_yaml(sys.argv[2])).train(repos, database)
"""
LAUNCHERS = {
    "alone": [],
    "torchrun": ["-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone"],
}


def launch(script, launcher, folder, repositories):
    """Run a script over so many repositories of the folder's database; return what it printed."""
    arguments = [str(folder / name) for name in ("database.json", "config.yaml")]
    result = subprocess.run(
        [sys.executable, *launcher, str(script), *arguments, repositories],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        timeout=600,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-3000:]
    return result.stdout


@pytest.mark.slow
@pytest.mark.parametrize("launcher", ["alone", pytest.param("torchrun", marks=pytest.mark.slow)])
def test_two_processes(launcher, database, repos, make_config, tmp_path):
    config = make_config(
        num_gpus=2, max_epochs=2, accumulate_grad_batches=2, batch_size=5, checkpoint_monitor="MRR"
    )
    config.to_yaml(tmp_path / "config.yaml")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    count = "1" if launcher == "alone" else "2"
    launch(script, LAUNCHERS[launcher], tmp_path, count)

    folder = checkpoint_dir()
    last = folder / RunFolder(folder).load().finished[-1].model
    merged = merged_data_dir()
    data = RetrievalDataModule(
        merged / "random", merged / "corpus.jsonl", num_workers=0, max_seq_len=128
    )
    data.setup()
    batches = math.ceil(math.ceil(len(data.train_items) / 5) / 2)
    steps = [
        torch.load(p, weights_only=True)["global_step"] for p in last.parent.glob("epoch=1*.ckpt")
    ]
    assert steps == [2 * math.ceil(batches / 2)]

    # The metric that both processes made together is that of one process over all states.
    corpus, examples = data.corpus, data.val_examples
    assert len(examples) % 2 == 1, "an odd number would be padded by a naive sampler"
    for path in last.parent.glob("epoch=*.ckpt"):
        model = PremiseRetriever.load(path)
        alone = Retriever.of(model, corpus, None).score(examples, 100)
        assert path.name.endswith(f"MRR={alone.values['MRR']:.4f}.ckpt")
    consolidation = PremiseRetriever.load(last).consolidation
    assert sum(float(value.sum()) for value in consolidation.fisher.values()) > 0


AGAIN = """
from lean_dojo_plugins.retrieval.runs import RetrievalRun

TWICE = []


def train_step(run, database):
    TWICE.append(run.number)
    checkpoint = run.step_folder / "finished.ckpt"
    if run.processes.is_main_process:
        checkpoint.parent.mkdir(parents=True)
        checkpoint.touch()
    run.processes.wait_for_everyone()
    return checkpoint


RetrievalRun.train_step = train_step
"""


@pytest.mark.slow
def test_every_process_sees_that_a_run_is_finished(database, make_config, tmp_path):
    make_config(num_gpus=2).to_yaml(tmp_path / "config.yaml")
    script = tmp_path / "script.py"
    again = "    RetrievalTrainer(TrainingConfig.from_yaml(sys.argv[2])).train(repos, database)\n"
    said = "    print(f'runs {TWICE}', flush=True)\n"
    script.write_text(AGAIN + SCRIPT + again + said)
    printed = launch(script, LAUNCHERS["torchrun"], tmp_path, "1")
    assert printed.count("runs [1, 2]") == 2, printed
