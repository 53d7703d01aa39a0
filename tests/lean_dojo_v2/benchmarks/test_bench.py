"""Runs over a benchmark: what is written down, what is made again, what it comes to."""

from __future__ import annotations

from contextlib import nullcontext

import attrs
import pytest

from lean_dojo_core.errors import DataError, UsageError
from lean_dojo_core.records import BenchmarkProblem
from lean_dojo_v2.benchmarks.attempts import Attempt, AttemptFolder
from lean_dojo_v2.benchmarks.runner import Bench, engines_kept, local_server
from lean_dojo_v2.benchmarks.statistics import Estimate, Share
from lean_dojo_v2.benchmarks.summary import AUTOMATION, PROVER, Summary, draw_summary, read_report
from lean_dojo_v2.cli.bench import _warnings
from lean_dojo_v2.lean_agent.config import ProverConfig
from lean_dojo_v2.prover import AutomationProver, BaseProver
from lean_dojo_v2.prover.suggestion import GeneratorError
from lean_dojo_v2.prover.whole_proof import sampling_whole_proofs

PROBLEMS = [
    BenchmarkProblem(
        full_name="pair",
        statement="theorem pair (p q : Prop) (hp : p) (hq : q) : p ∧ q :=",
        split="easy",
    ),
    BenchmarkProblem(
        full_name="doubled",
        statement="theorem doubled (n : Nat) : double n = 2 * n :=",
        header="def double (n : Nat) : Nat := n + n\n\n",
        split="easy",
    ),
    BenchmarkProblem(full_name="wrong", statement="theorem wrong : 1 = 2 :=", split="hard"),
    BenchmarkProblem(
        full_name="broken", statement="theorem broken : NoSuch.thing = 1 :=", split="hard"
    ),
]
PROPOSALS = {
    "⊢ p ∧ q": [("exact ⟨hp, hq⟩", -0.5)],
    "⊢ double n": [("unfold double", -0.5)],
    "⊢ n + n": [("omega", -0.5)],
}


@pytest.fixture
def bench(engine, tmp_path):
    folder = AttemptFolder(tmp_path / "run")
    folder.begin({"prover": {"label": "scripted"}, "limits": {"expansions": 3}})
    return Bench(PROBLEMS, folder, server=lambda _: nullcontext(engine))


@pytest.fixture
def prover(scripted):
    """Make provers of one generator, which keeps what it was asked."""

    class Scripted(BaseProver):
        generator = None

        def generate_whole_proof(self, theorem):
            raise AssertionError("not asked for")

    generator = scripted(PROPOSALS)

    def make(seed):
        made = Scripted(ProverConfig(max_expansions=3, seed=seed))
        made.generator = generator
        return made

    make.generator = generator
    return make


def test_a_run_and_what_it_comes_to(bench, prover):
    bench.run(PROVER, prover)
    bench.run(AUTOMATION, lambda _: AutomationProver(ProverConfig(max_expansions=2)))
    report = read_report(bench.folder)
    assert report.prover.proved == Share.of(2, 4)
    assert report.prover.groups == {"easy": Share.of(2, 2), "hard": Share.of(0, 2)}
    assert report.prover.curve == [(1, 1.0), (2, 2.0)]
    assert report.prover.pass_at == {1: Estimate.of([1, 1, 0, 0])}
    assert report.prover.reasons == {"no-states-left": 1, "cannot-open": 1}
    assert report.prover.ended_by_clock == ()
    assert "broken does not elaborate" in report.prover.cannot_open.pop("broken")
    assert report.prover.cannot_open == {}
    assert report.automation.proved.proved == 1
    assert (report.beyond, report.missed) == (("doubled",), ())
    proofs = {one.name: one.proof for one in bench.folder.attempts(PROVER)}
    assert proofs["doubled"] == "unfold double\nomega"
    text = draw_summary({"scripted": report.prover, "automation": report.automation}).legends[0]
    assert [t.get_text() for t in text.get_texts()] == ["scripted: 2 of 4", "automation: 1 of 4"]


def test_a_run_goes_on_with_what_is_left(bench, prover):
    bench.run(PROVER, prover)
    file = bench.folder.path / "prover.jsonl"
    before = {(one.name, one.number): one for one in bench.folder.attempts(PROVER)}
    first, second, *_ = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(first + second[:20])  # the machine went down
    prover.generator.batches.clear()
    assert bench.left(PROVER, 1) == 3
    bench.run(PROVER, prover)
    after = {(one.name, one.number): one for one in bench.folder.attempts(PROVER)}
    assert {k: attrs.evolve(v, seconds=0) for k, v in after.items()} == {
        k: attrs.evolve(v, seconds=0) for k, v in before.items()
    }
    prover.generator.batches.clear()
    bench.run(PROVER, prover)
    assert prover.generator.batches == []


def test_attempts_have_seeds_of_their_own(bench, prover):
    seeds = []
    bench.run(PROVER, lambda seed: seeds.append(seed) or prover(seed), attempts=2, seed=7)
    assert seeds == [7, 8]
    report = read_report(bench.folder)
    assert report.prover.attempts == 2
    assert [one.value for one in report.prover.pass_at.values()] == [0.5, 0.5]
    assert report.prover.curve[-1] == (2, 2.0)
    assert report.prover.proved.tried == 4


def test_attempts_that_are_proofs_written_in_one_go(bench):
    """Each has a seed that follows from its theorem; equal proofs are checked once."""
    proofs = ["exact ⟨hp, hq⟩", "unfold double\nomega", "exact ⟨hq, hp⟩"]
    drawn = {}

    class Writer:
        def write_proofs(self, statements, seeds):
            drawn.update(zip(seeds, statements, strict=True))
            return [proofs[seed % 3] for seed in seeds]

    bench.problems = PROBLEMS[:3]
    bench.run(PROVER, sampling_whole_proofs(lambda _: Writer()), attempts=8, seed=7)
    assert len(drawn) == 24
    assert "def double (n : Nat) : Nat := n + n\n\ntheorem doubled" in "".join(drawn.values())
    report = read_report(bench.folder)
    found = bench.folder.attempts(PROVER)
    assert report.prover.samples == 24
    assert report.prover.lean_calls == 9  # three proofs of three theorems
    share = {a.name: sum(b.success for b in found if b.name == a.name) / 8 for a in found}
    assert share["pair"] > 0 < share["doubled"]
    assert report.prover.pass_at[1].value == pytest.approx(sum(share.values()) / 3)
    assert list(report.prover.pass_at) == [1, 2, 4, 8]
    assert report.prover.curve[-1] == (8, 2.0)
    assert report.prover.pass_at[8] == Estimate.of([1, 1, 0])
    assert (
        draw_summary({"writer": report.prover})
        .axes[0]
        .get_xlabel()
        .startswith("states expanded, or")
    )


def test_what_a_model_did_not_answer_is_not_counted_and_made_again(bench, prover):
    class Flaky:
        calls = 0

        def generate(self, goals, *, num_samples, premises=()):
            self.calls += 1
            if self.calls == 2:
                raise GeneratorError("busy")
            return prover.generator.generate(goals, num_samples=num_samples)

    def flaky(seed):
        made = prover(seed)
        made.settings = attrs.evolve(made.settings, batch_size=1)
        made.generator = Flaky()
        return made

    bench.run(PROVER, flaky)
    report = read_report(bench.folder)
    [name] = report.prover.not_counted
    assert report.prover.proved.tried == 3
    bench.run(PROVER, prover)
    assert read_report(bench.folder).prover.proved == Share.of(2, 4)
    assert name not in read_report(bench.folder).prover.not_counted


def test_two_runs_are_compared_theorem_by_theorem(bench, prover, tmp_path):
    bench.run(PROVER, prover)
    other = AttemptFolder(tmp_path / "other")
    other.begin({"prover": {"label": "none"}, "limits": {"expansions": 1}})
    for problem in PROBLEMS[:3]:
        success = problem.full_name in {"pair", "wrong"}
        fields = attrs.asdict(bench.folder.attempts(PROVER)[0])
        other.append(PROVER, Attempt(**{**fields, "name": problem.full_name, "success": success}))
    compared = read_report(bench.folder, other).compared
    assert compared.differences == ("limits.expansions",)
    assert compared.theorems == 3
    assert (compared.gained, compared.lost) == (("doubled",), ("wrong",))
    assert (compared.counts.both, compared.counts.neither, compared.counts.p) == (1, 0, 1.0)
    later = attrs.evolve(bench.folder.attempts(PROVER)[0], name="doubled", number=1, success=True)
    other.append(PROVER, later)  # the other run tried twice, so its second attempts do not count
    again = read_report(bench.folder, other).compared
    assert (again.attempts, again.gained) == (1, ("doubled",))


def test_a_folder_is_of_one_run(tmp_path):
    folder = AttemptFolder(tmp_path / "run")
    folder.begin({"limits": {"samples": 4}, "benchmark": "b"})
    folder.begin({"limits": {"samples": 4}, "benchmark": "b"})
    with pytest.raises(UsageError, match=r"settings: limits\.samples was 4 and is 8; name another"):
        folder.begin({"limits": {"samples": 8}, "benchmark": "b"})
    with pytest.raises(DataError, match="not a run"):
        read_report(AttemptFolder(tmp_path))
    (tmp_path / "run" / "prover.jsonl").write_text('{"name": "x"}\n')
    with pytest.raises(DataError, match="not an attempt"):
        folder.attempts(PROVER)


def test_what_a_clock_ended_is_named(bench, prover):
    """By what the search itself says of a limit in seconds that was too short for anything."""

    def hasty(seed):
        made = prover(seed)
        made.settings = attrs.evolve(made.settings, timeout=1e-6)
        return made

    bench.problems = PROBLEMS[:2]
    bench.run(PROVER, hasty)
    report = read_report(bench.folder)
    assert report.prover.reasons == {"timed-out": 2}
    assert report.prover.ended_by_clock == ("pair", "doubled")
    [line] = _warnings(report.prover)
    assert line == "a time limit, instead of a count, ended work on 2 theorems: pair, doubled"


def test_nothing_tried_is_no_result():
    summary = Summary.of([])
    assert str(summary.proved) == "0 of 0"
    assert (summary.pass_at, summary.curve, summary.attempts) == ({}, [], 0)


def test_engines_that_are_kept_serve_the_next_run(tmp_path):
    """Two that are open at once differ; who comes later gets one of them, of its own project."""
    with engines_kept():
        with local_server(None) as one, local_server(None) as two, local_server(tmp_path) as other:
            assert len({id(one), id(two), id(other)}) == 3
        with local_server(None) as again, local_server(tmp_path) as other_again:
            assert again in (one, two)
            assert other_again is other
    with local_server(None) as later:
        assert later not in (one, two)
