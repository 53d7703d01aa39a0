"""Make a database as large as Mathlib's, or of any size, with text of realistic shape and length.

    python experiments/generate_database.py OUTPUT.sqlite [--theorems 120000]

Everything follows from the seed; nothing is held in memory but one theorem at a time.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lean_dojo_core.records import Annotation, Premise, PremiseFile, Theorem, TracedTactic
from lean_dojo_v2.data.codec import path_of
from lean_dojo_v2.database import DynamicDatabase, Repository

THEOREMS_PER_FILE = 25
TACTICS = 260_000 / 120_000
"""Mean number of tactics a theorem, as in LeanDojo's Mathlib data."""
PREMISES = 170_000 / 120_000

TYPES = ("ℕ", "ℤ", "ℝ", "Set α", "Finset ι", "α → β", "Matrix m n R", "Submodule R M", "Filter α")
WORDS = ("add", "mul", "comm", "assoc", "le", "lt", "iff", "mem", "union", "inter", "map", "comap")
VERBS = ("rw", "simp only", "simp", "exact", "apply", "refine", "nlinarith", "linarith", "omega")


class GeneratedRepository(Repository):
    """A repository whose theorems and premises are made up as they are read."""

    def __init__(self, number: int, theorems: int, seed: int = 0) -> None:
        super().__init__(
            url=f"https://github.com/generated/library-{number}",
            commit=f"{number:040x}",
            lean_version="v4.28.0",
            metadata={"date_processed": f"2026-01-{number % 28 + 1:02}T00:00:00"},
        )
        self.theorems = theorems
        self.seed = seed
        self.files = -(-theorems // THEOREMS_PER_FILE)

    def path(self, file: int) -> str:
        return f"Library/Part{file % 40}/File{file}.lean"

    def iter_list(self, name: str, path: str | None = None) -> Iterator[Any]:
        if name == "files_traced":
            items: Iterator[Any] = map(self.path, range(self.files))
        else:
            items = self._premise_files() if name == "premise_files" else self._theorems(name)
        return (item for item in items if path in {None, path_of(item)})

    def _theorems(self, name: str) -> Iterator[Theorem]:
        for index in range(self.theorems):
            is_sorry = index % 20 == 7
            if is_sorry == (name == "sorry_theorems_unproved") and not name.endswith("_proved"):
                yield self.theorem(index, is_sorry)

    def theorem(self, index: int, is_sorry: bool) -> Theorem:
        rng = random.Random(f"{self.seed}/{self.url}/{index}")
        name = f"Library.Part{index % 40}.{'_'.join(rng.choices(WORDS, k=3))}_{index}"
        line = 10 + 12 * (index % THEOREMS_PER_FILE)
        count = 1 if is_sorry else min(1 + int(rng.expovariate(1 / (TACTICS - 0.55))), 60)
        statement = f"theorem t{index} {{α : Type*}} (h : {_term(rng, 3)}) : {_term(rng, 6)} :="
        states = [_goal(rng) for _ in range(count)] + ["no goals"]
        tactics = tuple(
            self.tactic(rng, "sorry" if is_sorry else None, states[step], states[step + 1])
            for step in range(count)
        )
        return Theorem(
            name,
            self.path(index // THEOREMS_PER_FILE),
            (line, 1),
            (line + 8, 40),
            self.url,
            self.commit,
            statement,
            tactics,
        )

    def tactic(self, rng: random.Random, text: str | None, before: str, after: str) -> TracedTactic:
        if text is not None:
            return TracedTactic(text, before, after)
        premises = tuple(self.premise(rng) for _ in range(min(int(rng.expovariate(0.6)), 8)))
        verb = rng.choice(VERBS)
        marked = ", ".join(f"<a>{premise.full_name}</a>" for premise in premises)
        annotated = f"{verb} [{marked}]" if premises else verb
        plain = annotated.replace("<a>", "").replace("</a>", "")
        return TracedTactic(plain, before, after, annotated=annotated, premises=premises)

    def premise(self, rng: random.Random) -> Annotation:
        # Popular premises are very popular, as in real libraries.
        number = min(int(rng.paretovariate(0.6)), int(self.theorems * PREMISES)) - 1
        line = 10 + 8 * (number % 30)
        name = f"Library.{WORDS[number % 12]}_{WORDS[number // 12 % 12]}_{number}"
        return Annotation(name, self.path(number // 30), (line, 9), (line, 30))

    def _premise_files(self) -> Iterator[PremiseFile]:
        total, made = int(self.theorems * PREMISES), 0
        for file in range(self.files):
            rng = random.Random(f"{self.seed}/{self.url}/file/{file}")
            goal = total * (file + 1) // self.files
            premises = tuple(
                Premise(
                    f"Library.{rng.choice(WORDS)}_{number}",
                    f"theorem t{number} (a b : ℕ) : {_term(rng, 8)} := by\n  simp",
                    (10 + 8 * (number - made), 1),
                    (16 + 8 * (number - made), 20),
                    "commanddeclaration",
                )
                for number in range(made, goal)
            )
            made = goal
            imports = {self.path(rng.randrange(file)) for _ in range(4)} if file else ()
            yield PremiseFile(self.path(file), tuple(sorted(imports)), premises)


def _term(rng: random.Random, size: int) -> str:
    return " + ".join(f"{rng.choice(WORDS)}.{rng.choice(WORDS)} x{i}" for i in range(size))


def _goal(rng: random.Random) -> str:
    hypotheses = "\n".join(
        f"h{index} : {rng.choice(TYPES)} → {_term(rng, 2)}" for index in range(rng.randint(2, 8))
    )
    return f"{hypotheses}\n⊢ {_term(rng, rng.randint(2, 6))} = {_term(rng, 2)}"


def generate(output: Path, theorems: int, *, repositories: int = 4, seed: int = 0) -> None:
    """Write a database of so many theorems, spread over a few repositories."""
    with DynamicDatabase(output) as database:
        for number in range(repositories):
            share = theorems // repositories + (number < theorems % repositories)
            database.add_repository(GeneratedRepository(number, share, seed))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=Path)
    parser.add_argument("--theorems", type=int, default=120_000)
    parser.add_argument("--repositories", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    generate(
        arguments.output,
        arguments.theorems,
        repositories=arguments.repositories,
        seed=arguments.seed,
    )
    print(f"{arguments.output}: {arguments.theorems} theorems")


if __name__ == "__main__":
    main()
