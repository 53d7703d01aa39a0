"""Whole proofs, sampled from a model and verified by Lean."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from queue import SimpleQueue

import attrs

from lean_dojo_core.records import Theorem
from lean_dojo_v2 import lean
from lean_dojo_v2.prover.base import AnyProver
from lean_dojo_v2.prover.completions import proof_of
from lean_dojo_v2.prover.problem import (
    GoalProblem,
    Problem,
    TheoremProblem,
    again_if_lost,
    seed_of,
)
from lean_dojo_v2.prover.search.result import Failure, SearchResult
from lean_dojo_v2.prover.suggestion import GeneratorError, Patience
from lean_dojo_v2.runs import report_progress

BATCH = 32
"""Number of proofs sampled together."""
KEPT_RESULTS = 100_000
"""Number of results in the cache."""


@attrs.define
class WholeProofs:
    """A prover that samples whole proofs instead of searching, with another prover's model.

    Samples follow from the seed and the theorem's name; without a seed it takes the most probable.
    """

    prover: AnyProver
    seed: int | None = None
    known: lean.LRUCache[SearchResult] = attrs.field(
        factory=lambda: lean.LRUCache(KEPT_RESULTS), repr=False
    )

    def search_many(
        self,
        problems: Sequence[Problem],
        servers: Sequence[lean.Server],
        *,
        verbose: bool = False,  # noqa: ARG002 - there are no states to print
    ) -> Iterator[tuple[int, SearchResult]]:
        """Sample and verify proofs; yield each result with its problem's number.

        Raises ``GeneratorError`` if the model keeps failing.
        """
        elsewhere = getattr(self.prover, "write_many", None)
        if elsewhere is not None:
            yield from elsewhere(problems, servers, seed=self.seed)
            return
        patience = Patience()
        size = 1 if self.seed is None else BATCH
        free: SimpleQueue[lean.Server] = SimpleQueue()
        for server in servers:
            free.put(server)
        with ThreadPoolExecutor(len(servers)) as threads:
            for start in range(0, len(problems), size):
                asked: dict[int, Theorem | str] = {}
                for number in range(start, min(start + size, len(problems))):
                    try:
                        asked[number] = _asked(problems[number])
                    except lean.LeanError as error:
                        reason = Failure.CANNOT_OPEN
                        yield number, _failed(problems[number].name, reason, str(error))
                if not asked:
                    continue
                written = [problems[number] for number in asked]
                report_progress(f"writing whole proofs, {start} of {len(problems)} written")
                began = time.monotonic()
                try:
                    texts = self._written(written, list(asked.values()))
                    patience.answered()
                except GeneratorError as error:
                    patience.failed(error)
                    texts = [error] * len(asked)
                writing = (time.monotonic() - began) / len(asked)
                check = partial(self._result, free)
                found = threads.map(check, written, texts)
                for number, result in zip(asked, found, strict=True):
                    yield number, attrs.evolve(result, seconds=result.seconds + writing)

    def generate_whole_proof(self, theorem: Theorem | str) -> str:
        """Write a proof, unchecked."""
        return self.prover.generate_whole_proof(theorem)

    def _written(
        self, problems: Sequence[Problem], theorems: Sequence[Theorem | str]
    ) -> list[str | GeneratorError]:
        write = getattr(self.prover, "write_proofs", None)
        if self.seed is None or write is None:
            return [self.prover.generate_whole_proof(theorem) for theorem in theorems]
        return list(write(theorems, [seed_of(self.seed, one.name) for one in problems]))

    def _result(
        self, free: SimpleQueue[lean.Server], problem: Problem, text: str | GeneratorError
    ) -> SearchResult:
        if isinstance(text, GeneratorError):
            return _failed(problem.name, Failure.GENERATOR, str(text))
        proof = proof_of(text, problem.name)
        key = (problem, proof)
        if (before := self.known.get(key)) is not None:
            return attrs.evolve(before, lean_calls=0, seconds=0.0)
        server = free.get()
        try:
            result = self.known[key] = _checked(problem, server, proof)
        finally:
            free.put(server)
        return result


def sampling_whole_proofs(make: Callable[[int], AnyProver]) -> Callable[[int], WholeProofs]:
    """Turn a factory of provers by seed into one of provers that sample whole proofs.

    Equal proofs of a theorem are checked once, for all seeds.
    """
    known: lean.LRUCache[SearchResult] = lean.LRUCache(KEPT_RESULTS)
    return lambda seed: WholeProofs(make(seed), seed=seed, known=known)


def _checked(problem: Problem, server: lean.Server, proof: str) -> SearchResult:
    """Verify a proof; retry once if the engine dies, perhaps for another reason."""
    if not proof.strip():
        detail = "the model wrote no proof that ends"
        return SearchResult(problem.name, False, reason=Failure.REFUSED, detail=detail, samples=1)
    began, cheats = time.monotonic(), False
    reason: Failure | None = Failure.REFUSED
    lost: list[lean.EngineLostError] = []
    try:
        outcome = again_if_lost(lambda: problem.check(server, proof), lost.append)
    except lean.EngineLostError as error:
        lost.append(error)
        detail = f"the engine was lost over it: {error}"
    except lean.EngineUnavailableError:
        raise
    except lean.LeanError as error:
        reason, detail = Failure.CANNOT_OPEN, str(error)
    else:
        reason = None if outcome.valid else Failure.REFUSED
        detail, cheats = outcome.detail, outcome.refusal is not None
    return SearchResult(
        problem.name,
        reason is None,
        tactics=None if reason else tuple(filter(str.strip, proof.split("\n"))),
        proof=None if reason else proof,
        reason=reason,
        detail=detail,
        samples=1,
        lean_calls=1,
        refused_proofs=int(cheats),
        ended_by_clock=sum(isinstance(error, lean.EngineTimeoutError) for error in lost),
        seconds=time.monotonic() - began,
    )


def _failed(name: str, reason: Failure, detail: str) -> SearchResult:
    return SearchResult(name, False, reason=reason, detail=detail)


def _asked(problem: Problem) -> Theorem | str:
    """Return what the model reads, up to and with ``:=``.

    A statement is taken from the file, since data of LeanDojo 1.x has none.
    """
    if isinstance(problem, TheoremProblem):
        if isinstance(problem.shown, str):
            return problem.shown
        statement, theorem = f"{problem.source.head} :=", problem.shown
        return attrs.evolve(theorem, theorem_statement=statement) if theorem else statement
    if isinstance(problem, GoalProblem):
        return f"theorem {problem.name} : {problem.expression} :="
    raise lean.LeanError(f"{problem.name} is inside a proof, and is not a theorem of its own")
