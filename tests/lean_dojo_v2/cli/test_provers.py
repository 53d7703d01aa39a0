"""Who proves where nobody is named."""

from __future__ import annotations

import os
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from lean_dojo_core.errors import UsageError
from lean_dojo_v2.cli import provers
from lean_dojo_v2.cli.provers import ProverChoice
from lean_dojo_v2.prover import shipped


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a package that ships no model yet."""
    spec = ModuleSpec("lean_dojo_plugins", None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr(shipped, "find_spec", lambda _: spec)
    return tmp_path


def test_without_a_model_it_is_automation(package: Path) -> None:
    assert shipped.shipped_model() is None
    choice = ProverChoice()
    assert (choice.name, choice.label, choice.own_model) == ("automation", "automation", None)
    assert "Lean's own automation proves" in choice.default_notice
    (package / "base_model").mkdir()  # a folder that is being written is no model
    assert ProverChoice().name == "automation"


def test_the_model_that_ships_proves_where_nobody_is_named(package: Path) -> None:
    folder = package / "base_model"
    folder.mkdir()
    (folder / "model.safetensors").touch()
    choice = ProverChoice()
    assert (choice.name, choice.label) == ("hf", "shipped")
    assert "the shipped model and Lean's own automation prove together" in choice.default_notice
    _, arguments, takes_config = choice.resolved()
    assert arguments == {"ckpt_path": str(folder), "automation": True}
    assert takes_config
    assert {"files", "automation"} < set(choice.described())
    alone = ProverChoice(prover="hf")
    assert alone.own_model == str(folder)
    assert alone.resolved()[1] == {"ckpt_path": str(folder)}
    assert "automation" not in alone.described()
    by_name = ProverChoice(model="shipped")
    assert (by_name.own_model, by_name.label) == (str(folder), "shipped")


def test_a_copy_of_a_model_is_the_same_model_and_other_weights_are_another(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("here", "copied", "other")]
    for folder, weights in zip(folders, (b"abc", b"abc", b"abd"), strict=True):
        folder.mkdir()
        (folder / "model.safetensors").write_bytes(weights)
    os.utime(folders[1] / "model.safetensors", (1, 1))
    here, copied, other = (ProverChoice(model=str(one)).described()["files"] for one in folders)
    assert here == copied != other


def test_a_model_may_be_on_a_server(package: Path) -> None:
    choice = ProverChoice(model="mine", endpoint="http://host/v1")
    assert choice.resolved()[1] == {"ckpt_path": "mine", "endpoint": "http://host/v1"}
    assert choice.described()["endpoint"] == "http://host/v1"
    with pytest.raises(UsageError, match="prover 'automation' has no setting for --endpoint"):
        ProverChoice(endpoint="http://host/v1").resolved()


@pytest.mark.parametrize(
    "given", [{"prover": "automation"}, {"external": "m"}, {"model": "mine"}], ids=str
)
def test_whoever_is_named_proves(package: Path, given: dict[str, str]) -> None:
    (package / "base_model").mkdir()
    (package / "base_model" / "model.safetensors").touch()
    choice = ProverChoice(**given)
    assert choice.own_model == given.get("model")
    assert not choice.default_notice


def test_the_hashing_of_big_weights_is_announced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"x")
    provers._files(tmp_path)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(provers, "_BIG", 0)
    provers._files(tmp_path)
    assert f"GB of weights in {tmp_path}" in capsys.readouterr().err
