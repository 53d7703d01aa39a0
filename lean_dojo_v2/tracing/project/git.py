"""Plain git: clone once into the cache, check commits out beside it, say clearly what failed.

Every call is the user's own ``git`` with the user's own configuration (``insteadOf``, credential
helpers, proxies), never a prompt.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp
from urllib.parse import urlsplit, urlunsplit

from filelock import FileLock

from lean_dojo_core.errors import TraceError
from lean_dojo_v2.paths import repos_dir

FULL_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_NO_LFS = ("filter.lfs.smudge=", "filter.lfs.process=", "filter.lfs.required=false")
_AS_COMMITTED = ("core.autocrlf=false", "core.bare=false", *_NO_LFS)


def run_git(
    arguments: Sequence[str], *, folder: Path | None = None, index: Path | None = None
) -> str:
    """Run git in a folder and give what it prints; ``index`` takes the place of its own index file.

    Raises:
        TraceError: If there is no git, or git fails; the message is git's own.
    """
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):  # set inside git hooks
        environment.pop(name, None)
    if index is not None:
        environment["GIT_INDEX_FILE"] = str(index)
    try:
        done = subprocess.run(
            ["git", *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    except FileNotFoundError:
        raise TraceError("git is not on PATH; install it to trace a repository") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise TraceError(said or f"git {arguments[0]} failed with code {done.returncode}")
    return done.stdout.decode(errors="replace").strip()


def without_password(url: str) -> str:
    """Drop user and password from a web address, so that no token ends in a database.

    >>> without_password("https://me:secret@example.org/a/b.git")
    'https://example.org/a/b.git'
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or "@" not in parts.netloc:
        return url
    return urlunsplit(parts._replace(netloc=parts.netloc.rsplit("@", 1)[1]))


def local_head(folder: Path) -> str | None:
    """Return the full commit of a folder, if it is the root of a git repository without changes."""
    try:
        root = run_git(["rev-parse", "--show-toplevel"], folder=folder)
        if Path(root).resolve() != folder.resolve():
            return None
        if run_git(["status", "--porcelain"], folder=folder):
            return None
        return run_git(["rev-parse", "--verify", "HEAD"], folder=folder)
    except TraceError:
        return None


def is_repository(folder: Path) -> bool:
    """Whether a folder is the root of a git repository, bare or not."""
    return (folder / ".git").exists() or (folder / "HEAD").is_file()


def origin(folder: Path) -> str | None:
    """Return the address of the remote ``origin``, without password, if there is one."""
    try:
        return without_password(run_git(["remote", "get-url", "origin"], folder=folder))
    except TraceError:
        return None


def _home(url: str) -> Path:
    stem = re.sub(r"[^\w.-]+", "_", url.rstrip("/").removesuffix(".git").rsplit("/", 1)[-1])[-40:]
    name = f"{stem or 'repository'}-{sha256(url.encode()).hexdigest()[:12]}"
    # Absolute, because git runs inside the folders below it.
    return repos_dir().absolute() / name


def _mirror(url: str) -> Path:
    """Clone ``url`` into the cache, without files, unless it is there."""
    mirror = _home(url) / "git"
    if mirror.is_dir():
        return mirror
    mirror.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(mkdtemp(prefix=".clone-", dir=mirror.parent))
    try:
        run_git(["clone", "--quiet", "--bare", "--", url, str(partial / "git")])
        (partial / "git").rename(mirror)
    except TraceError as error:
        raise TraceError(
            f"cannot clone {without_password(url)}: {error}\n"
            "Check the address; for a private repository set up git's own credentials."
        ) from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return mirror


def _delete_leftovers(home: Path) -> None:
    """Delete what killed processes left; the caller holds the lock, so nobody works on it."""
    for pattern in (".clone-*", ".checkout-*"):
        for path in home.glob(pattern):
            shutil.rmtree(path, ignore_errors=True)


def _find(mirror: Path, revision: str) -> str | None:
    for name in (revision, f"refs/remotes/origin/{revision}"):
        try:
            return run_git(
                ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"],
                folder=mirror,
            )
        except TraceError:
            continue
    return None


def resolve(url: str, revision: str) -> str:
    """Return the full commit that a branch, a tag, a short or a full commit means now.

    A full commit that is in the cache needs no network; a name is looked up again.

    Raises:
        TraceError: If the repository cannot be cloned or has no such commit.
    """
    home = _home(url)
    home.mkdir(parents=True, exist_ok=True)
    with FileLock(home / "lock"):
        _delete_leftovers(home)
        mirror = _mirror(url)
        exact = FULL_COMMIT.match(revision) is not None
        found = _find(mirror, revision) if exact else None
        if found is None:
            _fetch(mirror, url, revision if exact else None)
            found = _find(mirror, revision)
    if found is None:
        raise TraceError(
            f"{without_password(url)} has no commit, branch or tag {revision!r}; "
            f"see them with: git ls-remote {without_password(url)}"
        )
    return found


def _fetch(mirror: Path, url: str, commit: str | None) -> None:
    """Bring the mirror up to date; a commit outside of every branch is asked for by itself."""
    try:
        run_git(["fetch", "--quiet", "--force", "--", url, "+refs/*:refs/*"], folder=mirror)
        head = run_git(["ls-remote", "--symref", "--", url, "HEAD"])
    except TraceError as error:
        if commit is None and _find(mirror, "HEAD") is None:
            raise TraceError(f"cannot fetch {without_password(url)}: {error}") from None
        return  # offline: what is in the cache has to do
    if branch := re.match(r"ref: (refs/heads/\S+)\s+HEAD", head):
        run_git(["symbolic-ref", "HEAD", branch[1]], folder=mirror)
    if commit is not None and _find(mirror, commit) is None:
        try:
            run_git(["fetch", "--quiet", "--", url, commit], folder=mirror)
        except TraceError:
            return  # `resolve` says that there is no such commit


def checkout(url: str, commit: str) -> Path:
    """Return a folder with the files of a full commit; made once, in one step, without a ``.git``.

    Raises:
        TraceError: If the repository cannot be cloned or has no such commit.
    """
    folder = _home(url) / commit
    if folder.is_dir():
        return folder
    resolve(url, commit)
    with FileLock(_home(url) / "lock"):
        if folder.is_dir():
            return folder
        partial = Path(mkdtemp(prefix=".checkout-", dir=folder.parent))
        try:
            tree = partial / "tree"
            tree.mkdir()
            where = [f"--git-dir={_home(url) / 'git'}", f"--work-tree={tree}"]
            exact = [word for setting in _AS_COMMITTED for word in ("-c", setting)]
            command = ["checkout", "--quiet", "--force", commit, "--", "."]
            run_git([*exact, *where, *command], folder=tree, index=partial / "index")
            tree.rename(folder)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return folder
