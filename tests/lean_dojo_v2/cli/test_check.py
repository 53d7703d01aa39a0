"""`lean-dojo check`, with real Lean."""

from __future__ import annotations

import contextlib
import io
import sys

import pytest

HOLDS = "theorem t (n : Nat) : n + 0 = n := rfl\n"


@pytest.fixture
def warm(workplace, engine, monkeypatch):
    """Have the command work with the engine of all tests."""
    monkeypatch.setattr(
        "lean_dojo_v2.lean.client.server.Server", lambda *_, **__: contextlib.nullcontext(engine)
    )
    return workplace


@pytest.fixture
def type_in(monkeypatch):
    """Give a text to standard input."""

    def say(text: str) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    return say


def test_examples_are_not_judged(lean_dojo, warm, type_in):
    text = "theorem a : True := trivial\nset_option warn.sorry false in example : False := sorry\n"
    type_in(text)
    ran = lean_dojo("check", "-", "--json")
    assert ran.err == "standard input: holds, 1 theorem; not judged: 1 example\n"
    assert ran.json["examples"] == 1


def test_a_file_that_holds(lean_dojo, warm, type_in):
    (warm / "x.lean").write_text(HOLDS)
    ran = lean_dojo("check", "x.lean")
    assert (ran.code, ran.err) == (0, "x.lean: holds, 1 theorem\n")
    assert ran.json["valid"]
    assert ran.json["theorems"][0]["name"] == "t"
    type_in(HOLDS)
    assert lean_dojo("check", "-", "--json").err == "standard input: holds, 1 theorem\n"


@pytest.mark.parametrize(
    ("text", "reason", "said"),
    [
        *(
            pytest.param(*case, marks=pytest.mark.slow)  # the verdicts are tested without commands
            for case in (
                ("theorem t : 1 = 2 := sorry\n", "sorry", "x.lean:1: t: sorry"),
                ("axiom oops : False\ntheorem t : 1 = 2 := oops.elim\n", "axiom", "the axiom oops"),
                ("theorem t : 1 = 2 := rfl\n", None, "x.lean:1:22: error: "),
            )
        ),
        (
            "theorem t (n : Nat) : n = n := rfl\n",
            "statement-changed",
            "t states something other than the reference",
        ),
    ],
)
def test_a_file_that_does_not(lean_dojo, warm, text, reason, said):
    (warm / "x.lean").write_text(text)
    (warm / "stated.lean").write_text("theorem t (n : Nat) : n + 0 = n := sorry\n")
    changed = reason == "statement-changed"
    ran = lean_dojo("check", "x.lean", *(["--reference", "stated.lean"] if changed else []))
    assert ran.code == 1
    assert said in ran.err
    assert "x.lean: no proof: " in ran.err
    assert not ran.json["valid"]
    assert (ran.json["refusal"] or {}).get("reason") == reason


NO_THEOREM = ["def a := 1\n", "", "-- empty\n", "example : 1 = 1 := rfl\n"]


@pytest.mark.parametrize(
    "text", [NO_THEOREM[0], *(pytest.param(one, marks=pytest.mark.slow) for one in NO_THEOREM[1:])]
)
def test_a_file_without_a_theorem_is_no_success(lean_dojo, warm, text):
    (warm / "x.lean").write_text(text)
    ran = lean_dojo("check", "x.lean")
    said = "x.lean: no proof: the file states no theorem, so it proves nothing\n"
    assert (ran.code, ran.err) == (1, said)
    assert (ran.json["valid"], ran.json["theorems"]) == (False, [])
    (warm / "stated.lean").write_text(HOLDS)
    ran = lean_dojo("check", "x.lean", "--reference", "stated.lean")
    assert (ran.code, ran.err) == (1, "x.lean: no proof: t is missing\n")
    ran = lean_dojo("check", "stated.lean", "--reference", "x.lean")
    assert (ran.code, ran.err) == (1, "stated.lean: no proof: the reference states no theorem\n")


@pytest.mark.parametrize(
    "statement",
    [
        "def a := 1\nlemma t : a = 1 :=",
        pytest.param("lemma t (n : Nat) : n + 0 = n", marks=pytest.mark.slow),
        pytest.param("lemma t : 1 = 1 := by sorry", marks=pytest.mark.slow),
    ],
)
def test_a_lemma_is_a_statement_without_a_library(lean_dojo, warm, statement):
    ran = lean_dojo("check", "--statement", statement, "--proof", "rfl")
    assert (ran.code, ran.err) == (0, "The proof holds.\n")


def test_a_proof(lean_dojo, warm, type_in):
    ran = lean_dojo("check", "--goal", "∀ n : Nat, n + 0 = n", "--proof", "intro n; rfl")
    assert (ran.code, ran.err) == (0, "The proof holds.\n")
    statement = ("check", "--statement", "theorem t (n : Nat) : n + 0 = n", "--proof")
    type_in("cases n\n· rfl\n· rfl\n")
    assert lean_dojo(*statement, "-").code == 0
    cheat = lean_dojo(*statement, "exact t n")
    assert cheat.code == 1
    assert cheat.err.startswith("No proof: ")
    assert not cheat.json["valid"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name one thing to check"),
        (["x.lean", "--goal", "True"], "not FILE and --goal"),
        (["--goal", "True"], "--proof TACTICS is for --goal"),
        (["x.lean", "--proof", "rfl"], "a FILE contains its own"),
        (["--goal", "True", "--proof", "trivial", "--reference", "x.lean"], "is for a FILE"),
        (["none.lean"], "none.lean: there is no such file"),
        (["folder"], "folder: cannot be read: Is a directory"),
        (["latin.lean"], "latin.lean: is not UTF-8: "),
        (["--goal", "no such", "--proof", "rfl"], "--goal: "),
        (["--statement", "1 = 2", "--proof", "rfl"], "--statement has no theorem"),
        (["--statement", "theorem t : no such", "--proof", "rfl"], "--statement: "),
        (["x.lean"], "NoSuch"),
    ],
)
def test_mistakes(lean_dojo, warm, arguments, said):
    (warm / "x.lean").write_text("import NoSuch.Module\n")
    (warm / "latin.lean").write_bytes(b"-- \xe9t\xe9\n")
    (warm / "folder").mkdir()
    ran = lean_dojo("check", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert ran.err.count("Error: ") == 1
