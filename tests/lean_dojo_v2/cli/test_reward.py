"""`lean-dojo reward score|check`, and rewards named on the command line of `train`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from ruamel.yaml import YAML

Run = Callable[..., Any]
pytestmark = pytest.mark.usefixtures("workplace")

ROWS = [
    {"completion": "simp", "problem": "⊢ True"},
    {"completion": "exact sorry", "problem": "⊢ True"},
    {"completion": "x" * 300, "problem": "⊢ True"},
]

MODULE = '''\
"""Rewards of somebody."""


def fine(completions, **kwargs):
    """Shorter is better."""
    return [1.0 / (1 + len(text)) for text in completions]


def nameless(completions):
    return [1.0]


def chatty(completions, **kwargs):
    """Says what it does."""
    print("scoring", len(completions))
    return [1.0 for _ in completions]


async def judged(completions, **kwargs):
    """Asks somebody."""
    return [None if "sorry" in text else 2.0 for text in completions]
'''


def write(rows: list[Any], name: str = "rows.jsonl") -> Path:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path = Path(name)
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def somebodys(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module in the current folder, which the installed program does not search by itself."""
    Path("somebodys.py").write_text(MODULE)
    Path("broken.py").write_text("def reward(:\n")
    Path("raising.py").write_text("raise RuntimeError('no licence')\n")
    others = [path for path in sys.path if path not in {"", str(workplace)}]
    monkeypatch.setattr(sys, "path", others)


@pytest.mark.parametrize(
    ("module", "complaint"), [("broken", "SyntaxError"), ("raising", "no licence")]
)
def test_a_module_that_does_not_import_is_named(
    lean_dojo: Run, somebodys: None, module: str, complaint: str
) -> None:
    ran = lean_dojo("reward", "check", f"{module}:reward")
    assert ran.code == 2
    assert f"importing '{module}' failed: " in ran.err
    assert complaint in ran.err
    assert "Traceback" not in ran.err


def test_a_table_of_scores(lean_dojo: Run) -> None:
    ran = lean_dojo("reward", "score", "length-penalised", write(ROWS))
    assert ran.code == 0, ran.err
    lines = [line.split() for line in ran.out.splitlines()]
    assert lines[0] == ["SCORE", "COMPLETION"]
    assert [line[0] for line in lines[1:]] == ["0.98", "-1", "0"]
    assert "3 of 3 completions scored by length-penalised, mean -0.007." in ran.err


def test_json_options_and_what_does_not_apply(lean_dojo: Run, somebodys: None) -> None:
    ran = lean_dojo("reward", "score", "constant", write(ROWS), "--set", "value=3", "--json")
    assert [item["score"] for item in ran.json] == [3.0, 3.0, 3.0]
    ran = lean_dojo("reward", "score", "somebodys:judged", write(ROWS), "--json")
    assert [item["score"] for item in ran.json] == [2.0, None, 2.0]
    assert "2 of 3" in ran.err


def test_what_a_reward_prints_is_a_message(lean_dojo: Run, somebodys: None) -> None:
    ran = lean_dojo("reward", "score", "somebodys:chatty", write(ROWS), "--json")
    assert [item["score"] for item in ran.json] == [1.0, 1.0, 1.0]
    assert "scoring 3" in ran.err
    ran = lean_dojo("reward", "check", "somebodys:chatty", "--json")
    assert not any(finding["problem"] for finding in ran.json)
    assert "scoring" in ran.err
    assert "scoring 3" in lean_dojo("reward", "score", "somebodys:chatty", "rows.jsonl").out


@pytest.mark.parametrize(
    ("arguments", "rows", "complaint"),
    [
        (["constnat"], ROWS, "Did you mean 'constant'"),
        (["no_such_module:f"], ROWS, "no module is called 'no_such_module'"),
        (["constant"], [ROWS[0], "{"], "line 2: is not JSON"),
        (["constant"], [ROWS[0], {"problem": "p"}], "line 2: is not an object with 'completion'"),
        (
            ["constant"],
            [{"completion": None}],
            "line 1: is not an object with 'completion', a text",
        ),
        (["constant"], [{"completion": [3]}], "line 1: is not an object with 'completion'"),
        (["constant"], ["[3]"], "line 1: is not an object with 'completion'"),
        (["constant:0.5"], ROWS, "only a weight may follow the reward 'constant'"),
        (["lean-dojo-v2:constnat"], ROWS, "Did you mean 'constant'"),
        (["constant"], [""], "holds no completions"),
        (["constant", "--set", "worth=3"], ROWS, "worth"),
        (["constant", "--set", "weight=3"], ROWS, "weight"),
        (["pantograph-verified"], [{"completion": "rfl"}], "column 'problem'"),
    ],
)
def test_mistakes_are_named(
    lean_dojo: Run, arguments: list[str], rows: list[Any], complaint: str
) -> None:
    ran = lean_dojo("reward", "score", *arguments[:1], write(rows), *arguments[1:])
    assert ran.code != 0
    assert complaint in " ".join(ran.err.split())
    assert "Traceback" not in ran.err


@pytest.mark.slow
def test_lean_scores_and_leaves_no_engine(lean_dojo: Run) -> None:
    goal = "p q : Prop\nhp : p\nhq : q\n⊢ p ∧ q"
    # `trivial` closes it, so splitting it gets no nearer to the end.
    tactics = ["constructor", "skip", "sorry", "exact ⟨hp, hq⟩"]
    rows = [{"completion": tactic, "problem": goal} for tactic in tactics]
    before = set(psutil.Process().children())
    ran = lean_dojo(
        "reward", "score", "pantograph-verified", write(rows), "--set", "engines=1", "--json"
    )
    assert ran.code == 0, ran.err
    assert [item["score"] for item in ran.json] == [0.0, 0.0, -1.0, 1.0]
    assert set(psutil.Process().children()) <= before


def test_a_reward_function_is_checked(lean_dojo: Run, somebodys: None) -> None:
    ran = lean_dojo("reward", "check", "somebodys:fine")
    assert ran.code == 0, ran.out
    bad = lean_dojo("reward", "check", "somebodys:nameless")
    assert bad.code == 1
    assert "FAILED" in bad.out
    assert "**kwargs" in bad.out
    findings = lean_dojo("reward", "check", "somebodys:nameless", "--json").json
    assert any(finding["problem"] for finding in findings)
    assert lean_dojo("reward", "check", "length-penalised").code == 0


def test_rewards_of_a_training_run(lean_dojo: Run) -> None:
    ran = lean_dojo(
        "train", "grpo", "--set", "model_name=shipped", "--dry-run",
        "--reward", "constant:0.5", "--reward", "length-penalised",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert YAML(typ="safe").load(ran.out)["reward_func"] == ["constant:0.5", "length-penalised"]
    assert not Path("outputs").exists()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["sft", "--set", "model_name=m", "--reward", "constant"], "takes no rewards"),
        (["grpo", "--set", "model_name=m", "--reward", "constnat"], "Did you mean 'constant'"),
        (["grpo", "--set", "model_name=m", "--reward", "constant:x:y"], "constant"),
    ],
)
def test_bad_rewards_of_a_training_run(
    lean_dojo: Run, arguments: list[str], complaint: str
) -> None:
    ran = lean_dojo("train", *arguments, "--dry-run")
    assert ran.code == 2
    assert complaint in ran.err


THOUGHT = {"completion": "<think>\nby cases\n</think>\nsimp", "completion_ids": [1, 2, 3]}


def test_rewards_of_trl_are_scored_and_checked_as_in_training(lean_dojo: Run) -> None:
    """They read message lists; the file has texts."""
    rows = write([THOUGHT, {**THOUGHT, "completion": "simp"}])
    ran = lean_dojo("reward", "score", "trl:think_format_reward", rows, "--json")
    assert [item["score"] for item in ran.json] == [1.0, 0.0]
    ran = lean_dojo("reward", "check", "trl:think_format_reward")
    assert ran.code == 0, ran.out


def test_factories_of_trl_take_their_options(lean_dojo: Run) -> None:
    name, rows = "trl:get_soft_overlong_punishment", write([THOUGHT])
    options = ["--set", "max_completion_len=2", "--set", "soft_punish_cache=1"]
    ran = lean_dojo("reward", "score", name, rows, *options, "--json")
    assert [item["score"] for item in ran.json] == [-1.0]
    ran = lean_dojo("reward", "score", name, rows)
    assert ran.code == 2
    assert "cannot be made without options" in ran.err
    assert "{OPTION: VALUE}" in ran.err
    # One whose options have defaults needs none.
    assert lean_dojo("reward", "score", "trl:get_repetition_penalty_reward", rows).code == 0
    ran = lean_dojo("reward", "check", "trl:get_repetition_penalty_reward")
    assert ran.code == 2
    assert "completion_ids, the tokens that only training has" in ran.err


@pytest.mark.parametrize(
    ("name", "column"),
    [("trl:accuracy_reward", "solution"), ("trl:get_repetition_penalty_reward", "completion_ids")],
)
def test_a_column_that_a_reward_of_trl_reads_is_named(
    lean_dojo: Run, name: str, column: str
) -> None:
    ran = lean_dojo("reward", "score", name, write([{"completion": "simp"}]))
    assert ran.code == 2
    assert f"lacks the column '{column}'" in ran.err


def test_a_file_that_cannot_be_decoded_is_one_message(lean_dojo: Run) -> None:
    Path("rows.jsonl").write_bytes(b'{"completion": "\xe9"}\n')
    ran = lean_dojo("reward", "score", "constant", "rows.jsonl")
    assert (ran.code, ran.out, ran.err.count("Error: ")) == (2, "", 1)
    assert "rows.jsonl, line 1: is not JSON" in ran.err
