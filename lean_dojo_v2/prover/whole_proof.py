"""Proofs that a model writes in one go, checked by Lean."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import attrs

from lean_dojo_core.errors import LeanError
from lean_dojo_core.records import Theorem
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import EngineLostError
from lean_dojo_v2.lean.text.source import SourceTheorem
from lean_dojo_v2.lean.verify.tactics import check_proof
from lean_dojo_v2.prover.completions import proof_of
from lean_dojo_v2.prover.search.result import Failure, SearchResult

if TYPE_CHECKING:
    from lean_dojo_v2.prover.base import AnyProver


def prove_whole(
    prover: AnyProver, server: Server, theorem: Theorem, source: SourceTheorem
) -> SearchResult:
    """Have a prover write a proof of a theorem, and Lean check it.

    Args:
        prover: The prover.
        server: An engine; with the repository as ``project_path`` if the file imports from it.
        theorem: The theorem.
        source: The same in its file.

    Returns:
        The result; ``tactics`` are the lines of the proof.

    Raises:
        GeneratorError: If the model does not answer.
    """
    started = time.monotonic()

    def ended(reason: Failure | None, detail: str = "", proof: str | None = None) -> SearchResult:
        lines = None if proof is None else tuple(filter(str.strip, proof.split("\n")))
        return SearchResult(
            theorem.full_name,
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
        statement = f"{source.head} :="  # from the file: data of LeanDojo 1.x does not have it
    except LeanError as error:
        return ended(Failure.CANNOT_OPEN, str(error))
    text = prover.generate_whole_proof(attrs.evolve(theorem, theorem_statement=statement))
    proof = proof_of(text, theorem.full_name)
    try:
        outcome = check_proof(server, source, proof)
    except EngineLostError as error:
        return ended(Failure.ENGINE, str(error))
    except LeanError as error:
        return ended(Failure.CANNOT_OPEN, str(error))
    if not outcome.valid:
        return ended(Failure.REFUSED, outcome.detail)
    return ended(None, proof=proof)
