"""Every Python block of the documentation runs, page by page, with small models and repositories."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

URL = "https://github.com/durant42040/lean4-example"
COMMIT = re.compile(r'(?<=")b14fef0ceca29a65bc3122bf730406b33c7effe5(?=")')

SERVER = "http://127.0.0.1:8000"

# Sizes and places, not behaviour: one optimiser step of reinforcement, and searches that end soon.
SMALLER = {
    'output_dir="outputs-grpo",': 'output_dir="outputs-grpo", trainer_args={"max_steps": 1},',
    "max_steps=100, max_completion_length=2048": "max_steps=1, max_completion_length=16, "
    "num_generations=2, per_device_train_batch_size=2, use_cpu=True, bf16=False",
    'output_dir="outputs-sft"),': 'output_dir="outputs-sft", trainer_args={"max_steps": 2}),',
    "HFAgent(trainer=trainer)": "HFAgent(trainer=trainer, prover_config=SMALL)",
    "from lean_dashboards.kind import DashboardSpec\n": "",  # a file of the same page
    "LeanAgent()": "LeanAgent(training_config=RETRIEVER, prover_config=SMALL, gen_ckpt_path=MODEL)",
}


@pytest.fixture
def stand_ins(request: pytest.FixtureRequest) -> Any:
    """Replace what cannot be had here: hub models, a repository on the net, long runs."""

    def replace(code: str) -> str:
        if "Qwen/" in code:
            folder = request.getfixturevalue("small_tool_caller")
            code = code.replace('"Qwen/Qwen3-4B"', f'"{folder}"')
        if "deepseek-ai/" in code or "bert-base" in code or "kaiyuy/" in code:
            for name, folder in request.getfixturevalue("small_models").items():
                code = code.replace(f'"{name}"', f'"{folder}"')
        if URL in code:
            url, commit = request.getfixturevalue("lean_repository")
            code = COMMIT.sub(commit, code.replace(URL, url))
        if SERVER in code:
            code = code.replace(SERVER, request.getfixturevalue("verdict_server"))
        for long, short in SMALLER.items():
            code = code.replace(long, short)
        return code

    return replace


@pytest.mark.slow
def test_a_page_runs_from_top_to_bottom(
    block_page: list[Any],
    workplace: Path,
    stand_ins: Any,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    # A module of its own: examples are pickled by name into other processes.
    module = ModuleType("documentation_page")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    codes = [stand_ins(block.code) for block in block_page]
    _prepare(module, "\n".join(codes), workplace, request)
    for block, code in zip(block_page, codes, strict=True):
        exec(compile(code, str(block), "exec"), vars(module))


def _prepare(module: ModuleType, code: str, folder: Path, request: pytest.FixtureRequest) -> None:
    """Give a page what its shell blocks would have made, and the sizes of the stand-ins."""
    from lean_dojo_v2.database import DynamicDatabase
    from lean_dojo_v2.lean_agent.config import ProverConfig, TrainingConfig
    from lean_dojo_v2.lean_progress.create_sample_dataset import create

    names = vars(module)
    names["SMALL"] = ProverConfig(num_sampled_tactics=2, max_expansions=1, num_workers=1)
    if "RETRIEVER" in code:
        models = request.getfixturevalue("small_models")
        names["RETRIEVER"] = TrainingConfig(
            model_name=str(models["kaiyuy/leandojo-lean4-retriever-byt5-small"]), num_workers=0
        )
        names["MODEL"] = str(models["deepseek-ai/DeepSeek-Prover-V2-7B"])
    if "GRPODataset" in code:
        with DynamicDatabase("dynamic_database.json") as database:
            database.export_merged_data(database.repositories, "raid/data/merged")
    if "sample_leanprogress_dataset" in code:
        examples = folder / "raid/data/sample_leanprogress_dataset.jsonl"
        create(examples)
        lines = examples.read_text(encoding="utf-8").splitlines()[:80]
        examples.write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.starts_ray
def test_a_block_that_needs_a_process_of_its_own_runs_as_a_script(
    script_block: Any, workplace: Path, environment: Any
) -> None:
    script = workplace / "script.py"
    script.write_text(script_block.code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_only_shell_blocks_are_skipped_and_each_says_why(all_blocks: list[Any]) -> None:
    for block in all_blocks:
        if block.skipped:
            assert block.language == "sh", block
            assert re.fullmatch(r"skip - \w.+", block.note), block
        else:
            assert block.note in {"", "script"}, block
