"""Ask engines about tactics: each question once, and every answer kept for a while."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import EngineKilledError, EngineLostError
from lean_dojo_v2.lean.pool.shared import SharedEngines
from lean_dojo_v2.lean.verify.kept import Kept
from lean_dojo_v2.lean.verify.outcomes import TacticOutcome, Verdict


class Spec(Protocol):
    """What completions are judged at: a state or a theorem; hashable, equal if it is the same."""

    @property
    def goal(self) -> str:
        """What messages call it."""

    @property
    def project(self) -> Path | None:
        """Folder of the Lean project that it needs."""

    @property
    def header(self) -> str | None:
        """Requests with equal headers share what an engine has elaborated."""

    @property
    def owner(self) -> str | None:
        """Whose texts it has; see :meth:`.EnginePool.submit`."""


Question: TypeAlias = tuple[Any, str]
"""A :class:`Spec`, and the completion to judge there."""
Request: TypeAlias = tuple[list[str], Future[list[TacticOutcome]]]
"""Completions to judge at one place, and the promise of their judgements."""
JudgeFunction: TypeAlias = Callable[[Server, Any, tuple[str, ...], float], list[TacticOutcome]]
"""Judges several completions at one place on an engine, with a limit in seconds for each."""
Answer: TypeAlias = TacticOutcome | tuple[Future[list[TacticOutcome]], int]
"""A judgement, or where among the answers to come it is going to be."""


class CachedJudge:
    """Judgements by state and tactic; safe to use from several threads.

    Args:
        engines: Who is asked.
        kept: Judgements that are remembered.
        judge: Judges completions.
    """

    def __init__(self, engines: SharedEngines, kept: int, judge: JudgeFunction) -> None:
        self._engines = engines
        self._function = judge
        self._known: Kept[TacticOutcome] = Kept(kept)
        self._pending: dict[Question, tuple[Future[list[TacticOutcome]], int]] = {}
        self._lock = threading.Lock()

    def judgements(self, questions: Sequence[Question], timeout: float) -> list[TacticOutcome]:
        """Return the judgement of each question; waits for Lean, ``timeout`` seconds for each.

        Raises:
            EngineUnavailableError: If no Lean engine can serve this.
        """
        answers = self.ask(questions, timeout)
        return [_settled(answers[question]) for question in questions]

    def ask(self, questions: Sequence[Question], timeout: float) -> dict[Question, Answer]:
        """Send what is neither known nor under way to the engines, one request a state.

        Raises:
            EngineUnavailableError: If no Lean engine can serve this.
        """
        answers: dict[Question, Answer] = {}
        requests: dict[Spec, Request] = {}
        with self._lock:
            for question in dict.fromkeys(questions):
                spec, tactic = question
                if (known := self._known.known(question)) is not None:
                    answers[question] = known
                    continue
                if question not in self._pending:
                    tactics, promise = requests.setdefault(spec, ([], Future()))
                    self._pending[question] = (promise, len(tactics))
                    tactics.append(tactic)
                answers[question] = self._pending[question]
        self._send(requests, timeout)
        return answers

    def _send(self, requests: dict[Spec, Request], timeout: float) -> None:
        """Resolve every future, if need be with an exception."""
        unsent = dict(requests)
        try:
            for spec, (tactics, promise) in requests.items():
                asked = self._engines.submit(
                    spec.project,
                    self._function,
                    spec,
                    tuple(tactics),
                    timeout,
                    header=spec.header,
                    name=spec.goal[:80],
                    owner=spec.owner,
                )
                del unsent[spec]
                asked.add_done_callback(partial(self._file, spec, tactics, promise))
        except BaseException as error:
            # Another thread may wait for them already.
            for spec, (tactics, promise) in unsent.items():
                self._forget(spec, tactics)
                promise.set_exception(error)
            raise

    def _file(
        self,
        spec: Spec,
        tactics: Sequence[str],
        promise: Future[list[TacticOutcome]],
        asked: Future[list[TacticOutcome]],
    ) -> None:
        """Keep what a request found, and pass it on."""
        try:
            found = asked.result()
        except BaseException as error:  # it is for whoever waits
            self._forget(spec, tactics)
            promise.set_exception(error)
            return
        with self._lock:
            for tactic, judgement in zip(tactics, found, strict=True):
                del self._pending[spec, tactic]
                self._known[spec, tactic] = judgement
        promise.set_result(found)

    def _forget(self, spec: Spec, tactics: Sequence[str]) -> None:
        """Take questions off the list, so that the next one who asks sends them again."""
        with self._lock:
            for tactic in tactics:
                del self._pending[spec, tactic]


def _settled(answer: Answer) -> TacticOutcome:
    """Wait for a judgement; a state that cost every engine its life cannot be judged."""
    if isinstance(answer, TacticOutcome):
        return answer
    future, index = answer
    try:
        return future.result()[index]
    except (EngineLostError, EngineKilledError) as error:
        return TacticOutcome(Verdict.UNOPENED, detail=str(error))
    except CancelledError:
        return TacticOutcome(
            Verdict.UNOPENED, detail="the engines were closed before this was checked"
        )
