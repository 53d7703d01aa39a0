"""Records and JSON: both forms of a position, and everything odd that real files hold."""

from __future__ import annotations

import json

import pytest

from lean_dojo_core.records import Annotation, Theorem, TracedTactic
from lean_dojo_v2.data.codec import (
    position_from_json,
    theorem_from_dict,
    theorem_to_dict,
)
from lean_dojo_v2.data.errors import MalformedError

# What LeanDojo-v2 1.x and its relatives really wrote, in small.
TACTIC = {"tactic": "simp", "state_before": "⊢ True", "state_after": "no goals"}
NAMES = {"full_name": "A.b", "file_path": "A.lean", "url": "/a/local/path", "commit": "abc"}
PLACE = {"start": "(1, 2)", "end": [3, 4]}
PREMISE = {
    "full_name": "Nat.add_comm",
    "def_path": ".lake/packages/lean4/src/lean/Init/Core.lean",
    "def_pos": "(5, 6)",
    "def_end_pos": [5, 9],
}


@pytest.mark.parametrize("written", ["(1, 2)", "(1,2)", " ( 1 , 2 ) ", [1, 2], (1, 2), "Pos(1, 2)"])
def test_positions_are_read_in_every_form(written: object) -> None:
    assert position_from_json(written) == (1, 2)


@pytest.mark.parametrize(
    "bad", ["", "(1)", "(1, 2, 3)", [1], [1, "2"], [1.0, 2], None, 7, "x(1, 2)y"]
)
def test_what_is_no_position_is_refused(bad: object) -> None:
    with pytest.raises(MalformedError, match="not a position"):
        position_from_json(bad)


@pytest.mark.parametrize(
    ("given", "tactics", "statement"),
    [
        ({}, 0, None),
        ({"traced_tactics": None, "theorem_statement": None}, 0, None),
        ({"traced_tactics": [], "theorem_statement": "theorem x :="}, 0, "theorem x :="),
        ({"traced_tactics": [TACTIC, {**TACTIC, "tactic": "sorry"}]}, 2, None),
    ],
)
def test_optional_parts_of_a_theorem(given: dict, tactics: int, statement: str | None) -> None:
    read = theorem_from_dict({**NAMES, **PLACE, **given})
    assert (len(read.traced_tactics), read.theorem_statement) == (tactics, statement)
    assert (read.start, read.end, read.url) == ((1, 2), (3, 4), "/a/local/path")


@pytest.mark.parametrize(
    ("annotated", "text", "premises"),
    [
        (None, "simp", 0),
        ([], "simp", 0),
        (["<a>simp</a>", []], "<a>simp</a>", 0),
        (["<a>_root_.x</a>", [PREMISE, PREMISE]], "<a>_root_.x</a>", 2),
    ],
)
def test_optional_parts_of_a_tactic(annotated: object, text: str, premises: int) -> None:
    tactic = {**TACTIC, "annotated_tactic": annotated}
    (read,) = theorem_from_dict({**NAMES, **PLACE, "traced_tactics": [tactic]}).traced_tactics
    assert (read.annotated, len(read.premises)) == (text, premises)
    assert all(p.def_pos == (5, 6) and p.def_end_pos == (5, 9) for p in read.premises)


def test_a_premise_without_its_end_ends_where_it_starts() -> None:
    short = {key: value for key, value in PREMISE.items() if key != "def_end_pos"}
    tactic = {**TACTIC, "annotated_tactic": ["x", [short]]}
    (read,) = theorem_from_dict({**NAMES, **PLACE, "traced_tactics": [tactic]}).traced_tactics
    assert read.premises[0].def_end_pos == (5, 6)


def test_a_theorem_comes_back_from_json_as_it_was() -> None:
    premise = Annotation("Nat.add_comm", "Init/Core.lean", (5, 6), (5, 9))
    theorem = Theorem(
        "A.«b c»",
        "A.lean",
        (1, 2),
        (30, 4),
        "u",
        "c",
        "theorem «b c» :=\n  α → β",
        (
            TracedTactic(
                "a\n  b", "⊢ 1\n\n⊢ 2", "⊢ 2", annotated="<a>a</a>\n  b", premises=(premise,)
            ),
            TracedTactic("x", "no goals", "no goals", start=(4, 3), end=(4, 9)),
            TracedTactic("y\u2028\x7f", "⊢", "no goals", start=(5, 3)),
        ),
    )
    written = json.loads(json.dumps(theorem_to_dict(theorem)))
    assert theorem_from_dict(written) == theorem
