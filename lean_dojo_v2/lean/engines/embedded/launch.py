"""Start the embedded engine: our script under Node, with a sandbox, large stacks and limits.

Node's permission model allows reading the engine's folders and the project's, and nothing else:
no writing and no child processes. That model does not guard the network (Node 24), but this Lean
is built without libuv, so it has none. Its environment contains nothing of the user's, so that no
token can leak into an error message. The kernel limits its memory.

The program that it runs comes compiled with us; where its source was changed, the embedded Lean
itself compiles it once.
"""

import hashlib
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import IO

import orjson

from lean_dojo_v2.lean.engines.embedded.install import (
    EMBEDDED_LEAN_VERSION,
    ensure_installed,
    node_program,
)
from lean_dojo_v2.lean.engines.embedded.shipped import SHIPPED, shipped_program
from lean_dojo_v2.lean.engines.kept import find_kept, is_ours, kept
from lean_dojo_v2.lean.engines.process import Capabilities, LaunchPlan
from lean_dojo_v2.lean.engines.program import MODULE, Program, compiled_program, errors_of, program
from lean_dojo_v2.lean.errors import EngineUnavailableError

_HOST = Path(__file__).resolve().parent / "host"
STACK_KB = 131_072
"""Stack of Node's main thread, in kilobytes; elaboration is deeply recursive."""
NODE_STACK_KB = 60_000
"""Stack for V8, in kilobytes. Both must be large, or deep terms crash the engine."""
_V8_FLAGS = (
    f"--stack-size={NODE_STACK_KB}",
    "--wasm-lazy-validation",  # most of the module never runs; its digest is known
    "--allow-natives-syntax",  # for the one file that reads and writes machine code
    "--expose-gc",  # to free the memory of an engine before there is another
    "--max-semi-space-size=4",  # megabytes: JavaScript does little here
    # Emscripten lets C, and so Lean (`@[extern]`), run JavaScript from strings.
    "--disallow-code-generation-from-strings",
)
_CODE = "code/*.code"
_DIGEST_BYTES = 32
"""What a file of machine code begins with; see host/code.js."""
_WARM_UP = Path(__file__).with_name("warm_up.lean")
"""What an engine elaborates so that V8 sees which of Lean's functions run often."""
_ROUNDS = 2
"""How often the text is elaborated: more makes engines larger, and hardly faster."""
_GOAL = "∀ a b c : Nat, a ≤ b → a + c ≤ b + c"
_TACTICS = (
    "rfl", "simp", "simp_all", "omega", "decide", "grind", "intros", "constructor", "exact h",
    "rw [h]",
)  # fmt: skip
DATA_OVERHEAD_MB = 2_600
"""Data that the kernel counts besides resident memory: 2,200 MB of reserves, and a margin."""

# Limits must be set in the child. A shell does that between fork and exec, where Python code would
# be unsafe in a program with threads.
_LIMITS = (
    'ulimit -c 0; ulimit -s {stack} 2>/dev/null || ulimit -s "$(ulimit -H -s)"; {data}exec "$@"'
)


def embedded_plan(
    imports: Sequence[str],
    *,
    project: Path | None = None,
    core_options: Sequence[str] = (),
    memory_limit_mb: int | None = None,
) -> LaunchPlan:
    """Return the launch plan of the embedded engine, installing it first if necessary.

    It imports modules of Init, Std or Lean, and may read the folder ``project``.
    """
    home = ensure_installed()
    image = image_of(home, [*imports, *core_options])
    code = find_kept(_CODE, _code_key(home))
    files = {"image": image, "project": project, "code": code}
    return LaunchPlan(
        kind="embedded",
        argv=sandboxed_argv(home, files, memory_limit_mb=memory_limit_mb),
        env=environment(home),
        what="embedded Lean engine",
        capabilities=Capabilities(ours=True, sandboxed=True, resets=True),
    )


def image_of(home: Path, words: Sequence[str]) -> Path:
    """Return the image of a new engine with these imports and options; make it if necessary."""
    compiled = compiled_for(home)
    host = [path.read_bytes() for path in sorted(_HOST.glob("*.js"))]
    parts = [home.name, compiled.parent.name, *words]
    key = hashlib.sha256(b"\0".join([*host, *(part.encode() for part in parts)])).hexdigest()
    argv = sandboxed_argv(home, {"program": compiled}, words)
    return kept("image/*.image", key[:16], partial(_make, home, argv, b""))


def prepare_embedded(home: Path) -> None:
    """Make what lets engines start quickly: their image, and machine code of Lean.

    V8 first compiles a WebAssembly function quickly, without optimising it, and optimises it once
    it has run often. This Lean is large, so each new engine would spend seconds of the processor on
    that. Here one process elaborates a text of ours, and the machine code that V8 has optimised by
    then is kept. It only saves time: without it there is a message, and engines start more slowly.
    An image that cannot be made is an EngineUnavailableError.
    """
    image = image_of(home, ["Init"])
    argv = sandboxed_argv(home, {"image": image}, ["--keep-code"])

    def make(target: IO[bytes]) -> None:
        sys.stderr.write("lean-dojo: optimising Lean's busiest functions (once, half a minute)\n")
        try:
            _make(home, argv, warm_up_requests(), target)
        except EngineUnavailableError:
            # V8 aborts if it optimises a function between measuring its code and writing it.
            target.seek(0)
            target.truncate()
            _make(home, argv, warm_up_requests(), target)

    try:
        kept(_CODE, _code_key(home), make, _is_whole)
    except EngineUnavailableError as error:
        sys.stderr.write(f"lean-dojo: engines will start more slowly: {error}\n")


@cache
def warm_up_requests() -> bytes:
    """Return requests as lines of the protocol. Engines remember files, so none comes twice."""
    text = _WARM_UP.read_text(encoding="utf-8")
    lines: list[bytes] = []

    def add(command: str, **fields: object) -> None:
        lines.append(command.encode() + b" " + orjson.dumps(fields))

    add("goal.start", expr=_GOAL)  # state 0
    for number in range(_ROUNDS):
        name = {"fileName": "WarmUp.lean"}
        traced, checked = (text.replace("WarmUp", f"{verb}{number}") for verb in ("Trace", "Check"))
        add("dojo.trace", file=traced, module="WarmUp", compiled=True, olean=False, **name)
        add("dojo.check", file=checked, all=True, **name)
        for tactic in _TACTICS:
            add("dojo.parse_tactic", tactic=tactic, stateId=0)
            add("goal.tactic", tactic=tactic, stateId=0, goalId=0)
    return b"\n".join(lines) + b"\n"


def _is_whole(code: Path) -> bool:
    if not is_ours(code):
        return False
    content = code.read_bytes()
    return hashlib.sha256(content[_DIGEST_BYTES:]).digest() == content[:_DIGEST_BYTES]


@cache
def _code_key(home: Path) -> str:
    """Name the file of machine code by what decides whether V8 accepts it, and by what it holds."""
    # The tag stands for V8's version, its flags and the processor.
    argv = [node_program(), *_V8_FLAGS, "-p", "v8.cachedDataVersionTag()"]
    done = subprocess.run(argv, capture_output=True, check=False, env=environment(home))
    files = [_HOST / "code.js", _HOST / "natives.js"]
    parts = [home.name.encode(), done.stdout, warm_up_requests(), *map(Path.read_bytes, files)]
    return hashlib.sha256(b"/".join(parts)).hexdigest()[:16]


def _make(home: Path, argv: Sequence[str], requests: bytes, target: IO[bytes]) -> None:
    done = subprocess.run(
        argv,
        input=requests,
        stdout=target,
        stderr=subprocess.PIPE,
        check=False,
        env=environment(home),
    )
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()[-2000:]
        raise EngineUnavailableError(
            "The embedded Lean engine failed before it was ready: "
            f"{said or f'exit status {done.returncode}'}"
        )


def compiled_for(home: Path) -> Path:
    """Return the compiled program; compile it first if it is not the one that comes with us."""
    return compiled_program(home.name, partial(_compile, home), program(SHIPPED))


def _compile(home: Path, wanted: Program) -> bytes:
    if (shipped := shipped_program(wanted)) is not None:
        return shipped
    sys.stderr.write("lean-dojo: compiling the engine's program (once, about a minute)\n")
    argv = sandboxed_argv(home, {}, [f"--compile={MODULE}"])
    text, env = wanted.text.encode(), environment(home)
    done = subprocess.run(argv, input=text, capture_output=True, check=False, env=env)
    if done.returncode == 0 and done.stdout:
        return done.stdout
    errors = "\n".join(errors_of(wanted, done.stderr.decode(errors="replace")))
    raise EngineUnavailableError(
        f"The engine's program does not compile with the embedded Lean "
        f"{EMBEDDED_LEAN_VERSION}:\n{errors}"
    )


def environment(home: Path) -> dict[str, str]:
    """Return the environment of an engine, with nothing of the user's."""
    return {"LANG": "C.UTF-8", "HOME": str(home.resolve())}


def sandboxed_argv(
    home: Path,
    files: Mapping[str, Path | None],
    words: Sequence[str] = (),
    *,
    memory_limit_mb: int | None = None,
) -> tuple[str, ...]:
    """Return the command line of our script, which reads ``home`` and the ``files`` it names."""
    # Resolved, because Node checks the targets of links.
    named = {key: path.resolve() for key, path in {"install": home, **files}.items() if path}
    data = ""
    # What the kernel counts as data: a limit on addresses would forbid the 10 GB that V8 reserves
    # for a WebAssembly memory without using them.
    if memory_limit_mb is not None and sys.platform == "linux":
        data = f"ulimit -d {(memory_limit_mb + DATA_OVERHEAD_MB) * 1024}\n"
    return (
        *("/bin/sh", "-c", _LIMITS.format(stack=STACK_KB, data=data), "sh"),
        node_program(),
        *_V8_FLAGS,
        "--no-warnings",
        "--permission",
        "--allow-worker",
        *(f"--allow-fs-read={path}" for path in dict.fromkeys([_HOST, *named.values()])),
        str(_HOST / "main.js"),
        *(f"--{key}={path}" for key, path in named.items()),
        *words,
    )
