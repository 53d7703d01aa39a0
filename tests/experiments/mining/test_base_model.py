"""``experiments/base_model.py`` from mined proofs to a card, with the public commands."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from base_model import PROOFS_SHARE
from lean_dojo_plugins.causal_lm.generate.prover import HFProver
from lean_dojo_plugins.training.data import is_in_share
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.files import append_lines, read_lines
from mining.miner import UNTRIED, Mined
from mining.play import MinedStep

SCRIPT = Path(__file__).parents[3] / "experiments" / "base_model.py"
SIZES = {
    "steps": 2, "rounds": 1, "round-steps": 2, "limit": 1, "width": 32, "layers": 1,
    "vocabulary": 300, "engines": 1, "benchmarks": "sample",
}  # fmt: skip


def mined(name: str, statement: str, kind: str = "library") -> Mined:
    return Mined(
        name=name, module="Init.Some", kind=kind, header="prelude\nimport Init.Omega\n\n",
        statement=f"theorem {name} {statement} :=",
        proofs=((MinedStep("n : Nat\n⊢ n + 0 = n", "rfl", "no goals"),),) if kind != UNTRIED else (),
    )  # fmt: skip


@pytest.mark.slow
def test_every_stage_runs_and_a_second_call_does_nothing_anew(tmp_path: Path) -> None:
    in_the_sample = "(p q r : Prop) (h : p ∨ q) : p ∨ q ∨ r"
    rows = [
        mined("a", "(n : Nat) : n + 0 = n"),
        mined("b", in_the_sample),
        mined("c", "(n m : Nat) : n + m = m + n", UNTRIED),
        mined("d", in_the_sample, UNTRIED),
    ]
    append_lines(tmp_path / "mined.jsonl", [row.row() for row in rows])
    (tmp_path / "mined.done").touch()

    shipped = tmp_path / "shipped"

    def run() -> str:
        sizes = [word for name, size in SIZES.items() for word in (f"--{name}", str(size))]
        words = [
            sys.executable,
            str(SCRIPT),
            "--output",
            str(tmp_path),
            *sizes,
            "--ship",
            str(shipped),
        ]
        ran = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=False)
        assert ran.returncode == 0, ran.stderr
        assert ("lean-dojo train sft" in ran.stderr) == (not done)
        return ran.stdout

    done = False
    card = run()
    assert "1 theorems of 1 modules" in card
    assert "tried 1 of 1 other statements of these modules and proved 1." in card
    assert [one["name"] for one in read_lines(tmp_path / "problems.jsonl")] == ["c"]
    figures = json.loads((tmp_path / "figures.json").read_bytes())
    assert figures["benchmarks"]["sample"]["model"]["tried"] == 1
    assert (shipped / "README.md").read_text() + "\n" == card
    assert not list(shipped.glob("*.lock"))
    [all_of_it] = DynamicDatabase(tmp_path / "database.json").repositories
    [library] = DynamicDatabase(shipped / "proofs.json", read_only=True).repositories
    some = [one.identity for one in all_of_it.proven_theorems if is_in_share(one, PROOFS_SHARE)]
    assert [one.identity for one in library.proven_theorems] == some
    prover = HFProver(shipped)
    assert prover.tactics.max_length == 512
    assert prover.generator.generate(["n : Nat\n⊢ n + 0 = n"], num_samples=1)
    done = True
    assert run() == card
