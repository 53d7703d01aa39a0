"""Whole proofs as episodes: played with real Lean, compared within their groups, learned."""

from __future__ import annotations

import itertools
import json
import os
import runpy
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from lean_dojo_core import registry
from lean_dojo_core.errors import ConfigError
from lean_dojo_plugins.grpo.episode_trainer import EpisodeTrainer, _OwnedStep
from lean_dojo_plugins.grpo.episodes import (
    EpisodeRunner,
    PlayedStep,
)
from lean_dojo_plugins.grpo.trainer import GRPOTrainer
from lean_dojo_v2.cli.run import make_trainer
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.database.export.read import read_theorems
from lean_dojo_v2.errors import TrainingError
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.settings import Settings

URL = "https://example.org/lean/lean4-tiny"
SCRIPT = Path(__file__).with_name("episode_process.py")
_script = runpy.run_path(str(SCRIPT))
answers, scripted = _script["answers"], _script["scripted"]


@pytest.fixture
def stage(tiny_repository):
    made = EpisodeRunner(3, 1, {URL: tiny_repository[0]})
    yield made
    made.close()


@pytest.fixture
def rows(tiny_database, tmp_path):
    database = DynamicDatabase(tiny_database)
    database.export_merged_data(database.repositories, tmp_path / "data")
    return {
        one.full_name: {
            "url": one.url, "commit": one.commit, "file_path": one.file_path,
            "full_name": one.full_name, "start": list(one.start), "end": list(one.end),
        }
        for split in ("train", "val")
        for one in read_theorems(tmp_path / "data" / "random" / f"{split}.json")
    }  # fmt: skip


def test_episodes_are_played_at_the_states_that_lean_gives(stage, rows):
    answer, asked = answers(), []

    def sample(states, _keys):
        asked.append(list(states))
        return [([1], [2], answer(state)) for state in states]

    [swap, trans] = stage.play([rows["Tiny.and_swap"], rows["Tiny.trans'"]], 4, sample)
    assert [len(states) for states in asked] == [8, 5, 1]  # what is over is not asked about
    assert [episode.tactics for episode in swap.episodes] == [
        ("constructor", "exact h.2", "exact hp"),  # and there is no hp
        ("exact h",),
        ("exact ⟨h.2, h.1⟩",),
        ("exact ⟨hq, hp⟩",),
    ]
    assert [episode.proved for episode in swap.episodes] == [False, False, True, False]
    assert [episode.tactics for episode in trans.episodes] == [
        ("rw [hab]", "exact hbc"), ("rw [hab]", "exact hab"),
    ] * 2  # fmt: skip
    assert trans.proved == 2
    assert swap.teaches
    assert trans.episodes[0].steps[1].state.endswith("⊢ b = c")


def test_what_cheats_or_does_not_end_is_no_proof(stage, rows):
    texts = iter(["sorry", "", "exact Tiny.self_imp p hp", "exact hp"])
    [group] = stage.play(
        [rows["Tiny.self_imp"]], 4, lambda states, _: [([1], [2], next(texts)) for _ in states]
    )
    assert [episode.proved for episode in group.episodes] == [False, False, False, True]


@pytest.mark.parametrize("lost", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_tactic_that_loses_its_engine_is_played_again_once(stage, rows, monkeypatch, lost):
    goal_tactic, seen = Server.goal_tactic, []

    def dying(server, state, tactic, *args, options=None, timeout=None, **kwargs):
        seen.append((tactic, options, timeout))
        if tactic == "exact hbc" and lost > sum(one[0] == tactic for one in seen[:-1]):
            os.kill(server.pid, signal.SIGKILL)
        return goal_tactic(server, state, tactic, *args, options=options, timeout=timeout, **kwargs)

    monkeypatch.setattr(Server, "goal_tactic", dying)
    answer = answers()
    [trans] = stage.play(
        [rows["Tiny.trans'"]], 2, lambda states, _: [([1], [2], answer(one)) for one in states]
    )
    assert [episode.tactics for episode in trans.episodes] == [
        ("rw [hab]", "exact hbc"), ("rw [hab]", "exact hab"),
    ]  # fmt: skip
    assert [episode.proved for episode in trans.episodes] == [lost == 1, False]
    assert sum(tactic == "rw [hab]" for tactic, *_ in seen) == 1 + lost, "to the state again"
    assert {str(limits) for _, *limits in seen} == {"[{'maxHeartbeats': 20000}, 60.0]"}


@pytest.fixture
def played(stage):
    """Play a batch of groups of two, of one step each; give the groups, and what is logged."""

    def play(rows, dataset, sample):
        noted = {}
        trainer = SimpleNamespace(
            stage=stage, replacements=2, _sample_tactics=sample, train_dataset=dataset, note=noted.__setitem__,
            phase="train", moment=(3, 0), first_of=lambda rows: 0, args=SimpleNamespace(seed=0),
            _gather=list, wait_for_others=lambda: None,
        )  # fmt: skip
        for name in ("_note_share", "_play_round"):
            setattr(trainer, name, partial(getattr(EpisodeTrainer, name), trainer))
        return EpisodeTrainer._play(trainer, rows, 2), noted

    stage.steps = 1
    return play


def test_groups_that_teach_nothing_are_replaced_so_many_times(played, rows):
    swap, trans = rows["Tiny.and_swap"], rows["Tiny.trans'"]
    halves = itertools.cycle(["exact h", "exact ⟨h.2, h.1⟩"])
    asked = []

    def sample(states, _keys):
        asked.extend(states)
        return [([1], [2], next(halves) if "∧" in state else "skip") for state in states]

    groups, noted = played([trans, swap], [swap], sample)
    assert [group.problem.name for group in groups] == ["Tiny.and_swap"] * 2
    assert noted == {
        "episodes/proved": pytest.approx(2 / 6),
        "episodes/replaced": pytest.approx(1 / 3),
        "episodes/teaching": 1.0,
        "episodes/ended_by_clock": 0.0,
    }
    asked.clear()
    groups, noted = played([trans], [trans], sample)  # in vain
    assert len(asked) == 2 * 1 * (1 + 2), "episodes of a group x steps x (1 + replacements)"
    assert [group.proved for group in groups] == [0]
    assert noted["episodes/teaching"] == 0.0
    assert noted["episodes/replaced"] == pytest.approx(2 / 3)


@pytest.mark.slow
def test_what_a_clock_ended_is_counted(played, stage, rows):
    """Hardly any time for a tactic: the engine is stopped, and the next call starts another."""
    stage.tactic_seconds = 1e-6
    texts = itertools.cycle(["exact ⟨h.2, h.1⟩", "exact ⟨h.right, h.left⟩"])
    swap = [rows["Tiny.and_swap"]]
    [group], noted = played(swap, swap, lambda states, _: [([1], [2], next(texts)) for _ in states])
    assert group.proved == 0
    assert noted["episodes/ended_by_clock"] == 2.0 * (1 + 2), "and of its replacements"


def test_an_episode_earns_its_proof_and_the_mean_of_its_steps_beside_its_group():
    step = PlayedStep("⊢ p", [1], [2], "simp")
    owners = [((0, 0), True), ((0, 0), True), ((0, 1), True), ((1, 0), True), ((0, 1), False)]
    batch = [_OwnedStep(step, owner, proved=True, counts=counts) for owner, counts in owners]
    scores = torch.tensor([[1, 0.0], [1, 4.0], [0, torch.nan], [1, 0.0], [0, 9.0]])
    trainer = SimpleNamespace(
        _scores=scores, reward_weights=torch.tensor([1.0, 0.5]), scale_rewards="none",
        _gather=list, accelerator=SimpleNamespace(process_index=0),
    )  # fmt: skip
    # Returns 1 + 0.5 x 2 = 2 and 0, compared with 1; an episode alone has nobody beside it.
    assert EpisodeTrainer._advantages(trainer, batch).tolist() == [1, 1, -1, 0, 0]
    trainer.scale_rewards, trainer._scores = "group", scores[:3]
    scaled = EpisodeTrainer._advantages(trainer, batch[:3])
    assert scaled.tolist() == pytest.approx([2**-0.5, 2**-0.5, -(2**-0.5)], rel=1e-3)
    # In the second of two processes, whose scores come after those of the first.
    trainer.accelerator.process_index, trainer.scale_rewards = 1, "none"
    trainer._scores = torch.cat([torch.full((3, 2), 7.0), scores[:3]])
    assert EpisodeTrainer._advantages(trainer, batch[:3]).tolist() == [1, 1, -1]


def test_a_batch_that_cannot_be_opened_is_one_message(stage, played):
    stage.play = lambda *_: [None]
    with pytest.raises(TrainingError, match="no theorem of the batch can be opened"):
        played([{}], [{}], None)


@pytest.mark.slow
def test_a_run_learns_from_whole_proofs(
    tiny_model, tiny_database, tiny_repository, tmp_path, monkeypatch
):
    seen = []
    score = EpisodeTrainer.make_batch

    def watched(self, inputs):
        seen.append((score(self, inputs), self._tokenizer))
        return seen[-1][0]

    monkeypatch.setattr(EpisodeTrainer, "_generate_single_turn", scripted(answers()))
    monkeypatch.setattr(EpisodeTrainer, "make_batch", watched)
    database = DynamicDatabase(tiny_database)
    trainer = GRPOTrainer(
        tiny_model, {"length-penalised": 0.1}, tmp_path / "out", batch_size=4, lr=1e-3,
        episodes=True, episode_steps=3, replacements=6, engines=1, projects={URL: tiny_repository[0]},
        trainer_args={"num_generations": 4, "max_steps": 2, "beta": 0.01},
    )  # fmt: skip
    trainer.preflight()
    trainer.train(database.repositories, database, tmp_path / "data")
    for output, _ in seen:
        kept = output["tool_mask"].bool().any(1)
        assert (output["advantages"][~kept] == 0).all()
        assert int(output["num_items_in_batch"]) == int(
            (output["completion_mask"] * output["tool_mask"]).sum()
        )
    mixed = [output["advantages"] for output, _ in seen if output["advantages"].any()]
    assert mixed
    assert all(one.max() > 0 > one.min() for one in mixed)
    logged = [
        json.loads(line) for line in (tmp_path / "out" / "metrics.jsonl").read_text().splitlines()
    ]
    row = next(one for one in logged if one.get("episodes/teaching") == 1.0)
    assert 0 < row["episodes/proved"] < 1
    assert row["rewards/whole-proof/mean"] > 0
    assert row["time/episodes"] > 0
    assert "time/generation" not in row
    assert torch.isfinite(torch.tensor(row["loss"]))


@pytest.mark.slow
@pytest.mark.parametrize("served", [False, True], ids=["own model", "vLLM server"])
def test_two_processes_play_whole_groups_and_learn_from_all(
    served, tiny_model, tiny_database, tiny_repository, tmp_path
):
    vllm = {"use_vllm": True, "vllm_mode": "server"} if served else {}
    orders = {
        "served": served,
        "database": str(tiny_database), "model": str(tiny_model), "folder": str(tmp_path),
        "options": {
            "batch_size": 4, "lr": 1e-3, "episode_steps": 3, "replacements": 6, "engines": 1,
            "projects": {URL: str(tiny_repository[0])},
            "trainer_args": {"num_generations": 4, "max_steps": 3, "warmup_steps": 0, **vllm},
        },
    }  # fmt: skip
    (tmp_path / "orders.json").write_text(json.dumps(orders))
    launcher = ["-m", "torch.distributed.run", "--nproc_per_node", "2", "--standalone"]
    done = subprocess.run(
        [sys.executable, *launcher, str(SCRIPT), str(tmp_path / "orders.json")],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, timeout=400, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert "2 theorems per optimiser step (4 episodes x 1 pass x 2 processes)" in done.stderr
    played = [
        [json.loads(line) for line in (tmp_path / f"batches-{rank}.jsonl").read_text().splitlines()]
        for rank in range(2)
    ]
    assert len(played[0]) == len(played[1]) == 3
    for ours, theirs in zip(*played, strict=True):
        assert len(ours["advantages"]) == len(theirs["advantages"]), "filled up alike"
        assert ours["items"] == theirs["items"], "tokens of both"
        for batch in (ours, theirs):
            assert abs(sum(batch["returns"])) < 1e-4, "compared within groups of its own"
    assert any(any(batch["advantages"]) for batch in played[1])
    assert played[0][-1]["weights"] == pytest.approx(played[1][-1]["weights"])
    if served:
        pushed = json.loads((tmp_path / "pushed.json").read_text())
        assert len(pushed) == 3, "each step's weights, once"
        assert len(set(pushed)) > 1
        logged = (tmp_path / "out" / "metrics.jsonl").read_text().splitlines()
        ratios = [json.loads(x).get("sampling/importance_sampling_ratio/mean") for x in logged]
        assert [one for one in ratios if one] == pytest.approx([1.0] * 3, abs=0.01)


def test_settings_that_do_not_fit(tiny_model, tmp_path):
    def made(**settings):
        return GRPOTrainer(tiny_model, None, tmp_path / "out", episodes=True, **settings)

    with pytest.raises(ConfigError, match="episode_steps must be a whole number"):
        made(episode_steps=0)
    with pytest.raises(ConfigError, match="no column problem"):
        made(formatter="tactic-chat")
    assert [reward.name for reward in made().rewards] == ["whole-proof"]
    asked = Settings({"model_name": str(tiny_model), "episodes": True, "callbacks": "m:x"})
    trainer = make_trainer(registry.trainers["grpo"], asked)  # as `lean-dojo train` does
    assert [reward.name for reward in trainer.rewards] == ["whole-proof"]
    assert trainer.callbacks == ("m:x",)
    with pytest.raises(ConfigError, match="needs a reward: name one with --reward NAME"):
        GRPOTrainer(tiny_model)
