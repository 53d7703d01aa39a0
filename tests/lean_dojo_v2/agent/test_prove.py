"""Agents prove what is `sorry`: real Lean, a real database, scripted proposals."""

from __future__ import annotations

import threading

import orjson
import pytest

from lean_dojo_core.errors import UsageError
from lean_dojo_v2.agent.proofs import ProofLog
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.prover.search.result import Failure
from lean_dojo_v2.prover.suggestion import GeneratorError

GAPS = {"Tiny.gap_pair", "Tiny.gap_false", "gap_chain", "gap_term"}


def names(theorems):
    return {theorem.full_name for theorem in theorems}


@pytest.mark.slow
def test_every_gap_is_tried_and_every_proof_recorded(make_agent, database_copy, capsys):
    agent = make_agent()
    results = agent.prove()
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "Found 4 sorry theorems to prove"
    assert {line for line in out if line.startswith("Proving ")} == {f"Proving {n}" for n in GAPS}
    place = out.index("Proving Tiny.gap_pair")
    assert out[place + 1].startswith("Tiny.gap_pair: proved (3 expansions")
    assert out[place + 2 : place + 5] == ["  constructor", "  exact hp", "  exact hq"]
    assert out[-1] == "Proved 3 of 4 theorems"
    assert {r.name: r.success for r in results} == {n: n != "Tiny.gap_false" for n in GAPS}

    [repository] = DynamicDatabase(database_copy).repositories
    assert names(repository.sorry_theorems_proved) == GAPS - {"Tiny.gap_false"}
    assert names(repository.sorry_theorems_unproved) == {"Tiny.gap_false"}
    pair = repository.get_theorem("Tiny.gap_pair", "Tiny/Basic.lean")
    assert [t.tactic for t in pair.traced_tactics] == ["constructor", "exact hp", "exact hq"]

    logged = {proof.full_name: proof for proof in agent.proofs}
    assert agent.proofs.path == database_copy.with_name("proofs.jsonl")
    assert logged.keys() == GAPS - {"Tiny.gap_false"}
    assert logged["gap_chain"].proof == "apply hqr\napply hpq\nexact hp"
    assert logged["gap_chain"].file_path == "Tiny/Dos.lean"

    agent.prove()  # what is proved is not tried again
    assert capsys.readouterr().out.startswith("Found 1 sorry theorems to prove\nProving Tiny.gap_f")


def test_nothing_to_prove(make_agent, capsys):
    agent = make_agent()
    [repository] = agent.database.repositories
    repository.sorry_theorems_unproved.clear()
    agent.database.update_repository(repository)
    assert agent.prove() == []
    assert capsys.readouterr().out == "No sorry theorems found to prove.\n"


def test_a_limit_and_one_theorem_alone(make_agent, capsys):
    agent = make_agent()
    assert len(agent.prove(limit=1)) == 1
    assert capsys.readouterr().out.startswith("Found 1 sorry theorems to prove\n")
    [repository] = agent.database.repositories
    theorem = repository.get_theorem("gap_term", "Tiny/Dos.lean")
    assert agent.prove_theorem(theorem, agent.repos[0]).success


def test_search_trees_are_saved(make_agent, tmp_path):
    agent = make_agent()
    agent.tree_dir = tmp_path / "trees"
    [repository] = agent.database.repositories
    agent.prove_theorem(repository.get_theorem("gap_chain", "Tiny/Dos.lean"), agent.repos[0])
    [drawing] = tmp_path.glob("trees/*/gap_chain.svg")
    assert "apply hqr" in drawing.read_text(encoding="utf-8")
    assert drawing.with_suffix(".json").is_file()


def test_whole_proofs_are_checked_by_lean(make_agent, capsys):
    whole = {
        "Tiny.gap_pair": "Sure:\n```lean\ntheorem gap_pair (p q : Prop) (hp : p) (hq : q) : p ∧ q := by\n"
        "  constructor\n  · exact hp\n  · exact hq\n```",
        "Tiny.gap_false": "exact absurd gap_false (by decide)",
        "gap_chain": "intro x\nsimp",
        "gap_term": "have h : n = n := by rfl\nexact h",
    }
    agent = make_agent(whole=whole)
    results = {result.name: result for result in agent.prove(whole_proof=True)}
    assert names(agent.database.repositories[0].sorry_theorems_proved) == {
        "Tiny.gap_pair",
        "gap_term",
    }
    assert results["Tiny.gap_pair"].proof == "constructor\n· exact hp\n· exact hq"
    assert results["gap_term"].proof == "have h : n = n := by rfl\nexact h"
    assert results["gap_chain"].reason is Failure.REFUSED
    assert "itself" in results["Tiny.gap_false"].detail
    assert "Proving gap_chain\n" in capsys.readouterr().out
    [asked] = [t for t in agent.prover.asked if t.full_name == "Tiny.gap_false"]
    assert asked.theorem_statement == "theorem gap_false : 1 = 2 :="


def test_a_model_that_fails_once_and_one_that_fails_for_good(make_agent):
    lost = GeneratorError("no answer")
    whole = dict.fromkeys(GAPS, "rfl")
    agent = make_agent(whole=whole)
    second = [theorem.full_name for theorem, _ in agent.initialize_prover()][1]
    whole[second] = lost
    results = agent.prove(whole_proof=True)
    assert [result.reason is Failure.GENERATOR for result in results] == [False, True, False, False]
    whole.update(dict.fromkeys(GAPS, lost))
    with pytest.raises(GeneratorError, match="no answer"):
        agent.prove(whole_proof=True)


def test_a_file_that_is_gone(make_agent, tmp_path, tiny_repository, monkeypatch):
    agent = make_agent()
    [repository] = agent.database.repositories
    theorem = repository.get_theorem("gap_term", "Tiny/Dos.lean")
    monkeypatch.setattr(type(agent.repos[0]), "path", property(lambda _: tmp_path / "empty"))
    result = agent.prove_theorem(theorem, agent.repos[0])
    assert result.reason is Failure.CANNOT_OPEN
    assert "Dos.lean" in result.detail


def test_two_agents_on_one_database(make_agent, database_copy):
    """Both try the same theorems at the same time: no proof is lost, none is there twice."""
    agents = [make_agent(), make_agent()]
    tasks = [agent.initialize_prover() for agent in agents]
    assert len(tasks[0]) == len(tasks[1]) == 4
    for agent, mine in zip(agents, tasks, strict=True):
        agent.initialize_prover = lambda mine=mine: mine  # both have read it before either proves
    errors = []

    def work(agent):
        try:
            agent.prove()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(agent,)) for agent in agents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    [repository] = DynamicDatabase(database_copy).repositories
    assert sorted(t.full_name for t in repository.sorry_theorems_proved) == [
        "Tiny.gap_pair",
        "gap_chain",
        "gap_term",
    ]
    lines = [orjson.loads(line) for line in agents[0].proofs.path.read_bytes().splitlines()]
    assert {line["full_name"] for line in lines} == GAPS - {"Tiny.gap_false"}


def test_an_agent_without_a_trainer_says_so(make_agent):
    agent = make_agent()
    with pytest.raises(UsageError, match="no trainer"):
        agent.train()
    with pytest.raises(UsageError, match="no trainer"):
        agent.evaluate()


def test_half_a_line_in_the_log_is_passed_over(make_agent, tmp_path, caplog):
    agent = make_agent()
    agent.prove(limit=1)
    log = ProofLog(agent.proofs.path)
    [proof] = log
    log.path.write_bytes(log.path.read_bytes() + b'{"url": "x", "com')
    log.append(proof)
    assert list(log) == [proof, proof]
    assert "line 2" in caplog.text
