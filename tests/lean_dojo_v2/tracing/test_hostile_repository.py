"""A folder may come from anybody: no program that it names is started."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from lean_dojo_v2.errors import TraceError
from lean_dojo_v2.tracing import LeanGitRepo
from lean_dojo_v2.tracing.project.git import run_git
from tests.lean_dojo_v2.tracing.conftest import Git, write_project

Trap = Callable[[Git, Path, str], None]
"""Sets a trap in a repository: the command is to be run by whoever looks at it."""


def configure(*settings: tuple[str, str], attributes: str = "") -> Trap:
    def trap(git: Git, folder: Path, command: str) -> None:
        for name, value in settings:
            git(folder, "config", name, value.format(command=command))
        if attributes:
            (folder / ".git/info/attributes").write_text(attributes)

    return trap


def in_the_tree(git: Git, folder: Path, command: str) -> None:
    """Attributes of the tree name a filter of the configuration."""
    git(folder, "config", "filter.evil.clean", f"{command}; cat")
    git(folder, "config", "filter.evil.smudge", f"{command}; cat")
    (folder / ".gitattributes").write_text("*.lean filter=evil\n")


def hooks(git: Git, folder: Path, command: str) -> None:
    for name in (
        "post-index-change",
        "post-checkout",
        "fsmonitor-watchman",
        "reference-transaction",
    ):
        write_program(folder / ".git/hooks" / name, command)


def hooks_elsewhere(git: Git, folder: Path, command: str) -> None:
    write_program(folder / "tools/post-index-change", command)
    git(folder, "config", "core.hooksPath", "tools")


def submodule(git: Git, folder: Path, command: str) -> None:
    inner = write_project(folder / "inner", {"Inner.lean": ""})
    git(inner, "init", "--quiet")
    git(inner, "add", ".")
    git(inner, "commit", "--quiet", "-m", "inner")
    git(
        folder,
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        str(inner),
        "inner",
    )
    git(folder, "commit", "--quiet", "-am", "submodule")
    git(inner, "config", "core.fsmonitor", f"{command}; false")


def partial_clone(url: str, **more: str) -> Trap:
    """Objects are missing, and are to be fetched by a command."""

    def trap(git: Git, folder: Path, command: str) -> None:
        git(folder, "config", "core.repositoryFormatVersion", "1")
        git(folder, "config", "extensions.partialClone", "origin")
        git(folder, "config", "remote.origin.promisor", "true")
        git(folder, "config", "protocol.ext.allow", "always")
        address = url.format(command=command, folder=folder)
        git(folder, "config", "remote.origin.url", address)
        for name, value in more.items():
            git(folder, "config", f"remote.origin.{name}", value.format(command=command))
        tree = git(folder, "rev-parse", "HEAD^{tree}")
        (folder / ".git/objects" / tree[:2] / tree[2:]).unlink()

    return trap


def included(git: Git, folder: Path, command: str) -> None:
    (folder / "more.config").write_text(f'[core]\n\tfsmonitor = "{command}; false"\n')
    git(folder, "config", "include.path", "../more.config")


def bare_inside(git: Git, folder: Path, command: str) -> None:
    """The tree itself is a bare repository, with a configuration in the tree."""
    for name in ("HEAD", "config"):
        (folder / name).write_bytes((folder / ".git" / name).read_bytes())
    for name in ("objects", "refs"):
        (folder / ".git" / name).rename(folder / name)
    with (folder / "config").open("a") as stream:
        stream.write(f'[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = "{command}; false"\n')
    subprocess.run(["rm", "-r", folder / ".git"], check=True)


TRAPS: dict[str, Trap] = {
    "fsmonitor": configure(("core.fsmonitor", "{command}; false")),
    "clean": configure(("filter.x.clean", "{command}; cat"), attributes="* filter=x"),
    "process": configure(
        ("filter.x.process", "{command}"), ("filter.x.required", "true"), attributes="* filter=x"
    ),
    "attributes of the tree": in_the_tree,
    "hooks": hooks,
    "core.hooksPath": hooks_elsewhere,
    "submodule": submodule,
    "include.path": included,
    "bare inside": bare_inside,
    "ext": partial_clone("ext::{command}"),
    "upload-pack": partial_clone("{folder}", uploadpack="{command}; false"),
    "shows": configure(
        ("core.pager", "{command}"),
        ("core.editor", "{command}"),
        ("core.sshCommand", "{command}"),
        ("core.askPass", "{command}"),
        ("core.alternateRefsCommand", "{command}"),
        ("diff.external", "{command}"),
        ("diff.x.textconv", "{command}"),
        ("credential.helper", "!{command}"),
        ("gpg.program", "{command}"),
        ("uploadpack.packObjectsHook", "{command}"),
        *((f"alias.{name}", "!{command}") for name in ("status", "rev-parse", "ls-tree", "clone")),
        attributes="* diff=x",
    ),
}
HARMLESS = {"bare inside", "shows"}
"""What runs nothing even with plain git, as far as these commands go; the others are real traps."""


def write_program(path: Path, command: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{command}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def touched(folder: Path) -> None:
    """Make git look at every file again."""
    for path in folder.rglob("*"):
        if path.is_file() and ".git" not in path.parts:
            os.utime(path, (1, 1))


@pytest.mark.parametrize("name", TRAPS)
def test_nothing_of_a_repository_is_run(
    name: str, tmp_path: Path, git: Git, raid: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_project(tmp_path / "remote", {"Lib.lean": "theorem a : 1 = 1 := rfl\n"})
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "1")
    commit = git(folder, "rev-parse", "HEAD")
    marker = tmp_path / "marker"
    TRAPS[name](git, folder, f"touch {marker}")
    touched(folder)

    assert LeanGitRepo.from_path(folder).path == folder
    for url in (str(folder), f"file://{folder}"):
        for revision in (commit, "", "HEAD", "main", commit[:8]):
            try:
                assert (LeanGitRepo(url, revision).path / "Lib.lean").is_file()
            except TraceError:
                assert name in {"ext", "upload-pack", "bare inside"}
    (folder / "Lib.lean").write_text("theorem b : 1 = 1 := rfl\n")
    assert LeanGitRepo.from_path(folder).commit.startswith("files-")
    monkeypatch.chdir(folder)
    run_git(["config", "--default", "", "user.name"])
    assert not marker.exists()

    if name not in HARMLESS:
        for command in (["status"], ["ls-tree", "-r", "HEAD"]):
            subprocess.run(["git", *command], cwd=folder, check=False, capture_output=True)
        assert marker.exists()


def test_a_checkout_runs_no_filter_of_the_user(
    remote: tuple[Path, list[str]], git_home: Path
) -> None:
    """Files come as they were committed, whatever the repository's attributes ask of the user's git."""
    folder, _ = remote
    marker = git_home / "marker"
    with (git_home / ".gitconfig").open("a") as stream:
        stream.write(
            f'[filter "x"]\n\tsmudge = "touch {marker}; tr a-z A-Z"\n\tclean = cat\n\trequired = true\n'
        )
        stream.write(f"[core]\n\thooksPath = {git_home}\n")
    write_program(git_home / "post-checkout", f"touch {marker}")
    (folder / ".gitattributes").write_text("*.lean filter=x text eol=crlf ident\n")
    subprocess.run(["git", "add", "."], cwd=folder, check=True)
    subprocess.run(["git", "commit", "-qm", "attributes"], cwd=folder, check=True)
    marker.unlink(missing_ok=True)
    for url in (str(folder), f"file://{folder}"):
        assert (LeanGitRepo(url).path / "Lib.lean").read_bytes() == b"theorem a : 2 = 2 := rfl\n"
    assert not marker.exists()


def test_a_folder_of_clones_may_come_with_a_project(git_home: Path, raid: Path) -> None:
    """``raid`` lies in the current folder by default, and so may be the project's author's."""
    url = "ssh://example.invalid/owner/repo"
    marker = git_home / "marker"
    with pytest.raises(TraceError):
        LeanGitRepo(url, "main")
    (home,) = (raid / "repos").iterdir()
    subprocess.run(["git", "init", "-q", "--bare", home / "git"], check=True)
    with (home / "git/config").open("a") as stream:
        stream.write(f'[core]\n\tsshCommand = "touch {marker}; false"\n')
    with pytest.raises(TraceError):
        LeanGitRepo(url, "main")
    assert not marker.exists()


def test_replaced_objects_are_not_read(remote: tuple[Path, list[str]], git: Git) -> None:
    folder, (first, second) = remote
    git(folder, "replace", second, first)
    assert "2 = 2" in (LeanGitRepo(str(folder), second).path / "Lib.lean").read_text()


def test_commands_are_no_way_to_fetch(git_home: Path) -> None:
    marker = git_home / "marker"
    with pytest.raises(TraceError, match="'ext' not allowed"):
        LeanGitRepo(f"ext::sh -c touch% {marker} ://x", "main")
    assert not marker.exists()
