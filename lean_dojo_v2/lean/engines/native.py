"""The native engine: our program, run by the user's own Lean in the user's project.

It has the user's rights, unless it runs in a sandbox, bubblewrap (``bwrap``): Lean code in that
reaches no network and can write nothing. It sees the system's files, the project and the toolchain,
read-only, and nothing else of the user's.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path

import attrs

from lean_dojo_v2.files import atomic_write_bytes
from lean_dojo_v2.lean.engines.process import Capabilities, LaunchPlan, kill_group
from lean_dojo_v2.lean.engines.program import (
    MODULE,
    Program,
    compiled_program,
    errors_of,
    main,
    program,
)
from lean_dojo_v2.lean.errors import EngineUnavailableError

FOREIGN_VARIABLE = "LEAN_DOJO_PANTOGRAPH"
"""Names a foreign engine: Pantograph's own REPL, for :class:`.Server` only; it cannot verify."""
SANDBOX_VARIABLE = "LEAN_DOJO_SANDBOX"
"""If set, native engines run in the sandbox; ``--sandbox`` sets it."""
LEAN_INSTALL_URL = "https://lean-lang.org/install"
"""Address of elan, which installs `lake` and `lean`."""
OLDEST = (4, 20, 0)
"""The oldest Lean supported by the program."""
SOUND_SINCE = (4, 34, 0)
"""The first Lean without the kernel soundness bugs that are known in November 2026."""
_VERSION = re.compile(r"(?:^|[:v\s])(\d+)\.(\d+)\.(\d+)")
_LAKE_TIMEOUT = 300.0
_COMPILE_TIMEOUT = 1800.0
# The program is elaborated with these options; Lean ignores unknown weak options.
_AS_IN_4_28 = (
    "-Dweak.backward.do.legacy=true",
    "-Dweak.backward.isDefEq.respectTransparency=false",
    "-Dweak.backward.isDefEq.respectTransparency.types=false",
)
# Answers go to a separate pipe, so that a text's output cannot be taken for one.
_START = 'exec "$0" "$@" --answers=/dev/fd/3 3>&1 1>&2'

_ISOLATION = ("--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev")
_TRY_TIMEOUT = 30.0


@attrs.frozen
class Toolchain:
    """A Lean that can be run; ``said`` is the output of ``lean --version``."""

    program: str
    said: str

    @property
    def version(self) -> str:
        """The version, for example ``4.28.0``."""
        found = _VERSION.search(self.said)
        return ".".join(found.groups()) if found else self.said

    @property
    def key(self) -> str:
        """Key in the cache, distinct for builds of one version."""
        return f"lean-{self.version}-{hashlib.sha256(self.said.encode()).hexdigest()[:12]}"


def find_lean() -> str | None:
    """Return the path of `lean`, or ``None`` if there is none on the search path."""
    return shutil.which("lean")


def find_repl() -> Path | None:
    """Return the foreign engine, or ``None`` if the variable is not set."""
    named = os.environ.get(FOREIGN_VARIABLE)
    if not named:
        return None
    found = shutil.which(named)
    if found is None:
        raise EngineUnavailableError(f"{FOREIGN_VARIABLE} is {named!r}, which cannot be run.")
    return Path(found).absolute()


def toolchain_of(project: Path | None) -> Toolchain:
    """Return the Lean of a project; elan downloads it if necessary."""
    program = find_lean()
    if program is None:
        raise EngineUnavailableError(
            f"The native Lean engine needs `lean` on the PATH. Install Lean with elan "
            f"({LEAN_INSTALL_URL}), and run `lake build` in the project."
        )
    said = run_lean_tool([program, "--version"], project)
    return Toolchain(program, said.splitlines()[0] if said else "")


def run_lean_tool(
    argv: Sequence[str],
    project: Path | None,
    *,
    timeout: float = _LAKE_TIMEOUT,
    advice: str = " Run `lake build` there first.",
) -> str:
    """Run one of Lean's programs in a project, and return its output.

    If it is missing, fails, or takes longer than ``timeout`` seconds, it is an
    EngineUnavailableError, whose message ends with ``advice``.
    """
    where = Path.cwd() if project is None else project
    command = " ".join([Path(argv[0]).name, *argv[1:]])
    try:
        done = _run_group(argv, cwd=where, timeout=timeout)
    except FileNotFoundError as error:
        raise EngineUnavailableError(
            f"The native Lean engine needs `{argv[0]}` for the project {where}. Install Lean with "
            f"elan ({LEAN_INSTALL_URL})."
        ) from error
    except subprocess.TimeoutExpired as error:
        raise EngineUnavailableError(
            f"`{command}` in {where} took longer than {timeout:.0f} s.{advice}"
        ) from error
    if done.returncode != 0:
        said = (done.stderr or done.stdout).decode(errors="replace").strip()
        raise EngineUnavailableError(f"`{command}` in {where} failed.{advice}\n{said[-1500:]}")
    return os.fsdecode(done.stdout).strip()


def _run_group(
    argv: Sequence[str], *, cwd: Path, timeout: float
) -> subprocess.CompletedProcess[bytes]:
    """Run a program without input; on failure kill its group, for Lake has Lean as its child."""
    with subprocess.Popen(
        list(argv),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            output, errors = process.communicate(timeout=timeout)
        except BaseException:  # a timeout, or Ctrl-C, which does not reach the group
            kill_group(process)
            raise
    return subprocess.CompletedProcess(list(argv), process.returncode, output, errors)


def compiled_for(lean: Toolchain, project: Path | None) -> Path:
    """Return the compiled program; compile it first if necessary, with a message on stderr."""
    return compiled_program(lean.key, partial(_compile, lean, project), program())


def _compile(lean: Toolchain, project: Path | None, program: Program) -> bytes:
    sys.stderr.write(f"lean-dojo: compiling the engine for Lean {lean.version} (once)\n")
    with tempfile.TemporaryDirectory(prefix="lean-dojo-") as folder:
        source, target = Path(folder) / f"{MODULE}.lean", Path(folder) / f"{MODULE}.olean"
        source.write_text(program.text, encoding="utf-8")
        files = ["-o", str(target), *_AS_IN_4_28, str(source)]
        argv = [lean.program, f"--root={folder}", "--json", *files]
        try:
            done = _run_group(argv, cwd=project or Path(folder), timeout=_COMPILE_TIMEOUT)
        except subprocess.TimeoutExpired:
            why = f"it took longer than {_COMPILE_TIMEOUT:.0f} s"
        else:
            if done.returncode == 0 and target.is_file():
                return target.read_bytes()
            said = done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace")
            [why, *_] = errors_of(program, said) or ["it says nothing"]
    oldest = ".".join(map(str, OLDEST))
    raise EngineUnavailableError(
        f"The engine does not compile with Lean {lean.version}:\n{why[:1500]}\n"
        f"It is written for Lean {oldest} and newer. Please report this with the output of "
        "`lean-dojo lean check`; until then, use another toolchain, or --engine embedded where the "
        "project needs Lean's own library only."
    )


def native_plan(
    imports: Sequence[str],
    *,
    project: Path | None = None,
    lean_path: str | None = None,
    core_options: Sequence[str] = (),
) -> LaunchPlan:
    """Return the launch plan of the native engine, compiling its program first if necessary.

    The project must be built. Without ``lean_path``, Lake is asked for the search path.
    """
    lakefiles = ("lakefile.toml", "lakefile.lean")
    if lean_path is None and project and any((project / name).is_file() for name in lakefiles):
        lean_path = run_lean_tool(["lake", "env", "printenv", "LEAN_PATH"], project)
    toolchain = None if project is None else project / "lean-toolchain"
    if toolchain is not None and toolchain.is_file():
        warn_of_old_kernel(toolchain.read_text(errors="replace"))
    folder = None if project is None else str(project)
    if (repl := find_repl()) is not None:
        return LaunchPlan(
            kind="native",
            argv=(str(repl), *imports, *(f"--{option}" for option in core_options)),
            env={**os.environ, **({"LEAN_PATH": lean_path} if lean_path else {})},
            what=f"native Lean engine ({repl.name})",
            capabilities=Capabilities(ours=False, sandboxed=False),
            cwd=folder,
        )
    lean = toolchain_of(project)
    compiled = compiled_for(lean, project)
    script = compiled.with_name("Main.lean")
    if not script.is_file() or script.read_text("utf-8") != main():
        atomic_write_bytes(script, main().encode())
    own = [] if project is None else [f"--project={project}"]
    words = [lean.program, "--run", str(script), *own, *imports, *core_options]
    paths = [str(compiled.parent), *([lean_path] if lean_path else [])]
    plan = LaunchPlan(
        kind="native",
        argv=("/bin/sh", "-c", _START, *words),
        env={**os.environ, "LEAN_PATH": os.pathsep.join(paths)},
        what=f"native Lean engine (Lean {lean.version})",
        capabilities=Capabilities(ours=True, sandboxed=False),
        cwd=folder,
    )
    return sandboxed(plan, compiled.parent) if os.environ.get(SANDBOX_VARIABLE) else plan


@cache
def warn_of_old_kernel(toolchain: str) -> None:
    """Warn once about a Lean whose kernel has known soundness bugs.

    >>> warn_of_old_kernel("leanprover/lean4:v4.34.0")
    """
    found = _VERSION.search(toolchain)
    version = tuple(map(int, found.groups())) if found else SOUND_SINCE
    if version < SOUND_SINCE:
        warnings.warn(
            f"Lean {'.'.join(map(str, version))} has known kernel soundness bugs (fixed in "
            f"{'.'.join(map(str, SOUND_SINCE))}): a proof that it accepts may prove nothing. Check "
            "what you publish with a newer Lean.",
            stacklevel=2,
        )


def sandboxed(plan: LaunchPlan, compiled: Path) -> LaunchPlan:
    """Return the plan that starts an engine in the sandbox, where it reads ``compiled`` as well."""
    program = shutil.which("bwrap")
    if program is None:
        raise EngineUnavailableError(
            "--sandbox needs bubblewrap, and there is no `bwrap` on the PATH; install it (Debian, "
            "Ubuntu: `apt install bubblewrap`), or use --engine embedded."
        )
    argv = [program, *_ISOLATION, "--proc", "/proc", *_hidden_home(plan, compiled)]
    _try(argv)
    inside = attrs.evolve(plan.capabilities, sandboxed=True)
    return attrs.evolve(plan, argv=(*argv, "--", *plan.argv), capabilities=inside)


def _hidden_home(plan: LaunchPlan, compiled: Path) -> Iterator[str]:
    """Hide the user's home and temporary files, except what the engine reads."""
    home = Path.home()
    toolchains = Path(os.environ.get("ELAN_HOME") or home / ".elan")
    lean_path = [Path(p) for p in plan.env.get("LEAN_PATH", "").split(os.pathsep) if p]
    shown = [toolchains, compiled, *lean_path, *([Path(plan.cwd)] if plan.cwd else [])]
    for hidden in (home, Path("/tmp")):  # noqa: S108 - hidden, not used
        if hidden.is_dir() and hidden != hidden.parent:
            yield from ("--tmpfs", str(hidden))
    for path in shown:
        if path.exists():
            yield from ("--ro-bind", str(path.resolve()), str(path.absolute()))
    if plan.cwd:
        yield from ("--chdir", plan.cwd)


def _try(argv: Sequence[str]) -> None:
    """Check that the sandbox works, which many containers and hardened systems forbid."""
    try:
        done = _run_group([*argv, "--", "/bin/true"], cwd=Path("/"), timeout=_TRY_TIMEOUT)
    except (OSError, subprocess.TimeoutExpired) as error:
        why = str(error)
    else:
        if done.returncode == 0:
            return
        why = done.stderr.decode(errors="replace").strip()
    raise EngineUnavailableError(
        f"--sandbox: bubblewrap does not work on this system ({why}); allow unprivileged user "
        "namespaces, or use --engine embedded."
    )
