"""The text wall: hostile completions by table, honest ones pass."""

from __future__ import annotations

import pytest

from lean_dojo_v2.lean.verify.screening import Reason, screen

HOSTILE = [
    ("sorry", Reason.SORRY),
    ("exact (sorry)", Reason.SORRY),
    ("by exact (sorry)", Reason.SORRY),
    ("first | sorry | simp", Reason.SORRY),
    ("admit", Reason.SORRY),
    ("exact sorryAx _", Reason.SORRY),
    ("exact @sorryAx _ true", Reason.SORRY),
    ("exact Lean.sorryAx", Reason.SORRY),
    ("exact «sorry»", Reason.SORRY),
    ("exact lcProof", Reason.SORRY),
    ("ѕorry", Reason.SORRY),  # Cyrillic dze
    ("ｓｏｒｒｙ", Reason.SORRY),  # full width
    ("s\u200borry", Reason.CONTROL_CHARACTER),  # zero-width space
    ("native_decide", Reason.NATIVE),
    ("decide +native", Reason.NATIVE),
    ("decide (config := { native := true })", Reason.NATIVE),
    ("exact Lean.ofReduceBool _ _ rfl", Reason.NATIVE),
    ("bv_decide", Reason.NATIVE),
    ("exact unsafeCast 0", Reason.UNSAFE),
    ("let _ := unsafeIO (IO.println 1); rfl", Reason.UNSAFE),
    ("exact dbg_trace 1; rfl", Reason.UNSAFE),
    ("set_option maxHeartbeats 0 in simp", Reason.OPTION),
    ("set_option debug.skipKernelTC true in rfl", Reason.OPTION),
    ("open Classical in simp", Reason.SCOPE),
    ("let instance : Add Nat := ⟨fun _ _ => 0⟩; rfl", Reason.SCOPE),
    ("local notation x", Reason.SCOPE),
    ("axiom cheat : False", Reason.AXIOM),
    ("run_tac pure ()", Reason.METAPROGRAM),
    ("aesop (simp_config := f x)", Reason.METAPROGRAM),
    ("exact by_elab return .const `x []", Reason.METAPROGRAM),
    ("exact eval% 1", Reason.METAPROGRAM),
    ('exact include_str "secret"', Reason.METAPROGRAM),
    ("macro_rules | `(tactic| rfl) => `(tactic| simp)", Reason.METAPROGRAM),
    ("#eval 1", Reason.COMMAND),
    ("rfl; # eval 1", Reason.COMMAND),
    ("theorem foo : False := h", Reason.COMMAND),
    ("simp -- done", Reason.COMMENT),
    ("/- hm -/ simp", Reason.COMMENT),
    ("simp -/", Reason.COMMENT),
    ("simp\nrfl", Reason.SEVERAL_LINES),
    ("simp\u2028rfl", Reason.SEVERAL_LINES),
    ("simp\x00", Reason.CONTROL_CHARACTER),
    ("simp\u202e", Reason.CONTROL_CHARACTER),  # right-to-left override
    ("x" * 1_000_000, Reason.TOO_LONG),
    ("exact " + "(" * 200 + "h" + ")" * 200, Reason.NESTING),
    ("exact " + "9" * 500, Reason.HUGE_NUMERAL),
    ("exact?", Reason.SEARCH),
    ("apply?", Reason.SEARCH),
    ("", Reason.EMPTY),
    (" \t\n", Reason.EMPTY),
    ("exact mine", Reason.ITSELF),
    ("exact @A.mine _", Reason.ITSELF),
    ("exact _root_.A.mine", Reason.ITSELF),
    ("exact mine.match_1", Reason.ITSELF),
    ("exact «mine»", Reason.ITSELF),
]


@pytest.mark.parametrize(("text", "reason"), HOSTILE, ids=lambda value: str(value)[:30])
def test_tricks_are_refused_with_their_reason(text, reason):
    refusal = screen(text, own_names=("A.mine", "mine"))
    assert refusal is not None
    assert refusal.reason is reason
    assert refusal.detail


@pytest.mark.parametrize(
    "text",
    [
        "simp",
        "rw [Nat.add_comm, ← mine']",
        "exact Other.mine",
        "omega",
        "induction n with | zero => rfl | succ n ih => simp [ih]",
        "exact ⟨h, fun x => by simp⟩",
        "rcases h with ⟨a, b⟩ | c",
        "cases h <;> simp",
        "exact h.local",
        "have h : a = b := by omega",
        "calc a = b := h",
        "decide",
        "simp only [List.map, List.foldr_nil] at h₁ ⊢",
        "exact absurd h (by decide)",
        "show 2 ^ 10 = 1024",
        "nomatch h",
    ],
)
def test_honest_tactics_pass(text):
    assert screen(text, own_names=("A.mine", "mine")) is None


@pytest.mark.parametrize(
    ("text", "in_a_tactic", "in_a_proof"),
    [
        ("show #s = 3", True, True),
        ("show #s₁ = #t'", True, True),
        ("exact h ▸ #(s ∪ t)", True, True),
        ("exact #[1, 2]", True, True),
        ("show #univ = 3", True, True),
        ("rfl #mystery 1", False, False),
        # Tactics and terms of LeanSearchClient, which ask a server.
        ('exact #search "a secret."', False, False),
        ("#statesearch", False, False),
        ("#eval 1", False, False),
        ("# eval 1", False, False),
        ("#eval! 1", False, False),
        ("exact (#check Nat", False, False),
        ("#guard_msgs in simp", False, False),
        ("#exit", False, False),
    ],
)
def test_a_hash_begins_notation_or_a_command(text, in_a_tactic, in_a_proof):
    for whole_proof, passes in ((False, in_a_tactic), (True, in_a_proof)):
        refusal = screen(text, whole_proof=whole_proof)
        assert (refusal is None) is passes, refusal
        assert passes or refusal.reason is Reason.COMMAND


@pytest.mark.parametrize("text", ["ext x", "cases h <;> ext x", "exact foo (by ext x; simp)"])
def test_a_tactic_of_the_name_of_the_theorem_cites_nothing(text):
    assert screen(text, own_names=("Foo.ext", "ext")) is None
    refusal = screen(text.replace("ext x", "exact ext x"), own_names=("Foo.ext", "ext"))
    assert refusal is not None
    assert refusal.reason is Reason.ITSELF


@pytest.mark.parametrize(
    "proof",
    [
        "-- the case where n is 0; no sorry in the end\nrfl",
        "/- the instance /- of the theorem -/ -/ rfl -- Foo.bar",
        "intro n /- open -/\n  -- by foo\nsimp",
    ],
)
def test_comments_of_a_whole_proof_may_use_any_word(proof):
    assert screen(proof, whole_proof=True, own_names=("Foo.bar", "foo")) is None


@pytest.mark.parametrize(
    "proof",
    [
        "-- in words /- as here\nrun_tac x -- -/",
        "/- /- -/ -/ run_tac x",
        'exact s!"{ "--" }".foo; run_tac x',
        's!"\n-- {run_tac x}"',
        "exact «a\n --» run_tac x",
        "exact h|--run_tac x",
        "/-- a docstring: run_tac -/ rfl",
        "have h : {x : Int //-1 = x} := ⟨-1, rfl⟩ -- -/ /-\nrun_tac x\n-- -/\nrfl",
        "let x <--1 -- -/ /-\nrun_tac x\n-- -/",
        "have h : {x : Int //--\n  -1 = x} := ⟨-1, rfl⟩ -- -/ /-\nrun_tac x\n-- -/\nrfl",
        "let rec /--/ -- -/ go : True := by run_tac x\nexact go",
    ],
)
def test_what_only_looks_like_a_comment_hides_nothing(proof):
    refusal = screen(proof, whole_proof=True)
    assert refusal is not None
    assert refusal.reason is Reason.METAPROGRAM


def test_a_whole_proof_may_have_lines_and_comments_but_no_tricks():
    proof = "intro n\n-- by induction\ninduction n\n· rfl\n· simp"
    assert screen(proof, whole_proof=True) is None
    refusal = screen(proof + "\n· exact (sorry)", whole_proof=True)
    assert refusal is not None
    assert refusal.reason is Reason.SORRY


def test_a_line_of_very_many_tactics_is_refused_by_their_number():
    refusal = screen("skip;" * 1_001 + "rfl", whole_proof=True)
    assert str(refusal) == "too-long: 1001 semicolons in a line, more than 1000"
    assert screen("skip;\n" * 1_001 + "rfl", whole_proof=True) is None
