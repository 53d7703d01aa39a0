"""Where the tactics of a block stand, read from the layout of a text."""

from __future__ import annotations

import pytest

from lean_dojo_v2.lean.text.layout import rest_of_block

PROOF = """\
theorem t : p := by
  intro x; simp only [a; b]
  · left; rfl
  have h : q := by omega; done
  cases h with
  | inl a =>
    exact foo
      bar
    -- a comment
    rfl
  | inr b => simp; rfl
  (constructor; exact hp); exact fun y => f y
  case a => rfl
  trivial
"""


@pytest.mark.parametrize(
    ("at", "tactics"),
    [
        ("intro x", ["intro x;", "simp only [a; b]", "· left; rfl", "have h : q := by omega; done",
                     "cases h with", "(constructor; exact hp);", "exact fun y => f y",
                     "case a => rfl", "trivial"]),
        ("left", ["left;", "rfl"]),
        ("omega", ["omega;", "done"]),
        ("exact foo", ["exact foo", "rfl"]),
        ("simp; rfl", ["simp;", "rfl"]),
        ("constructor;", ["constructor;", "exact hp"]),
        ("exact fun", ["exact fun y => f y", "case a => rfl", "trivial"]),
        ("trivial", ["trivial"]),
    ],
)  # fmt: skip
def test_the_tactics_from_one_on(at, tactics):
    block = rest_of_block(PROOF, PROOF.index(at), len(PROOF))
    ends = [*block.starts[1:], block.end]
    found = [PROOF[a:b].strip().split("\n")[0] for a, b in zip(block.starts, ends, strict=True)]
    assert found == tactics
    assert PROOF.rfind("\n", 0, block.starts[0]) + 1 + block.column <= block.starts[0]


def test_alternatives_are_blocks():
    text = "theorem t := by\n  first\n  | skip\n    rfl\n  | simp\n  done\n"
    block = rest_of_block(text, text.index("skip"), len(text))
    assert [text[start:].split(maxsplit=1)[0] for start in block.starts] == ["skip", "rfl"]
    outer = rest_of_block(text, text.index("first"), len(text))
    assert [text[start:].split(maxsplit=1)[0] for start in outer.starts] == ["first", "done"]
