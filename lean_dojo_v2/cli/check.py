"""``lean-dojo check``: full verification of a file or a proof."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import attrs
import click

from lean_dojo_core import BenchmarkProblem, UsageError
from lean_dojo_core.wording import counted
from lean_dojo_v2 import benchmarks, lean, prover, tracing
from lean_dojo_v2.cli import parameters as args
from lean_dojo_v2.cli.long_commands import long_command
from lean_dojo_v2.cli.output import emit_json, json_option, keep_stdout_for_json, note
from lean_dojo_v2.errors import UnreadableFileError
from lean_dojo_v2.files import read_named

STDIN = "-"


@attrs.frozen(kw_only=True)
class _Asked:
    """The options of the check."""

    file: str | None = args.argument(required=False, metavar="[FILE.lean|-]")
    reference: Path | None = args.option(
        metavar="FILE.lean",
        type=args.EXISTING_FILE,
        help="File that states what FILE must prove, with `sorry` in place of proofs.",
    )
    goal: str | None = args.goal_option
    statement: str | None = args.option(
        metavar="THEOREM",
        help="A theorem without its proof, such as 'theorem t (n : Nat) : n = n'.",
    )
    proof: str | None = args.option(
        metavar="TACTICS", help="Block of tactics, one per line; - reads standard input."
    )
    imports: tuple[str, ...] = args.import_option
    project: Path | None = args.option(
        **args.FOLDER,
        help="Lake project whose modules may be imported (default: the one that contains FILE).",
    )
    engine: str = args.shared(args.engine_option, "auto")
    timeout: float = args.option(
        metavar="SECONDS",
        type=click.FloatRange(min=1),
        default=300.0,
        help="Seconds that Lean may take.",
    )
    as_json: bool = args.shared(json_option, False)

    def __attrs_post_init__(self) -> None:
        whats = {"FILE": self.file, "--goal": self.goal, "--statement": self.statement}
        given = [name for name, value in whats.items() if value is not None]
        if len(given) != 1:
            said = f", not {' and '.join(given)}" if given else ""
            raise UsageError(
                "name one thing to check: FILE (- for standard input), --goal PROPOSITION or "
                f"--statement THEOREM{said}"
            )
        if (self.file is None) != (self.proof is not None):
            raise UsageError(
                "--proof TACTICS is for --goal and --statement, which need it; "
                "a FILE contains its own proofs"
            )
        if self.file is None and self.reference is not None:
            raise UsageError("--reference is for a FILE")
        if self.imports and self.file is not None:
            raise UsageError("--import is for --goal and --statement; a FILE says what it imports")


@click.command()
@click.pass_context
@args.with_options
@long_command(resumes=False)
def check(context: click.Context, asked: _Asked = args.group(_Asked)) -> None:
    """Verify a file, or the proof of a goal or statement, in full.

    There must be no error, no `sorry`, no axiom besides Lean's three and nothing unsafe; with
    --reference, also the same theorems with the same statements. Prints the result as JSON on
    stdout, with what each theorem depends on, and explains the reasons on stderr.

    Exits with 0 if the check passes, with 1 if it fails or the file has no theorem, and with 2 if
    the request is wrong.
    """
    keep_stdout_for_json(context)  # JSON is printed without --json, too
    answer = _of_file(asked) if asked.file is not None else _of_proof(asked)
    emit_json(answer)
    if not answer["valid"]:
        context.exit(1)


def _server(asked: _Asked, project: Path | None) -> lean.Server:
    return lean.Server(
        asked.imports or ("Init",),
        project_path=project,
        engine=asked.engine,  # type: ignore[arg-type]  # click has checked it
        start=False,
        timeout=asked.timeout,
    )


def _of_file(asked: _Asked) -> dict[str, Any]:
    place = str(asked.file)
    name = "standard input" if place == STDIN else place
    text = _read(place)
    reference = None if asked.reference is None else _read(str(asked.reference))
    project = asked.project or (None if place == STDIN else tracing.project_of(Path(place)))
    with _server(asked, project) as server:
        try:
            answer = prover.judge_file(server, text, reference, asked.timeout)
        except lean.RequestError as error:
            raise UsageError(f"{name}: {error}") from error
    for message in answer["messages"]:
        if message["severity"] == "error":
            place = f"{message['pos']['line']}:{message['pos']['column'] + 1}"
            note(f"{name}:{place}: error: {message['data'].strip()}")
    for theorem in answer["theorems"]:
        if not theorem["valid"]:
            note(f"{name}:{theorem['line']}: {theorem['name']}: {theorem['detail']}")
    count = counted(len(answer["theorems"]), "theorem")
    if answer["examples"]:
        count += f"; not judged: {counted(answer['examples'], 'example')}"
    note(f"{name}: holds, {count}" if answer["valid"] else f"{name}: no proof: {answer['detail']}")
    return answer


def _of_proof(asked: _Asked) -> dict[str, Any]:
    proof = _read(STDIN) if asked.proof == STDIN else str(asked.proof)
    problem = _problem(asked)
    with _server(asked, asked.project) as server:
        try:
            answer = prover.judge_proof(server, problem, proof, asked.timeout)
        except (lean.EngineLostError, lean.EngineUnavailableError):
            raise
        except lean.LeanError as error:  # the user's mistake
            place = "--goal" if asked.goal is not None else "--statement"
            raise UsageError(f"{place}: {error}") from error
    note("The proof holds." if answer["valid"] else f"No proof: {answer['detail']}")
    return answer


def _problem(asked: _Asked) -> prover.Problem:
    if asked.goal is not None:
        return prover.GoalProblem(asked.goal)
    try:
        before, statement, name, _ = benchmarks.split_theorem(str(asked.statement))
    except UsageError as error:
        raise UsageError(f"--statement {error}; write it as 'theorem NAME … : …'") from error
    header = "".join(f"import {module}\n" for module in asked.imports) + before
    return benchmarks.problem_of(
        BenchmarkProblem(full_name=name, statement=statement, header=header)
    )


def _read(place: str) -> str:
    """Read a Lean file or standard input, as Lean does."""
    file = None if place == STDIN else Path(place)
    content = sys.stdin.buffer.read() if file is None else read_named(file)
    try:
        return lean.lean_text(content)
    except UnicodeDecodeError as error:
        raise UnreadableFileError(
            f"is not UTF-8: {error}", path=file or "standard input"
        ) from error
