"""What people write is paid: the tactics of whole projects, in whatever form its proofs are written."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lean_dojo_core.records import Theorem
from lean_dojo_plugins.causal_lm.text.formatters import TacticPrompt
from lean_dojo_plugins.rewards.rows import Fallback
from lean_dojo_plugins.rewards.verified import PantographVerified
from lean_dojo_v2.cli import main
from lean_dojo_v2.lean.verify.outcomes import TacticOutcome, Verdict
from lean_dojo_v2.lean.verify.screening import Reason
from lean_dojo_v2.tracing import LeanGitRepo, trace_repository
from lean_dojo_v2.tracing.tracer import ERRORS_KEY

PROJECT = Path(__file__).parents[2] / "data" / "human_project"
FOREIGN = PROJECT.with_name("foreign_project")
"""In the styles of other people's repositories: a textbook, a game with its own syntax, a first project."""
URL = "https://example.org/human/project"
FEW = "Faults"
ON_THE_WAY = {Verdict.ADVANCED, Verdict.SOLVED}

UNPAID = {
    # Scopes are refused: what is open decides what names mean.
    ("Human.Scopes.choice_", "open Classical in exact em p"): (Verdict.REFUSED, Reason.SCOPE),
    # … and so the step inside is tried without them.
    ("Human.Scopes.choice_", "exact em p"): (Verdict.FAILED, None),
}
"""Steps of the project that are not paid, and what is said of them."""
FOREIGN_UNPAID = {
    # No proof that rests on an axiom of its file is paid.
    ("Foreign.Foundations.by_axiom", "exact choose_one 3 (by decide)"): (Verdict.FAILED, None),
    ("Foreign.Foundations.by_axiom", "decide"): (Verdict.UNPROVEN, None),
}


@pytest.fixture(scope="module")
def reward() -> Iterator[PantographVerified]:
    made = PantographVerified(engine="embedded", engines=1, timeout=60)
    yield made
    made.close()


def theorems(folder: Path) -> list[Theorem]:
    traced = trace_repository(LeanGitRepo.from_path(folder, url=URL), engine="embedded")
    assert ERRORS_KEY not in traced.metadata
    return list(traced.get_all_theorems)


def judged(
    reward: PantographVerified, rows: list[dict[str, Any]], folder: Path
) -> list[tuple[dict[str, Any], TacticOutcome]]:
    """Ask what each row's own tactic is worth."""
    reward.projects = {URL: folder}
    columns = {name: [row[name] for row in rows] for name in rows[0] if name != "prompt"}
    found = reward.judgements([row["tactic"] for row in rows], **columns)
    return list(zip(rows, found, strict=True))


def not_paid(found: list[tuple[dict[str, Any], TacticOutcome]]) -> dict[tuple[str, str], Any]:
    return {
        (row["full_name"], row["tactic"]): (one.verdict, one.reason)
        for row, one in found
        if one.verdict not in ON_THE_WAY
    }


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of one module."""
    folder = tmp_path_factory.mktemp("few")
    (folder / "Human").mkdir()
    shutil.copy(PROJECT / "Human" / f"{FEW}.lean", folder / "Human")
    shutil.copy(PROJECT / "lean-toolchain", folder)
    (folder / "Human.lean").write_text(f"import Human.{FEW}\n")
    shutil.copy(PROJECT / "lakefile.toml", folder)
    return folder


@pytest.fixture(scope="module")
def few_theorems(few: Path) -> list[Theorem]:
    return theorems(few)


def rows_of(proofs: list[Theorem]) -> list[dict[str, Any]]:
    return [dict(row) for theorem in proofs for row in TacticPrompt().rows(theorem)]


@pytest.mark.slow
def test_each_kind_of_step_that_was_lost_is_paid(reward, few, few_theorems):
    rows = rows_of(few_theorems)
    found = judged(reward, rows, few)
    assert not_paid(found) == {}
    assert {one.fallback for _, one in found} == {None}
    assert all(row["digest"] for row in rows)


def test_tactics_of_a_statement_are_no_steps(few_theorems):
    [theorem] = [one for one in few_theorems if one.full_name.endswith("inStatement")]
    assert [step.tactic for step in theorem.traced_tactics] == ["grind"]


def test_the_trace_says_which_tactics_are_no_steps(few, few_theorems, tmp_path, capsys):
    assert few_theorems  # so that the trace is known
    main(["trace", str(few), "--engine", "embedded", "-o", str(tmp_path / "d.json"), "--json"])
    printed = capsys.readouterr()
    counts = json.loads(printed.out)
    assert counts["tactics_left_out"]["of a statement"] == 3
    assert counts["tactics_without_digest"] == 0
    number = sum(counts["tactics_left_out"].values())
    assert f"{number} tactics left out, not steps of a proof: " in printed.err
    assert "3 of a statement" in printed.err


def test_fallbacks_are_counted_and_logged_with_their_reason(reward, few, few_theorems, caplog):
    [_, row] = [row for row in rows_of(few_theorems) if row["full_name"].endswith("four_a")]
    states = {
        None: row,
        Fallback.NO_DIGEST: {**row, "digest": None},
        Fallback.NO_REPOSITORY: {**row, "url": "https://example.org/nobody", "commit": ""},
        Fallback.ANOTHER_STATE: {**row, "digest": "0" * 64},
        Fallback.NO_REPLAY: {**row, "position": [1, 1]},
        Fallback.NO_PLACE: {**row, "file_path": None},
    }
    caplog.clear()
    found = judged(reward, list(states.values()), few)
    assert [one.fallback for _, one in found] == list(states)
    # for the others there is only the text, and `Good` is not in the library
    assert [one.verdict for _, one in found[:2]] == [Verdict.SOLVED] * 2
    assert [one.verdict for _, one in found[2:]] == [Verdict.UNOPENED] * 4
    logged: dict[str, float] = {}
    columns = {name: [each[name] for each in states.values()] for name in row if name != "prompt"}
    reward([row["tactic"]] * len(states), log_metric=logged.__setitem__, **columns)
    assert logged["lean/fallback/no-digest"] == pytest.approx(1 / 6)
    for why in list(states)[2:]:
        assert logged[f"lean/unopened/{why}"] == pytest.approx(1 / 6)
        assert f"lean/unopened/{why} counts these" in caplog.text


def test_what_is_no_tactic_is_logged_with_an_example(reward, caplog):
    reward.__setstate__(reward.__getstate__())  # begins to count again
    goal = "p : Prop\nhp : p\n⊢ p"
    texts = [
        "exact hp",
        "First I\nthink",
        "simp?? [",
        "<think>exact hp",
        "<think>no</think>exact hp",
    ]
    scores = reward(texts, problem=[goal] * len(texts))
    assert scores == [1.0, 0.0, 0.0, 0.0, 1.0]
    said = [r.getMessage() for r in caplog.records if "this is not one tactic" in r.getMessage()]
    for reason, one in zip(("several-lines", "not-a-tactic", "empty"), said, strict=True):
        assert f"lean/unparsed/{reason} counts these" in one
    assert said[0].endswith("first for 'First I\\nthink'")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("project", "every", "count", "unpaid"),
    [(PROJECT, 2, 230, UNPAID), (FOREIGN, 1, 130, FOREIGN_UNPAID)],
)
def test_the_tactics_of_a_project_are_paid(reward, project, every, count, unpaid):
    """Takes every second theorem of the larger project, and all theorems named in ``unpaid``."""
    named = {name for name, _ in unpaid}
    found = theorems(project)
    some = [one for n, one in enumerate(found) if n % every == 0 or one.full_name in named]
    rows = rows_of(some)
    assert len(rows) > count
    found = judged(reward, rows, project)
    assert not_paid(found) == unpaid
    assert len(unpaid) < 0.02 * len(rows)
    assert {one.fallback for _, one in found} == {None}
