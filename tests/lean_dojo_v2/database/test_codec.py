"""Records and JSON: both forms of a position, and everything odd that real files hold."""

from __future__ import annotations

import json
import math
from collections.abc import Callable

import pytest

from lean_dojo_core.records import Annotation, Premise, PremiseFile, Theorem, TracedTactic
from lean_dojo_v2.data.codec import (
    exported_theorem,
    is_database_form,
    is_database_form_of_premises,
    position_from_json,
    premise_file_from_dict,
    premise_file_to_dict,
    theorem_from_dict,
    theorem_to_dict,
)
from lean_dojo_v2.data.errors import MalformedError
from lean_dojo_v2.data.repository import Repository
from lean_dojo_v2.sample import sample_database_path

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


@pytest.mark.parametrize("form", [str, list])
def test_a_theorem_comes_back_from_json_as_it_was(form: type) -> None:
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
        math.exp(3),
    )
    written = json.loads(json.dumps(theorem_to_dict(theorem, position=form)))
    assert theorem_from_dict(written) == theorem


def test_exported_theorems_have_the_documented_keys_and_no_tactics_without_goals() -> None:
    tactics = (
        TracedTactic("a", "⊢ 1", "no goals", start=(1, 1)),
        TracedTactic("b", "no goals", ""),
    )
    written = exported_theorem(Theorem("n", "f", (1, 1), (2, 2), "u", "c", None, tactics))
    assert list(written) == [
        *("url", "commit", "file_path", "full_name", "theorem_statement", "start", "end"),
        "traced_tactics",
    ]
    (only,) = written["traced_tactics"]
    assert list(only) == ["tactic", "annotated_tactic", "state_before", "state_after"]


def test_corpus_files_in_both_forms() -> None:
    premise = {
        "full_name": "a",
        "code": "def a := 1",
        "start": "(1, 1)",
        "end": [1, 9],
        "kind": "def",
    }
    file = premise_file_from_dict({"path": "A.lean", "imports": ["B.lean"], "premises": [premise]})
    for form in (str, list):
        assert premise_file_from_dict(premise_file_to_dict(file, position=form)) == file
    assert premise_file_from_dict({"path": "A.lean"}).imports == ()


@pytest.mark.parametrize(
    ("change", "place", "message"),
    [
        ({"start": "soon"}, "start", "not a position"),
        ({"full_name": 3}, "full_name", "not a string"),
        ({"traced_tactics": {}}, "traced_tactics", "not a list"),
        ({"traced_tactics": [TACTIC, 5]}, "traced_tactics[1]", "not an object"),
        ({"traced_tactics": [{"tactic": "x"}]}, "traced_tactics[0]", "'state_before' is missing"),
        (
            {
                "traced_tactics": [
                    {**TACTIC, "annotated_tactic": ["x", [{**PREMISE, "def_pos": 1}]]}
                ]
            },
            "traced_tactics[0].annotated_tactic[1][0].def_pos",
            "not a position",
        ),
        ({"difficulty_rating": "hard"}, "difficulty_rating", "not a number"),
    ],
)
def test_what_is_wrong_is_named_with_its_key_path(change: dict, place: str, message: str) -> None:
    with pytest.raises(MalformedError, match=message) as caught:
        theorem_from_dict({**NAMES, **PLACE, **change})
    assert caught.value.place == place


# --- the quick way past the records ------------------------------------------------------------


def the_same_but(change: Callable[[dict], object]) -> dict:
    """A theorem as a database has it, changed."""
    tactic = TracedTactic("t", "⊢ 1", "⊢ 2", premises=(Annotation("p", "P.lean", (1, 2), (3, 4)),))
    placed = TracedTactic("u", "no goals", "no goals", start=(4, 3), end=(4, 9))
    data = theorem_to_dict(Theorem("n", "f", (1, 1), (2, 2), "u", "c", "s", (tactic, placed), 7.4))
    change(data)
    return data


def test_every_theorem_and_file_of_the_sample_is_in_the_form_of_a_database() -> None:
    data = json.loads(sample_database_path().read_bytes())
    for repository in data["repositories"]:
        for name in Repository.from_dict(repository).stored_lists():
            assert all(map(is_database_form, repository[name]))
        assert all(map(is_database_form_of_premises, repository["premise_files"]))


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.pop("url"),
        lambda data: data.update(more=1),
        lambda data: data.update(full_name=data.pop("full_name")),  # in another order
        lambda data: data.update(theorem_statement=0),
        lambda data: data.update(full_name=None),
        lambda data: data.update(start="(1,1)"),
        lambda data: data.update(end=[2, 2]),
        lambda data: data.update(traced_tactics=None),
        lambda data: data.update(traced_tactics={}),
        lambda data: data["traced_tactics"].append(5),
        lambda data: data["traced_tactics"][0].pop("tactic"),
        lambda data: data["traced_tactics"][0].update(state_after=None),
        lambda data: data["traced_tactics"][0].update(annotated_tactic="t"),
        lambda data: data["traced_tactics"][0].update(annotated_tactic=["t", ""]),
        lambda data: data["traced_tactics"][1].update(start=[4, 3]),
        lambda data: data["traced_tactics"][1].update(start=None),
        lambda data: data["traced_tactics"][0]["annotated_tactic"][1][0].update(def_pos=1),
        lambda data: data["traced_tactics"][0]["annotated_tactic"][1][0].update(full_name=1),
        lambda data: data["traced_tactics"][0]["annotated_tactic"][1][0].pop("def_end_pos"),
    ],
)
def test_any_other_form_is_not_taken_for_it(change: Callable[[dict], object]) -> None:
    assert is_database_form(the_same_but(lambda data: None))
    assert is_database_form(the_same_but(lambda data: data.update(theorem_statement=None)))
    assert not is_database_form(the_same_but(change))


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.pop("imports"),
        lambda data: data.update(imports=[1]),
        lambda data: data.update(premises={}),
        lambda data: data["premises"][0].update(start=[1, 1]),
        lambda data: data["premises"][0].update(code=None),
        lambda data: data["premises"][0].update(code=data["premises"][0].pop("code")),
    ],
)
def test_nor_of_a_corpus_file(change: Callable[[dict], object]) -> None:
    file = PremiseFile("A.lean", ("B.lean",), (Premise("a", "def a", (1, 1), (1, 9), "def"),))
    data = premise_file_to_dict(file, position=str)
    assert is_database_form_of_premises(data)
    change(data)
    assert not is_database_form_of_premises(data)
    assert not is_database_form_of_premises([])
