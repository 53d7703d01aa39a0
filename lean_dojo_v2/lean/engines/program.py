"""The engine's program (``lean_dojo_v2/lean/program``): compiled once for each Lean that runs it.

Its files are joined to one module, in the order of their imports, so that Lean starts and imports
its library once to compile them. A compiled program is one file in the user's cache, named after
the Lean and the sources that it was made from. It is written atomically, and compiled again
if it is damaged.
"""

import hashlib
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import IO

import attrs
import orjson

from lean_dojo_v2.files import atomic_write_bytes
from lean_dojo_v2.lean.engines.kept import kept
from lean_dojo_v2.lean.text.header import parse_header

MODULE = "Dojo"
"""The program as a module of Lean."""
SOURCES = Path(__file__).resolve().parent.parent / "program"
MAIN = SOURCES / "Main.lean"
"""The command line of the program: it imports the program's files, and answers lines."""

_IMPORT = re.compile(r"^import .*$", re.MULTILINE)


@attrs.frozen
class Program:
    """The program as one text; ``starts`` has the line before each file, and the file's name."""

    text: str
    starts: tuple[tuple[int, str], ...]

    @property
    def digest(self) -> str:
        """Hash of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    def place(self, line: int) -> str:
        """Return the origin of a line of the text, as ``Dojo/Session.lean:12``."""
        start, name = max((s for s in self.starts if s[0] < line), default=(0, MODULE))
        return f"{name}:{line - start}"


def main() -> str:
    """Return the text that a native Lean runs, which imports the compiled program."""
    text = _IMPORT.sub("", MAIN.read_text("utf-8")).lstrip()
    return f"import {MODULE}\n\n{text}"


@cache
def program(*further: str) -> Program:
    """Return the files that ``Main.lean`` needs, and ``further`` modules, as one text."""
    texts = {
        ".".join(path.relative_to(SOURCES).with_suffix("").parts): path.read_text("utf-8")
        for path in (SOURCES / MODULE).rglob("*.lean")
    }
    order: dict[str, None] = {}
    library: dict[str, None] = {}

    def visit(name: str) -> None:
        if name not in texts:
            library[name] = None
        elif name not in order:
            for module in parse_header(texts[name]).imports:
                visit(module)
            order[name] = None

    for name in (*parse_header(MAIN.read_text("utf-8")).imports, *further):
        visit(name)
    return _joined([(name, texts[name]) for name in order], list(library))


def _joined(files: list[tuple[str, str]], imports: list[str]) -> Program:
    """Put every file into a section, which limits what it opens and sets."""
    lines = [f"import {module}" for module in imports]
    starts = []
    for name, text in files:
        lines.append("section")
        starts.append((len(lines), f"{name.replace('.', '/')}.lean"))
        lines += _IMPORT.sub("", text).splitlines()
        lines.append("end")
    return Program(text="\n".join(lines) + "\n", starts=tuple(starts))


def compiled_program(
    lean: str, compile_program: Callable[[Program], bytes], wanted: Program
) -> Path:
    """Return the ``.olean`` file of the program for a Lean of that key, alone in its folder."""

    def make(stream: IO[bytes]) -> None:
        content = compile_program(wanted)
        atomic_write_bytes(_digest_beside(Path(stream.name)), hashlib.sha256(content).digest())
        stream.write(content)

    return kept(f"program/{lean}/*/{MODULE}.olean", wanted.digest, make, _is_whole)


def errors_of(program: Program, said: str) -> list[str]:
    """Return the errors in Lean's output (JSON lines), each with its place."""
    errors = []
    for line in said.splitlines():
        try:
            message = orjson.loads(line)
        except orjson.JSONDecodeError:
            errors.append(line)
            continue
        if message.get("severity") == "error":
            errors.append(f"{program.place(message['pos']['line'])}: {message['data']}")
    return errors


def _is_whole(target: Path) -> bool:
    try:
        digest = hashlib.sha256(target.read_bytes()).digest()
        return digest == _digest_beside(target).read_bytes()
    except OSError:
        return False


def _digest_beside(file: Path) -> Path:
    return file.with_name(f"{MODULE}.sha256")
