"""Whole texts: messages, units, sorries, tracing, checking, replaying."""

from __future__ import annotations

from typing import Any

import pytest
from judged import judged


def test_units_messages_and_new_constants(lean: Any) -> None:
    text = "theorem a (n : Nat) : n + 0 = n := by\n  simp\n#check a\ntheorem b : 1 = 2 := sorry\n"
    units = lean("frontend.process", file=text, newConstants=True)["units"]
    assert [text.encode()[slice(*unit["boundary"])][:9] for unit in units] == [
        b"theorem a",
        b"#check a\n",
        b"theorem b",
    ]
    assert units[0]["newConstants"] == ["a"]
    (said,) = units[2]["messages"]
    assert (said["severity"], said["kind"], said["pos"]) == (
        "warning",
        "hasSorry",
        {"line": 4, "column": 8},
    )


def test_each_sorry_is_a_goal_and_the_theorem_is_not_in_scope(lean: Any) -> None:
    text = (
        "theorem t (p q : Prop) (h : p ∧ q) : q ∧ p := by\n"
        "  constructor\n  · sorry\n  · exact sorry\n"
    )
    (unit,) = lean("frontend.process", file=text, sorrys=True)["units"]
    assert [goal["target"]["pp"] for goal in unit["goals"]] == ["q", "p"]
    spans = [text.encode()[slice(*span)] for span in unit["goalSrcBoundaries"]]
    assert spans == [b"sorry", b"sorry"]
    cheat = lean("goal.tactic", stateId=unit["goalStateId"], tactic="exact (t p q h).1")
    assert "Unknown identifier" in cheat["messages"][0]["data"]
    first = lean("goal.tactic", stateId=unit["goalStateId"], tactic="exact h.2")
    assert lean("goal.tactic", stateId=first["nextStateId"], tactic="exact h.1")["goals"] == []


def test_distilled_targets_keep_instances(lean: Any) -> None:
    text = "theorem d {p : Prop} [Decidable p] : decide p = true → p := sorry\ndef x := 1\n"
    (target,) = lean("frontend.distil", file=text)["targets"]
    done = lean("goal.tactic", stateId=target["stateId"], tactic="exact of_decide_eq_true")
    assert done["goals"] == []


STEPS = (
    "import Init\r\n"
    "-- ∀😀\r\n"
    "theorem é (n : Nat) (h : n = 1) : n + 0 = n ∧ True := by\r\n"
    "  constructor\r\n"
    "  · rw [Nat.add_zero]\r\n"
    "  · trivial\r\n"
)


def test_the_state_at_a_byte_of_a_file(lean: Any) -> None:
    position = STEPS.encode().index(b"rw [")
    answer = lean("dojo.state_at", file=STEPS, position=position)
    assert (answer["tactic"], answer["bytes"][0]) == ("rw [Nat.add_zero]", position)
    assert answer["pp"] == "case left\nn : Nat\nh : n = 1\n⊢ n + 0 = n"
    assert lean("goal.tactic", stateId=answer["stateId"], tactic=answer["tactic"])["goals"] == []
    assert answer["after"] == []
    assert lean("dojo.state_at", file=STEPS, position=3)["error"] == "index"


@pytest.mark.parametrize(
    "tactic", ["exact m n", "exact (m n)", "have := m n; exact this", "simp [m]"]
)
def test_where_the_statement_needs_its_own_matcher_the_theorem_is_forbidden(
    lean: Any, tactic: str
) -> None:
    text = (
        "theorem m (n : Nat) : (match n with | 0 => 1 | k + 1 => k + 1) > 0 := by\n"
        "  split\n  · simp\n  · simp\n"
    )
    state = lean("dojo.state_at", file=text, position=text.encode().index(b"split"))["stateId"]
    assert "nextStateId" not in lean("goal.tactic", stateId=state, tactic=tactic)
    assert len(lean("goal.tactic", stateId=state, tactic="split")["goals"]) == 2


TRACED = """\
import Init

namespace A
variable (p q : Prop)

private theorem helper (h : p ∧ q) : q := h.2

theorem swap (h : p ∧ q) : q ∧ p := by
  constructor
  · exact helper p q h
  · cases h with
    | intro hp _ => exact hp

theorem zero (n : Nat) : n + 0 = n := by rw [Nat.add_zero]
theorem no : 1 = 2 := by
  skip
  sorry
theorem wrong : 1 = 2 := by
  rfl
mutual
theorem even (n : Nat) : True := trivial
theorem odd (n : Nat) : True := trivial
end
scoped instance : Inhabited Bool := ⟨true⟩
end A
example : True := trivial
"""


@pytest.fixture(scope="module")
def traced(lean: Any) -> Any:
    return lean("dojo.trace", file=TRACED, fileName="Lib/Traced.lean")


def cut(record: Any) -> str:
    return TRACED.encode()[slice(*record["bytes"])].decode()


def test_declarations_of_a_trace(traced: Any) -> None:
    names = ("A.swap", "A.zero", "A.no", "A.wrong", "A.even", "A.odd")
    found = {one["lean_name"]: one for one in traced["declarations"]}
    assert {"_private.Lib.Traced.0.A.helper", *names} <= set(found)
    assert any(str(name).startswith("A.instInhabitedBool") for name in found)
    assert cut(found["A.swap"]["statement"]) == "theorem swap (h : p ∧ q) : q ∧ p"
    assert found["A.swap"]["uses"] == ["_private.Lib.Traced.0.A.helper"]
    assert traced["module"] == "Lib.Traced"
    assert any(message["severity"] == "error" for message in traced["messages"])


def test_tactics_of_a_trace(traced: Any) -> None:
    steps = traced["tactics"]
    assert [step["tactic"].split("\n")[0] for step in steps[:6]] == [
        "constructor",
        "· exact helper p q h",
        "exact helper p q h",
        "· cases h with",
        "cases h with",
        "exact hp",
    ]
    assert steps[0]["state_before"] == "p q : Prop\nh : p ∧ q\n⊢ q ∧ p"
    assert steps[0]["state_after"] == (
        "case left\np q : Prop\nh : p ∧ q\n⊢ q\n\ncase right\np q : Prop\nh : p ∧ q\n⊢ p"
    )
    assert all(cut(step) == step["tactic"] for step in steps)


def test_references_of_a_trace(traced: Any) -> None:
    found = {one["lean_name"]: (one["module"], one["def_pos"]) for one in traced["references"]}
    assert found["_private.Lib.Traced.0.A.helper"] == ("Lib.Traced", [6, 17])
    assert found["Nat.add_zero"][0] == "Init.Core"


def check(lean: Any, text: str, *names: str, **payload: Any) -> Any:
    return judged(lean, file=text, names=list(names), **payload)


def axioms(answer: Any, name: str) -> set[str]:
    return {axiom["name"] for axiom in answer["declarations"][name]["axioms"]}


@pytest.mark.parametrize(
    ("proof", "expected"),
    [
        ("rfl", set()),
        ("sorry", {"sorryAx"}),
        ("by first | sorry", {"sorryAx"}),
        ("mine", {"mine"}),
    ],
)
def test_what_a_proof_rests_on(lean: Any, proof: str, expected: set[str]) -> None:
    text = f"axiom mine : 100 = 100\ntheorem t : 100 = 100 := {proof}\n"
    answer = check(lean, text, "t")
    assert expected <= axioms(answer, "t")
    assert bool(expected) == bool(axioms(answer, "t"))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("theorem t : 100 = 100 := by native_decide", "Lean.ofReduceBool"),
        ("theorem t : Lean.reduceNat 3 = 3 := rfl", "Lean.reduceNat"),
        (
            "def f := Lean.reduceBool true\ntheorem t : f = true ∨ 1 = 1 := .inr rfl",
            "Lean.reduceBool",
        ),
    ],
)
def test_native_code_is_found_wherever_it_is(lean: Any, text: str, name: str) -> None:
    assert check(lean, text, "t")["declarations"]["t"]["native"] == name


def test_new_constants(lean: Any) -> None:
    text = "axiom ax : 1 = 2\ndef k : Nat := 1\ndef s : Nat := sorry\n"
    found = sorted(check(lean, text)["new_constants"], key=lambda one: str(one["name"]))
    assert found == [
        {"name": "ax", "kind": "axiom"},
        {"name": "k", "kind": "def"},
        {"name": "s", "kind": "def", "sorry": True},
    ]


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ("theorem t (m : Nat) : f m = m := by rfl", True),
        ("theorem t : ∀ m, f m = m := fun _ => rfl", True),
        ("theorem t {m : Nat} : f m = m := rfl", False),
        ("theorem t (m : Nat) : m = f m := rfl", False),
    ],
)
def test_statements_are_compared_as_terms(lean: Any, other: str, same: bool) -> None:
    before = "def f (n : Nat) := n\n"
    statements = [
        check(lean, before + text, "t")["declarations"]["t"]["statement"]
        for text in ("theorem t (n : Nat) : f n = n := rfl", other)
    ]
    assert (statements[0] == statements[1]) is same


def test_a_redefined_symbol_is_another_statement(lean: Any) -> None:
    first, second = (
        check(lean, f"def f (n : Nat) := {body}\ntheorem t : f 0 = 0 := rfl\n", "t")
        for body in ("n", "0 * n")
    )
    assert first["declarations"]["t"]["statement"] != second["declarations"]["t"]["statement"]


def test_a_beginning_is_elaborated_once(lean: Any) -> None:
    beginning = "def warm (n : Nat) := n\nopen Nat\n"
    text = beginning + "theorem t : warm 1 = 1 := rfl\n"
    prefix = len(beginning.encode())
    assert check(lean, text, "t", prefix=prefix)["warm"] is False
    again = check(lean, text.replace("rfl", "by decide"), "t", "warm", prefix=prefix)
    assert again["warm"] is True
    assert again["declarations"]["t"]["exists"] is True
    assert [c["name"] for c in again["new_constants"]] == ["t"]
    assert check(lean, text, prefix=-3)["error"] == "command"


def test_what_is_elaborated_of_a_file_serves_all_its_theorems(lean: Any) -> None:
    """Whatever their order, and also if another theorem of it was proved in another way."""
    lines = [f"def serves{k} := {k}\n" for k in range(6)]
    theorems = [f"theorem about{k} : serves{k} = {k} := rfl\n" for k in range(6)]
    text = "".join(line + theorem for line, theorem in zip(lines, theorems, strict=True))
    warm = []
    for k in (4, 1, 3, 5, 0, 5):
        before = text[: text.index(theorems[k])]
        declared = theorems[k].replace("rfl", "by rfl")
        answer = check(lean, before + declared, f"about{k}", prefix=len(before))
        assert [c["name"] for c in answer["new_constants"]] == [f"about{k}"]
        warm.append(answer["warm"])
    assert warm == [False, True, True, False, True, True]


def test_a_state_that_was_opened_serves_the_theorems_after_it(lean: Any) -> None:
    first = "theorem opened_first : 1 = 1 := by\n  rfl\n"
    text = f"{first}theorem opened_second : 2 = 2 := by\n  rfl\n"
    lean("dojo.state_at", file=text, position=text.index("rfl"), prefix=0)
    lean("dojo.state_at", file=text, position=text.index("rfl"), prefix=1)
    assert check(lean, text, "opened_second", prefix=len(first))["warm"] is True


def test_states_serve_the_theorems_between_them(lean: Any) -> None:
    theorems = [f"theorem between{k} : {k} = {k} := by\n  rfl\n" for k in range(5)]
    text = "".join(theorems)
    for k in (4, 0):
        before = text.index(theorems[k])
        lean("dojo.state_at", file=text, position=text.index("rfl", before), prefix=before or 1)
    assert check(lean, text, "between3", prefix=text.index(theorems[3]))["warm"] is True


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    ("before", "rest"),
    [
        (
            "inductive Ahead where\n  | a\n/-- Fine. -/\n",
            "  | b\ntheorem t : Ahead.b = .b := rfl\n",
        ),
        ("def ahead := 1\n", "  + 2\ntheorem t : ahead = 3 := rfl\n"),
    ],
)
def test_where_a_command_ends_depends_on_what_follows_the_beginning(
    lean: Any, before: str, rest: str, reverse: bool
) -> None:
    """Lean looks behind a docstring, where a constructor or a theorem may stand."""
    before = f"-- {reverse}\n{before}"
    for text in sorted(["theorem t : True := trivial\n", rest], reverse=reverse):
        for _ in range(2):
            answer = check(lean, before + text, "t", prefix=len(before))
            assert answer["messages"] == []
            assert answer["declarations"]["t"]["exists"] is True


@pytest.mark.parametrize("ending", ["def last := 1", "def last := 1\n#exit\ndef other := 2"])
def test_a_text_that_ends_with_its_beginning_has_the_same_answer_again(
    lean: Any, ending: str
) -> None:
    text = f"def ends := 1\n{ending}"
    answers = [check(lean, text, prefix=len(text)) for _ in range(2)]
    assert answers[0]["new_constants"] == answers[1]["new_constants"] == []


@pytest.mark.parametrize(
    ("more", "value"), [(" + 2\n", 3), ("\nwhere helper := 3\n", 1), ("\n-- nothing\n", 1)]
)
def test_a_text_that_goes_on_in_another_way_is_another_one(
    lean: Any, more: str, value: int
) -> None:
    """Where a command ends depends on the text after it."""
    before = f"-- {value} {len(more)}\ndef goes := id 1"
    for rest, stated in (("\n", 1), (more, value)):
        begun = before + rest
        text = f"{begun}theorem on : goes = {stated} := rfl\n"
        answer = check(lean, text, "on", prefix=len(begun))
        assert answer["warm"] is False
        assert [m["data"] for m in answer["messages"] if m["severity"] == "error"] == []


@pytest.mark.parametrize("leading", ["", "open Nat in\n", "/-- Doc. -/ -- note\n", "mutual\n"])
def test_a_beginning_that_ends_inside_a_command_ends_before_it(lean: Any, leading: str) -> None:
    before = f"def inside := 1\nset_option maxRecDepth 999 in rfl\n{leading}"
    prefix = len(before.encode())
    end = "\nend" if leading == "mutual\n" else ""
    broken = check(lean, before + "theorem" + end, "t", prefix=prefix)
    assert broken["declarations"]["t"]["exists"] is False
    for _ in range(2):
        answer = check(lean, before + "theorem t : inside = 1 := rfl" + end, "t", prefix=prefix)
        assert answer["declarations"]["t"]["exists"] is True, answer
        assert [c["name"] for c in answer["new_constants"]] == ["t"]


def test_a_beginning_that_a_broken_text_ends_is_not_taken_for_a_command(lean: Any) -> None:
    """Lean reads `set_option … in` and what it cannot read as one command, which ends there."""
    before = "set_option pp.all true in\n"
    check(lean, f"{before})", prefix=len(before))
    answer = check(lean, f"{before}#check 1 + 1\n", prefix=len(before))
    assert "@HAdd.hAdd" in answer["messages"][0]["data"]


def test_a_theorem_that_cites_itself_is_an_error(lean: Any) -> None:
    answer = check(lean, "theorem t (n : Nat) : n = n + 1 := t n\n", "t")
    assert answer["messages"][0]["severity"] == "error"


def test_a_tactic_is_parsed_and_not_run(lean: Any) -> None:
    parsed = lean("dojo.parse_tactic", tactic="simp [foo, bar] at h")
    assert parsed["kind"] == "Lean.Parser.Tactic.simp"
    assert parsed["identifiers"] == ["foo", "bar", "h"]
    assert "at" in parsed["atoms"]
    nested = lean("dojo.parse_tactic", tactic="(set_option maxRecDepth 9 in native_decide)")
    assert "Lean.Parser.Tactic.nativeDecide" in nested["kinds"]
    for text in ("rfl\nrfl", "rfl\n\ntheorem x : 1 = 1 := rfl", "", "rfl -/"):
        assert "parseError" in lean("dojo.parse_tactic", tactic=text)


@pytest.mark.parametrize(
    ("scope", "statement", "tactic"),
    [
        ("attribute [local simp] gap_self in", "gap 7 7 = 0", "simp"),
        ("/-- doc -/", "7 = 7", "rfl"),
        ("open Nat in", "succ 1 = 2", "exact (rfl : succ 1 = 2)"),
        ("open scoped Hidden in", "gap 7 7 = 0", "simp"),
        ("attribute [local instance] Classical.propDecidable in", "p ∨ ¬p", "exact dec_em p"),
        ("local macro_rules | `(tactic| trivial) => `(tactic| rfl) in", "gap 7 7 = 0", "trivial"),
        ('local notation "distance" => gap in', "gap 7 7 = 0", "exact gap_self 7"),
        ('local infixl:65 " - " => gap in', "gap 7 7 = 7 - 7", "exact gap_self 7"),
        ("local instance : Inhabited Nat := ⟨7⟩ in", "(default : Nat) = 7", "rfl"),
        ("private def seven := 7 in", "gap seven 7 = 0", "exact gap_self 7"),
        ("variable (n : Nat) in", "gap n n = 0", "exact gap_self n"),
        ("universe u in", "∀ (α : Type u) (x : α), x = x", "exact fun _ _ => rfl"),
        (
            "set_option pp.all true in open Nat in attribute [local simp] gap_self in",
            "gap 7 7 = zero",
            "simp",
        ),
    ],
)
def test_what_is_set_for_one_declaration_holds_at_its_steps(
    lean: Any, scope: str, statement: str, tactic: str
) -> None:
    text = (
        "def gap (a b : Nat) : Nat := b - a\n"
        "theorem gap_self (a : Nat) : gap a a = 0 := Nat.sub_self a\n"
        "namespace Hidden\n"
        "@[scoped simp] theorem gap_refl (a : Nat) : gap a a = 0 := gap_self a\n"
        "end Hidden\n"
        "theorem dec_em (p : Prop) [Decidable p] : p ∨ ¬p := Decidable.em p\n"
        f"{scope}\ntheorem t (p : Prop) : {statement} := by\n  sorry\n"
    )
    before = text.encode().index(b"theorem t ")
    for prefix in (0, before):
        fields = {"file": text, "position": text.encode().index(b"sorry"), "prefix": prefix}
        found = lean("dojo.state_at", **fields)
        done = lean("goal.tactic", stateId=found["stateId"], tactic=tactic)
        assert (done["messages"], done["goals"]) == ([], [])
        cheat = lean("goal.tactic", stateId=found["stateId"], tactic="exact t p")
        assert "Unknown identifier" in cheat["messages"][0]["data"]


def test_limits_that_are_set_for_one_declaration_hold_at_its_steps(lean: Any) -> None:
    text = "set_option maxRecDepth 100 in\ntheorem t : True := by\n  skip\n"
    found = lean("dojo.state_at", file=text, position=text.encode().index(b"skip"))
    nested = "(" * 120 + "trivial" + ")" * 120
    (said,) = lean("goal.tactic", stateId=found["stateId"], tactic=nested)["messages"]
    assert "maximum recursion depth" in said["data"]


def test_a_theorem_behind_text_that_lean_cannot_parse_is_replayed(lean: Any) -> None:
    text = "theorem a : 1 = 1 := rfl\nalias b := a\n\ntheorem t (p : Prop) (h : p) : p := by\n  exact h\n"
    where = {name: text.encode().index(name.encode()) for name in ("theorem t", "exact")}
    found = lean(
        "dojo.state_at", file=text, prefix=where["theorem t"], position=where["exact"], clean=True
    )
    assert found["pp"] == "p : Prop\nh : p\n⊢ p"


def test_an_error_in_the_command_itself_is_still_refused(lean: Any) -> None:
    text = "theorem t (p : Prop) (h : p) : p := by\n  have := nothing\n  exact h\n"
    found = lean("dojo.state_at", file=text, position=text.encode().index(b"exact"), clean=True)
    assert "there is an error before it: Unknown identifier `nothing`" in found["desc"]


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("def t : {n : Nat // n > 0} := ⟨1, by sorry⟩", "⊢ 1 > 0"),
        ("instance : Inhabited Nat := sorry", "⊢ Inhabited Nat"),
    ],
)
def test_targets_without_a_name_and_in_lemmas_that_lean_splits_off(
    lean: Any, text: str, goal: str
) -> None:
    (target,) = lean("frontend.distil", file=text, ignoreValues=False)["targets"]
    assert target["pp"] == goal


def test_an_open_example_is_an_error_that_says_why(lean: Any) -> None:
    text = "theorem t : 1 = 1 := rfl\nopen Nat in\nexample (p : Prop) : p → p := sorry"
    said = lean("frontend.distil", file=text)["desc"]
    assert said == (
        "line 2: the `sorry` is in an `example`, which has no name; state it as a theorem"
    )
    finished = "example : 1 = 1 := rfl\ntheorem t : 2 = 2 := sorry"
    (target,) = lean("frontend.distil", file=finished)["targets"]
    assert target["pp"] == "⊢ 2 = 2"


MARKED = "\ufeffimport Lib.Base\r\ntheorem t : Lib.two = 2 := by\r\n  exact Lib.two_eq\r\n"


def test_a_byte_order_mark_is_no_text(lean: Any) -> None:
    content = MARKED.encode()
    answer = lean("dojo.trace", file=MARKED, fileName="Marked.lean")
    assert answer["messages"] == []
    (tactic,) = answer["tactics"]
    assert content[slice(*tactic["bytes"])] == b"exact Lib.two_eq"
    place = content.index(b"exact")
    before = content.index(b"theorem")
    found = lean("dojo.state_at", file=MARKED, position=place, prefix=before)
    assert (found["pp"], found["bytes"]) == ("⊢ Lib.two = 2", tactic["bytes"])
    (said,) = lean("dojo.check", file="\ufeff#check (1 : Nat)\n")["messages"]
    assert said["pos"] == {"line": 1, "column": 0}


def test_long_sequences_are_refused_by_their_number(lean: Any) -> None:
    line = "theorem t : True := by " + "skip;" * 20_000 + " trivial"
    assert "a line has 20000 semicolons, more than 4000" in lean("dojo.check", file=line)["desc"]
    said = lean("goal.tactic", stateId=lean.start("True"), tactic="skip;" * 20_000 + "trivial")
    assert "20000 semicolons" in said["parseError"]
    lines = "theorem t : True := by\n" + "  skip\n" * 4_001
    (message,) = lean("dojo.check", file=lines)["messages"]
    assert message["data"] == "a sequence of 4001 tactics, more than 4000"


def test_states_of_one_text_are_opened_out_of_one_elaboration(lean: Any) -> None:
    text = (
        "theorem a : 1 = 1 := rfl\n"
        "theorem t (p q : Prop) (h : p ∧ q) : q ∧ p := by\n  have := h.1\n  exact ⟨h.2, this⟩\n"
    )
    prefix = text.encode().index(b"theorem t")
    states = [
        lean("dojo.state_at", file=text, prefix=prefix, position=text.encode().index(word))
        for word in (b"exact", b"have", b"exact")
    ]
    assert [state["goals"][0]["target"]["pp"] for state in states] == ["q ∧ p"] * 3
    assert states[0]["pp"] == states[2]["pp"] != states[1]["pp"]
    other = text.replace("h.2, this", "h.2, h.1")
    place = other.encode().index(b"exact")
    found = lean("dojo.state_at", file=other, prefix=prefix, position=place)
    assert found["tactic"] == "exact ⟨h.2, h.1⟩"
