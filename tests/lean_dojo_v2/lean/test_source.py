"""A theorem in its file: its parts, its places, its names."""

from __future__ import annotations

import pytest

from lean_dojo_v2.lean.errors import LeanError
from lean_dojo_v2.lean.text.lexer import without_comments
from lean_dojo_v2.lean.text.source import SourceTheorem, read_source
from lean_dojo_v2.lean.text.statement import split_statement

FILE = """\
namespace A.B
-- naïve λ
theorem first (x : Nat := 1) /- := -/ : x = x := by
  rfl

theorem second : ∀ n : Nat, n = n
  | 0 => rfl
  | n + 1 => by
    have h := 1
    rfl

mutual
theorem third : True := trivial
theorem fourth : "a := b" = "a := b" := by rfl
end
"""


def source(name: str, start: tuple[int, int], end: tuple[int, int], **more) -> SourceTheorem:
    return SourceTheorem(FILE, f"A.B.{name}", "A.lean", start, end, **more)


FIRST = source("first", (3, 1), (4, 6))
SECOND = source("second", (6, 1), (10, 8))
THIRD = source("third", (13, 1), (13, 32))
FOURTH = source("fourth", (14, 1), (14, 47))


@pytest.mark.parametrize(
    ("theorem", "head"),
    [
        (FIRST, "theorem first (x : Nat := 1) /- := -/ : x = x"),
        (SECOND, "theorem second : ∀ n : Nat, n = n"),
        (THIRD, "theorem third : True"),
        (FOURTH, 'theorem fourth : "a := b" = "a := b"'),
    ],
)
def test_the_statement_ends_where_the_proof_begins(theorem, head):
    assert theorem.head == head
    assert theorem.with_proof("simp\nrfl") == f"{head} := by\n  simp\n  rfl"


@pytest.mark.parametrize(
    ("statement", "proof"),
    [
        ("theorem t (n : Nat) : let m := n + 1; n < m", " := by simp"),
        ("theorem t : (fun x => x) 1 = 1", " := rfl"),
        ("theorem t /- one /- := -/ := -/ : True -- := no", "\n  := trivial"),
        ('theorem t : f \'"\' = ":="', " := rfl"),
        ("theorem t (h : a = b) :\n    |a - b| ≤ 1", " := by\n  simp [h]"),
        ("theorem t : ∀ x y : Nat,\n  |x| = |y|", "\n  | 0, _ | 1, _ => rfl"),
        ("theorem t : ∀ x : Nat,\n  x = x", "\n  |0 => rfl\n  |_ + 1 => rfl"),
        ("theorem t : ∀ x : Nat × Nat, x = x", "\n  | ⟨a,\n     b⟩ => rfl"),
        ("@[simp, to_additive (attr := simp)] theorem t : True", " := trivial"),
        ("theorem t (n : Nat) : n = show Nat from n", " := rfl"),
        ("theorem t (x : {x : Int //-1 = x}) : x = x", " := rfl"),
        ("theorem t (x : Int) : x = 0 \\/-1 = -1", " := .inr rfl"),
        ("theorem t : match n with\n  | 0 => True\n  | _ => True", " := by cases n <;> trivial"),
    ],
)
def test_what_belongs_to_the_statement(statement, proof):
    text = statement + proof
    end, begins = split_statement(text)
    assert without_comments(text[:end]) == without_comments(statement)
    assert text[begins:] == proof.strip().removeprefix(":=")


@pytest.mark.parametrize("statement", [None, "theorem t : True -- note :=\n  :="])
def test_a_comment_behind_the_statement_swallows_no_proof(statement):
    text = "theorem t : True -- note :=\n  := trivial\n"
    theorem = SourceTheorem(text, "t", "A.lean", (1, 1), (2, 13), statement)
    assert theorem.with_proof("simp") == "theorem t : True := by\n  simp"


def test_the_traced_statement_wins_where_it_is_that_of_the_file():
    for statement in ("theorem first (x : Nat := 1) /- := -/ : x = x :=", "theorem other :="):
        theorem = source("first", (3, 1), (4, 6), statement=statement)
        assert theorem.head == FIRST.head


def test_mutual_blocks_are_closed():
    assert (FIRST.in_mutual_block, THIRD.in_mutual_block, FOURTH.in_mutual_block) == (0, 1, 1)
    assert FOURTH.closing == "\nend\n"
    assert THIRD.rest_of_block == FILE[THIRD.offset(THIRD.end) :]


@pytest.mark.parametrize(
    ("before", "inside"),
    [
        ("/-!\nmutual friends\n-/\n", False),
        ("/-- doc\n  mutual -/\n", False),
        ('def s := "\nmutual"\n', False),
        ("def f := (g 1).mutual + A.mutual + `mutual.x\n", False),
        ("mutual\ndef f := 1 /-\nend -/\n", True),
        ("mutual -- end\ndef f := (g 1).end\n", True),
        ("open Nat in mutual\n", True),
        ("mutual\ndef f := 1\nend /-\nmutual -/\n", False),
    ],
)
def test_a_mutual_block_begins_and_ends_in_code_alone(before, inside):
    text = f"{before}theorem t : True := trivial\n-- end\ntheorem u : True := trivial\nend\n"
    line = before.count("\n") + 1
    theorem = SourceTheorem(text, "t", "A.lean", (line, 1), (line, 28))
    assert theorem.in_mutual_block is inside
    assert theorem.rest_of_block == (theorem.after if inside else "\n")


def test_places_and_offsets_are_inverse():
    for offset, character in enumerate(FILE):
        assert FIRST.offset(FIRST.places.position(offset)) == offset, character
    assert FIRST.occurrences("rfl") == [(4, 3)]
    assert SECOND.occurrences("rfl") == [(7, 10), (10, 5)]
    assert SECOND.occurrences("(") == []


def test_own_names_are_all_suffixes():
    assert FIRST.own_names == ("A.B.first", "B.first", "first")


@pytest.mark.parametrize("place", [(0, 1), (99, 1), (1, 0), (15, 99)])
def test_a_place_outside_is_an_error(place):
    with pytest.raises(LeanError, match="Trace it again"):
        FIRST.offset(place)


def test_a_changed_file_is_said():
    with pytest.raises(LeanError, match="changed since it was traced"):
        _ = source("first", (6, 1), (7, 3)).head
    with pytest.raises(LeanError, match="no ':='"):
        _ = source("first", (3, 1), (3, 20)).head


def test_lines_end_as_they_do_for_lean(tmp_path):
    file = tmp_path / "A.lean"
    file.write_bytes("-- λ\r\n-- a\rb\n".encode())
    assert read_source(file) == "-- λ\n-- a\rb\n"
    file.write_bytes(b"-- \xff")
    with pytest.raises(UnicodeDecodeError):
        read_source(file)
