"""Git: clone once into the cache, and check commits out beside it.

Every call is the user's own ``git`` with the user's own configuration (``insteadOf``, credential
helpers, proxies), without prompts, and without running programs named by a repository: a folder may
come from anyone, with its ``.git/config`` and ``.gitattributes``. So there is one way to call git,
:func:`run_git`, and in a foreign folder only commands that run no hook, filter or transport are
used: which commit is checked out, and its files. ``git status`` and ``git clone`` are not used on a
folder, since they run filters of modified files, submodules' monitors and fetches of partial
clones.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp
from urllib.parse import urlsplit, urlunsplit

from filelock import FileLock

from lean_dojo_v2.errors import TraceError
from lean_dojo_v2.files import atomic_write_text, repos_dir

FULL_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")

_SETTINGS = (
    "core.fsmonitor=",
    f"core.hooksPath={os.devnull}",
    f"core.attributesFile={os.devnull}",
    "core.alternateRefsCommand=",
    "core.autocrlf=false",
    "diff.external=",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "maintenance.auto=false",
    "gc.auto=0",
)
"""Overrides of settings that name a program or make git start one."""
_PROTOCOLS = "file:git:http:https:ssh"
"""Allowed protocols; not ``ext``, which is a command, nor other helpers on the PATH."""
_NOWHERE = "none"
_FIXED = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",  # since git 2.45; before, the protocols keep partial clones quiet
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_PAGER": "cat",
    "LC_ALL": "C",
}
_OTHERS = (  # the caller's, for example inside a git hook; they would point to another repository
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_EXTERNAL_DIFF",
    "GIT_TEMPLATE_DIR",
)
_BYTE_FOR_BYTE = "* -text -filter -ident !working-tree-encoding\n"
"""Attributes that override a repository's own, so that files are checked out as committed."""


def run_git(
    arguments: Sequence[str],
    *,
    folder: Path | None = None,
    fetches: bool = False,
    variables: Mapping[str, str] | None = None,
) -> str:
    """Run git without any of a repository's own programs, and return its output.

    ``folder`` must be a repository's root. With ``fetches`` the command may fetch from elsewhere
    (with the caller's ``GIT_ALLOW_PROTOCOL``, if set). ``variables`` are added to the environment.
    A failure is a TraceError with git's own message.
    """
    environment = {name: value for name, value in os.environ.items() if name not in _OTHERS}
    allowed = os.environ.get("GIT_ALLOW_PROTOCOL", _PROTOCOLS) if fetches else _NOWHERE
    environment |= {**_FIXED, "GIT_ALLOW_PROTOCOL": allowed, **(variables or {})}
    if folder is not None:
        environment["GIT_CEILING_DIRECTORIES"] = str(folder.absolute().parent)
    fixed = [word for setting in _SETTINGS for word in ("-c", setting)]
    try:
        done = subprocess.run(
            ["git", "--no-pager", *fixed, *arguments],
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
    return done.stdout.decode(errors="surrogateescape").strip()


def _try_git(
    arguments: Sequence[str], *, folder: Path | None = None, fetches: bool = False
) -> str | None:
    """Run git as :func:`run_git` does; ``None`` if it fails."""
    try:
        return run_git(arguments, folder=folder, fetches=fetches)
    except TraceError:
        return None


def without_password(url: str) -> str:
    """Drop user and password from a web address, so that no token is stored in a database.

    >>> without_password("https://me:secret@example.org/a/b.git")
    'https://example.org/a/b.git'
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or "@" not in parts.netloc:
        return url
    return urlunsplit(parts._replace(netloc=parts.netloc.rsplit("@", 1)[1]))


def head_of(folder: Path) -> str | None:
    """Return the full commit that is checked out in a folder, if it is a git repository's root."""
    root = _try_git(["rev-parse", "--show-toplevel"], folder=folder)
    if root is None or Path(root).resolve() != folder.resolve():
        return None
    return find_commit(folder, "HEAD")


def files_of(folder: Path, commit: str) -> dict[str, str]:
    """Return the files of a commit in a folder's repository: path → git's hash."""
    listed = run_git(["ls-tree", "-r", "-z", "--full-tree", commit], folder=folder)
    entries = (entry.partition("\t") for entry in filter(None, listed.split("\0")))
    return {path: about.split()[2] for about, _, path in entries if about.split()[1] == "blob"}


def is_repository(folder: Path) -> bool:
    """Whether a folder is the root of a git repository, bare or not."""
    return (folder / ".git").exists() or (folder / "HEAD").is_file()


def origin(folder: Path) -> str | None:
    """Return the address of the remote ``origin``, without password, if there is one."""
    url = _try_git(["remote", "get-url", "origin"], folder=folder)
    return None if url is None else without_password(url)


def _home(url: str) -> Path:
    stem = re.sub(r"[^\w.-]+", "_", url.rstrip("/").removesuffix(".git").rsplit("/", 1)[-1])[-40:]
    name = f"{stem or 'repository'}-{sha256(url.encode()).hexdigest()[:12]}"
    # Absolute, because git runs inside the folders below it.
    return repos_dir().absolute() / name


def _mirror(url: str) -> Path:
    """Clone ``url`` into the cache, without files, unless cached."""
    mirror = _home(url) / "git"
    if mirror.is_dir():
        _write_config(mirror)
        return mirror
    partial = Path(mkdtemp(prefix=".clone-", dir=mirror.parent))
    try:
        bare = ["clone", "--quiet", "--bare", "--template=", "--", url, str(partial / "git")]
        run_git(bare, fetches=True)
        (partial / "git").rename(mirror)
    except TraceError as error:
        raise TraceError(
            f"cannot clone {without_password(url)}: {error}\n"
            "Check the address; for a private repository set up git's own credentials."
        ) from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return mirror


def _write_config(mirror: Path) -> None:
    """Rewrite a mirror's configuration, since the folder ``raid`` may have come with a project."""
    kind = _try_git([f"--git-dir={mirror}", "rev-parse", "--show-object-format"]) or "sha1"
    extension = f"[extensions]\n\tobjectFormat = {kind}\n" if kind != "sha1" else ""
    core = f"[core]\n\trepositoryFormatVersion = {int(bool(extension))}\n\tbare = true\n"
    atomic_write_text(mirror / "config", core + extension)


def find_commit(folder: Path, revision: str) -> str | None:
    """Resolve a name to a full commit in a folder's repository; ``None`` if unknown."""
    names = (revision, f"refs/remotes/origin/{revision}")
    words = ["rev-parse", "--verify", "--quiet", "--end-of-options"]
    found = (_try_git([*words, f"{name}^{{commit}}"], folder=folder) for name in names)
    return next((commit for commit in found if commit is not None), None)


def resolve(url: str, revision: str) -> str:
    """Resolve a branch, a tag, a short or a full commit to the current full commit.

    A cached full commit needs no network; a name is looked up again.
    """
    home = _home(url)
    with FileLock(home / "lock"):
        for leftover in (*home.glob(".clone-*"), *home.glob(".checkout-*")):  # of killed processes
            shutil.rmtree(leftover, ignore_errors=True)
        mirror = _mirror(url)
        exact = FULL_COMMIT.match(revision) is not None
        found = find_commit(mirror, revision) if exact else None
        if found is None:
            _fetch(mirror, url, revision if exact else None)
            found = find_commit(mirror, revision)
    if found is None:
        raise no_such_commit(url, revision)
    return found


def _fetch(mirror: Path, url: str, commit: str | None) -> None:
    """Update the mirror; a commit outside all branches is fetched separately."""
    try:
        everything = ["fetch", "--quiet", "--force", "--", url, "+refs/*:refs/*"]
        run_git(everything, folder=mirror, fetches=True)
        head = run_git(["ls-remote", "--symref", "--", url, "HEAD"], fetches=True)
    except TraceError as error:
        if commit is None and find_commit(mirror, "HEAD") is None:
            raise TraceError(f"cannot fetch {without_password(url)}: {error}") from None
        return  # offline: use the cache
    if branch := re.match(r"ref: (refs/heads/\S+)\s+HEAD", head):
        run_git(["symbolic-ref", "HEAD", branch[1]], folder=mirror)
    if commit is not None and find_commit(mirror, commit) is None:
        # If it fails, `resolve` reports the missing commit.
        _try_git(["fetch", "--quiet", "--", url, commit], folder=mirror, fetches=True)


def checkout(url: str, commit: str, *, near: Path | None = None) -> Path:
    """Return a folder with the files of a full commit, made once, atomically, without ``.git``.

    If the repository's folder is on this machine (``near``), nothing is cloned, and git reads its
    objects without its configuration.
    """
    folder = _home(url) / commit
    if folder.is_dir():
        return folder
    if near is None:
        resolve(url, commit)
        objects = _home(url) / "git" / "objects"
    elif find_commit(near, commit) is None:
        raise no_such_commit(url, commit)
    else:
        objects = near / run_git(["rev-parse", "--git-path", "objects"], folder=near)
    with FileLock(_home(url) / "lock"):
        if folder.is_dir():
            return folder
        partial = Path(mkdtemp(prefix=".checkout-", dir=folder.parent))
        try:
            _write_tree(partial, objects, commit)
            (partial / "tree").rename(folder)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return folder


def no_such_commit(url: str, revision: str) -> TraceError:
    """Make the error for a missing revision."""
    return TraceError(
        f"{without_password(url)} has no commit, branch or tag {revision!r}; "
        f"see them with: git ls-remote {without_password(url)}"
    )


def _write_tree(partial: Path, objects: Path, commit: str) -> None:
    """Write a commit's files to ``partial/tree``, from a bare repository."""
    tree, home = partial / "tree", partial / "git"
    tree.mkdir()
    kind = "sha256" if len(commit) == 64 else "sha1"
    run_git(["init", "--quiet", "--bare", "--template=", f"--object-format={kind}", str(home)])
    (home / "info").mkdir(exist_ok=True)
    (home / "info" / "attributes").write_text(_BYTE_FOR_BYTE)
    where = ["-c", "core.bare=false", f"--git-dir={home}", f"--work-tree={tree}"]
    escaped = str(objects).replace("\\", r"\\").replace('"', r"\"")
    run_git(
        [*where, "checkout", "--quiet", "--force", commit, "--", "."],
        folder=tree,
        variables={"GIT_ALTERNATE_OBJECT_DIRECTORIES": f'"{escaped}"'},
    )
