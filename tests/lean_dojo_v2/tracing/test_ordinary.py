"""Ordinary Lean, chapter by chapter as the usual books have it: traced, replayed, proved again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from lean_dojo_core.records import Theorem
from lean_dojo_v2.data.lines import one_line
from lean_dojo_v2.database import Repository
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import LeanError
from lean_dojo_v2.lean.text.lexer import code_tokens
from lean_dojo_v2.lean.text.source import SourceTheorem, read_source
from lean_dojo_v2.lean.verify.proofs import check_declaration
from lean_dojo_v2.lean.verify.states import open_step
from lean_dojo_v2.tracing import LeanGitRepo, trace_repository
from lean_dojo_v2.tracing.tracer import ERRORS_KEY

PROJECT = Path(__file__).parents[2] / "data" / "ordinary_project"
CHAPTERS = sorted(path.stem for path in (PROJECT / "Ordinary").glob("*.lean"))


@pytest.fixture(scope="module")
def repository() -> Repository:
    repo = LeanGitRepo.from_path(PROJECT, url="https://example.org/ordinary/project")
    return trace_repository(repo, engine="embedded")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(engine="embedded", project_path=PROJECT, timeout=300) as made:
        yield made


def replayed(
    server: Server, source: SourceTheorem, theorem: Theorem, unciteable: set[str]
) -> Iterator[str]:
    """Say which tactics do not lead from the traced state before them to the one after.

    Nor, where they are of several lines, as the line that is learned for them. A step that cites what
    is to be proved, for recursion, is opened and not run: nobody may cite that.
    """
    for tactic in theorem.traced_tactics:
        assert tactic.start is not None
        line = one_line(tactic.tactic)
        try:
            state, _ = open_step(server, source, tactic.start)
            before = str(state)
            if any(
                word.text.rpartition(".")[2] in unciteable for word in code_tokens(tactic.tactic)
            ):
                assert before == tactic.state_before
                continue
            after = str(server.goal_tactic(state, tactic.tactic))
            if line not in {None, tactic.tactic}:
                server.goal_tactic(state, line)
        except LeanError as error:
            yield f"{theorem.full_name}:{tactic.start}: {tactic.tactic!r}: {error}"
        else:
            if (before, after) != (tactic.state_before, tactic.state_after):
                yield f"{theorem.full_name}:{tactic.start}: {tactic.tactic!r} gives {after!r}"


def assert_sound(server: Server, theorems: Sequence[Theorem]) -> None:
    """Every theorem's proof holds in full verification, and every step replays, elsewhere too.

    Full verification is of theorems: no definition is asked of a prover.
    """
    wrong: list[str] = []
    sources = {
        theorem: SourceTheorem.of(theorem, read_source(PROJECT / theorem.file_path))
        for theorem in theorems
    }
    block = {_short(theorem) for theorem, source in sources.items() if source.in_mutual_block}
    for theorem, source in sources.items():
        if theorem.is_problem:
            outcome = check_declaration(server, source, source.declaration)
            if not outcome.valid:
                wrong.append(f"{theorem.full_name}: {outcome.detail}")
        siblings = block if source.in_mutual_block else set()
        wrong += replayed(server, source, theorem, {_short(theorem), *siblings})
    assert wrong == []


def _short(theorem: Theorem) -> str:
    return theorem.full_name.rpartition(".")[2]


def test_there_are_many_programs() -> None:
    texts = [(PROJECT / "Ordinary" / f"{chapter}.lean").read_text() for chapter in CHAPTERS]
    assert sum(text.count("\ntheorem ") for text in texts) >= 100
    assert sum(text.count("\ndef ") + text.count("\ninductive ") for text in texts) >= 60


@pytest.mark.slow
def test_the_project_is_traced_without_a_gap(repository: Repository) -> None:
    assert ERRORS_KEY not in repository.metadata
    assert repository.num_sorry_theorems == 0
    others = [proof.full_name for proof in repository.other_proofs]
    assert [name for name in others if name.startswith("Structures.")] == ["Structures.Even.add"]


@pytest.mark.slow
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_holds(chapter: str, repository: Repository, server: Server) -> None:
    path = f"Ordinary/{chapter}.lean"
    text = (PROJECT / path).read_text()
    found = [theorem for theorem in repository.iter_theorems() if theorem.file_path == path]
    assert len(found) >= text.count("\ntheorem ") + text.count("\n  theorem ")
    assert_sound(server, found)
