"""TRL's private methods are those that we know; on a newer TRL trainers do without them."""

from __future__ import annotations

import hashlib
import inspect
import logging
import pkgutil
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from lean_dojo_core.errors import ConfigError
from lean_dojo_plugins.grpo.trainer import GRPOTrainer
from lean_dojo_plugins.sft.trainer import SFTTrainer
from lean_dojo_plugins.training import trl_version
from lean_dojo_v2.database import DynamicDatabase

ROOT = Path(__file__).parents[3]
MODULES = ("causal_lm.model", "grpo", "sft")
RELIED_ON = [
    (module, target, known)
    for module in (f"lean_dojo_plugins.{room}.trl_internals" for room in MODULES)
    for target, known in import_module(module).RELIED_ON.items()
]


@pytest.mark.parametrize(
    ("module", "target", "known"), RELIED_ON, ids=[target for _, target, _ in RELIED_ON]
)
def test_trl_is_as_its_internals_were_written_for(module: str, target: str, known: str) -> None:
    source = inspect.getsource(pkgutil.resolve_name(target))
    found = hashlib.sha256(source.encode()).hexdigest()[:12]
    assert found == known, (
        f"{target} has changed in TRL {trl_version.installed_trl()}: read what is new, adapt "
        f"{module}, and record {found!r} there"
    )


def test_the_bound_is_that_of_the_distribution() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (trl,) = [one for one in map(Requirement, project["dependencies"]) if one.name == "trl"]
    assert f"<{trl_version.BEFORE}" in str(trl.specifier).split(",")


@pytest.fixture
def newer_trl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trl_version, "installed_trl", lambda: f"{trl_version.BEFORE}.0")
    trl_version._knows.cache_clear()


@pytest.mark.usefixtures("newer_trl")
def test_sft_trains_the_plain_way_on_a_newer_trl(
    traced: Path, tiny_model: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    database = DynamicDatabase(traced)
    trainer = SFTTrainer(
        str(tiny_model), tmp_path / "out", device="cpu", trainer_args={"max_steps": 1}
    )
    with caplog.at_level(logging.WARNING):
        trainer.train(database.repositories[:2], database, tmp_path / "data")
    assert "fused" not in str(vars(trainer.model).get("forward"))
    assert (tmp_path / "out" / "model.safetensors").exists()
    assert sum("newer than the versions that were tested" in text for text in caplog.messages) == 1


@pytest.mark.usefixtures("newer_trl")
def test_grpo_trains_the_plain_way_on_a_newer_trl(
    traced: Path, tiny_model: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[str] = []

    def reward(completions: list[str], **_: object) -> list[float]:
        seen.extend(completions)
        return [float(len(text)) for text in completions]

    database = DynamicDatabase(traced)
    short = {"max_steps": 1, "max_completion_length": 8, "num_generations": 4}
    trainer = GRPOTrainer(
        str(tiny_model), reward, tmp_path / "out", batch_size=4, device="cpu", trainer_args=short
    )
    with caplog.at_level(logging.WARNING):
        trainer.train(database.repositories[:2], database, tmp_path / "data")
    assert len(seen) == 8  # four in each repository
    assert not any("\n" in text.rstrip("\n") for text in seen)  # a tactic ends at its line
    assert (tmp_path / "out" / "model.safetensors").exists()
    assert sum("newer than the versions that were tested" in text for text in caplog.messages) == 1


@pytest.mark.usefixtures("newer_trl")
def test_a_newer_trl_refuses_what_depends_on_its_internals(tiny_model: Path) -> None:
    with pytest.raises(ConfigError, match="prompt_weight depends on private methods of TRL"):
        SFTTrainer(str(tiny_model), prompt_weight=0.5, device="cpu").preflight()
    with pytest.raises(ConfigError, match=r"episodes .* install 'trl<"):
        GRPOTrainer(str(tiny_model), "constant", episodes=True, device="cpu").preflight()
