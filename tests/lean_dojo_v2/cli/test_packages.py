"""What `plugins install` hands to pip: a requirement, an address or a path, never an option."""

from __future__ import annotations

from pathlib import Path

import pytest

from lean_dojo_core.errors import UsageError
from lean_dojo_v2.cli import main
from lean_dojo_v2.plugin_host.pip import checked_package


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plugin").mkdir()
    (tmp_path / "-e").mkdir()
    (tmp_path / "made-1.0-py3-none-any.whl").touch()
    return tmp_path


GOOD = {
    "name": "name",
    "name>=1, <2": "name<2,>=1",
    "name[b, a]==1; python_version > '3'": 'name[a,b]==1; python_version > "3"',
    "name @ https://example.org/a.whl": "name @ https://example.org/a.whl",
    "https://example.org/a.whl": "https://example.org/a.whl",
    "git+https://example.org/a.git@v1": "git+https://example.org/a.git@v1",
    "plugin": "plugin",
    "./plugin": "{folder}/plugin",
    "./plugin[test]": "{folder}/plugin[test]",
    "made-1.0-py3-none-any.whl": "{folder}/made-1.0-py3-none-any.whl",
    ".": "{folder}",
    "./-e": "{folder}/-e",
}


@pytest.mark.parametrize("written", GOOD)
def test_what_is_meant(folder: Path, written: str) -> None:
    assert checked_package(written) == GOOD[written].format(folder=folder)


BAD = (
    "--index-url=https://evil.example/simple", "-i", "-e", "--pre", "-r", "--find-links=/tmp",
    "-rrequirements.txt", "-e./plugin", "--index-url=x://y", " --pre", "name --pre",
    "name; --pre", "name==1 --hash=sha256:0", "name\n--pre", "./nosuch", "./plugin[--pre]",
    "https://example.org/a b", "", "name @", "a,b",
)  # fmt: skip


@pytest.mark.parametrize("written", BAD)
def test_anything_else_is_refused(folder: Path, written: str) -> None:
    with pytest.raises(UsageError):
        checked_package(written)


def test_editable_takes_a_folder(folder: Path) -> None:
    assert checked_package("plugin", folder_only=True) == str(folder / "plugin")
    for written in ("--pre", "made-1.0-py3-none-any.whl", "nosuch", "https://example.org/a.git"):
        with pytest.raises(UsageError):
            checked_package(written, folder_only=True)


def test_the_command_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plugins", "install", "--", "--index-url=https://evil.example/simple"]) == 2
    message = capsys.readouterr().err
    assert message.startswith("Error: '--index-url=https://evil.example/simple' is not a")
