"""Whole files: what their theorems rest on, and whether they are the theorems asked for."""

import pytest

from lean_dojo_v2.lean.errors import RequestError
from lean_dojo_v2.lean.verify.files import check_file
from lean_dojo_v2.lean.verify.screening import Reason

GOOD = """\
def double (n : Nat) : Nat := n + n

theorem double_eq (n : Nat) : double n = 2 * n := by
  unfold double
  omega

private theorem hidden (p : Prop) (h : p) : p := h
"""
STATED = GOOD.replace("by\n  unfold double\n  omega", "sorry").replace("p := h", "p := sorry")


def test_a_good_file(engine):
    found = check_file(engine, GOOD, reference=STATED)
    assert found.valid
    assert found.detail == ""
    assert [(t.name, t.line, t.outcome.valid) for t in found.theorems] == [
        ("double_eq", 3, True),
        ("hidden", 7, True),
    ]
    assert set(found.theorems[0].outcome.axioms) <= {"propext", "Classical.choice", "Quot.sound"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (GOOD + "theorem t : 1 = 2 := sorry\n", Reason.SORRY),
        (GOOD + "axiom a : 1 = 2\ntheorem t : 1 = 2 := a\n", Reason.AXIOM),
        (GOOD + "theorem t : 2 ^ 5 = 32 := by native_decide\n", None),
        (GOOD + "theorem t : 1 = 2 := by decide\n", None),
        (GOOD + "theorem t : 1 = 1 := (\n", None),
    ],
)
def test_a_bad_file(engine, text, reason):
    found = check_file(engine, text)
    assert not found.valid
    assert found.detail
    if reason is not None:
        assert found.refusal
        assert found.refusal.reason == reason


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace("2 * n", "n + n"),  # another statement
        GOOD.replace("n + n\n", "2 * n\n", 1),  # another definition under the same name
        "local macro_rules | `($_ * $b) => `($b + $b)\n" + GOOD,  # another meaning of a symbol
    ],
)
def test_another_statement_than_asked_for_is_refused(engine, text):
    found = check_file(engine, text, reference=STATED)
    assert not found.valid
    assert found.refusal is not None
    assert found.refusal.reason == Reason.STATEMENT


MATCHED = "def k : Nat → Nat := fun n => match n with | {}\n"
INDEXED = "def {} (i : Fin 3) : Nat := [1, 2, 3][i.val]'(by simp)"
HELPER = "def before : Nat → Nat := fun n => match n with | 0 => 5 | _ => 6\n"


@pytest.mark.parametrize(
    ("helper", "definition"),
    [
        (HELPER, MATCHED.format("0 => 1 | _ => 2")),
        (INDEXED.format("before") + " + 1\n", INDEXED.format("k") + "\n"),
    ],
)
def test_a_helper_may_have_the_same_match_or_inner_proof(engine, helper, definition):
    # Lean takes the matcher and the proof that it made for the helper.
    stated = definition + "theorem target : k 0 = 1 := "
    found = check_file(engine, helper + stated + "rfl", reference=stated + "sorry")
    assert (found.valid, found.detail) == (True, "")


@pytest.mark.parametrize("cases", ["1 => 3 | _ => 1", "0 => 1 | _ => 3"])
def test_a_helper_hides_no_other_definition(engine, cases):
    target = "theorem target : k 0 = 1 := "
    reference = f"{MATCHED.format('0 => 1 | _ => 2')}{target}sorry"
    found = check_file(engine, HELPER + MATCHED.format(cases) + target + "rfl", reference=reference)
    assert found.refusal is not None
    assert found.refusal.reason == Reason.STATEMENT


def test_a_theorem_that_a_definition_cites_may_be_proved_with_a_lemma(engine):
    cited, defined = "theorem bound : 0 < [1, 2].length := ", "def k : Nat := [1, 2][0]'bound\n"
    stated = "theorem target : k = 1 := "
    reference = f"{cited}sorry\n{defined}{stated}sorry"
    lemma = "theorem two : 0 < 2 := by decide\n"
    found = check_file(engine, f"{lemma}{cited}two\n{defined}{stated}rfl", reference=reference)
    assert (found.valid, found.detail) == (True, "")


def test_a_missing_theorem_and_a_bad_reference_are_said(engine):
    found = check_file(engine, GOOD.replace("double_eq", "other"), reference=STATED)
    assert (found.valid, found.detail) == (False, "double_eq is missing")
    found = check_file(engine, GOOD, reference="theorem t : 1 = :=")
    assert found.detail.startswith("the reference itself does not elaborate")
    assert check_file(engine, GOOD, reference="def x := 1").detail == (
        "the reference states no theorem"
    )


def test_a_module_that_is_not_there_is_an_error(engine):
    with pytest.raises(RequestError, match="Nowhere"):
        check_file(engine, "import Nowhere\n" + GOOD)
