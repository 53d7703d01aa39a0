"""Judge completions on engines, each question once, with a cache of judgements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import EngineKilledError, EngineLostError
from lean_dojo_v2.lean.pool.shared import SharedEngines
from lean_dojo_v2.lean.verify.kept import Kept
from lean_dojo_v2.lean.verify.outcomes import TacticOutcome, Verdict


class Spec(Protocol):
    """A state or a theorem at which completions are judged; hashable, equal if it is the same."""

    @property
    def goal(self) -> str:
        """Its text in messages."""

    @property
    def project(self) -> Path | None:
        """Folder of the Lean project that it needs."""

    @property
    def header(self) -> str | None:
        """Requests with equal headers share what an engine has elaborated."""

    @property
    def owner(self) -> str | None:
        """The owner of its texts; see :meth:`.EnginePool.submit`."""


Question: TypeAlias = tuple[Any, str]
"""A :class:`Spec`, and the completion to judge there."""
JudgeFunction: TypeAlias = Callable[[Server, Any, tuple[str, ...], float], list[TacticOutcome]]
"""Judges several completions at one place on an engine, with a limit in seconds for each."""


class CachedJudge:
    """Judgements by state and tactic; safe to use from several threads.

    Args:
        engines: The engines.
        kept: Number of judgements in the cache.
        judge: Judges completions.
    """

    def __init__(self, engines: SharedEngines, kept: int, judge: JudgeFunction) -> None:
        self._engines = engines
        self._function = judge
        self._known: Kept[TacticOutcome] = Kept(kept)

    def judgements(self, questions: Sequence[Question], timeout: float) -> list[TacticOutcome]:
        """Return the judgement of each question; Lean has ``timeout`` seconds for each.

        What is not known is sent to the engines, one request a state.

        Raises:
            EngineUnavailableError: If no Lean engine can serve this.
        """
        found: dict[Question, TacticOutcome] = {}
        unknown: dict[Spec, list[str]] = {}
        for spec, tactic in dict.fromkeys(questions):
            if (known := self._known.known((spec, tactic))) is not None:
                found[spec, tactic] = known
            else:
                unknown.setdefault(spec, []).append(tactic)
        asked = {
            spec: self._engines.submit(
                spec.project,
                self._function,
                spec,
                tuple(tactics),
                timeout,
                header=spec.header,
                name=spec.goal[:80],
                owner=spec.owner,
            )
            for spec, tactics in unknown.items()
        }
        for spec, future in asked.items():
            try:
                for tactic, outcome in zip(unknown[spec], future.result(), strict=True):
                    self._known[spec, tactic] = found[spec, tactic] = outcome
            except (EngineLostError, EngineKilledError, CancelledError) as error:
                # A state that cost every engine its life cannot be judged.
                why = str(error) or "the engines were closed before this was checked"
                lost = TacticOutcome(Verdict.UNOPENED, detail=why)
                found.update({(spec, tactic): lost for tactic in unknown[spec]})
        return [found[question] for question in questions]
