"""Completions that want more than to prove: none of them pays, and none leaves a trace."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from hostile import BOMBS, CHEATS, EFFECTS, ENDLESS, FILE, KERNEL_BUGS, PROGRAMS
from native_lean import use_toolchain

from lean_dojo_plugins.rewards.verified import PantographVerified
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.engines.embedded.install import ensure_installed
from lean_dojo_v2.lean.errors import EngineLostError
from lean_dojo_v2.lean.text.source import SourceTheorem
from lean_dojo_v2.lean.verify.files import check_file
from lean_dojo_v2.lean.verify.outcomes import Verdict
from lean_dojo_v2.lean.verify.proofs import check_declaration, check_proof
from lean_dojo_v2.lean.verify.screening import Reason
from lean_dojo_v2.lean.verify.states import open_theorem
from lean_dojo_v2.lean.verify.tactics import check_tactic


@pytest.fixture(
    scope="module",
    params=["embedded", pytest.param("native", marks=pytest.mark.slow)],
)
def lair(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Path]:
    """A project, a current folder, a home and a folder for temporary files, all watched.

    Either host judges there; the native one has a Lean of tests/native_lean.py.
    """
    launch = ensure_installed()
    assert launch
    root = tmp_path_factory.mktemp("lair")
    for name in ("project", "cwd", "home", "tmp"):
        (root / name).mkdir()
    (root / "project" / "Lair.lean").write_text(FILE)
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "native":
            use_toolchain(tmp_path_factory.mktemp("toolchain"), patch)
        patch.setenv("LEAN_DOJO_ENGINE", request.param)
        patch.setenv("XDG_CACHE_HOME", cache)
        patch.setenv("HOME", str(root / "home"))
        patch.setenv("TMPDIR", str(root / "tmp"))
        patch.chdir(root / "cwd")
        before = files(root)
        yield root
        assert files(root) == before, "no file was made or changed"
    engines = [p for p in psutil.Process().children(recursive=True) if str(root) in cmdline(p)]
    assert not engines, "no process is left"


@pytest.fixture(scope="module")
def server(lair: Path) -> Iterator[Server]:
    with Server(project_path=lair / "project", timeout=60) as made:
        yield made


def files(root: Path) -> dict[str, tuple[int, int]]:
    return {
        str(path.relative_to(root)): (path.stat().st_mtime_ns, path.stat().st_size)
        for path in root.rglob("*")
        if not path.is_dir()
    }


def cmdline(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def source(name: str) -> SourceTheorem:
    lines = FILE.splitlines()
    [start] = [n for n, line in enumerate(lines, 1) if line.startswith(f"theorem {name} ")]
    end = (start + 1, len(lines[start]) + 1)
    return SourceTheorem(FILE, f"Lair.{name}", "Lair.lean", (start, 1), end)


def alone(server: Server) -> bool:
    """Whether the engine has neither child processes nor connections."""
    if server.pid is None:
        return True
    try:
        engine = psutil.Process(server.pid)
        return not engine.children(recursive=True) and not engine.net_connections(kind="inet")
    except psutil.NoSuchProcess:  # it has just ended
        return True


def answers_right(server: Server) -> bool:
    state = open_theorem(server, source("right"))
    yes = check_tactic(server, state, "exact ⟨rfl, hp⟩")
    no = check_tactic(server, state, "exact ⟨hp, rfl⟩")
    return (yes.verdict, no.verdict) == (Verdict.SOLVED, Verdict.FAILED)


def test_no_trick_solves_a_false_goal(server):
    theorem = source("wrong")
    state = open_theorem(server, theorem)
    for tactic in [*EFFECTS, *CHEATS]:
        outcome = check_tactic(server, state, tactic, own_names=theorem.own_names, strict=True)
        assert outcome.verdict is not Verdict.SOLVED, tactic[:80]
        assert outcome.detail or outcome.state is not None, tactic[:80]
    assert alone(server)
    assert answers_right(server)


def test_no_trick_is_a_proof(server):
    theorem = source("wrong")
    for proof in [*EFFECTS, *CHEATS]:
        outcome = check_proof(server, theorem, proof)
        assert not outcome.valid, proof[:80]
        assert outcome.detail, proof[:80]
    assert alone(server)
    assert answers_right(server)
    assert check_proof(server, source("right"), "exact ⟨rfl, hp⟩").valid


def test_no_trick_pays(lair, server):
    theorem = source("wrong")
    reward = PantographVerified(engines=1, projects={"lair": lair / "project"})
    columns = {
        "problem": "n : Nat\np : Prop\nhp : p\n⊢ n = n + 1 ∧ p", "url": "lair", "commit": "",
        "file_path": "Lair.lean", "full_name": theorem.full_name, "start": theorem.start,
        "end": theorem.end, "position": (theorem.end[0], 3), "tactic": "constructor",
    }  # fmt: skip
    tricks = [*EFFECTS, *CHEATS]
    rows = {name: [value] * len(tricks) for name, value in columns.items()}
    scores = reward(tricks, **rows)
    assert all(score is not None and score <= 0 for score in scores), dict(
        zip([trick[:40] for trick in tricks], scores, strict=True)
    )
    # Half of the goal is true; no proof goes on from there.
    assert [reward([tactic], **{k: [v] for k, v in columns.items()}) for tactic in (
        "constructor", "exact hp")] == [[0.0], [0.0]]  # fmt: skip
    reward.close()


@pytest.mark.parametrize(
    ("declaration", "reason"),
    [
        ("theorem wrong {0} := by sorry", Reason.SORRY),
        ("theorem wrong {0} := by magic", Reason.SORRY),
        ("theorem wrong {0} := ⟨spell, hp⟩", Reason.SORRY),
        ("theorem wrong {0} := absurd given_up (by decide)", Reason.SORRY),
        ("theorem wrong {0} := absurd oracle (by decide)", Reason.AXIOM),
        ("axiom wrong {0}", Reason.AXIOM),
        ("axiom cheat : False\ntheorem wrong {0} := cheat.elim", Reason.AXIOM),
        ("theorem wrong (n : Nat) (p : Prop) (hp : p) : n = n ∧ p := ⟨rfl, hp⟩", Reason.STATEMENT),
        ("local instance : HAdd Nat Nat Nat := ⟨fun a _ => a⟩\ntheorem wrong {0} := ⟨rfl, hp⟩",
         Reason.STATEMENT),
        ("local macro_rules | `($a = $b) => `(True)\ntheorem wrong {0} := ⟨trivial, hp⟩",
         Reason.STATEMENT),
        ('local macro_rules | `($a + $b) => `($a)\ntheorem wrong {0} := ⟨rfl, hp⟩',
         Reason.STATEMENT),
        ("theorem wrong {0} := ⟨by native_decide, hp⟩", None),
        ("theorem wrong {0} := wrong n p hp", None),
        ("theorem other : True := trivial", None),
        ("unsafe def wrong {0} := unsafeCast ()", None),
    ],
)  # fmt: skip
def test_what_passes_the_text_is_caught_by_the_finished_declaration(server, declaration, reason):
    """The last wall on its own: nothing is screened here."""
    text = declaration.replace("{0}", "(n : Nat) (p : Prop) (hp : p) : n = n + 1 ∧ p")
    outcome = check_declaration(server, source("wrong"), text)
    assert not outcome.valid
    if reason is not None:
        assert outcome.refusal is not None, outcome.detail
        assert outcome.refusal.reason is reason


@pytest.mark.parametrize(
    "kind",
    [
        kind if kind == "thmDecl" else pytest.param(kind, marks=pytest.mark.slow)
        for kind in PROGRAMS
    ],
)
def test_what_a_program_put_past_the_kernel_proves_nothing(server, kind):
    text = PROGRAMS[kind]
    found = check_file(server, text, timeout=60)
    assert not found.valid
    assert [theorem.name for theorem in found.theorems] == ["wrong"]
    lines = text.splitlines()
    theorem = SourceTheorem(text, "wrong", "Den.lean", (len(lines) - 1, 1), (len(lines), 20))
    for outcome in (found, check_proof(server, theorem, "exact cheat.elim")):
        assert outcome.refusal is not None, outcome.detail
        assert outcome.refusal.reason is Reason.UNCHECKED
        assert "rests on cheat, which Lean's kernel refuses" in outcome.detail


@pytest.mark.parametrize("kind", KERNEL_BUGS)
def test_a_type_that_only_old_kernels_accept_proves_nothing(server, kind):
    found = check_file(server, KERNEL_BUGS[kind], timeout=60)
    assert found.theorems[-1].name == "wrong"
    assert found.refusal is not None, found.detail
    assert found.refusal.reason is Reason.UNCHECKED
    assert "which Lean's kernel refuses" in found.detail


HIDDEN = """\
import Lean
def other {α : Type u} (_ : List α) (_ : α) (_ : List α) (_ : Nat) (_ : Array α) : List α := []
open Lean in
run_meta do
  let name := .num `_private.Init.Data.List.Impl 0 ++ `List.setTR.go
  let .defnInfo info ← getConstInfo ``other | unreachable!
  addDecl <| .defnDecl { info with name }
  let value := mkAppN (mkConst name [0]) #[
    mkConst ``Nat, ← Meta.mkListLit (mkConst ``Nat) [], mkNatLit 0,
    ← Meta.mkListLit (mkConst ``Nat) [], mkNatLit 0, ← Meta.mkArrayLit (mkConst ``Nat) []]
  addDecl <| .defnDecl {
    name := `mine, levelParams := [], type := mkApp (mkConst ``List [0]) (mkConst ``Nat), value
    hints := .abbrev, safety := .safe }
theorem wrong : mine = mine := rfl
"""
"""The library's theorems about the private ``List.setTR.go`` are loaded, and the function is not."""


PLAIN = """\
def below (a b : Nat) : Prop := a < b
theorem none : Acc below 0 := .intro 0 fun y h => absurd h (Nat.not_lt_zero y)
theorem one : Acc below 1 := .intro 1 fun y h => Nat.lt_one_iff.mp h ▸ none
theorem ByteArray.utf8Decode?.go._unary.induct_unfolding (_ _ _ _ _ _ : Unit) : Acc below 1 := one
theorem wrong : True := (fun _ => trivial) @ByteArray.utf8Decode?.go._unary.induct_unfolding
"""
"""A proof of the library reduces to this theorem, so it would have the type ``Acc below 0``."""


@pytest.mark.parametrize("text", [HIDDEN, PLAIN], ids=["program", "plain"])
def test_what_the_library_hides_is_the_librarys_alone(server, text):
    found = check_file(server, text, timeout=120)
    if server.kind == "embedded":
        assert not found.valid
        assert "only the library may declare it" in found.detail


HONEST_TYPES = """\
abbrev MyProp := Prop
abbrev Family (α : Type) : Type 1 := α → Type
inductive Named : MyProp | mk (n : Nat)
inductive Wrapped : id Prop | mk (n : Nat)
inductive Tree.{u} (α : Type u) : Type u | node : List (Tree α × Option α) → Array (Tree α) → Tree α
structure Sigma'.{u, v} (α : Sort u) (β : α → Sort v) : Sort (max 1 u v) where
  one : α
  two : β one
mutual
inductive Even : Nat → Prop | zero : Even 0 | next : Odd n → Even (n + 1)
inductive Odd : Nat → Prop | next : Even n → Odd (n + 1)
end
inductive W (α : Type) (β : Family α) : Type | sup (a : α) : (β a → W α β) → W α β
theorem all (t : Tree Nat) (s : Sigma' Nat fun _ => True) :
    Named ∧ Wrapped ∧ t = t ∧ s = ⟨s.one, s.two⟩ ∧ Even 2 ∧ Nonempty (W Nat fun _ => Empty) :=
  ⟨⟨1⟩, ⟨1⟩, rfl, rfl, .next (.next .zero), ⟨.sup 0 nofun⟩⟩
"""


def test_unusual_types_of_leans_own_syntax_are_accepted(server):
    found = check_file(server, HONEST_TYPES, timeout=60)
    assert found.valid, found.detail


def test_the_order_of_universes_is_not_part_of_a_statement(server):
    said = (
        "universe {}\ntheorem t {{α : Type u}} {{β : Type v}} (f : α → β) (a : α) : f a = f a := "
    )
    text, reference = said.format("v u") + "rfl", said.format("u v") + "sorry"
    found = check_file(server, text, reference=reference, timeout=60)
    assert found.valid, found.detail


GCD = """\
prelude
import Init.Data.Nat.Basic
def Nat.gcd (m _ : Nat) : Nat := m
theorem first (m n : Nat) : Nat.gcd m n = m := rfl
"""
"""The kernel computes ``Nat.gcd 4 6 = 2``, whatever the definition says."""
GCD_PROOF = "(first 4 6).symm.trans (show Nat.gcd 4 6 = 2 from rfl)"


def test_what_the_kernel_computes_by_name_is_the_librarys_alone(server):
    said = "theorem wrong : 4 = 2 := "
    found = check_file(server, f"{GCD}{said}{GCD_PROOF}", reference=f"{GCD}{said}sorry")
    assert found.refusal is not None, found.detail
    assert found.refusal.reason is Reason.UNCHECKED
    assert "rests on Nat.gcd" in found.detail
    theorem = SourceTheorem(f"{GCD}{said}sorry", "wrong", "Den.lean", (5, 1), (5, len(said) + 6))
    assert not check_proof(server, theorem, f"exact {GCD_PROOF}").valid


def test_a_part_of_the_library_has_its_theorems(server):
    # Lean's `Eq.symm` is an axiom to an engine without the library's proofs.
    text = "prelude\nimport Init.Core\ntheorem t (m n : Nat) (h : m = n) : n = m := h.symm\n"
    found = check_file(server, text)
    assert (found.valid, found.detail) == (True, "")


@pytest.mark.slow
def test_a_replaced_engine_answers_right(server):
    theorem = source("wrong")
    state = open_theorem(server, theorem)
    endless = check_tactic(server, state, ENDLESS, timeout=1)
    assert endless.verdict is Verdict.TIMED_OUT
    assert answers_right(server)
    assert alone(server)


@pytest.mark.slow
@pytest.mark.parametrize("bomb", BOMBS)
def test_bombs_cost_their_engine_at_most(server, lair, bomb):
    theorem = source("wrong")
    state = open_theorem(server, theorem)
    assert check_tactic(server, state, bomb, timeout=2).verdict is not Verdict.SOLVED
    assert answers_right(server)
    try:
        assert not check_proof(server, theorem, bomb, timeout=2).valid
    except EngineLostError:
        assert server.pid is None
    assert answers_right(server)
    reward = PantographVerified(engines=1, timeout=2)
    goals = ["n : Nat\np : Prop\nhp : p\n⊢ n = n + 1 ∧ p"] * 2
    assert reward([bomb, "constructor"], problem=goals) == [0.0, 0.0]
    reward.close()
