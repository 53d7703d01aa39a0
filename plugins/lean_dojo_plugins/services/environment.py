"""One theorem as an environment: tools to prove it, and full verification as its reward."""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import attrs

from lean_dojo_core.errors import UsageError
from lean_dojo_v2 import lean
from lean_dojo_v2.benchmarks import RowProblem, problem_of_row
from lean_dojo_v2.kinds import Benchmark
from lean_dojo_v2.prover import PlayedTactic, begin_play, play_tactic
from lean_dojo_v2.settings import fields

TASK = (
    "Prove this theorem in Lean 4. Send one tactic at a time with the tool `tactic`; `undo` takes "
    "the last one back, `state` shows what is left to prove."
)
_ERRORS = {
    lean.Verdict.UNPARSED: "not a tactic",
    lean.Verdict.REFUSED: "refused",
    lean.Verdict.FAILED: "tactic failed",
    lean.Verdict.TIMED_OUT: "took too long",
}
"""Kinds of errors that the tools report."""


@attrs.define(eq=False, kw_only=True)
class LeanProofEnvironment:
    """One theorem as an environment for TRL's ``environment_factory``.

    The tools are :meth:`tactic`, :meth:`undo` and :meth:`state`. An environment stores only the
    list of tactics that Lean has accepted, so it survives the loss of an engine and can be pickled
    at any time. All environments of a process share its engines.

    Attributes:
        benchmark: Where a row with a name alone is looked up: a benchmark's name (``"sample"``), a
            file in miniF2F's format, or a benchmark.
        project: Folder of a built Lean project, for rows that need its modules.
        imports: Modules in whose scope a bare goal is read.
        max_calls: Maximum number of tool calls in one rollout.
        max_characters: Characters of one answer; longer ones are cut.
        heartbeats: Lean's heartbeats that a tactic may use; default: Lean's own limit.
        timeout: Seconds that a tactic may take; a safety net.
        engines: Lean engines of this process; one for each core if not given.
        engine: ``"auto"``, ``"native"`` or ``"embedded"``.

    Example::

        environment = LeanProofEnvironment(engines=1)
        environment.reset(goal="∀ n : Nat, n + 0 = n", prompt="Prove this.")
        environment.tactic("intro n")
        print(environment.tactic("rfl"))
        # no goals
        # The proof is finished, and full verification accepts it.
        assert environment.get_reward() == 1.0
    """

    benchmark: str | Benchmark | None = None
    project: Path | None = attrs.field(default=None, converter=attrs.converters.optional(Path))
    imports: Sequence[str] = attrs.field(default=("Init",), converter=tuple)
    max_calls: int = attrs.field(default=32, validator=fields.positive_int)
    max_characters: int = attrs.field(default=2_000, validator=fields.positive_int)
    heartbeats: int | None = attrs.field(default=None, validator=fields.positive_int_or_none)
    timeout: float = lean.TACTIC_TIMEOUT
    engines: int | None = attrs.field(default=None, validator=fields.positive_int_or_none)
    engine: lean.EngineName = "auto"
    _asked: RowProblem | None = attrs.field(default=None, init=False)
    _begin: str = attrs.field(default="", init=False)
    _steps: list[PlayedTactic] = attrs.field(factory=list, init=False)
    _calls: int = attrs.field(default=0, init=False)

    def reset(self, **row: Any) -> str:
        """Begin with a row's theorem.

        Args:
            **row: The row's columns: ``goal``; or ``name``, ``formal_statement`` and perhaps
                ``header``; or ``name`` alone. Other columns are ignored.

        Returns:
            The statement, to be appended to the row's ``prompt``; a row without one also gets
            instructions.

        Raises:
            UsageError: If the row has no theorem that Lean can open.
            EngineUnavailableError: If no Lean engine can serve it.
        """
        self._asked = problem_of_row(row, benchmark=self.benchmark, project=self.project)
        self._steps, self._calls = [], 0
        try:
            self._begin = self._ask(begin_play, self._asked.problem)
        except lean.EngineUnavailableError:
            raise
        except lean.LeanError as error:
            raise UsageError(f"{self._asked.problem.name}: Lean cannot open it: {error}") from error
        parts = [self._asked.text, self._begin]
        if not _is_said(row.get("prompt")):
            return "\n\n".join([TASK, *filter(None, parts)])
        return "".join(f"\n\n{part}" for part in parts if part)

    def tactic(self, tactic: str) -> str:
        """Apply one Lean 4 tactic to the first goal.

        Args:
            tactic: The tactic, on one line, for example `intro n` or `simp [h]`.

        Returns:
            The goals that are left; or `Error (KIND): …`, and nothing was changed. KIND is `not a
            tactic`, `refused`, `tactic failed`, `took too long` or `engine lost`.
        """
        if refused := self._spend():
            return refused
        if self._finished:
            return f"The proof is already finished.\n{self._shown()}"
        if not isinstance(tactic, str):
            return self._error("not a tactic", "it must be a text")
        text = tactic.strip()
        try:
            made = self._ask(
                partial(play_tactic, heartbeats=self.heartbeats, timeout=self.timeout),
                self._problem,
                tuple(step.tactic for step in self._steps),
                text,
            )
        except lean.EngineTimeoutError as error:
            return self._error("took too long", str(error))
        except (lean.EngineLostError, lean.EngineKilledError, lean.StaleStateError) as error:
            return self._error("engine lost", str(error))
        except lean.RequestError as error:
            return self._error("tactic failed", str(error))
        if not made.accepted:
            return self._error(_ERRORS.get(made.verdict, "tactic failed"), made.detail)
        self._steps.append(made)
        return self._shown()

    def undo(self) -> str:
        """Take the last accepted tactic back.

        Returns:
            The goals before it.
        """
        if refused := self._spend():
            return refused
        if not self._steps:
            return f"There is nothing to undo.\n{self._shown()}"
        self._steps.pop()
        return self._shown()

    def state(self) -> str:
        """Show the goals that are left and the tactics so far.

        Returns:
            The goals, the tactics that Lean has accepted, and how many calls are left.
        """
        if refused := self._spend():
            return refused
        played = "\n".join(step.tactic for step in self._steps) or "(none)"
        left = self.max_calls - self._calls
        return self._cut(f"{self._shown()}\n\nTactics so far:\n{played}\n\nCalls left: {left}")

    def get_reward(self) -> float:
        """Return 1.0 if the proof is finished and full verification accepts it, else 0.0."""
        if self._asked is None:
            raise UsageError("call reset() before get_reward()")
        return float(self._finished and self._steps[-1].valid)

    @property
    def _problem(self) -> Any:
        if self._asked is None:
            raise UsageError("call reset() before the tools")
        return self._asked.problem

    @property
    def _finished(self) -> bool:
        return bool(self._steps) and self._steps[-1].finished

    def _spend(self) -> str | None:
        """Count a call; return a message if none was left."""
        name = self._problem.name
        if self._calls >= self.max_calls:
            return f"All {self.max_calls} calls for {name} are used up. The proof stays as it is."
        self._calls += 1
        return None

    def _shown(self) -> str:
        if not self._steps:
            return self._cut(self._begin)
        last = self._steps[-1]
        if not last.finished:
            return self._cut(last.state)
        if last.valid:
            return f"{last.state}\nThe proof is finished, and full verification accepts it."
        return self._cut(
            f"{last.state}\nBut full verification refuses the proof: {last.detail}\n"
            "Take tactics back with `undo`."
        )

    def _error(self, kind: str, detail: str) -> str:
        return f"Error ({kind}): {self._cut(detail)}\nNothing was changed."

    def _cut(self, text: str) -> str:
        more = len(text) - self.max_characters
        return text if more <= 0 else f"{text[: self.max_characters]}… ({more} characters more)"

    def _ask(self, fn: Any, *args: Any) -> Any:
        assert self._asked is not None
        engines = engines_of(self.engine, tuple(self.imports), self.engines)
        name = self._asked.problem.name
        # Requests of one theorem go to the engine that has its states, if possible.
        project = self._asked.project
        owner = name if project is None else str(project)
        return engines.submit(project, fn, *args, header=name, name=name, owner=owner).result()


@cache
def engines_of(
    engine: lean.EngineName, imports: tuple[str, ...], size: int | None
) -> lean.SharedEngines:
    """Return the engines of this process's environments, kept until ``cache_clear()``."""
    return lean.shared_engines(engine=engine, imports=imports, size=size)


def _is_said(prompt: Any) -> bool:
    """Whether the last message of a prompt, a text or TRL's message list, says anything."""
    if isinstance(prompt, str):
        return bool(prompt.strip())
    if not isinstance(prompt, Sequence) or not prompt:
        return False
    last = prompt[-1]
    return bool(last.get("content")) if isinstance(last, Mapping) else False
