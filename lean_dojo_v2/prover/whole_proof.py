"""Proofs that a model writes in one go, checked by Lean."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import attrs

from lean_dojo_core.records import Theorem
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import EngineLostError, LeanError
from lean_dojo_v2.prover.completions import proof_of
from lean_dojo_v2.prover.problem import GoalProblem, Problem, TheoremProblem
from lean_dojo_v2.prover.search.result import Failure, SearchResult
from lean_dojo_v2.prover.suggestion import GeneratorError, Patience
from lean_dojo_v2.runs.so_far import at_work

if TYPE_CHECKING:
    from lean_dojo_v2.prover.base import AnyProver


def prove_all(
    prover: AnyProver,
    problems: Sequence[Problem],
    servers: Sequence[Server],
    *,
    theorems: Sequence[Theorem] = (),
    whole_proof: bool = False,
    verbose: bool = False,
) -> Iterator[tuple[int, SearchResult]]:
    """Search problems, or have their proofs written; yield each result with its problem's number.

    Args:
        prover: The prover.
        problems: What is to be proved.
        servers: Engines; proofs that are written need one.
        theorems: The problems as traced theorems, if they are that.
        whole_proof: Have the model write each proof in one go.
        verbose: Print every state of a search.

    Raises:
        GeneratorError: If the model does not answer at all, or not any more.
    """
    if not whole_proof:
        yield from prover.search_many(problems, servers, **({"verbose": True} if verbose else {}))
        return
    patience = Patience()
    for index, problem in enumerate(problems):
        theorem = theorems[index] if theorems else None
        try:
            yield index, prove_whole(prover, servers[0], problem, theorem)
            patience.answered()
        except GeneratorError as error:
            patience.failed(error)
            failed = SearchResult(problem.name, False, reason=Failure.GENERATOR, detail=str(error))
            yield index, failed


def prove_whole(
    prover: AnyProver, server: Server, problem: Problem, theorem: Theorem | None = None
) -> SearchResult:
    """Have a prover write a proof, and Lean check it.

    Args:
        prover: The prover.
        server: An engine; with the repository as ``project_path`` if the file imports from it.
        problem: What is to be proved.
        theorem: The same as a traced theorem, if it is one.

    Returns:
        The result; ``tactics`` are the lines of the proof.

    Raises:
        GeneratorError: If the model does not answer.
    """
    started = time.monotonic()
    at_work(f"a proof of {problem.name}")

    def ended(reason: Failure | None, detail: str = "", proof: str | None = None) -> SearchResult:
        lines = None if proof is None else tuple(filter(str.strip, proof.split("\n")))
        return SearchResult(
            problem.name,
            reason is None,
            tactics=lines,
            proof=proof,
            reason=reason,
            detail=detail,
            expansions=1,
            lean_calls=1,
            seconds=time.monotonic() - started,
        )

    try:
        statement = _statement(problem)  # from the file: data of LeanDojo 1.x does not have it
    except LeanError as error:
        return ended(Failure.CANNOT_OPEN, str(error))
    asked = statement if theorem is None else attrs.evolve(theorem, theorem_statement=statement)
    proof = proof_of(prover.generate_whole_proof(asked), problem.name)
    try:
        outcome = problem.check(server, proof)
    except EngineLostError as error:
        return ended(Failure.ENGINE, str(error))
    except LeanError as error:
        return ended(Failure.CANNOT_OPEN, str(error))
    if not outcome.valid:
        return ended(Failure.REFUSED, outcome.detail)
    return ended(None, proof=proof)


def _statement(problem: Problem) -> str:
    """Return the text that a proof follows, with its ``:=``; a ``LeanError`` if there is none."""
    if isinstance(problem, TheoremProblem):
        return f"{problem.source.head} :="
    if isinstance(problem, GoalProblem):
        return f"theorem {problem.name} : {problem.expression} :="
    raise LeanError(f"{problem.name} is inside a proof, and is not a theorem of its own")
