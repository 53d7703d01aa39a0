"""`lean-dojo prove` and `lean-dojo agent`, with real Lean and a real local endpoint."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import subprocess
import time

import pytest

from lean_dojo_core import registry
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.prover.search.tree import SearchTree

ANSWERS = ("rfl", "exact ⟨hp, hq⟩", "exact hqr (hpq hp)")


@pytest.fixture
def place(workplace, tiny_database, monkeypatch):
    """An empty folder with the tiny repository's database."""
    monkeypatch.delenv("LEANPROGRESS_MODEL", raising=False)
    shutil.copy(tiny_database, workplace / "tiny.json")
    return workplace


@pytest.mark.slow
def test_prove_writes_proofs_trees_and_a_patch(lean_dojo, place, tiny_repository, endpoint, say):
    endpoint(say(*ANSWERS))
    ran = lean_dojo(
        "prove", "--database", "tiny.json", "--project", tiny_repository[0], "--external", "m",
        "--samples", 3, "--expansions", 1, "--workers", 1, "--json", "--save-tree", "trees",
        "--write-patch", "proofs.patch",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert (ran.json["found"], ran.json["proved"]) == (4, 3)
    results = {result["name"]: result for result in ran.json["theorems"]}
    assert results["Tiny.gap_pair"]["tactics"] == ["exact ⟨hp, hq⟩"]
    assert results["Tiny.gap_false"]["reason"] == "expansion-limit"
    assert "Found 4 sorry theorems to prove" in ran.err
    assert "3 proofs → proofs.patch" in ran.err
    [tree] = place.glob("trees/*/gap_chain.json")
    assert SearchTree.load(tree).name == "gap_chain"
    assert tree.with_suffix(".svg").is_file()
    [repository] = DynamicDatabase(place / "tiny.json").repositories
    assert repository.num_sorry_theorems_proved == 3
    subprocess.run(["git", "clone", "-q", tiny_repository[0], "clone"], check=True)
    subprocess.run(["git", "apply", "--check", "../proofs.patch"], cwd="clone", check=True)

    again = lean_dojo(
        "prove", "--database", "tiny.json", "--project", tiny_repository[0], "--external", "m",
        "--limit", 1, "--whole-proof", "--repo", "lean/lean4-tiny",
    )  # fmt: skip
    assert again.code == 0
    assert "Found 1 sorry theorems to prove\nProving Tiny.gap_false\n" in again.out
    assert again.out.endswith("Proved 0 of 1 theorems\n")


@pytest.fixture
def warm(place, engine, monkeypatch):
    """Have the commands work with the engine of all tests."""
    monkeypatch.setattr("lean_dojo_v2.lean.Server", lambda *_, **__: contextlib.nullcontext(engine))
    return place


def test_a_goal_is_proved_by_the_model_that_ships(lean_dojo, warm):
    ran = lean_dojo("prove", "--goal", "∀ n : Nat, n + 0 = n")
    assert ran.code == 0, ran.err
    assert "No model is named, so the shipped model and Lean's own automation prove" in ran.err
    assert re.match(r"goal: proved \(.*\)\n(  .+\n)+", ran.out)
    assert ran.out.endswith("Proved 1 of 1 theorems\n")
    nonsense = lean_dojo("prove", "--goal", "no such thing")
    assert nonsense.code == 2
    assert nonsense.err.count("Error: --goal: ") == 1


SORRIES = """\
namespace A
/-- With a remark. -/
theorem both (p q : Prop) (hp : p) (hq : q) : p ∧ q := by
  constructor
  · sorry
  · sorry

theorem term (n : Nat) : n + 0 = n := sorry

private theorem inner (n : Nat) : n = n := by
  have h : n + 0 = n := sorry
  exact h

theorem arms (n : Nat) : n = 0 ∨ 0 < n :=
  match n with
  | 0 => sorry
  | m + 1 => Or.inr (by sorry)

example : 1 + 1 = 2 := by sorry

def number : Nat := sorry

macro "cheat" : tactic => `(tactic| sorry)

instance : Inhabited Nat := ⟨sorry⟩

theorem half : 2 + 2 = 4 ∧ 1 = 2 := ⟨sorry, sorry⟩
end A
"""


@pytest.mark.slow
def test_every_sorry_of_a_file_is_tried_and_whole_theorems_count(lean_dojo, warm):
    (warm / "x.lean").write_text(SORRIES)
    ran = lean_dojo(
        "prove", "--file", "x.lean", "--prover", "automation", "--expansions", 2, "--json",
        "--write-patch", "x.patch",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert "x.lean: 11 sorry" in ran.err
    assert "No model is named" not in ran.err
    results = {(one["line"], one["column"]): one for one in ran.json["sorries"]}
    assert ran.json["completed"] == ["A.both", "A.term", "A.inner", "A.arms", "example_at_line_19"]
    proved = {(one["theorem"], place[0]) for place, one in results.items() if one["success"]}
    assert proved == {
        ("A.both", 5), ("A.both", 6), ("A.term", 8), ("A.inner", 11), ("A.arms", 16),
        ("A.arms", 17), ("example_at_line_19", 19),
    }  # fmt: skip
    assert results[27, 38]["reason"] == "theorem-unfinished"
    assert results[27, 45]["reason"] in {"no-states-left", "expansion-limit"}
    assert "it is in a def" in results[21, 21]["detail"]
    assert results[25, 30]["theorem"] == "instance_at_line_25"
    subprocess.run(["patch", "-p1", "-s", "x.lean", "x.patch"], check=True)
    filled = (warm / "x.lean").read_text()
    assert filled.count("sorry") == 5
    (warm / "Proj" / "A").mkdir(parents=True)
    (warm / "Proj" / "lakefile.toml").write_text('name = "proj"\n[[lean_lib]]\nname = "A"\n')
    mixed = b"\xef\xbb\xbf-- a\n-- b\r\ntheorem t : 1 = 1 := by\r\n  %b\r\n-- c\n"
    (warm / "Proj" / "A" / "B.lean").write_bytes(mixed % b"sorry")
    ran = lean_dojo(
        "prove", "--file", "Proj/A/B.lean", "--prover", "automation", "--write-patch", "y.patch"
    )
    assert ran.out.endswith("Proved 1 of 1 sorry, and so 1 of 1 theorem\n")
    subprocess.run(["git", "init", "-q", "Proj"], check=True)
    subprocess.run(["git", "apply", "../y.patch"], cwd="Proj", check=True)
    assert (warm / "Proj" / "A" / "B.lean").read_bytes() == mixed % b"rfl"
    (warm / "latin.lean").write_bytes(b"-- \xe9\n")
    refused = lean_dojo("prove", "--file", "latin.lean")
    assert (refused.code, refused.err.count("latin.lean: is not UTF-8")) == (2, 1)


def test_a_list_of_problems_goes_on_where_it_was(lean_dojo, warm):
    statements = {
        "zero": "theorem zero (n : Nat) : n + 0 = n := by sorry",
        "swap": "theorem swap (p q : Prop) (hp : p) (hq : q) : q ∧ p :=",
        "wrong": "theorem wrong : 1 = 2 := by",
    }
    rows = [{"name": name, "formal_statement": text} for name, text in statements.items()]
    (warm / "some.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    command = (
        "prove", "--problems", "some.jsonl", "--prover", "automation", "--expansions", 2, "--json",
    )  # fmt: skip
    ran = lean_dojo(*command, "--limit", 1)
    assert (ran.json["found"], ran.json["proved"]) == (1, 1)
    with (warm / "some.proofs.jsonl").open("ab") as log:
        log.write(b'{"name": "sw')  # a machine that went down
    again = lean_dojo(*command)
    assert again.code == 0, again.err
    assert "1 of 3 have a proof in some.proofs.jsonl already" in again.err
    assert [(one["name"], one["success"]) for one in again.json["theorems"]] == [
        ("zero", True), ("swap", True), ("wrong", False),
    ]  # fmt: skip
    assert (again.json["found"], again.json["proved"]) == (3, 2)
    lines = (warm / "some.proofs.jsonl").read_text().splitlines()
    assert json.loads(lines[-1])["name"] == "swap"


@pytest.mark.slow
def test_one_theorem_of_a_database(lean_dojo, place, tiny_repository):
    command = ("prove", "--database", "tiny.json", "--project", tiny_repository[0])
    ran = lean_dojo(*command, "--theorem", "Tiny.gap_pair", "--json")
    assert ran.code == 0, ran.err
    assert [(one["name"], one["success"]) for one in ran.json["theorems"]] == [
        ("Tiny.gap_pair", True)
    ]
    [repository] = DynamicDatabase(place / "tiny.json").repositories
    assert repository.num_sorry_theorems_proved == 1
    again = lean_dojo(*command, "--theorem", "Tiny.self_imp")
    assert again.code == 0, again.err
    assert "Tiny.self_imp already has a proof, which the database keeps." in again.err
    assert "Proved 1 of 1 theorems" in again.out


@pytest.mark.slow
def test_the_timeout_ends_the_search_of_a_theorem(lean_dojo, place, tiny_repository, endpoint, say):
    split = say("constructor")

    def slowly(body):
        time.sleep(1.1)
        return split(body)

    endpoint(slowly)
    ran = lean_dojo(
        "prove", "--database", "tiny.json", "--project", tiny_repository[0], "--external", "m",
        "--limit", 1, "--samples", 1, "--workers", 1, "--timeout", 1, "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    [result] = ran.json["theorems"]
    assert (result["name"], result["reason"]) == ("Tiny.gap_pair", "timed-out")


@pytest.mark.slow
def test_agent_external_traces_and_proves(lean_dojo, place, tiny_repository, endpoint, say):
    endpoint(say("rfl"))
    ran = lean_dojo(
        "agent", "external", tiny_repository[0], "--database", "tiny.json", "--model", "m",
        "--limit", 1, "--samples", 1, "--expansions", 1, "--workers", 1, "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert ran.json["found"] == 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--model", "a", "--external", "b"], "name one model"),
        (["--goal", "True", "--file", "x.lean"], "not --goal and --file"),
        (["--goal", "True", "--theorem", "t"], "not --goal and --theorem"),
        (["--file", "x.lean", "--repo", "a/b"], "--file needs no database"),
        (["--file", "x.lean", "--import", "Lean"], "--import is for --goal"),
        (["--goal", "True", "--write-patch", "x.patch"], "--write-patch works for theorems in"),
        (["--prover", "automation", "--device", "cpu"], "no setting for --device"),
        (["--theorem", "no.such"], "no theorem 'no.such'"),
        (["--external", "m", "--database", "none.json"], "there is no such database"),
        (["--external", "m", "--repo", "who/knows"], "no repository 'who/knows'"),
        (["--external", "m", "--write-patch", "no/where/x.patch"], "there is no such folder"),
        (["--external", "m", "--write-patch", "x.patch"], "one repository"),
        (["--external", "m", "--project", "."], "one repository"),
        (["--external", "m", "--limit", "0"], "--limit"),
        (["--model", "no/such/model", "--repo", "lean-dojo/lean-dojo-sample"], "no/such/model"),
    ],
)
def test_mistakes_are_usage_errors(lean_dojo, place, arguments, complaint):
    (place / "x.lean").touch()
    ran = lean_dojo("prove", *arguments)
    assert ran.code == 2
    assert complaint in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.slow
def test_an_endpoint_that_does_not_work_is_an_error(lean_dojo, place, tiny_repository, endpoint):
    endpoint(401)
    ran = lean_dojo(
        "prove", "--database", "tiny.json", "--project", tiny_repository[0], "--external", "m",
        "--workers", 1,
    )  # fmt: skip
    assert ran.code == 1
    assert "401" in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.slow
def test_an_endpoint_that_does_not_answer_in_time_is_an_error(
    lean_dojo, place, tiny_repository, endpoint, monkeypatch
):
    import openai._base_client as base

    from lean_dojo_v2.prover.external import ExternalGenerator

    monkeypatch.setattr(base, "INITIAL_RETRY_DELAY", 0.01)
    monkeypatch.setattr(base, "MAX_RETRY_DELAY", 0.02)
    assert ExternalGenerator.__init__.__kwdefaults__["timeout"] == 120
    monkeypatch.setitem(ExternalGenerator.__init__.__kwdefaults__, "timeout", 0.2)
    server = endpoint(2.0)
    ran = lean_dojo(
        "prove", "--database", "tiny.json", "--project", tiny_repository[0], "--external", "m",
        "--limit", 1, "--workers", 1,
    )  # fmt: skip
    assert ran.code == 1
    [complaint] = [line for line in ran.err.splitlines() if server.url in line]
    assert "timed out" in complaint
    assert "OPENAI_BASE_URL" in complaint
    assert "Traceback" not in ran.err
    assert len(server.requests) > 1  # it was asked again


def test_agent_mistakes(lean_dojo, place):
    assert lean_dojo("agent").code == 2
    nowhere = lean_dojo("agent", "external", "no/such/folder", "--database", "new.json")
    assert nowhere.code == 2
    assert "no such folder" in nowhere.err
    unknown = lean_dojo("agent", "hf", ".", "--trainer", "sfd", "--set", "model_name=x")
    assert unknown.code == 2
    assert "sft" in unknown.err


def test_agent_hf_exports_where_a_file_says_and_takes_no_repositories(
    lean_dojo, place, tiny_repository, toy
):
    command = (
        "agent", "hf", tiny_repository[0], "--database", "tiny.json", "--trainer", "toy",
        "--set", "model_name=m", "-c", "toy.yaml",
    )  # fmt: skip
    (place / "toy.yaml").write_text("run:\n  repositories: [lean/lean4-tiny]\n")
    ran = lean_dojo(*command)
    assert ran.code == 2
    assert "takes no repositories" in ran.err
    assert not (place / "out").exists()
    (place / "toy.yaml").write_text("run:\n  data_path: elsewhere\n")
    ran = lean_dojo(*command)
    assert "out: no model can be loaded" in ran.err  # the toy made none
    assert json.loads((place / "out" / "said.json").read_text())["data_path"] == "elsewhere"
    ran = lean_dojo(*command, "--reward", "constant")
    assert ran.code == 2
    assert "takes no rewards" in ran.err


@pytest.mark.slow
def test_agent_hf_traces_trains_and_proves(lean_dojo, place, tiny_repository):
    from lean_dojo_plugins.causal_lm.tiny_model import build_tiny_model

    folder, commit = tiny_repository
    texts = ["⊢ p ∧ q exact hp constructor rfl simp intro h"] * 4
    build_tiny_model(texts, "model", hidden_size=32, layers=1, vocab_size=400, max_length=192)
    (place / "sft.yaml").write_text("model_name: model\noutput_dir: out\nbatch_size: 4\n")
    ran = lean_dojo(
        "agent", "hf", folder, "--commit", commit, "--database", "new.json", "-c", "sft.yaml",
        "--set", "lr=1e-3", "--limit", 2, "--samples", 2, "--expansions", 1, "--workers", 1,
        "--timeout", 60, "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert ran.json["found"] == 2
    [traced] = DynamicDatabase(place / "new.json").repositories
    assert traced.commit == commit
    assert (place / "out" / "model.safetensors").is_file()
    again = lean_dojo(
        "prove", "--database", "new.json", "--project", folder, "--model", "out",
        "--limit", 1, "--samples", 2, "--expansions", 1, "--workers", 1, "--timeout", 60,
    )  # fmt: skip
    assert again.code == 0, again.err
    assert "Found 1 sorry theorems to prove\n" in again.out


@pytest.mark.slow
def test_agent_lean_trains_a_retriever_and_proves_with_it(
    lean_dojo, place, tiny_repository, tiny_t5
):
    generator, encoder = tiny_t5
    (place / "retrieval.yaml").write_text(
        f"config:\n  model_name: {encoder}\n  batch_size: 4\n  num_workers: 0\n"
        "  precision: 32-true\nformatter: noted-pairs\nrun:\n  data_path: elsewhere\n"
    )
    command = (
        "agent", "lean", tiny_repository[0], "--database", "tiny.json", "-c", "retrieval.yaml",
        "--generator", generator, "--limit", 1, "--samples", 2, "--expansions", 1,
        "--workers", 1, "--json",
    )  # fmt: skip
    asked = []

    class NotedPairs(registry.dataset_formatters["premise-pairs"].load()):
        def rows(self, theorem):
            asked.append(theorem)
            return super().rows(theorem)

    with registry.dataset_formatters.override("noted-pairs", NotedPairs):
        ran = lean_dojo(*command)
    assert ran.code == 0, ran.err
    assert ran.json["found"] == 1
    assert asked
    assert (place / "elsewhere" / "corpus.jsonl").is_file()
    assert list(place.rglob("*.ckpt"))
