"""Sequences of tactics by the syntax tree, the run of a tactic that counts, and digests of goals."""

from __future__ import annotations

from typing import Any

import pytest

TEXT = """\
theorem pair (n : Nat) (h : 0 < n) : n ≠ 0 ∧ 0 < n + 1 := ⟨by omega, by simp⟩
theorem alt (p q : Prop) (hp : p) (hq : q) : p ∧ q := by
  constructor <;> first | exact hp | exact hq
theorem several (p q : Prop) (hp : p) (hq : q) : q ∧ p := by
  have h : p := by
    skip
    exact hp
  intros; cases hp' : (1 : Nat) with
  | zero =>
    constructor
    · exact hq
    exact h
  | succ n => exact ⟨hq, h⟩
theorem again (p : Prop) (hp : p) : (p ∧ True) ∧ p := by
  refine ⟨⟨?_, ?_⟩, ?_⟩
  all_goals try exact hp
  trivial
theorem itself : (n : Nat) → n = n
  | 0 => rfl
  | n + 1 => by exact congrArg (· + 1) (itself n)
theorem outer (a b : Nat) (h : a = b) : b = a := by
  exact helper h
where
  helper {x y : Nat} (h : x = y) : y = x := h.symm
"""
BYTES = TEXT.encode()


def cut(spans: list[list[int]]) -> list[str]:
    return [BYTES[start:end].decode() for start, end in spans]


def at(lean: Any, text: str, **options: Any) -> Any:
    return lean("dojo.state_at", file=TEXT, position=BYTES.index(text.encode()), **options)


@pytest.mark.parametrize(
    ("text", "members", "column"),
    [
        ("omega", ["omega"], 62),
        ("simp⟩", ["simp"], 72),
        ("exact hp | ", ["exact hp"], 26),
        ("skip", ["skip", "exact hp"], 4),
        ("constructor\n", ["constructor", "· exact hq", "exact h"], 4),
    ],
)
def test_a_sequence_ends_where_its_syntax_ends(
    lean: Any, text: str, members: list[str], column: int
) -> None:
    answer = at(lean, text)
    assert cut(answer["members"]) == members
    assert answer["column"] == column
    assert answer["blocks"] == []


def test_blocks_inside_a_tactic_and_the_goals_after_it(lean: Any) -> None:
    answer = at(lean, "have h : p")
    [block] = answer["blocks"]
    assert cut(block["members"]) == ["skip", "exact hp"]
    assert block["goal"] == digests(lean, at(lean, "skip"))[0]
    assert answer["after"] == digests(lean, at(lean, "intros"))
    step = {"stateId": answer["stateId"], "autoResume": True}
    held = lean("goal.tactic", tactic="have h : p := ?_", **step)["nextStateId"]
    found = lean("dojo.digest", stateId=held)["each"]
    assert found == [*answer["after"], block["goal"]], "each goal by itself, whatever its state"


def digests(lean: Any, opened: Any) -> list[str]:
    return list(lean("dojo.digest", stateId=opened["stateId"])["each"])


def test_a_sequence_may_go_on_in_the_middle_of_a_line(lean: Any) -> None:
    answer = at(lean, "cases")
    assert (len(answer["members"]), answer["column"]) == (1, 2)
    assert [cut(block["members"])[0] for block in answer["blocks"]] == [
        "constructor",
        "exact ⟨hq, h⟩",
    ]


def test_the_run_that_changed_something_counts(lean: Any) -> None:
    traced = lean("dojo.trace", file=TEXT)["tactics"]
    texts = [tactic["tactic"] for tactic in traced]
    assert len(texts) == len({tuple(tactic["bytes"]) for tactic in traced}), "each once"
    [tried] = [t for t in traced if t["tactic"] == "exact hp" and "⊢ p" in t["state_before"]][2:]
    assert tried["state_after"] == "no goals"
    for tactic in traced:
        opened = lean("dojo.state_at", file=TEXT, position=tactic["bytes"][0])
        assert opened["pp"] == tactic["state_before"]
        assert digests(lean, opened)[0] == tactic["digest"]


@pytest.mark.parametrize(
    "text", ["exact congrArg (· + 1) (itself n)", "exact helper h"], ids=["itself", "where"]
)
def test_with_recursion_a_proof_has_what_it_defines(lean: Any, text: str) -> None:
    assert at(lean, text)["pp"] == at(lean, text, recursion=True)["pp"]
    for recursion in (False, True):
        opened = at(lean, text, recursion=recursion)
        done = lean("goal.tactic", stateId=opened["stateId"], tactic=text)
        assert (done.get("goals") == []) is recursion


def test_a_tactic_that_a_command_of_its_own_takes_is_a_sequence_of_itself(lean: Any) -> None:
    text = (
        'macro "mkBy" n:ident t:tactic : command => `(theorem $n : 2 + 2 = 4 := by $t:tactic)\n'
        'macro "mk" n:ident : command => `(theorem $n : 1 + 1 = 2 := by rfl)\n'
        "mkBy taken decide\n"
        "mk made\n"
    )
    [tactic] = lean("dojo.trace", file=text)["tactics"]
    assert tactic["tactic"] == "decide"
    assert (tactic["state_before"], tactic["state_after"]) == ("⊢ 2 + 2 = 4", "no goals")
    opened = lean("dojo.state_at", file=text, position=tactic["bytes"][0])
    assert (opened["pp"], opened["members"]) == (tactic["state_before"], [tactic["bytes"]])
