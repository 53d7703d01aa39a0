"""The benchmark ``core-library``: theorems of Lean's own library, each where it is not in scope.

A theorem's statement is printed as ``#check`` prints it, and its problem imports what the theorem's
own module imports. Theorems about definitions of their own module cannot be stated this way and are
left out; so are those that Lean reads back differently.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar

import attrs
import orjson

from lean_dojo_core.errors import DataError, UsageError
from lean_dojo_core.foreign import say
from lean_dojo_core.records import BenchmarkProblem
from lean_dojo_v2.benchmarks.jsonl import JsonlBenchmark
from lean_dojo_v2.database import unit_hash
from lean_dojo_v2.files import user_cache, write_lines
from lean_dojo_v2.lean import EngineMemoryError, Server, embedded_version_key

LIBRARY = ("Init", "Std")
"""The modules that import the whole library."""
NEEDED = "Init.SimpLemmas"
"""Modules whose imports include this one can use `simp`; others are left out."""
HELD_OUT = 0.1
"""Share of modules that are held out."""
HELD_OUT_FILE = Path(__file__).with_name("held_out.txt")
"""The list of theorems, one line each: module and name."""
TIMEOUT = 300.0
_CHUNK = 100

# Lean generates these with their definitions.
_MADE = re.compile(
    r"""(^|\.)(_ | match_\d | eq_\d+$ | eq_def$ | injEq$ | inj$ | sizeOf_spec | noConfusion
        | congr_simp | hcongr | ext_iff$ | ext$ | elim$ | (fun_)?induct | fun_cases | mutual_induct
        | below | brecOn | rec$ | recOn$ | casesOn$ | toCtorIdx | ctorElim | ofNat_ctorIdx)
        | _unary | _private | « | Internal | \.Grind\. | _auto""",
    re.VERBOSE,
)


@attrs.frozen
class Module:
    """A module of the library, with its theorems' sorted names, without generated ones."""

    name: str
    imports: tuple[str, ...]
    theorems: tuple[str, ...]

    @property
    def header(self) -> str:
        """A file header with the module's imports in scope, but not the module."""
        return "".join(f"{line}\n" for line in ("prelude", *(f"import {m}" for m in self.imports)))

    @property
    def is_held_out(self) -> bool:
        """Whether its theorems are held out; decided by its name alone."""
        return unit_hash(f"module {self.name}") < HELD_OUT


def library_server(modules: Sequence[str] = LIBRARY) -> Server:
    """Make an engine, the embedded one, so that the theorems are the same everywhere."""
    return Server(modules, engine="embedded", timeout=TIMEOUT, start=False)


def modules(server: Server, only: Collection[str] = ()) -> list[Module]:
    """List the modules with theorems in which `simp` is available; ``only`` names some of them."""
    theorems = {symbol[1:] for symbol in server.env_catalog() if symbol.startswith("t")}
    found: dict[str, Module] = {}
    for name in server.env_describe()["modules"]:  # imports come first
        data = server.env_module_read(name)
        own = sorted(one for one in data["constNames"] if one in theorems and not _MADE.search(one))
        found[name] = Module(name, tuple(dict.fromkeys(data["imports"])), tuple(own))
    reaches: dict[str, bool] = {}
    for name, module in found.items():
        reaches[name] = any(one == NEEDED or reaches.get(one, False) for one in module.imports)
    return [
        module
        for name, module in found.items()
        if module.theorems and reaches[name] and (not only or name in only)
    ]


def stated(
    library: Server, opening: Server, module: Module, names: Sequence[str]
) -> Iterator[BenchmarkProblem]:
    """State theorems of a module where they are not in scope, if they can be stated there.

    ``opening`` may be the engine ``library``; another one avoids reloading the library when memory
    is full.
    """
    statements = dict(_statements(library, names))
    original = _digests(library, "", False, statements)
    text = module.header + "".join(f"{one} sorry\n" for one in statements.values())
    restated = _digests(opening, text, True, statements)
    split = "test" if module.is_held_out else "train"
    for name, statement in statements.items():
        if original[name] is not None and original[name] == restated[name]:
            yield BenchmarkProblem(
                full_name=name, statement=statement, header=f"{module.header}\n", split=split
            )


def _statements(server: Server, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Print statements: ``theorem NAME.{u} (n : Nat) : … :=``."""
    for start in range(0, len(names), _CHUNK):
        text = "set_option pp.proofs true\n" + "".join(
            f"#check {name}\n" for name in names[start : start + _CHUNK]
        )
        for unit in server.process(text):
            for message in unit.messages:
                said = message.data
                name = re.split(r"[\s:]|\.\{", said, maxsplit=1)[0]
                if name in names and "⋯" not in said and "sorry" not in said:
                    # Inaccessible names, such as x✝, become writable ones.
                    accessible = re.sub(r"✝[⁰¹²³⁴⁵⁶⁷⁸⁹]*", "'", said.strip())
                    yield name, f"theorem {accessible} :="


def _digests(
    server: Server, text: str, header: bool, names: Iterable[str]
) -> dict[str, str | None]:
    fields = {
        "file": text, "fileName": "Core.lean", "names": list(names), "header": header,
        "statements": True,
    }  # fmt: skip
    try:
        answer = server.ask("dojo.check", fields, TIMEOUT)
    except EngineMemoryError:  # its memory is full; the next call starts another engine
        answer = server.ask("dojo.check", fields, TIMEOUT)
    return {name: found.get("statement") for name, found in answer["declarations"].items()}


@attrs.frozen
class CoreLibraryBenchmark:
    """Theorems of a tenth of the modules of Init and Std, Lean's own library.

    Each is opened with what its module imports, so that neither itself nor anything that builds on
    it is in scope. The shipped model was trained on none of these modules. The package contains
    only their names; the statements are read once from the embedded engine's library and cached.

    Attributes:
        module: Only modules whose names begin with this.
    """

    name: ClassVar[str] = "core-library"

    module: str | None = None

    def problems(self) -> list[BenchmarkProblem]:
        """Return the theorems, module by module; ``UsageError`` if there is no such module.

        ``DataError`` if the library lacks some of them: it is another version of Lean.
        """
        every = read_names(HELD_OUT_FILE.read_text(encoding="utf-8"))
        chosen = {one: names for one, names in every.items() if one.startswith(self.module or "")}
        if not chosen:
            raise UsageError(
                f"core-library: no module name begins with {self.module!r}; the modules are "
                + ", ".join(every)
            )
        digest = hashlib.sha256(orjson.dumps(chosen)).hexdigest()[:12]
        file = user_cache() / "core-library" / f"{embedded_version_key()}-{digest}.jsonl"
        if not file.exists():
            write_problems(_read(chosen), file)
        return [attrs.evolve(one, split=None) for one in JsonlBenchmark(file).problems()]


def read_names(text: str) -> dict[str, list[str]]:
    r"""Read a list of theorems.

    >>> read_names("Init.A A.x\nInit.A A.y\n")
    {'Init.A': ['A.x', 'A.y']}
    """
    found: dict[str, list[str]] = defaultdict(list)
    for line in text.splitlines():
        module, name = line.split()
        found[module].append(name)
    return dict(found)


def write_problems(found: Iterable[BenchmarkProblem], file: Path) -> None:
    """Write problems in miniF2F's format."""
    rows = (
        {
            "name": one.full_name,
            "header": one.header,
            "formal_statement": one.statement,
            "split": one.split,
        }
        for one in found
    )
    write_lines(file, rows)


def _read(chosen: dict[str, list[str]]) -> list[BenchmarkProblem]:
    found: list[BenchmarkProblem] = []
    total = sum(map(len, chosen.values()))
    say("core-library: reading the statements of Lean's library (once per machine)")
    with library_server(list(chosen)) as library:
        known: dict[str, Module] = {one.name: one for one in modules(library, chosen)}
        if lost := chosen.keys() - known.keys():
            raise DataError(f"Lean's library has no module {min(lost)}", path=HELD_OUT_FILE)
        for module, names in chosen.items():
            found += stated(library, library, known[module], names)
            say(f"core-library: {len(found)} of {total} statements read")
    if len(found) < total:
        raise DataError(
            f"Lean's library states {total - len(found)} of these theorems differently",
            path=HELD_OUT_FILE,
        )
    return found
