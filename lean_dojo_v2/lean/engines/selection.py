"""Choose the engine: the user's own Lean if the project needs it, else the embedded one."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias, cast, get_args

import attrs

from lean_dojo_core.errors import UsageError
from lean_dojo_v2.lean.engines.embedded.launch import embedded_plan
from lean_dojo_v2.lean.engines.native import LEAN_INSTALL_URL, find_lean, find_repl, native_plan
from lean_dojo_v2.lean.engines.process import LaunchPlan
from lean_dojo_v2.lean.errors import EngineUnavailableError
from lean_dojo_v2.lean.text.header import parse_header

EngineName: TypeAlias = Literal["auto", "native", "embedded"]
"""How an engine is chosen."""
VARIABLE = "LEAN_DOJO_ENGINE"
CORE = frozenset({"Init", "Std", "Lean"})
"""Root modules of the embedded engine."""

_HEADER_BYTES = 65_536


def engine_plan(
    engine: EngineName | str,
    imports: Sequence[str],
    *,
    project: Path | None = None,
    lean_path: str | None = None,
    core_options: Sequence[str] = (),
    memory_limit_mb: int | None = None,
) -> LaunchPlan:
    """Choose an engine and return its launch plan.

    The engine, chosen as by :func:`select_engine`, imports the modules ``imports``; a native one
    finds compiled ones on ``lean_path``. The ``core_options`` are Lean's, each ``name=value``;
    ``memory_limit_mb`` is a hard limit.

    Raises:
        UsageError: There is no engine of that name.
        EngineUnavailableError: The engine cannot serve this project; the message says what to do.
    """
    if os.name != "posix":
        raise EngineUnavailableError("Lean engines run on Linux and macOS. On Windows, use WSL.")
    foreign = foreign_module(imports, project)
    name = select_engine(engine, project, needs_native=foreign is not None)
    if foreign is not None and (name == "embedded" or (engine == "auto" and not _has_native())):
        module, place = foreign
        raise EngineUnavailableError(
            f"{module} ({place}) is not part of core Lean, and the embedded engine has Init, Std "
            f"and Lean only. Use the native engine: install Lean with elan ({LEAN_INSTALL_URL}), "
            "run `lake build` in the project, then use engine='native' or LEAN_DOJO_ENGINE=native."
        )
    if name == "native":
        return native_plan(imports, project=project, lean_path=lean_path, core_options=core_options)
    own = [module for module in imports if not is_core(module)]
    plan = embedded_plan(
        [module for module in imports if is_core(module)],
        project=project,
        core_options=core_options,
        memory_limit_mb=memory_limit_mb,
    )
    # It has the project's modules as sources, imported by a header.
    header = "\n".join(f"import {module}" for module in imports)
    loads = {"file": header, "readHeader": True, "inheritEnv": True}
    return attrs.evolve(plan, loads=loads) if own else plan


def select_engine(
    engine: EngineName | str, project: Path | None = None, *, needs_native: bool = False
) -> Literal["native", "embedded"]:
    """Choose an engine for tracing, proving and rewards alike.

    ``auto`` is the native engine if the project needs it, or names a toolchain and there is a
    native Lean; else the embedded one. ``LEAN_DOJO_ENGINE`` replaces ``auto``; an engine chosen by
    name is never replaced.
    """
    chosen = chosen_engine(engine)
    if chosen != "auto":
        return chosen
    names_its_own = project is not None and (project / "lean-toolchain").is_file()
    if needs_native or (names_its_own and _has_native()):
        return "native"
    return "embedded"


def _has_native() -> bool:
    return find_repl() is not None or find_lean() is not None


def is_core(module: str) -> bool:
    """Whether a module comes with Lean itself."""
    return _root(module) in CORE


def foreign_module(imports: Sequence[str], project: Path | None) -> tuple[str, str] | None:
    """Return a module that is neither the project's nor Lean's, and where it is imported."""
    files = {} if project is None else {p.relative_to(project): p for p in _sources(project)}
    # A module's root is a folder or a file somewhere in the project.
    own = {part.removesuffix(".lean") for place in files for part in place.parts}
    for module in imports:
        if _root(module) not in CORE | own:
            return module, "the requested imports"
    for place, path in files.items():
        for module in header_imports(path):
            if _root(module) not in CORE | own | {"Lake"}:  # build scripts import Lake
                return module, str(place)
    return None


def header_imports(path: Path) -> list[str]:
    """List the modules that a file imports, comments left out."""
    with path.open("rb") as stream:
        text = stream.read(_HEADER_BYTES).decode(errors="replace")
    return list(parse_header(text).imports)


def chosen_engine(engine: str) -> EngineName:
    """Return the chosen engine; ``LEAN_DOJO_ENGINE`` replaces ``auto``."""
    name, source = engine, "engine"
    if engine == "auto":
        name, source = os.environ.get(VARIABLE) or "auto", VARIABLE
    if name not in get_args(EngineName):
        raise UsageError(f"{source}={name!r} is not an engine; use auto, native or embedded.")
    return cast("EngineName", name)


def _root(module: str) -> str:
    return module.split(".", maxsplit=1)[0].strip("«»")


def _sources(project: Path) -> Iterator[Path]:
    """Yield the project's own Lean files, outside ``.lake`` and other hidden folders."""
    for folder, names, files in os.walk(project):
        names[:] = sorted(name for name in names if not name.startswith(".") and name != "build")
        for name in sorted(files):
            # The lakefile is a program for Lake, not a module of the project.
            if name.endswith(".lean") and name != "lakefile.lean":
                yield Path(folder) / name
