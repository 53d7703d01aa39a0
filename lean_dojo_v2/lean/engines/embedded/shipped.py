"""The compiled program that comes with us, so that nobody waits for it to be compiled.

It is one compressed file, named after the program's source and the Lean that it is for: it is used
only with exactly these. After a change of the source, ``make engine-program`` makes it again; until
then the program is compiled where it is used.
"""

import hashlib
import lzma
from pathlib import Path

from lean_dojo_v2.lean.engines.embedded.install import INTEGRITY
from lean_dojo_v2.lean.engines.program import Program

SHIPPED = "Dojo.Shipped"
"""The module that writes the compiled program, for the embedded Lean only."""
_FOLDER = Path(__file__).resolve().parent / "compiled"
_SUFFIX = ".olean.xz"


def shipped_file(wanted: Program) -> Path:
    """Return where the compiled program is, if it comes with us."""
    key = hashlib.sha256(f"{INTEGRITY}\n{wanted.text}".encode()).hexdigest()
    return _FOLDER / f"{key[:16]}{_SUFFIX}"


def shipped_program(wanted: Program) -> bytes | None:
    """Return the compiled program if it comes with us, undamaged."""
    try:
        return lzma.decompress(shipped_file(wanted).read_bytes())
    except (OSError, lzma.LZMAError):
        return None


def ship(wanted: Program, content: bytes) -> Path:
    """Put the compiled program in the place of the one that comes with us."""
    target = shipped_file(wanted)
    _FOLDER.mkdir(exist_ok=True)
    for old in _FOLDER.glob(f"*{_SUFFIX}"):
        old.unlink()
    target.write_bytes(lzma.compress(content, preset=9 | lzma.PRESET_EXTREME))
    return target
