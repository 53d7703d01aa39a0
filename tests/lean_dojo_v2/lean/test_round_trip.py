"""Traced states of the shipped sample open again, and its proofs hold again."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator
from functools import cache

import pytest

from lean_dojo_core.records import NO_GOALS, Theorem
from lean_dojo_v2.data.codec import theorem_from_dict
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.engines.embedded.install import ensure_installed
from lean_dojo_v2.lean.text.source import SourceTheorem
from lean_dojo_v2.lean.verify.goal_text import GoalTextError, canonical, open_goal, parse_state
from lean_dojo_v2.lean.verify.outcomes import ProofOutcome
from lean_dojo_v2.lean.verify.proofs import check_declaration, check_proof
from lean_dojo_v2.lean.verify.states import open_step, open_theorem
from lean_dojo_v2.sample import SAMPLE_PROJECTS, sample_database_path, sample_project_path

EVERY = 8
"""Take every eighth theorem."""
GROUPS = ("proven_theorems", "sorry_theorems_proved", "sorry_theorems_unproved")


@cache
def theorems(project: str) -> tuple[tuple[Theorem, SourceTheorem], ...]:
    """Traced theorems of a sample project, file by file, with their files."""
    data = json.loads(sample_database_path().read_text())
    root = sample_project_path(project)
    repository = data["repositories"][list(SAMPLE_PROJECTS).index(project)]
    found = [theorem_from_dict(item) for name in GROUPS for item in repository[name]]
    found.sort(key=lambda theorem: (theorem.file_path, theorem.start))
    some = found[::EVERY]
    return tuple((t, SourceTheorem.of(t, (root / t.file_path).read_text())) for t in some)


@pytest.fixture(scope="module", params=SAMPLE_PROJECTS)
def project(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def server(project: str) -> Iterator[Server]:
    ensure_installed()
    with Server(engine="embedded", project_path=sample_project_path(project)) as made:
        yield made


@pytest.mark.slow
def test_states_open_by_exact_replay_proofs_hold_and_gaps_open(server, project):
    """All of a theorem in one go: what stands before it is elaborated once."""
    problems = {}
    states = proofs = gaps = 0
    for theorem, source in theorems(project):
        for tactic in theorem.traced_tactics:
            if tactic.state_before != NO_GOALS:
                states += 1
                opened = str(open_step(server, source, tactic.start)[0])
                if opened != tactic.state_before:
                    problems[theorem.full_name, tactic.start] = opened
        if "sorry" in source.declaration:
            gaps += 1
            if len(open_theorem(server, source).goals) != 1:
                problems[theorem.full_name] = "not one goal"
        else:
            proofs += 1
            if not (outcome := original(server, source)).valid:
                problems[theorem.full_name] = outcome
    assert not problems
    assert states > 150 / EVERY
    assert proofs > 40 / EVERY
    assert gaps


@pytest.mark.slow
def test_a_traced_state_opens_from_its_text_as_itself_or_not_at_all(server, project):
    """Most states say enough; what is opened prints as the traced state does."""
    root = {"sample": "Sample", "extra": "Extra"}[project]
    server.load_header(f"import {root}\nnamespace {root}\n")
    opened = refused = 0
    for theorem, _ in theorems(project):
        for tactic in theorem.traced_tactics:
            goals = parse_state(tactic.state_before)
            if not goals:
                continue
            try:
                state = open_goal(server, tactic.state_before, first_only=True)
            except GoalTextError:
                refused += 1
            else:
                opened += 1
                assert [canonical(goal) for goal in state.goals] == [canonical(goals[0])]
    assert opened > 0.75 * (opened + refused)


def original(server: Server, source: SourceTheorem) -> ProofOutcome:
    """Check the file's own proof: as a block of tactics where it is one."""
    proof = source.declaration[len(source.head) :]
    if match := re.fullmatch(r"\s*:=\s*by\b[ \t]*(\n?)(.*)", proof, re.DOTALL):
        block = textwrap.dedent(match[2]) if match[1] else match[2]
        return check_proof(server, source, block)
    return check_declaration(server, source, source.declaration)
