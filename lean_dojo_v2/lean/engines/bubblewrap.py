"""A sandbox for the native engine: bubblewrap (``bwrap``).

Lean code in it reaches no network and can write nothing. It sees the system's files, the project
and the toolchain, read-only, and nothing else of the user's.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs

from lean_dojo_v2.lean.engines.process import LaunchPlan
from lean_dojo_v2.lean.errors import EngineUnavailableError

VARIABLE = "LEAN_DOJO_SANDBOX"
"""If set, native engines run in the sandbox; ``--sandbox`` sets it."""
_PROGRAM = "bwrap"
_ISOLATION = ("--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev")
_TRY_TIMEOUT = 30.0


def wanted() -> bool:
    """Whether native engines should run in the sandbox."""
    return bool(os.environ.get(VARIABLE))


def wrapped(plan: LaunchPlan, readable: Sequence[Path]) -> LaunchPlan:
    """Return the plan that starts an engine in the sandbox.

    Args:
        plan: The engine.
        readable: Folders that it may read, besides its own and elan's toolchains.

    Raises:
        EngineUnavailableError: There is no ``bwrap``, or the system forbids it.
    """
    program = shutil.which(_PROGRAM)
    if program is None:
        raise EngineUnavailableError(
            "--sandbox needs bubblewrap, and there is no `bwrap` on the PATH; install it (Debian, "
            "Ubuntu: `apt install bubblewrap`), or use --engine embedded."
        )
    argv = [program, *_ISOLATION, "--proc", "/proc", *_hidden_home(plan, readable)]
    _try(argv)
    inside = attrs.evolve(plan.capabilities, sandboxed=True)
    return attrs.evolve(plan, argv=(*argv, "--", *plan.argv), capabilities=inside)


def _hidden_home(plan: LaunchPlan, readable: Sequence[Path]) -> Iterator[str]:
    """Hide the user's home and temporary files, except what the engine reads."""
    home = Path.home()
    toolchains = Path(os.environ.get("ELAN_HOME") or home / ".elan")
    lean_path = [Path(p) for p in plan.env.get("LEAN_PATH", "").split(os.pathsep) if p]
    shown = [toolchains, *readable, *lean_path, *([Path(plan.cwd)] if plan.cwd else [])]
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
        done = subprocess.run(
            [*argv, "--", "/bin/true"],
            capture_output=True,
            text=True,
            check=False,
            timeout=_TRY_TIMEOUT,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _refused(str(error)) from error
    if done.returncode != 0:
        raise _refused(done.stderr.strip())


def _refused(why: str) -> EngineUnavailableError:
    return EngineUnavailableError(
        f"--sandbox: bubblewrap does not work on this system ({why}); allow unprivileged user "
        "namespaces, or use --engine embedded."
    )
