"""The whole story on a machine with nothing: trace, train, reinforce, guide, prove.

A killed demo goes on where it was: tracing from its cache, training from its checkpoints, proving
from the stages that are done.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import attrs
import orjson
import torch

from lean_dojo_core import registry
from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.causal_lm.text.formatters import TacticChat
from lean_dojo_plugins.demo.encoder import build_tiny_encoder
from lean_dojo_plugins.demo.proving import Arena, StageResult, choose_problems
from lean_dojo_plugins.demo.settings import DemoSettings
from lean_dojo_plugins.demo.tiny_model import build_tiny_model
from lean_dojo_v2.atomic import atomic_write_bytes
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.database.export.read import read_theorems
from lean_dojo_v2.lean.engines.embedded.launch import ensure_installed
from lean_dojo_v2.lean_agent.config import ProverConfig
from lean_dojo_v2.paths import RAID_VARIABLE
from lean_dojo_v2.sample import SAMPLE_URLS, sample_project_path
from lean_dojo_v2.tracing import LeanGitRepo, trace_repository

SUMMARY_FILE = "summary.json"
MARK_FILE = ".demo.json"
"""Says which demo a folder holds, so that it goes on with that one and no other."""


@attrs.define
class Demo:
    """Runs the demo.

    Attributes:
        settings: Its sizes.
        seconds: Time that each stage took in this process.
    """

    settings: DemoSettings
    seconds: dict[str, float] = attrs.Factory(dict)

    @property
    def folder(self) -> Path:
        """Where everything goes; absolute, since trainers know their models by their paths."""
        return self.settings.output_dir.absolute()

    def run(self) -> list[StageResult]:
        """Run all stages.

        Returns:
            What was proved with the model of each stage.

        Raises:
            UsageError: If the folder holds a demo of other settings, or of another sample.
        """
        self._claim_folder()
        os.environ[RAID_VARIABLE] = str(self.folder.absolute() / "raid")
        torch.manual_seed(self.settings.seed)
        with self._stage("Lean", "install the embedded Lean engine (once a machine)"):
            ensure_installed()
        with self._stage("trace", "trace two small Lean projects with real Lean"):
            database, repos = self._trace()
        data = self.folder / "merged"
        with self._stage("model", "build a small language model from nothing"):
            model = self._model(database, data)
        with self._arena(database, repos) as arena:
            results = self._train_and_prove(database, repos, model, arena)
        self._summarise(results)
        return results

    def _train_and_prove(
        self,
        database: DynamicDatabase,
        repos: Sequence[LeanGitRepo],
        model: Path,
        arena: Arena,
    ) -> list[StageResult]:
        """Train stage by stage; the model of each tries the theorems."""
        data = self.folder / "merged"
        results: list[StageResult] = []

        def prove(stage: str, path: Path, guide: Path | None = None) -> None:
            with self._stage(f"prove {stage}", f"prove held-out and sorry theorems ({stage})"):
                results.append(arena.run(stage, path, guide))
            self._say(f"  {results[-1]}")

        with self._stage("automation", "what Lean's own automation proves of them"):
            results.append(arena.run_automation("automation"))
        self._say(f"  {results[-1]}")
        prove("untrained", model)
        with self._stage("SFT", "supervised fine-tuning on the traced tactics"):
            best = self._fine_tune(database, data, model)
        prove("SFT", best)
        if self.settings.grpo_steps:
            with self._stage("GRPO", "reinforcement: Lean itself is the reward"):
                best = self._reinforce(database, best, repos)
            prove("GRPO", best)
        if self.settings.progress_epochs:
            with self._stage("progress", "train a model of the steps that remain"):
                guide = self._progress(database, data)
            prove("guided", best, guide)
        return results

    def _claim_folder(self) -> None:
        """Note whose results the folder holds: those of another demo are not to be mixed in."""
        settings = {**attrs.asdict(self.settings), "output_dir": str(self.folder)}
        samples = {
            name: LeanGitRepo.from_path(sample_project_path(name), url=url).commit
            for name, url in SAMPLE_URLS.items()
        }
        mine = orjson.dumps({"settings": settings, "samples": samples})
        mark = self.folder / MARK_FILE
        if not mark.exists() and not (self.folder / "database.json").exists():
            atomic_write_bytes(mark, mine)
        elif not mark.exists() or mark.read_bytes() != mine:
            raise UsageError(
                f"{self.folder} holds a demo with other settings, of another sample or from "
                "another place; delete it or choose another folder with --output-dir"
            )

    # --- stages ---------------------------------------------------------------------------------

    def _trace(self) -> tuple[DynamicDatabase, list[LeanGitRepo]]:
        database = DynamicDatabase(self.folder / "database.json")
        repos: list[LeanGitRepo] = []
        for name, url in SAMPLE_URLS.items():
            project = self.folder / "projects" / name
            if not project.exists():
                shutil.copytree(sample_project_path(name), project)
            repo = LeanGitRepo.from_path(project, url=url)
            if database.get_repository(repo.url, repo.commit) is None:
                database.add_repository(trace_repository(repo, jobs=self.settings.engines))
            repos.append(repo)
            found = database.get_repository(repo.url, repo.commit)
            assert found is not None
            self._say(
                f"  {name}: {found.total_theorems} theorems, {found.num_sorry_theorems} of them "
                f"sorry, {found.num_premises} premises"
            )
        return database, repos

    def _model(self, database: DynamicDatabase, data: Path) -> Path:
        folder = self.folder / "tiny"
        database.export_merged_data(database.sort_repositories_by_difficulty(), data)
        if not (folder / "model.safetensors").exists():
            build_tiny_model(
                _texts(data),
                folder,
                seed=self.settings.seed,
                hidden_size=self.settings.hidden_size,
                layers=self.settings.layers,
            )
        return folder

    def _arena(self, database: DynamicDatabase, repos: Sequence[LeanGitRepo]) -> Arena:
        config = ProverConfig(
            num_workers=self.settings.engines,
            timeout=60,
            max_expansions=self.settings.expansions,
            num_sampled_tactics=self.settings.samples,
            batch_size=16,
            visits=self.settings.visits,
        )
        problems = choose_problems(database, repos, self.settings.theorems)
        return Arena(problems, config, self.folder / "proofs")

    def _fine_tune(self, database: DynamicDatabase, data: Path, model: Path) -> Path:
        trainer = registry.builtin(registry.trainers, "sft")(
            str(model),
            str(self.folder / "sft"),
            batch_size=self.settings.sft_batch,
            lr=self.settings.sft_lr,
            max_length=512,
            seed=self.settings.seed,
            look_back=40,
            # What a model that starts from nothing needs: goals to learn to read from, many names
            # to learn copying from, and an optimiser that is quick at it.
            formatter="tactic-chat-renamed",
            prompt_weight=0.25,
            trainer_args={
                "optim": "muon",
                "weight_decay": 0.1,
                "max_steps": self.settings.sft_steps,
                "warmup_steps": 0.05,
                "save_steps": 100,
                "logging_steps": 10,
            },
        )
        # A run that goes on has no "before" any more: what is there is half-trained.
        before = None if trainer.run_state() else trainer.evaluate(data, "val")
        trainer.train(database.sort_repositories_by_difficulty(), database, data)
        after = trainer.evaluate(data, "val")
        loss, match = f"{after['loss']:.2f}", f"{after['exact_match']:.0%}"
        if before is not None:
            loss = f"{before['loss']:.2f} -> {loss}"
            match = f"{before['exact_match']:.0%} -> {match}"
        self._say(f"  held-out tactics: loss {loss}, exact match {match}")
        return self.folder / "sft"

    def _reinforce(
        self, database: DynamicDatabase, model: Path, repos: Sequence[LeanGitRepo]
    ) -> Path:
        projects = {repo.url: str(repo.path) for repo in repos}
        reward = {
            "pantograph-verified": {
                "weight": 1.0,
                "engines": self.settings.engines,
                "projects": projects,
            }
        }
        trainer = registry.builtin(registry.trainers, "grpo")(
            str(model),
            reward,
            str(self.folder / "grpo"),
            batch_size=32,
            lr=2e-5,
            seed=self.settings.seed,
            trainer_args={
                "max_steps": self.settings.grpo_steps,
                "num_generations": 8,
                "max_completion_length": 48,
                "logging_steps": 1,
            },
        )
        repositories = database.sort_repositories_by_difficulty()
        trainer.train(repositories[:1], database, self.folder / "merged-grpo")
        for adapted in trainer.rewards:
            adapted.function.close()
        return self.folder / "grpo"

    def _progress(self, database: DynamicDatabase, data: Path) -> Path:
        encoder = self.folder / "encoder"
        if not (encoder / "model.safetensors").exists():
            build_tiny_encoder(self.folder / "tiny", encoder, seed=self.settings.seed)
        trainer = registry.builtin(registry.trainers, "progress")(
            None,
            str(encoder),
            str(self.folder / "progress"),
            max_length=256,
            batch_size=32,
            epochs=self.settings.progress_epochs,
            learning_rate=1e-3,
            seed=self.settings.seed,
        )
        trainer.train(None, database, data)
        return self.folder / "progress"

    # --- what is shown --------------------------------------------------------------------------

    def _summarise(self, results: Sequence[StageResult]) -> None:
        data = {
            "stages": [attrs.asdict(result) for result in results],
            "seconds": self.seconds,
            "settings": {**attrs.asdict(self.settings), "output_dir": str(self.folder)},
        }
        atomic_write_bytes(
            self.folder / SUMMARY_FILE, orjson.dumps(data, option=orjson.OPT_INDENT_2)
        )

    @contextmanager
    def _stage(self, name: str, title: str) -> Iterator[None]:
        start = time.monotonic()
        self._say(f"== {title}")
        yield
        self.seconds[name] = round(time.monotonic() - start, 1)
        self._say(f"   ({self.seconds[name]:.0f} s)")

    @staticmethod
    def _say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)


def _texts(data: Path) -> Iterator[str]:
    """Give the states of the training split and the tactics played there."""
    for theorem in read_theorems(data / "random" / "train.json"):
        for row in TacticChat().rows(theorem):
            yield row["prompt"][-1]["content"]
            yield row["completion"][0]["content"]
