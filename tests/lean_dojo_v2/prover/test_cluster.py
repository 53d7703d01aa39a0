"""Proof search over the nodes of a Ray cluster that runs on this machine."""

from __future__ import annotations

import json
import os
import shutil
from functools import partial
from pathlib import Path

import attrs
import pytest

from lean_dojo_core.errors import UsageError
from lean_dojo_v2.cli import main
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import EngineUnavailableError
from lean_dojo_v2.lean_agent.config import ProverConfig
from lean_dojo_v2.prover import AutomationProver
from lean_dojo_v2.prover.problem import GoalProblem
from lean_dojo_v2.prover.search.best_first import BestFirstSearch
from lean_dojo_v2.prover.suggestion import GeneratorError
from lean_dojo_v2.prover.whole_proof import WholeProofs

pytestmark = [pytest.mark.slow, pytest.mark.starts_ray]
pytest.importorskip("ray")

LIMITS = ProverConfig(num_workers=1, num_sampled_tactics=64, lean_calls=30, batch_size=2)
GOALS = [
    GoalProblem(goal, name=f"goal {number}")
    for number, goal in enumerate(
        ["2 + 2 = 4", "∀ n : Nat, n + 0 = n", "1 = 2", "∀ p q : Prop, p ∧ q → q ∧ p",
         "∀ n : Nat, n < n + 1", "∀ p : Prop, p", "∀ a b : Nat, a + b = b + a", "no such thing"]
    )
]  # fmt: skip


@pytest.fixture
def cluster(monkeypatch):
    """Two nodes with room for one actor each; the driver's own has none."""
    monkeypatch.setenv("RAY_worker_niceness", "0")  # Ray's 15 starves engines on a busy machine
    import ray
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    made.nodes = [made.add_node(num_cpus=1) for _ in range(2)]
    ray.init(address=made.address, log_to_driver=False)
    made.wait_for_nodes()
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture
def here(engine):
    """What one search on this machine finds."""
    prover = AutomationProver(LIMITS)
    found = BestFirstSearch(prover, LIMITS).run(GOALS, [engine])
    assert {result.success for result in found} == {True, False}
    return found


def shown(result):
    return attrs.evolve(result, seconds=0.0, tree=None)


def test_two_nodes_find_what_one_machine_finds_also_when_one_is_lost(cluster, here, capsys):
    from lean_dojo_v2.prover.cluster import ClusterProver

    prover = ClusterProver(AutomationProver, LIMITS)
    recipe = Server(start=False)
    found = dict(prover.search_many(GOALS, [recipe]))
    assert [shown(found[index]) for index in range(len(GOALS))] == [shown(one) for one in here]
    assert recipe.pid is None, "no engine runs here"
    again = {}
    for index, result in prover.search_many(GOALS, [recipe]):
        if not again:
            cluster.remove_node(cluster.nodes[0], allow_graceful=False)
        assert index not in again
        again[index] = result
    assert [shown(again[index]) for index in range(len(GOALS))] == [shown(one) for one in here]


class Unplaced:
    """What no node can load."""

    def __reduce__(self):
        return (__import__, ("no_such_package",))


def test_an_actor_that_never_starts_is_said(cluster):
    from lean_dojo_v2.prover.cluster import ClusterProver

    prover = ClusterProver(Unplaced(), LIMITS)
    with pytest.raises(EngineUnavailableError, match=r"(?s)all need this package.*no_such_package"):
        dict(prover.search_many(GOALS[:1], [Server(start=False)]))


class Broken(AutomationProver):
    def generate(self, goals, *, num_samples, premises=()):
        raise GeneratorError("no answer")


@attrs.frozen
class Deadly:
    """Makes a prover that costs its actor its life at one goal, and three actors at another."""

    folder: Path

    def __call__(self, config):
        folder = self.folder

        class Prover(AutomationProver):
            def generate(self, goals, **options):
                if any("1 = 2" in goal for goal in goals):
                    os._exit(1)
                if any("b + a" in goal for goal in goals) and len(list(folder.iterdir())) < 3:
                    (folder / str(os.getpid())).touch()
                    os._exit(1)
                return super().generate(goals, **options)

        return Prover(config)


def test_what_goes_wrong_in_actors_is_what_goes_wrong_here(cluster, here, tmp_path):
    from lean_dojo_v2.prover.cluster import ClusterProver

    recipe = [Server(start=False)]
    with pytest.raises(GeneratorError, match="no answer"):
        dict(ClusterProver(Broken, LIMITS).search_many(GOALS[:2], recipe))
    found = dict(ClusterProver(Deadly(tmp_path), LIMITS).search_many(GOALS, recipe))
    assert len(list(tmp_path.iterdir())) == 3, "the first loss was that of a whole batch"
    assert found[2].reason == "engine-failed"
    assert "lost 3 times" in found[2].detail
    others = [index for index in range(len(GOALS)) if index != 2]
    assert [shown(found[index]) for index in others] == [shown(here[index]) for index in others]
    with pytest.raises(UsageError, match=r"no node of the Ray cluster has 4 CPUs.* lower .*-j"):
        ClusterProver(AutomationProver, attrs.evolve(LIMITS, num_workers=4))


@attrs.frozen
class Writer:
    """Writes whole proofs; one costs its first actor its life."""

    settings: ProverConfig = LIMITS
    folder: Path | None = None

    def write_proofs(self, statements, seeds):
        if self.folder is not None and any("a + b" in one for one in statements):
            try:
                (self.folder / "once").touch(exist_ok=False)
            except FileExistsError:
                pass
            else:
                os._exit(1)
        return [PROOFS[seed % len(PROOFS)] for seed in seeds]

    def generate_whole_proof(self, statement):
        return PROOFS[len(statement) % len(PROOFS)]


PROOFS = ["decide", "intros\nomega", "simp", "exact fun _ _ h => h.symm"]


def test_whole_proofs_are_those_of_one_machine(cluster, engine, tmp_path):
    from lean_dojo_v2.prover.cluster import ClusterProver

    cluster_prover = ClusterProver(partial(Writer, folder=tmp_path), LIMITS)
    proved = set()
    for seed in (3, 4, None):
        here = dict(WholeProofs(Writer(), seed=seed).search_many(GOALS, [engine]))
        over = WholeProofs(cluster_prover, seed=seed)
        there = dict(over.search_many(GOALS, [Server(start=False)]))
        # What an actor has checked it does not check again; others may have to.
        assert [shown(attrs.evolve(there[n], lean_calls=0)) for n in range(len(GOALS))] == [
            shown(attrs.evolve(here[n], lean_calls=0)) for n in range(len(GOALS))
        ]
        proved |= {n for n, one in here.items() if one.success}
    assert 0 < len(proved) < len(GOALS)
    assert (tmp_path / "once").exists()


STATEMENTS = """\
{"name": "true", "formal_statement": "theorem true : 2 + 2 = 4 := by"}
{"name": "false", "formal_statement": "theorem false : 1 = 2 := by sorry"}
{"name": "unread", "formal_statement": "theorem unread : nonsense := sorry"}
"""


def test_prove_writes_whole_proofs_on_two_nodes(
    cluster, tiny_database, tiny_repository, tmp_path, monkeypatch, capsys
):
    project = str(tiny_repository[0])
    whole = ("--prover", "automation", "--whole-proof", "-j", "1", "--json")
    found = []
    for where in ((), ("--ray",)):
        folder = tmp_path / ("cluster" if where else "here")
        folder.mkdir()
        monkeypatch.chdir(folder)
        Path("set.jsonl").write_text(STATEMENTS)
        database = shutil.copy(tiny_database, "tiny.json")
        for what in (
            ("--problems", "set.jsonl"),
            ("--database", database, "--project", project),
        ):
            capsys.readouterr()
            assert main(["prove", *what, *whole, *where]) == 0
            said = json.loads(capsys.readouterr().out)
            said.pop("proofs")
            found.append([{**one, "seconds": 0} for one in said.pop("theorems")])
            found[-1].sort(key=lambda one: one["name"])
        assert {one["name"] for one in found[-2] if one["success"]} == {"true"}
        assert {one["name"] for one in found[-1] if not one["success"]} == {"Tiny.gap_false"}
        assert len(Path("set.proofs.jsonl").read_text().splitlines()) == 1
    assert found[:2] == found[2:]
