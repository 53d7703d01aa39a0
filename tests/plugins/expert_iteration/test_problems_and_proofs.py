"""The difficulty schedule, what is learned of the proofs, and settings that do not fit."""

from __future__ import annotations

from random import Random

import attrs
import pytest

from lean_dojo_core.errors import ConfigError, UsageError
from lean_dojo_core.records import BenchmarkProblem
from lean_dojo_plugins.causal_lm.text.formatters import proof_text
from lean_dojo_plugins.expert_iteration.problems import choose
from lean_dojo_plugins.expert_iteration.proofs import FoundProof, chosen, read_proofs, sort_rows
from lean_dojo_plugins.expert_iteration.trainer import ExpertIterationTrainer
from lean_dojo_v2.benchmarks.attempts import Attempt
from lean_dojo_v2.files import append_lines

PROBLEMS = [BenchmarkProblem(full_name=name, statement="theorem x : x :=") for name in "abcd"]


def tried(**proved: bool) -> list[Attempt]:
    return [Attempt(name, success) for name, success in proved.items()]


def names(skip_after: int, limit: int | None, *past: list[Attempt]) -> str:
    found = choose(PROBLEMS, past, skip_after=skip_after, limit=limit)
    return "".join(one.full_name for one in found)


def test_what_is_always_proved_is_left():
    past = [tried(a=True, b=True, c=False, d=True), tried(a=True, b=False, c=False, d=True)]
    assert names(2, None, *past) == "bc"
    assert names(3, None, *past) == "abcd"
    assert names(0, None, *past) == "abcd"
    twice = [[*tried(a=True), *tried(a=False)]]  # one of two attempts
    assert names(1, None, *twice) == "abcd"


def test_what_was_tried_least_goes_first():
    first = names(2, 2)
    rest = names(2, 2, tried(**dict.fromkeys(first, True)))
    assert sorted(first + rest) == list("abcd")
    past = [tried(a=True, b=False, c=True, d=False)]
    assert names(2, 2, *past) == "bd"  # all were tried once: those not proved


def proof(problem: str, *steps: tuple[str, str]) -> FoundProof:
    text = "\n".join(tactic for _, tactic in steps)
    full = [(state, tactic, "after") for state, tactic in steps]
    return FoundProof(problem, 1, problem, "u", "c", "A.lean", (1, 1), (2, 2), "s :=", text, full)


def test_a_proof_written_in_one_go_is_learned_as_it_is():
    text = "exact foo (by simp\n              rfl)"
    found = proof("a", ("s", text))
    assert proof_text(found.theorem(found.lesson(whole=True))) == text
    assert proof_text(found.theorem(found.tactics)) is None  # it does not end there


def test_the_order_in_which_engines_answer_is_not_in_the_files(tmp_path):
    proofs = [
        attrs.evolve(proof(name, ("s", tactic)), round=number)
        for number in (1, 2, 10)
        for name in ("a", "b")
        for tactic in ("z", "y ∧")
    ]
    rows = [
        {"problem": name, "round": number, "state": "s", "chosen": "z", "rejected": tactic}
        for number in (1, 2)
        for name in ("a", "b")
        for tactic in ("x", "w")
    ]
    contents = set()
    for seed in range(3):
        Random(seed).shuffle(proofs)
        Random(seed).shuffle(rows)
        found = tmp_path / str(seed) / "proofs.jsonl"
        negatives = tmp_path / str(seed) / "negatives.jsonl"
        for one in [*proofs, *proofs[:seed]]:  # a killed search is repeated
            append_lines(found, [attrs.asdict(one)])
        append_lines(negatives, [*rows, *rows[:seed]])
        sort_rows(found, "round", "problem", "proof")
        sort_rows(negatives, "round", "problem")
        contents.add((found.read_bytes(), negatives.read_bytes()))
    assert len(contents) == 1
    assert [one.round for one in read_proofs(found, 10)["a"]] == [1, 1]  # the oldest of equal ones
    sort_rows(tmp_path / "none.jsonl", "round")
    assert not (tmp_path / "none.jsonl").exists()


def test_short_proofs_and_every_pair_once(tmp_path):
    file = tmp_path / "proofs.jsonl"
    long, short = proof("a", ("s", "x"), ("t", "y")), proof("a", ("s", "z"))
    for one in (long, short, short, proof("b", ("s", "z"), ("v", "w"))):
        append_lines(file, [attrs.asdict(one)])
    with file.open("a") as stream:
        stream.write('{"problem": "a", "rou')  # the machine went down
    append_lines(file, [attrs.asdict(proof("c", ("s", "x")))])
    found = read_proofs(file, 1)
    assert {name: len(proofs) for name, proofs in found.items()} == {"a": 2, "b": 1, "c": 1}

    def learned(limit, known=()):
        return [
            (one.full_name, [t.tactic for t in one.traced_tactics])
            for one in chosen(found, limit, known)
        ]

    assert learned(1) == [("a", ["z"]), ("b", ["w"]), ("c", ["x"])]
    assert learned(None) == [("a", ["z"]), ("a", ["x", "y"]), ("b", ["w"])]
    assert learned(1, [("s", "z"), ("s", "x")]) == [("b", ["w"])]
    assert read_proofs(file, 0) == {}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"problems": ["trainig"]}, "'trainig' is neither 'training' nor 'hidden' nor"),
        ({"problems": ["hidden"]}, "with human_share=1 all are"),
        ({"problems": []}, "at least one source"),
        ({"human_share": 1.5}, "human_share must be a number from 0 to 1"),
        ({"start_from": "first"}, "start_from must be 'base' or 'last'"),
        ({"expansions": 0}, "expansions must be a whole number of at least 1"),
    ],
)
def test_settings_that_do_not_fit(settings, message, tmp_path):
    with pytest.raises(ConfigError, match=message):
        ExpertIterationTrainer(str(tmp_path), str(tmp_path / "out"), **settings)


def test_what_is_missing_is_said_before_anything_runs(tiny_model, tmp_path):
    trainer = ExpertIterationTrainer(tiny_model, tmp_path / "out", problems="gone.jsonl")
    with pytest.raises(UsageError, match=r"gone\.jsonl: there is no such file"):
        trainer.preflight()
    (tmp_path / "bad.jsonl").write_text("{half")
    trainer = ExpertIterationTrainer(
        tiny_model, tmp_path / "out", problems=str(tmp_path / "bad.jsonl")
    )
    with pytest.raises(UsageError, match=r"bad\.jsonl, line 1: is not JSON"):
        trainer.preflight()
    trainer = ExpertIterationTrainer(tiny_model, tmp_path / "out", search_model="./gone")
    with pytest.raises(UsageError, match="gone"):
        trainer.preflight()
