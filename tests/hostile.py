"""The hostile table: completions that want more than to prove; nothing may pay for one of them."""

FILE = """\
namespace Lair

macro "magic" : tactic => `(tactic| sorry)

macro "spell" : term => `(sorryAx _ true)

theorem given_up : 1 = 2 := sorry

axiom oracle : 1 = 3

theorem wrong (n : Nat) (p : Prop) (hp : p) : n = n + 1 ∧ p := by
  sorry

theorem right (n : Nat) (p : Prop) (hp : p) : n + 0 = n ∧ p := by
  exact ⟨rfl, hp⟩

end Lair
"""

EFFECTS = [
    'run_tac IO.FS.writeFile "effect" "x"',
    'exact by_elab do IO.FS.writeFile "effect" "x"; return .const ``True []',
    'exact (unsafeIO (IO.FS.writeFile "effect" "x")).toOption.elim',
    '#eval IO.FS.writeFile "effect" "x"',
    'let _ := (IO.Process.spawn { cmd := "touch", args := #["effect"] }); trivial',
    'exact eval% (IO.FS.createDir "effect")',
    'exact absurd (include_str "/etc/passwd") (by decide)',
    "exact dbgSleep 100000 fun _ => hp",
    'initialize IO.FS.writeFile "effect" "x"',
    'run_meta Lean.logInfo m!"{← IO.FS.readFile "/etc/passwd"}"',
    'exact (dbg_trace "effect"; sorry)',
    "simproc",
    '@[extern "system"] opaque system : String → Unit',
]

CHEATS = [
    "sorry", "exact (sorry)", "exact ⟨sorry, hp⟩", "first | sorry | simp", "admit", "stop",
    "exact ⟨sorryAx _ true, hp⟩", "exact «sorry»", "ѕorry", "exact ⟨by sorry, hp⟩",
    "all_goals sorry", "constructor <;> sorry", "· sorry", "case _ => sorry", "exact lcProof",
    "magic", "constructor <;> magic", "exact ⟨spell, hp⟩",
    "native_decide", "decide +native", "exact ⟨Lean.ofReduceBool _ _ rfl, hp⟩", "bv_decide",
    "exact Lair.wrong n p hp", "exact wrong n p hp", "exact @_root_.Lair.wrong n p hp",
    "exact ⟨wrong.aux, hp⟩", "exact wrong.match_1 n p hp",
    "exact absurd given_up (by decide)", "simp [given_up] at hp",
    "exact absurd oracle (by decide)", "cases oracle",
    "set_option debug.skipKernelTC true in rfl", "set_option maxHeartbeats 0 in simp",
    "set_option maxRecDepth 1000000 in simp", "open Classical in simp", "open Lean Elab in rfl",
    "let instance : Add Nat := ⟨fun a _ => a⟩; exact ⟨rfl, hp⟩",
    "letI : Add Nat := ⟨fun a _ => a⟩; exact ⟨rfl, hp⟩",
    "letI : HAdd Nat Nat Nat := ⟨fun a _ => a⟩; exact ⟨(rfl : n = n + 1), hp⟩",
    "haveI : Add Nat := ⟨fun a _ => a⟩; exact ⟨rfl, hp⟩",
    'local notation "n" => 0', "local instance : Add Nat := ⟨fun a _ => a⟩",
    "axiom cheat : False", "exact (let rec f : 1 = 2 := f; absurd f (by decide))",
    "exact (let rec f (k : Nat) : n = n + 1 ∧ p := f (k + 1); f 0)",
    "exact ⟨(unsafe (unsafeCast () : n = n + 1)), hp⟩", "exact unsafeCast hp",
    "exact?", "apply?", "rw?", "hint", "try?", "macro_rules | `(tactic| rfl) => `(tactic| sorry)",
    'elab "x" : tactic => pure ()', 'macro "x" : tactic => `(tactic| sorry)', 'syntax "x" : tactic',
    "skip /- -/ ; sorry", "skip -- sorry", "rfl\nsorry", "rfl\n\ntheorem x : False := sorry",
    "exact ⟨rfl, hp⟩ end Lair theorem y : True := trivial", ")", "rfl)\n(sorry", "end", "",
    "exact " + "9" * 10_000, "exact ⟨" + "(" * 5_000 + "hp" + ")" * 5_000 + ", hp⟩",
    "simp [" + "hp, " * 300_000 + "hp]", "rfl\x00", "\x00", "\u202e", "𝕤𝕠𝕣𝕣𝕪", "exact (\u202esorry)",
    "(obtain e := (fun h _ => h : ∀ (h : n = n + 1 ∧ p) (_ : h = h), n = n + 1 ∧ p) _; apply e)",
    "(obtain e := (fun h _ => h.1 : ∀ (h : PProd (n = n + 1 ∧ p) Unit) (_ : h = h), _) _; apply e)",
    "(obtain e := (fun h _ => h.elim0 : ∀ (h : Fin 0) (_ : h = h), n = n + 1 ∧ p) _; apply e)",
    "partial", "theorem", "decreasing_by sorry", "termination_by n",
]  # fmt: skip

_PAST_THE_KERNEL = """\
import Lean
open Lean in
run_cmd do
  let no := {0} {{
    name := `cheat, levelParams := [], type := .const ``False [], value := .const ``True.intro []{1} }}
  match (← getEnv).addDeclCore 0 no none (doCheck := false) with
  | .ok env => setEnv env
  | .error _ => throwError "no"
theorem wrong (n : Nat) : n = n + 1 := by
  exact cheat.elim
"""

PROGRAMS = {
    kind: _PAST_THE_KERNEL.format(f".{kind}", more)
    for kind, more in {
        "thmDecl": "",
        "defnDecl": ", hints := .abbrev, safety := .safe",
        "opaqueDecl": ", isUnsafe := false, all := [`cheat]",
    }.items()
}
"""Files in which a program puts a proof of `False` where Lean's kernel never sees it."""

ENDLESS = "skip"
for _ in range(6):
    ENDLESS = f"(iterate 9 (try {ENDLESS}; have := hp))"

BOMBS = [
    ENDLESS,
    "repeat (have := hp)",
    "exact ⟨(by decide : 2 ^ 2 ^ 2 ^ 20 = 0).elim, hp⟩",
    "have h : (List.replicate 100000000 n).length = 0 := by rfl",
    "iterate 100000000 (have := hp)",
    "exact ⟨by simp (config := { maxSteps := 100000000 }) [Nat.add_comm, Nat.add_assoc], hp⟩",
]
"""They pass the text wall and want time or memory without end."""
