"""The proofs found by a run, with the states of their tactics."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self, TypeAlias

import attrs
import orjson

from lean_dojo_core.records import (
    NO_GOALS,
    BenchmarkProblem,
    Position,
    Theorem,
    TracedTactic,
    remove_marks,
)
from lean_dojo_plugins.causal_lm import proof_text
from lean_dojo_v2.files import atomic_write_bytes, read_lines, read_records
from lean_dojo_v2.prover import Node, NodeStatus, SearchResult, SearchTree, with_context

Pair: TypeAlias = tuple[str, str]
"""A state as Lean prints it, and a tactic; or a statement, and its whole proof."""


def _position(value: Sequence[int]) -> Position:
    line, column = value
    return (line, column)


@attrs.frozen
class FoundProof:
    """A fully verified proof.

    ``round`` is the round that found it, from 1. The theorem's place (``url``, ``commit``,
    ``file_path``) is empty for a problem of a file. ``statement`` is its statement as a model reads
    it, up to and with ``:=``. ``steps`` is empty for a proof written in one go.
    """

    problem: str
    round: int
    full_name: str
    url: str
    commit: str
    file_path: str
    start: Position = attrs.field(converter=_position)
    end: Position = attrs.field(converter=_position)
    statement: str
    proof: str
    steps: Sequence[Sequence[str]]  # each a state, a tactic, and the state after it

    @classmethod
    def of(cls, problem: BenchmarkProblem, round_: int, result: SearchResult) -> Self:
        """Make a record of a search's proof."""
        assert result.proof is not None
        theorem = problem.theorem or Theorem(problem.full_name, "", (1, 1), (1, 1), "", "")
        return cls(
            problem=problem.full_name,
            round=round_,
            full_name=theorem.full_name,
            url=theorem.url,
            commit=theorem.commit,
            file_path=theorem.file_path,
            start=theorem.start,
            end=theorem.end,
            statement=with_context(problem.header or "", problem.statement),
            proof=result.proof,
            steps=[
                (before.state, after.tactic, after.state)
                for before, after in (_path(result.tree) if result.tree else ())
            ],
        )

    @property
    def tactics(self) -> tuple[TracedTactic, ...]:
        """The proof as a traced one."""
        return tuple(TracedTactic(tactic, before, after) for before, tactic, after in self.steps)

    def lesson(self, whole: bool) -> tuple[TracedTactic, ...]:
        """Return its training examples: its steps, or the whole proof as one step."""
        return (TracedTactic(self.proof, self.statement, NO_GOALS),) if whole else self.tactics

    def theorem(self, steps: Sequence[TracedTactic]) -> Theorem:
        """Return the theorem with these steps of its proof, for a dataset formatter."""
        return Theorem(
            self.full_name, self.file_path, self.start, self.end, self.url, self.commit,
            self.statement, tuple(steps),
        )  # fmt: skip


def read_proofs(file: Path, rounds: int) -> dict[str, list[FoundProof]]:
    """Return the distinct proofs of each problem that the first rounds found, oldest first."""
    found: dict[str, dict[str, FoundProof]] = defaultdict(dict)
    for proof in read_records(file, FoundProof, "a proof of a run"):
        if proof.round <= rounds:
            found[proof.problem].setdefault(proof.proof, proof)
    return {name: list(proofs.values()) for name, proofs in found.items()}


def sort_rows(file: Path, *keys: str) -> None:
    """Sort a JSONL file, if it exists, by some keys and then by the rows' texts, each row once.

    Engines answer in any order, and a search that was killed is repeated.
    """
    if not file.exists():
        return
    lines: dict[bytes, list[Any]] = {
        orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE): [row[key] for key in keys]
        for row in read_lines(file)
    }
    in_order = sorted((values, line) for line, values in lines.items())
    atomic_write_bytes(file, b"".join(line for _, line in in_order))


def chosen(
    found: dict[str, list[FoundProof]],
    limit: int | None,
    known: Iterable[Pair],
    *,
    whole: bool = False,
) -> Iterator[Theorem]:
    """Choose training data: the shortest proofs of each problem, and every pair once.

    At most ``limit`` proofs of a problem; ``known`` pairs are learned anyway, and left out. With
    ``whole`` each proof is learned as a whole, not its steps.
    """
    seen = set(known)
    for name in sorted(found):
        shortest = sorted(found[name], key=lambda p: len(p.steps) or p.proof.count("\n") + 1)
        for proof in shortest[:limit]:
            steps = []
            for step in proof.lesson(whole):
                if (pair := (step.state_before, step.tactic)) not in seen:
                    seen.add(pair)
                    steps.append(step)
            if steps:
                yield proof.theorem(steps)


def pairs_of(theorem: Theorem, *, whole: bool = False) -> Iterator[Pair]:
    """Yield the states and tactics of a traced theorem, without marks, or its whole proof."""
    if whole:
        if (proof := proof_text(theorem)) is not None:
            yield theorem.theorem_statement or "", proof
        return
    for tactic in theorem.traced_tactics:
        yield remove_marks(tactic.state_before).strip(), remove_marks(tactic.tactic).strip()


def negatives(problem: str, round_: int, tree: SearchTree) -> Iterator[dict[str, Any]]:
    """Yield the tactics at the states of a proof that did not lead to it.

    ``chosen`` is the proof's tactic; ``verdict`` is Lean's on the rejected one, or ``"open"`` for a
    tactic that Lean accepted and from which this search found no proof.
    """
    children: dict[int | None, list[Node]] = defaultdict(list)
    for node in tree.nodes:
        children[node.parent].append(node)
    for before, after in _path(tree):
        rejected = dict(before.failed)
        for node in children[before.id]:
            if node is not after:
                refused = node.status is NodeStatus.PROOF_REFUSED
                rejected[node.tactic] = str(node.status) if refused else "open"
        for tactic, verdict in rejected.items():
            yield {
                "problem": problem,
                "round": round_,
                "state": before.state,
                "chosen": after.tactic,
                "rejected": tactic,
                "verdict": verdict,
            }


def _path(tree: SearchTree) -> list[tuple[Node, Node]]:
    """Return the states of the proof, each with the next."""
    node = next(node for node in tree.nodes if node.status is NodeStatus.SOLVED)
    path = []
    while node.parent is not None:
        before = tree.nodes[node.parent]
        path.append((before, node))
        node = before
    return path[::-1]
