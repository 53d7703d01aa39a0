"""LeanGitRepo: clones, commits, local folders, and what goes wrong."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.errors import TraceError
from lean_dojo_v2.sample import SAMPLE_URLS, sample_database_path, sample_project_path
from lean_dojo_v2.tracing import LeanGitRepo

Remote = tuple[Path, list[str]]
Git = Callable[..., str]
Project = Callable[..., Path]


def text(repo: LeanGitRepo) -> str:
    return (repo.path / "Lib.lean").read_text()


def test_clones_a_commit_once(remote: Remote, raid: Path) -> None:
    folder, (first, second) = remote
    url = f"file://{folder}"
    old = LeanGitRepo(url, first)
    assert old.commit == first
    assert "1 = 1" in text(old)
    assert old.path.is_relative_to(raid / "repos")
    assert not (old.path / ".git").exists()
    assert "2 = 2" in text(LeanGitRepo(url, second))
    folder.rename(folder.with_name("gone"))  # no network from here on
    assert "1 = 1" in text(LeanGitRepo(url, first))
    assert old == LeanGitRepo(url, first)
    assert hash(old) == hash(LeanGitRepo(url, first))
    assert old != LeanGitRepo(url, second)


def test_clones_below_the_current_folder_unless_told_otherwise(
    remote: Remote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAID_DIR")
    monkeypatch.chdir(tmp_path)
    folder, (first, _) = remote
    repo = LeanGitRepo(f"file://{folder}", first)
    assert repo.path.is_relative_to(tmp_path / "raid" / "repos")
    assert "1 = 1" in text(repo)


def test_making_one_with_a_full_commit_needs_no_network() -> None:
    repo = LeanGitRepo("https://example.invalid/owner/some-repo.git", "a" * 40)
    assert (repo.name, repo.commit) == ("owner/some-repo", "a" * 40)


@pytest.mark.parametrize("revision", ["v1", "old/one", "short"])
def test_names_become_full_commits(remote: Remote, revision: str) -> None:
    folder, (first, _) = remote
    given = first[:9] if revision == "short" else revision
    assert LeanGitRepo(f"file://{folder}", given).commit == first


def test_without_a_commit_it_is_the_default_branch_as_it_is_now(remote: Remote, git: Git) -> None:
    folder, commits = remote
    url = f"file://{folder}"
    assert LeanGitRepo(url).commit == commits[1]
    (folder / "Lib.lean").write_text("theorem a : 3 = 3 := rfl\n")
    git(folder, "commit", "--quiet", "-am", "3")
    newest = LeanGitRepo(url)
    assert newest.commit not in commits
    assert "3 = 3" in text(newest)


def test_a_commit_outside_of_every_branch(remote: Remote, git: Git) -> None:
    folder, (_, second) = remote
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "lost")
    lost = git(folder, "rev-parse", "HEAD")
    git(folder, "reset", "--quiet", "--hard", second)
    git(folder, "config", "uploadpack.allowAnySHA1InWant", "true")
    assert "2 = 2" in text(LeanGitRepo(f"file://{folder}", lost))


def test_insteadof_of_the_users_git_configuration(remote: Remote, git_home: Path) -> None:
    folder, (first, _) = remote
    with (git_home / ".gitconfig").open("a") as stream:
        stream.write(f'[url "file://{folder}"]\n\tinsteadOf = https://example.invalid/o/r\n')
    repo = LeanGitRepo("https://example.invalid/o/r", first)
    assert "1 = 1" in text(repo)
    assert (repo.url, repo.name) == ("https://example.invalid/o/r", "o/r")


def test_windows_line_ends_are_kept(tmp_path: Path, git: Git, project: Project) -> None:
    folder = project({"Lib.lean": "theorem a : 1 = 1 :=\r\n  rfl\r\n"})
    git(folder, "init", "--quiet")
    git(folder, "-c", "core.autocrlf=false", "add", ".")
    git(folder, "commit", "--quiet", "-m", "crlf")
    assert b"\r\n" in (LeanGitRepo(f"file://{folder}").path / "Lib.lean").read_bytes()


def test_a_repository_with_sha_256(tmp_path: Path, git: Git, project: Project) -> None:
    folder = project({"Lib.lean": "theorem a : 1 = 1 := rfl\n"})
    git(folder, "init", "--quiet", "--object-format=sha256")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "1")
    for url in (f"file://{folder}", str(folder)):
        found = LeanGitRepo(url, "main")
        assert "1 = 1" in text(found)
        assert len(found.commit) == 64
    assert LeanGitRepo(str(folder)).commit == found.commit  # its files are those of the commit
    (folder / "Lib.lean").write_text("theorem a : 2 = 2 := rfl\n")
    git(folder, "commit", "--quiet", "-am", "2")
    assert "2 = 2" in text(LeanGitRepo(f"file://{folder}", git(folder, "rev-parse", "HEAD")))


@pytest.mark.parametrize("revision", ["0" * 40, "no-such-branch", "--upload-pack=touch x"])
def test_unknown_commit(remote: Remote, revision: str) -> None:
    folder, _ = remote
    with pytest.raises(TraceError, match="has no commit, branch or tag"):
        _ = LeanGitRepo(f"file://{folder}", revision).path


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("file:///no/such/repository", "cannot clone file:///no/such/repository"),
        ("/no/such/folder", "no such folder or git address: /no/such/folder"),
        ("ext::sh -c touch% x", "cannot clone|no such folder"),
    ],
)
def test_no_such_repository(url: str, message: str, git_home: Path) -> None:
    with pytest.raises(TraceError, match=message):
        _ = LeanGitRepo(url, "main").path


def test_a_failed_clone_leaves_nothing_behind(raid: Path, git_home: Path) -> None:
    for _ in range(2):
        with pytest.raises(TraceError):
            LeanGitRepo("file:///no/such/repository")
    left = [path.name for path in raid.rglob("*") if path.is_file()]
    assert left in ([], ["lock"])


def test_no_password_is_recorded_or_printed(git: Git, project: Project) -> None:
    folder = project({"Lib.lean": ""})
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "x")
    git(folder, "remote", "add", "origin", "https://me:secret@example.org/owner/repo.git")
    repo = LeanGitRepo.from_path(folder)
    assert repo.url == "https://example.org/owner/repo.git"
    assert repo.name == "owner/repo"
    assert "secret" not in str(LeanGitRepo("https://me:secret@example.org/o/r", "a" * 40))


# --- folders -----------------------------------------------------------------------------------


def test_a_clean_git_folder_has_gits_commit(remote: Remote) -> None:
    folder, commits = remote
    repo = LeanGitRepo.from_path(folder)
    assert (repo.commit, repo.path, repo.url) == (commits[-1], folder, str(folder))


def test_a_changed_git_folder_has_a_hash_of_its_content(remote: Remote) -> None:
    folder, _ = remote
    (folder / "Lib.lean").write_text("theorem changed : 1 = 1 := rfl\n")
    repo = LeanGitRepo.from_path(folder)
    assert re.fullmatch("files-[0-9a-f]{40}", repo.commit)
    assert "changed" in text(repo)
    again = LeanGitRepo(repo.url, repo.commit)  # what proves its theorems later
    assert (again, again.path) == (repo, folder)
    (folder / "Lib.lean").write_text("theorem changed : 2 = 2 := rfl\n")
    with pytest.raises(TraceError, match="are no longer those of files-"):
        LeanGitRepo(repo.url, repo.commit)


def test_what_only_lies_in_a_folder_does_not_count(
    remote: Remote, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Databases, clones, runs and caches of ours, what Lake builds, and any other file."""
    folder, commits = remote
    monkeypatch.chdir(folder)
    monkeypatch.delenv("RAID_DIR")
    for name in (
        "dynamic_database.json", "raid/repos/x/Lib.lean", "outputs/notes.md", ".lake/build/Lib.lean",
        "lake-manifest.json", "Scratch.lean", ".venv/pyvenv.cfg", "env/pyvenv.cfg",
        "env/site-packages/Lib.lean",
    ):  # fmt: skip
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text('{"packages": []}')
    (folder / "lakefile.toml").touch()  # a new time is no new content
    assert LeanGitRepo.from_path(".").commit == commits[-1]
    (folder / "lakefile.toml").unlink()
    (folder / ".git").rename(folder / "not-git")
    before = LeanGitRepo.from_path(".").commit
    (folder / "raid/repos/x/More.lean").write_text("")
    (folder / "env/More.lean").write_text("")
    assert LeanGitRepo.from_path(".").commit == before


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("Lib/New.lean", "theorem new : 1 = 1 := rfl\n"),
        ("lakefile.toml", 'name = "y"\n[[lean_lib]]\nname = "Lib"\n'),
        ("lean-toolchain", "leanprover/lean4:v4.20.0\n"),
        ("Lib.lean", None),
        ("words.txt", "other"),
    ],
)
def test_what_decides_a_trace_counts(
    project: Project, git: Git, name: str, content: str | None
) -> None:
    source = 'def words := include_str "data/words.txt"\n'
    folder = project({"Lib.lean": source, "words.txt": "some", ".gitignore": "Lib/"})
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "1")
    assert not LeanGitRepo.from_path(folder).commit.startswith("files-")
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content)
    assert LeanGitRepo.from_path(folder).commit.startswith("files-")


def test_windows_line_ends_of_a_working_tree_are_no_change(remote: Remote) -> None:
    folder, commits = remote
    (folder / "Lib.lean").write_bytes((folder / "Lib.lean").read_bytes().replace(b"\n", b"\r\n"))
    assert LeanGitRepo.from_path(folder).commit == commits[-1]


def test_a_content_of_a_folder_that_is_not_named() -> None:
    with pytest.raises(TraceError, match=r"from a folder .* name that folder with --project"):
        LeanGitRepo("https://example.org/owner/repo", "files-" + "0" * 40)


def test_a_folder_without_git_has_a_hash_of_its_content(project: Project) -> None:
    folder = project({"Lib.lean": "-- one", "notes.txt": "no Lean", ".lake/x/Y.lean": "-- built"})
    first = LeanGitRepo.from_path(folder)
    assert LeanGitRepo(str(folder)).commit == first.commit == LeanGitRepo.from_path(folder).commit
    (folder / "notes.txt").write_text("changed")
    (folder / ".lake/x/Y.lean").write_text("changed")
    assert LeanGitRepo.from_path(folder) == first
    (folder / "Lib.lean").write_text("-- two")
    assert LeanGitRepo.from_path(folder).commit != first.commit
    with pytest.raises(TraceError, match="are no longer those of"):
        LeanGitRepo(str(folder), first.commit)


def test_a_folder_inside_a_git_repository_is_no_repository_itself(remote: Remote) -> None:
    folder, commits = remote
    inner = folder / "inner"
    inner.mkdir()
    (inner / "lean-toolchain").write_text("leanprover/lean4:v4.28.0")
    assert LeanGitRepo.from_path(inner).commit not in commits


def test_from_path_records_the_address_it_is_given(project: Project) -> None:
    folder = project({"Lib.lean": ""})
    repo = LeanGitRepo.from_path(folder, url="https://example.org/owner/repo")
    assert (repo.url, repo.name, repo.path) == (
        "https://example.org/owner/repo",
        "owner/repo",
        folder,
    )


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="no such folder"):
        LeanGitRepo.from_path(tmp_path / "nothing")


def test_not_a_lean_project(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="not a Lean project"):
        _ = LeanGitRepo.from_path(tmp_path).lean_version


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://github.com/leanprover-community/mathlib4", "leanprover-community/mathlib4"),
        ("git@github.com:owner/repo.git", "owner/repo"),
        ("ssh://git@example.org/owner/repo/", "owner/repo"),
        ("file:///a/b/c.git", "c"),
    ],
)
def test_names(url: str, name: str) -> None:
    assert LeanGitRepo(url, "a" * 40).name == name


def test_importing_touches_neither_network_nor_engine() -> None:
    code = (
        "import sys, socket\n"
        "socket.socket.connect = None\n"
        "import lean_dojo_v2.tracing\n"
        "assert 'lean_dojo_v2.tracing.tracer' not in sys.modules\n"
        "from lean_dojo_v2.tracing import LeanGitRepo, trace_repository\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", SAMPLE_URLS)
def test_the_sample_lies_in_the_package(name: str) -> None:
    """Nobody serves its addresses; tracing, rewards and proving all come by here."""
    (recorded,) = (
        r
        for r in DynamicDatabase(sample_database_path()).repositories
        if r.url == SAMPLE_URLS[name]
    )
    for repo in (LeanGitRepo(recorded.url), LeanGitRepo(recorded.url + ".git", recorded.commit)):
        assert repo.path == sample_project_path(name)
        assert repo.commit == recorded.commit
    with pytest.raises(TraceError, match="are no longer those of"):
        _ = LeanGitRepo(recorded.url, "main")
