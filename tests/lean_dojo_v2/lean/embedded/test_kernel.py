"""The kernel checks every declaration, and `dojo.check` describes the one that the file means."""

from __future__ import annotations

from typing import Any

import pytest

UNSAFE_PROOF = "unsafe def loop : False := loop\ntheorem bad : False := loop\n"
"""The elaborator takes it; only the kernel refuses a theorem that uses something unsafe."""

refused = "(kernel) invalid declaration, it uses unsafe declaration 'loop'"


def errors(answer: Any) -> list[str]:
    return [m["data"] for m in answer["messages"] if m["severity"] == "error"]


@pytest.mark.parametrize(
    "text",
    [
        UNSAFE_PROOF,
        f"set_option debug.skipKernelTC true\n{UNSAFE_PROOF}",
        UNSAFE_PROOF.replace("theorem", "set_option debug.skipKernelTC true in\ntheorem"),
        f"section\nset_option debug.skipKernelTC true\nnamespace A\nend A\n{UNSAFE_PROOF}end\n",
    ],
    ids=["plain", "file", "command", "section"],
)
def test_no_text_switches_the_kernel_off(lean: Any, text: str) -> None:
    answer = lean("dojo.check", file=text, names=["bad"])
    assert errors(answer) == [refused]


def test_no_request_switches_the_kernel_off(lean: Any) -> None:
    answer = lean("dojo.check", file=UNSAFE_PROOF, options={"debug.skipKernelTC": True})
    assert refused in str(answer)


def test_the_option_stays_off_behind_a_kept_beginning(lean: Any) -> None:
    first = "set_option debug.skipKernelTC true\n"
    for _ in range(2):
        answer = lean("dojo.check", file=first + UNSAFE_PROOF, prefix=len(first))
        assert errors(answer) == [refused]


def test_a_private_theorem_is_described_and_not_another_of_its_name(lean: Any) -> None:
    text = "private theorem twice : 1 + 1 = 2 := rfl\nnamespace A\ntheorem twice : 2 = 2 := rfl\n"
    answer = lean("dojo.check", file=text, names=["twice", "A.twice"])
    own, other = answer["declarations"]["twice"], answer["declarations"]["A.twice"]
    assert own["lean_name"].startswith("_private.")
    assert other["lean_name"] == "A.twice"
    assert own["statement"] != other["statement"]


def test_lean_lets_no_private_theorem_take_a_public_name(lean: Any) -> None:
    answer = lean("dojo.check", file="private theorem Nat.add_comm : 1 = 2 := sorry\n")
    assert errors(answer) == ["a non-private declaration `Nat.add_comm` has already been declared"]


def test_what_the_kernel_refused_is_an_axiom_of_what_cites_it(lean: Any) -> None:
    text = f"{UNSAFE_PROOF}theorem next : 1 = 2 := bad.elim\ntheorem good : 1 = 1 := by simp\n"
    found = lean("dojo.check", file=text, names=["bad", "next", "good"])["declarations"]
    assert [found[name]["axioms"] for name in ("bad", "next", "good")] == [
        [{"name": "bad", "library": False}],
        [{"name": "bad", "library": False}],
        [],
    ]
    text += "theorem last : 1 = 2 := by\n  exact bad.elim\n"
    opened = lean("dojo.state_at", file=text, position=text.index("exact"))
    tactics = [
        "exact next",
        "exact absurd rfl (fun _ : good = good => bad)",
        "(have := good; skip)",
    ]
    answers = [
        lean("goal.tactic", stateId=opened["stateId"], tactic=tactic, axioms=True)
        for tactic in tactics
    ]
    assert [answer["axioms"] for answer in answers] == [["bad"], ["bad"], []]
