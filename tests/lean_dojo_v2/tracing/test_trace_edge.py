"""The edge project, traced by the embedded engine: every kind of declaration and of proof."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from lean_dojo_core.records import Annotation, Theorem, TracedTactic, remove_marks
from lean_dojo_v2.database import Repository
from lean_dojo_v2.tracing.reading.extract import UNKNOWN, dedent
from lean_dojo_v2.tracing.tracer import ERRORS_KEY

EDGE = Path(__file__).parents[2] / "data" / "edge_project"
SOURCES = "src/Edge"
CORE = ".lake/packages/lean4/src/lean/Init"

Find = Callable[..., Theorem]


@pytest.fixture
def theorem(edge: Repository) -> Find:
    def find(name: str, file: str = "Tactics") -> Theorem:
        found = edge.get_theorem(name, f"{SOURCES}/{file}.lean")
        assert found is not None, name
        return found

    return find


def tactics(theorem: Theorem) -> list[str]:
    return [tactic.tactic for tactic in theorem.traced_tactics]


TACTICS = {
    "bullets": [
        "constructor", "· exact hp", "exact hp",
        "· constructor\n  · exact hq\n  · exact hp",
        "constructor", "· exact hq", "exact hq", "· exact hp", "exact hp",
    ],
    "combinator": ["constructor <;> assumption"],
    "cases_by_name": [
        "cases h with\n| inl hp => exact Or.inr hp\n| inr hq =>\n  left\n  exact hq",
        "exact Or.inr hp", "left", "exact hq",
    ],
    "case_tactic": [
        "constructor", "case right => exact hq", "exact hq", "case left =>\n  exact hp", "exact hp",
    ],
    "rewrites": ["rw [Nat.add_comm a b, Nat.add_comm]"],
    "rewrite_at": ["rw [← h] at *"],
    "calculation": [
        "calc\n  c = b := by rw [g]\n  _ = a := by\n    rw [h]", "rw [g]", "rw [h]",
    ],
    "nested_have": [
        "have swapped : b = a := by\n  rw [h]", "rw [h]", "have other := swapped", "exact other",
    ],
    "everywhere": ["refine ⟨⟨?_, ?_⟩, ?_⟩", "all_goals assumption", "assumption"],
    "repeated": [
        "repeat (constructor; exact hp)", "(constructor; exact hp)", "constructor", "exact hp",
        "exact hp",
    ],
    "one_line": ["constructor", "exact hp", "exact hq"],
    "braces": ["constructor", "{ exact hp }", "exact hp", "{ exact hq }", "exact hq"],
    "conversion": ["conv =>\n  lhs\n  arg 1\n  rw [h]"],
    "structured": ["induction xs", "case nil => rfl", "rfl", "case cons x xs ih =>\n  simp", "simp"],
    "in_term": ["constructor", "· exact h", "exact h", "· rfl", "rfl"],
    # `show` leaves the goal as it is
    "existential": ["exists n + 1", "exact Nat.lt_succ_self n"],
    "later_by_term": [],
    "later_in_part": ["constructor", "· exact hp", "exact hp", "· exact sorry", "exact sorry"],
}  # fmt: skip


@pytest.mark.parametrize("name", TACTICS)
def test_which_tactics_count(theorem: Find, name: str) -> None:
    assert tactics(theorem(f"Edge.Tactics.{name}")) == TACTICS[name]


def test_goals_before_and_after(theorem: Find) -> None:
    first, second, inner, *_ = theorem("Edge.Tactics.bullets").traced_tactics
    hypotheses = "p q : Prop\nhp : p\nhq : q\n"
    left, right = f"case left\n{hypotheses}⊢ p", f"case right\n{hypotheses}⊢ q ∧ p"
    assert (first.state_before, first.state_after) == (
        f"{hypotheses}⊢ p ∧ q ∧ p",
        f"{left}\n\n{right}",
    )
    assert (second.state_before, second.state_after) == (f"{left}\n\n{right}", right)
    assert (inner.state_before, inner.state_after) == (left, "no goals")


def lines_of(path: str) -> list[str]:
    return (EDGE / path).read_bytes().decode().replace("\r\n", "\n").split("\n")


def cut(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    """The text between two positions, both 1-based, the end exclusive."""
    inside = lines[start[0] - 1 : end[0]]
    inside[-1] = inside[-1][: end[1] - 1]
    inside[0] = inside[0][start[1] - 1 :]
    return "\n".join(inside)


def test_everything_stands_where_it_says(edge: Repository) -> None:
    for theorem in edge.iter_theorems():
        lines = lines_of(theorem.file_path)
        text = cut(lines, theorem.start, theorem.end)
        assert theorem.theorem_statement is not None
        assert text.startswith(theorem.theorem_statement.removesuffix(" :="))
        before = theorem.start
        for tactic in theorem.traced_tactics:
            assert tactic.start is not None
            assert tactic.end is not None
            assert before <= tactic.start < tactic.end <= theorem.end
            before = tactic.start
            assert (
                dedent(cut(lines, tactic.start, tactic.end), tactic.start[1] - 1) == tactic.tactic
            )


def without_comments(text: str) -> str:
    block = r"/-(?:(?!/-|-/).)*-/"  # an innermost one
    while re.search(block, text, re.DOTALL):
        text = re.sub(rf"^ *{block}\n|{block}", "", text, count=1, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"^ *--.*\n", "", text, flags=re.MULTILINE)


def test_the_code_of_a_premise_is_its_text_without_comments(edge: Repository) -> None:
    commented, unnamed = set(), set()
    for file in edge.premise_files:
        lines = lines_of(file.path)
        for premise in file.premises:
            text = cut(lines, premise.start, premise.end)
            assert premise.code == without_comments(text)
            if premise.code != text:
                commented.add(premise.full_name)
            if premise.full_name.split(".")[-1] not in premise.code:
                unnamed.add(premise.full_name)
    assert commented == {
        "Edge.Pair", "Edge.Tree", "Edge.Tree.size_mirror", "Edge.default_argument",
        "Edge.with_option", "Edge.first_of_two", "Edge.𝔽₂", "Edge.hidden", "Edge.windows",
    }  # fmt: skip
    assert unnamed == {"Edge.instInhabitedPair"}


def test_annotations_mark_their_premises(edge: Repository) -> None:
    spans = {
        (file.path, premise.full_name): (premise.start, premise.end)
        for file in edge.premise_files
        for premise in file.premises
    }
    located = 0
    for theorem in edge.iter_theorems():
        for tactic in theorem.traced_tactics:
            assert remove_marks(tactic.annotated) == tactic.tactic
            marked = [part.split("</a>")[0] for part in tactic.annotated.split("<a>")[1:]]
            assert len(marked) == len(tactic.premises)
            for name, premise in zip(marked, tactic.premises, strict=True):
                assert premise.full_name.endswith(name.removeprefix("_root_."))
                if (premise.def_path, premise.full_name) in spans:
                    start, end = spans[premise.def_path, premise.full_name]
                    assert start <= premise.def_pos < premise.def_end_pos <= end
                    located += 1
                    lines = lines_of(premise.def_path)
                    text = cut(lines, premise.def_pos, premise.def_end_pos)
                    assert text.split(".")[-1] == name.split(".")[-1]
    assert located == 14


def test_premises_of_a_tactic(theorem: Find) -> None:
    (rewrite,) = theorem("Edge.Tactics.rewrites").traced_tactics
    assert rewrite.annotated == "rw [<a>Nat.add_comm</a> a b, <a>Nat.add_comm</a>]"
    assert [(p.full_name, p.def_path, p.def_pos) for p in rewrite.premises] == [
        ("Nat.add_comm", f"{CORE}/Data/Nat/Basic.lean", UNKNOWN)
    ] * 2
    (own,) = theorem("Edge.Tactics.with_tree").traced_tactics
    assert own.annotated == "exact <a>Tree.size_mirror</a> t"
    (premise,) = own.premises
    assert (premise.full_name, premise.def_path) == (
        "Edge.Tree.size_mirror",
        f"{SOURCES}/Basic.lean",
    )
    (dotted,) = theorem("Edge.default_argument", "Basic").traced_tactics
    assert dotted.annotated == "exact h.<a>symm</a>"
    assert dotted.premises[0].full_name == "Eq.symm"


def test_mutual_theorems_use_each_other(theorem: Find) -> None:
    first = theorem("Edge.first_of_two", "Basic")
    second = theorem("Edge.second_of_two", "Basic")
    assert first.traced_tactics[0].annotated == "have := <a>second_of_two</a> n"
    assert second.traced_tactics[1].premises[0].full_name == "Edge.first_of_two"
    assert (first.start, first.end) == ((111, 1), (115, 8))
    assert (second.start, second.end) == ((117, 1), (122, 10))


STATEMENTS = {
    "Edge.Tree.size_mirror": (
        "@[simp, grind =]\nprotected theorem size_mirror (t : Tree α) : t.mirror.size = t.size :="
    ),
    "Edge.«a weird name!»": "theorem «a weird name!» (n : Nat) : double n = n + n :=",
    "Edge.by_patterns": "theorem by_patterns : ∀ n : Nat, n = 0 ∨ 0 < n :=",
    "Edge.with_let": "theorem with_let (n : Nat) : let m := n + 1; n < m :=",
    "Edge.default_argument": (
        "theorem default_argument (n : Nat) (m : Nat := 3) (h : n = m) :\n"
        "    -- a comment with := in it\n    m = n :="
    ),
    "Edge.with_option": "theorem with_option (n : Nat) : n = n :=",
    "Edge.opened": "theorem opened (n : Nat) : 0 < n + 1 :=",
    "Edge.second_of_two": "private theorem second_of_two : (n : Nat) → n ≤ double n :=",
    "Edge.outside_namespace": "theorem Edge.outside_namespace : Edge.double 2 = 4 :=",
    "edge_root": "@[simp] theorem _root_.edge_root (n : Nat) : n + 0 = n :=",
    "Edge.term_mode": "theorem term_mode (p q : Prop) : p ∧ q → q ∧ p :=",
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements(theorem: Find, name: str) -> None:
    assert theorem(name, "Basic").theorem_statement == STATEMENTS[name]


def test_what_stands_in_comments_is_not_there(edge: Repository) -> None:
    names = {theorem.full_name.split(".")[-1] for theorem in edge.iter_theorems()}
    assert names.isdisjoint({"not_a_theorem", "inside_doc", "Nothing"})
    theorems = [*edge.proven_theorems, *edge.sorry_theorems_unproved]
    assert Counter(theorem.file_path for theorem in theorems) == {
        f"{SOURCES}/{file}.lean": count
        for file, count in {
            "Tactics": 29, "Basic": 17, "Private": 2, "PrivateToo": 2, "Crlf": 2, "Broken": 2,
            "Modern": 1,
        }.items()
    }  # fmt: skip
    (elsewhere,) = edge.other_proofs
    assert not elsewhere.is_problem


KINDS = {
    "Edge.Pair": "structure", "Edge.Tree": "inductive", "Edge.Tree.size": "def",
    "Edge.Even": "abbrev", "Edge.instInhabitedPair": "instance", "Edge.namedInstance": "instance",
    "Edge.Magic": "class", "Edge.choice_of_mine": "axiom", "Edge.secret": "opaque",
    "Edge.double_zero": "theorem",
}  # fmt: skip


def test_premises_of_every_kind(edge: Repository) -> None:
    file = edge.get_premise_file(f"{SOURCES}/Basic.lean")
    assert file is not None
    kinds = {premise.full_name: premise.kind for premise in file.premises}
    assert {name: kinds.get(name) for name in KINDS} == KINDS
    assert not {"Edge.Tree.leaf", "Edge.Pair.left", "Edge.with_where.helper"} & set(kinds)
    codes = {premise.full_name: premise.code for premise in file.premises}
    assert codes["Edge.Pair"] == (
        "structure Pair where\n  left : Nat\n  right : Nat := 0\n  deriving Repr, BEq"
    )


def test_imports(edge: Repository) -> None:
    files = [file.path for file in edge.premise_files]
    assert files.index(f"{SOURCES}/Basic.lean") < files.index(f"{SOURCES}/Tactics.lean")
    assert files[-1] == "src/Edge.lean"
    too = edge.get_premise_file(f"{SOURCES}/PrivateToo.lean")
    assert too is not None
    assert too.imports == (f"{CORE}.lean", f"{SOURCES}/Private.lean")
    modern = edge.get_premise_file(f"{SOURCES}/Modern.lean")
    assert modern is not None
    assert modern.imports == (
        f"{CORE}.lean",
        f"{CORE}/Data/Nat/Basic.lean",
        f"{CORE}/Data/List/Basic.lean",
        f"{CORE}/Meta.lean",
    )


def test_sorry_of_every_kind(edge: Repository, theorem: Find) -> None:
    assert {t.full_name for t in edge.sorry_theorems_unproved} == {
        f"Edge.Tactics.later_{kind}" for kind in ("by_tactic", "by_term", "in_part", "admitted")
    }
    assert theorem("Edge.Tactics.later_in_part").difficulty_rating == math.inf
    assert theorem("Edge.Tactics.later_by_term").difficulty_rating is None
    assert theorem("Edge.Tactics.one_line").difficulty_rating == pytest.approx(math.exp(3))


def test_private_names_of_two_files(theorem: Find) -> None:
    first, second = theorem("Edge.hidden", "Private"), theorem("Edge.hidden", "PrivateToo")
    assert first.theorem_statement == "private theorem hidden (n : Nat) : n = n :="
    assert second.theorem_statement == "private theorem hidden (n : Nat) : n + 0 = n :="
    assert (first.start, second.start) == ((5, 1), (6, 1))
    (used,) = theorem("Edge.uses_hidden_too", "PrivateToo").traced_tactics
    (premise,) = used.premises
    assert premise == Annotation("Edge.hidden", f"{SOURCES}/PrivateToo.lean", (6, 17), (6, 23))


def test_unicode_positions(theorem: Find) -> None:
    (rewrite,) = theorem("Edge.𝔽₂", "Basic").traced_tactics
    assert (rewrite.tactic, rewrite.start, rewrite.end) == ("rw [h₁, h₂]", (128, 88), (128, 99))


def test_windows_line_ends(theorem: Find) -> None:
    windows = theorem("Edge.windows", "Crlf")
    assert (windows.start, windows.end) == ((6, 1), (10, 13))
    assert "\r" not in (windows.theorem_statement or "")
    assert tactics(windows) == ["constructor", "· exact hp", "exact hp", "· exact hq", "exact hq"]


def test_a_file_with_errors(edge: Repository) -> None:
    """What is wrong is reported; what is right is kept; what rests on a mistake is not."""
    names = {
        theorem.full_name
        for theorem in edge.iter_theorems()
        if theorem.file_path == f"{SOURCES}/Broken.lean"
    }
    assert names == {"Edge.before_the_error", "Edge.after_the_error"}
    assert [error.splitlines()[0] for error in edge.metadata[ERRORS_KEY]] == [
        (
            f"{SOURCES}/Broken.lean:9:9: Tactic `introN` failed: There are no additional binders or "
            "`let` bindings in the goal to introduce"
        ),
        f"{SOURCES}/Broken.lean:14:24: unexpected token ':='; expected term",
        (
            f"{SOURCES}/Broken.lean:12:1: Edge.uses_wrong is left out: its proof depends on "
            "something that has an error"
        ),
    ]


def test_the_repository(edge: Repository) -> None:
    assert (edge.url, edge.name, edge.lean_version) == (
        "https://example.org/edge/project",
        "edge/project",
        "v4.28.0",
    )
    assert edge.metadata["date_processed"] == "2026-01-02T03:04:05"
    assert edge.num_files_traced == 9
    assert all(theorem.commit == edge.commit for theorem in edge.iter_theorems())


def test_tactics_are_never_repeated_for_one_place(edge: Repository) -> None:
    for theorem in edge.iter_theorems():
        places = [(t.start, t.end) for t in theorem.traced_tactics]
        assert len(places) == len(set(places))
        assert all(changes(tactic) for tactic in theorem.traced_tactics)


def changes(tactic: TracedTactic) -> bool:
    return tactic.state_before not in {"no goals", tactic.state_after}
