"""Mine proofs of theorems that come without one, and of mutations of what was proved."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from typing import Any

import attrs

from lean_dojo_core.records import BenchmarkProblem
from lean_dojo_v2.benchmarks.core_library.benchmark import (
    TIMEOUT,
    Module,
    library_server,
    stated,
)
from lean_dojo_v2.benchmarks.rows import problem_of
from lean_dojo_v2.database import unit_hash
from lean_dojo_v2.files import append_lines, read_lines
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import EngineLostError, LeanError
from lean_dojo_v2.prover.problem import Problem
from mining.mutations import both, mutations
from mining.play import MinedStep, MiningLimits, Player

LIBRARY, UNTRIED, _END = "library", "untried", "end"
_LOOK = 3
"""So many times the theorems that are wanted of a module are looked at."""


def opening_server() -> Server:
    """Make an engine in which problems are opened; it starts at its first call."""
    return Server(engine="embedded", timeout=TIMEOUT, start=False)


@attrs.frozen(kw_only=True)
class Mined:
    """A theorem, and the proofs that were found of it.

    Attributes:
        name: Its name.
        module: The module that it, or what it is a mutation of, stands in.
        kind: ``"library"``; ``"untried"``, for one that is stated and no more; or what the
            mutation did: ``"forall"``, ``"symm"``, ``"empty"``, ``"larger"``, ``"and"``.
        header: What stands before it.
        statement: Its statement, up to and with ``:=``.
        proofs: The steps of each distinct proof; Lean confirmed each as a whole.
    """

    name: str
    module: str
    kind: str
    header: str
    statement: str
    proofs: tuple[tuple[MinedStep, ...], ...]

    @property
    def tactics(self) -> frozenset[str]:
        """The tactics of its proofs."""
        return frozenset(step.tactic for proof in self.proofs for step in proof)

    @classmethod
    def read(cls, row: dict[str, Any]) -> Mined:
        """Read a line of a file of them."""
        proofs = tuple(tuple(MinedStep(*step) for step in proof) for proof in row["proofs"])
        return cls(**{**row, "proofs": proofs})

    def row(self) -> dict[str, Any]:
        """Return it as plain data."""
        proofs = [[[s.before, s.tactic, s.after] for s in proof] for proof in self.proofs]
        return {**attrs.asdict(self, recurse=False), "proofs": proofs}


@attrs.define
class Miner:
    """Goes through modules of Lean's library, and proves what it can of their theorems.

    A run that was killed goes on with the modules that are left.

    Attributes:
        file: Where :class:`Mined` theorems go, one a line; those without a proof, too.
        theorems: Theorems of a module at most: of some that a hash of their names chooses, those
            that are said the shortest.
        untried: So many further theorems of a module are looked at, and written down untried with
            the others that are not tried; 0: none is.
        variants: Other proofs that are sought of what was proved.
        conjunctions: Theorems before it that a theorem is put together with.
        budget: Limits for one proof.
        engines: Engines side by side.
    """

    file: Path
    theorems: int = 40
    untried: int = 0
    variants: int = 2
    conjunctions: int = 2
    budget: MiningLimits = attrs.Factory(MiningLimits)
    engines: int = 1
    _lock: Lock = attrs.field(factory=Lock, init=False)

    def run(self, modules: Sequence[Module], limit: int | None = None) -> Iterator[str]:
        """Mine the modules that are left: those of Init first, ordered by a hash of their names.

        Args:
            modules: The modules.
            limit: Take the first so many of them.

        Yields:
            A line about each module when it is done.
        """
        done = {row["module"] for row in read_lines(self.file) if row["kind"] == _END}
        chosen = sorted(modules, key=lambda m: (m.name.split(".")[0], unit_hash(m.name)))[:limit]
        todo = [module for module in chosen if module.name not in done]
        if not todo:
            return
        with ExitStack() as stack:
            library = stack.enter_context(library_server([module.name for module in todo]))
            free: SimpleQueue[Server] = SimpleQueue()
            for _ in range(self.engines):
                free.put(stack.enter_context(opening_server()))
            pool = stack.enter_context(ThreadPoolExecutor(self.engines))

            def mine(module: Module) -> str:
                opening = free.get()
                try:
                    return self._module(library, opening, module)
                finally:
                    free.put(opening)

            for future in as_completed([pool.submit(mine, module) for module in todo]):
                yield future.result()

    def _module(self, library: Server, opening: Server, module: Module) -> str:
        names = sorted(module.theorems, key=unit_hash)
        looked = _LOOK * self.theorems
        found = sorted(
            stated(library, opening, module, names[:looked]),
            key=lambda one: len(one.statement),
        )
        untried = []
        if self.untried:
            further = stated(library, opening, module, names[looked : looked + self.untried])
            left = [*found[self.theorems :], *further]
            untried = [_untried(module, one) for one in left]
        found = found[: self.theorems]
        mined: list[Mined] = []
        for one in found:
            before = [m for m in mined if m.kind == LIBRARY]
            mined += self._theorem(opening, module, one, before)
        end = Mined(
            name=module.name, module=module.name, kind=_END, header="", statement="", proofs=()
        )
        with self._lock:
            append_lines(self.file, [one.row() for one in [*mined, *untried, end]])
        proved = [one for one in mined if one.proofs]
        pairs = {(s.before, s.tactic) for one in proved for proof in one.proofs for s in proof}
        count = sum(one.kind == LIBRARY for one in proved)
        return (
            f"{module.name}: {count} of {len(found)} proved, {len(proved) - count} mutations, "
            f"{len(pairs)} steps"
        )

    def _theorem(
        self, server: Server, module: Module, one: BenchmarkProblem, before: Sequence[Mined]
    ) -> Iterator[Mined]:
        own = self._mine(server, module, LIBRARY, one)
        yield own
        if not own.proofs:
            return
        hints = own.tactics
        variants = [(*variant, hints) for variant in mutations(own.statement)]
        variants += [
            ("and", text, hints | other.tactics)
            for other in [one for one in before if one.proofs][-self.conjunctions :]
            if (text := both(other.statement, own.statement)) is not None
        ]
        for kind, statement, known in variants:
            name = statement.split(" ", 2)[1].partition(".{")[0]
            problem = attrs.evolve(one, full_name=name, statement=statement)
            mutated = self._mine(server, module, kind, problem, known)
            if mutated.proofs:
                yield mutated

    def _mine(
        self,
        server: Server,
        module: Module,
        kind: str,
        given: BenchmarkProblem,
        hints: frozenset[str] = frozenset(),
    ) -> Mined:
        problem = problem_of(given)
        proofs: dict[str, tuple[MinedStep, ...]] = {}
        for number in range(1 + self.variants):
            chance = random.Random(f"{given.full_name} {number}") if number else None
            steps = self._prove(Player(server, self.budget, hints, chance), problem)
            if steps:
                proofs.setdefault("\n".join(step.tactic for step in steps), tuple(steps))
                hints |= {step.tactic for step in steps}
            elif not number:
                break
        return Mined(
            name=given.full_name,
            module=module.name,
            kind=kind,
            header=given.header or "",
            statement=given.statement,
            proofs=tuple(proofs.values()),
        )

    @staticmethod
    def _prove(player: Player, problem: Problem) -> list[MinedStep] | None:
        """Prove, and have Lean check the whole; an engine that is lost proves nothing."""
        try:
            steps = player.prove(problem)
            if steps is None:
                return None
            proof = "\n".join(step.tactic for step in steps)
            return steps if problem.check(player.server, proof).valid else None
        except (EngineLostError, LeanError):
            return None


def _untried(module: Module, one: BenchmarkProblem) -> Mined:
    return Mined(
        name=one.full_name,
        module=module.name,
        kind=UNTRIED,
        header=one.header or "",
        statement=one.statement,
        proofs=(),
    )
