"""Lake in a project: builds, and the Lean options of every file.

The options are ``leanOptions`` and ``moreLeanArgs``. ``weakLeanArgs`` are ignored, since by Lake's
definition they change no result.
"""

import logging
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import attrs

from lean_dojo_v2.errors import TraceError
from lean_dojo_v2.lean import EngineUnavailableError, run_lean_tool
from lean_dojo_v2.tracing.project.lakefile import (
    LakeProject,
    find_lakefile,
    read_lakefile,
    read_target,
)

_log = logging.getLogger(__name__)

_BUILD_TIMEOUT = 24 * 3600.0
"""Time limit of ``lake build``, in seconds."""

Options: TypeAlias = Mapping[str, bool | int | str]
"""Option values by name."""

_OURS = frozenset({"Elab.async", "warningAsError"})
"""Options set by tracing itself; with warnings as errors a ``sorry`` would not be a theorem."""
_NO_LIMIT = (1 << 31) - 1
"""The engine's value for ``maxHeartbeats = 0``, since it refuses a limit of 0."""


@attrs.frozen
class LeanOptions:
    """Options for every file of a package, and further options per library and executable.

    ``targets`` are root modules with further options, ``left_out`` other arguments of ``lean``.
    """

    package: Options = attrs.field(factory=dict)
    targets: tuple[tuple[tuple[str, ...], Options], ...] = ()
    left_out: tuple[str, ...] = ()

    def of(self, module: str) -> Options:
        """Return the options of a module."""
        for roots, options in self.targets:
            if any(module == root or module.startswith(f"{root}.") for root in roots):
                return {**self.package, **options}
        return self.package


def build(root: Path) -> None:
    """Build a project, so that files can import each other; tracing reports their errors."""
    if find_lakefile(root) is None:
        return
    try:
        run_lean_tool(["lake", "build"], root, timeout=_BUILD_TIMEOUT, advice="")
    except EngineUnavailableError as error:
        _log.warning("%s", error)


def package_options(project: LakeProject, package: str) -> LeanOptions:
    """Read Lake's Lean options of a package; ``""`` is the project itself."""
    named = [d for d in project.dependencies if d.name == package]
    folder = project.root / (project.place_of(named[0]) if named else ".")
    try:
        found = read_options(_configuration(project.root, folder))
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise TraceError(f"{folder}: the options of its lakefile cannot be read: {error}") from None
    if found.left_out:
        _log.warning("%s: traced without %s", folder, " ".join(found.left_out))
    return found


def _configuration(root: Path, folder: Path) -> dict[str, Any]:
    """Read the lakefile of a package; one in Lean is a program, so Lake must translate it."""
    lakefile = find_lakefile(folder)
    if lakefile is None or lakefile.suffix == ".toml":
        return read_lakefile(folder)
    with TemporaryDirectory(prefix="lean-dojo-") as made:
        written = Path(made) / "lakefile.toml"
        where = [] if folder == root else ["-d", str(folder)]
        try:
            run_lean_tool(
                ["lake", *where, "translate-config", "toml", str(written)], root, advice=""
            )
            return tomllib.loads(written.read_text(encoding="utf-8"))
        except (EngineUnavailableError, OSError) as error:
            _log.warning("%s: traced without its leanOptions: %s", lakefile, error)
            return {}


def read_options(configuration: Mapping[str, Any]) -> LeanOptions:
    """Read the options of a package from its parsed ``lakefile.toml``."""
    left_out: list[str] = []
    # If two libraries could have a module, Lake takes the last declared one; executables come
    # after libraries.
    libraries = reversed(configuration.get("lean_lib", ()))
    executables = configuration.get("lean_exe", ())
    return LeanOptions(
        _options(configuration, left_out),
        (
            *((read_target(entry).roots, _options(entry, left_out)) for entry in libraries),
            *((read_target(e, executable=True).roots, _options(e, left_out)) for e in executables),
        ),
        tuple(left_out),
    )


def _options(entry: Mapping[str, Any], left_out: list[str]) -> Options:
    found: dict[str, bool | int | str] = {}
    given = [*_written(entry.get("leanOptions", {}))]
    for argument in _joined(map(str, entry.get("moreLeanArgs", ()))):
        name, equals, value = argument.removeprefix("-D").partition("=")
        if argument.startswith("-D") and equals:
            given.append((name.strip(), _value(value)))
        else:
            left_out.append(argument)
    for written, value in given:
        # A weak option may be unknown to Lean; the engine accepts any.
        name = written.removeprefix("weak.")
        if name not in _OURS:
            found[name] = _NO_LIMIT if (name, value) == ("maxHeartbeats", 0) else value
    return found


def _written(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield names and values of a TOML table with nested tables, or of an array."""
    if isinstance(value, list):
        for item in value:
            yield str(item["name"]), item["value"]
        return
    for name, inner in value.items():
        if isinstance(inner, Mapping):
            yield from _written(inner, f"{prefix}{name}.")
        else:
            yield prefix + name, inner


def _joined(words: Iterable[str]) -> Iterator[str]:
    """Yield arguments, joining ``-D`` with the next one."""
    words = iter(words)
    for word in words:
        yield f"-D{next(words, '')}" if word == "-D" else word


def _value(text: str) -> bool | int | str:
    if text in {"true", "false"}:
        return text == "true"
    return int(text) if text.isdecimal() else text
