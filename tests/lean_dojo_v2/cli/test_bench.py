"""``lean-dojo bench`` as it is typed, with the prover that needs no model."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import orjson
import pytest

from lean_dojo_v2.benchmarks.attempts import Attempt, AttemptFolder

LINES = [
    {"name": "by_rfl", "formal_statement": "theorem by_rfl : 2 + 2 = 4 := by\n  sorry", "split": "valid"},
    {"name": "by_omega", "formal_statement": "theorem by_omega (n : Nat) (h : 3 < n) : 7 < 2 * n := by sorry", "split": "valid"},
    {"name": "wrong", "formal_statement": "theorem wrong : 1 = 2 := by sorry", "split": "test"},
]  # fmt: skip


@pytest.fixture
def problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "few.jsonl"
    file.write_text("\n".join(map(json.dumps, LINES)))
    return file


OPTIONS = ("--prover", "automation", "-j", "1")
LIMITS = (*OPTIONS, "--expansions", "2")


def test_an_interrupted_run_resumes_by_the_same_command(lean_dojo, problems, monkeypatch):
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(AttemptFolder, "begin", interrupt)
    ran = lean_dojo("bench", problems, *OPTIONS)
    assert ran.code == 130
    assert ran.err.splitlines()[-1] == "Interrupted. The same command resumes where it stopped."


@pytest.mark.slow
def test_automation_on_a_file(lean_dojo, problems):
    ran = lean_dojo("bench", problems, *LIMITS, "--json")
    assert ran.code == 0, ran.err
    assert ran.json["prover"]["proved"]["proved"] == 2
    assert ran.json["prover"]["groups"]["test"]["proved"] == 0
    assert 0.2 < ran.json["prover"]["proved"]["low"] < 0.3
    assert ran.json["automation"] is None  # it is the prover
    folder = problems.parent / "bench" / "few-automation"
    assert (folder / "curve.svg").read_text().startswith("<?xml")
    attempts = folder / "prover.jsonl"
    before = attempts.read_bytes()
    # Once more: nothing is left to do, and the same comes out, as text.
    again = lean_dojo("bench", problems, *LIMITS)
    assert "proved 2 of 3 (66.7 %, 95 % interval" in again.out
    assert "attempt" not in again.err
    assert attempts.read_bytes() == before
    other = lean_dojo("bench", problems, *OPTIONS, "--expansions", "3")
    assert other.code == 2
    assert "other settings: search.max_expansions was 2 and is 3; name another folder" in other.err
    beside = lean_dojo("bench", problems, *LIMITS, "--compare", folder)
    assert (
        "both 2, only here 0, only there 0: +0.0 points, 95 % interval -47.1..+47.1; p = 1"
        in beside.out
    )
    few = lean_dojo("bench", problems, *OPTIONS, "--lean-calls", "9", "-o", "few", "-v")
    assert "at each state, 20000 heartbeats a tactic, 9 Lean calls a theorem" in few.out
    made = {one.name: one for one in AttemptFolder(problems.parent / "few").attempts("prover")}
    assert made["wrong"].reason == "lean-call-limit"
    assert max(one.lean_calls for one in made.values()) in {8, 9}


@pytest.mark.slow
def test_whole_proofs_of_a_file(lean_dojo, problems):
    """By the prover that writes the same proof of everything."""
    command = ("bench", problems, *OPTIONS, "--whole-proof", "--attempts", "4")
    ran = lean_dojo(*command, "--json")
    assert ran.code == 0, ran.err
    found = ran.json["prover"]
    assert (found["samples"], found["lean_calls"], found["expansions"]) == (12, 3, 0)
    assert found["pass_at"]["4"]["value"] == found["pass_at"]["1"]["value"] > 0.6
    assert 0.2 < found["pass_at"]["4"]["low"] < 0.3
    said = lean_dojo(*command).out
    assert "few: 4 proofs written for each theorem\nproved 2 of 3" in said
    assert "  pass@2 66.7 % (20.8..93.9)" in said
    assert "was True and is None" in lean_dojo("bench", problems, *LIMITS).err


def test_a_progress_model_of_the_environment_makes_another_run(lean_dojo, problems, monkeypatch):
    """As one of the option does. All attempts were made before, so nothing is searched here."""
    for line in LINES:
        attempt = Attempt(line["name"], False, expansions=1, samples=1, lean_calls=1)
        AttemptFolder(problems.parent / "run").append("prover", attempt)
    model = problems.parent / "outputs-progress"
    monkeypatch.setenv("LEANPROGRESS_MODEL", str(model))
    command = ("bench", problems, *LIMITS, "-o", "run")
    assert f"LEANPROGRESS_MODEL: {model} holds no model" in lean_dojo(*command).err
    model.mkdir()
    (model / "config.json").touch()
    assert "proved 0 of 3" in lean_dojo(*command).out
    monkeypatch.delenv("LEANPROGRESS_MODEL")
    other = lean_dojo(*command)
    assert other.code == 2
    assert f"progress_model was {model} and is None" in other.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nonsense",), "nonsense"),
        (("missing.jsonl",), "no such file"),
        (("sample", "--set", "split=best"), "(got 'best') (from --set)\n"),
        (("latin.jsonl",), "latin.jsonl, line 1: is not JSON: "),
        (("folder.jsonl",), "folder.jsonl: cannot be read: Is a directory"),
        (("sample", "--prover", "automation", "--model", "m"), "has no setting for --model"),
        (("sample", "--prover", "automation", "--external", "m"), "name one model"),
        (("held-out", "--database", "none.json"), "no such database"),
        (
            ("sample", "--compare", "folder.jsonl"),
            "folder.jsonl: is not a run of `lean-dojo bench`",
        ),
        (("sample", "--progress-model", "."), "--progress-model: . holds no model"),
        (("sample", "--lean-calls", "3"), "3 is not in the range x>=4"),
    ],
)
def test_a_mistake_is_one_message(lean_dojo, problems, arguments, message):
    (problems.parent / "latin.jsonl").write_bytes(b'{"name": "\xe9"}\n')
    (problems.parent / "folder.jsonl").mkdir()
    ran = lean_dojo("bench", *arguments, *LIMITS[2:])
    assert ran.code == 2
    assert "Attribute(" not in ran.err
    assert message in ran.err
    assert ran.out == ""


@pytest.mark.parametrize(
    ("command", "unheeded"),
    [
        ("bench --samples 8 --temperature 1 --expansions 3", "--samples"),
        ("bench --no-automation --lean-calls 9", "--lean-calls"),
        ("prove --goal True --temperature 1", "--temperature"),
        ("prove --goal True --save-tree trees", "--save-tree"),
        ("agent external . --expansions 3", "--expansions"),
    ],
)
def test_settings_of_search_are_refused_with_whole_proofs(lean_dojo, problems, command, unheeded):
    ran = lean_dojo(*command.split(), "--whole-proof")
    assert ran.code == 2
    assert f"Error: {unheeded} is for proof search, which --whole-proof replaces; leave" in ran.err


@pytest.mark.parametrize("command", ["bench", "prove", "agent external ."])
def test_several_processes_are_told_of_ray(lean_dojo, problems, command, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "8")  # as torchrun sets it
    ran = lean_dojo(*command.split())
    assert ran.code == 2
    assert "by one process, but 8 were started: start `lean-dojo prove` or" in ran.err
    assert "once, with --ray to use all GPUs and cores of this machine" in ran.err


@pytest.mark.slow
def test_killed_it_goes_on(problems, lean_dojo, environment):
    command = [sys.executable, "-m", "lean_dojo_v2", "bench", str(problems), *LIMITS]
    command += ["--batch-size", "1"]
    attempts = problems.parent / "bench" / "few-automation" / "prover.jsonl"
    process = subprocess.Popen(command, cwd=problems.parent, env=environment())
    while not (attempts.exists() and attempts.read_bytes()):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = attempts.read_bytes().splitlines()
    assert 0 < len(done) < 3
    ran = lean_dojo("bench", problems, *LIMITS, "--batch-size", "1")
    assert ran.code == 0
    lines = attempts.read_bytes().splitlines()
    assert lines[: len(done)] == done
    assert sorted(orjson.loads(line)["name"] for line in lines) == ["by_omega", "by_rfl", "wrong"]


@pytest.mark.slow
@pytest.mark.starts_ray
def test_a_cluster_searches(problems, lean_dojo, monkeypatch):
    import ray

    monkeypatch.setenv("RAY_worker_niceness", "0")
    ray.init(address="local", num_cpus=1, include_dashboard=False, log_to_driver=False)
    try:
        ran = lean_dojo("bench", problems, *LIMITS, "--ray", "--json")
        model = ("--prover", "hf", "--model", "shipped", "--prover-set", "max_proof_tokens=8")
        whole = ("-j", "1", "-n", "1", "--whole-proof", "--attempts", "2", "--no-automation")
        wrote = lean_dojo("bench", problems, *model, *whole, "--ray", "--json")
    finally:
        ray.shutdown()
    assert ran.code == 0, ran.err
    assert ran.json["prover"]["proved"]["proved"] == 2
    assert wrote.code == 0, wrote.err
    assert (wrote.json["prover"]["attempts"], wrote.json["prover"]["samples"]) == (2, 2)
