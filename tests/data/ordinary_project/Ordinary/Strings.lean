/-! Strings and characters. -/

namespace Strings

def greeting (name : String) : String := s!"Hello, {name}!"

theorem greeting_eq (name : String) : greeting name = "Hello, " ++ name ++ "!" := by
  rfl

def joined (sep : String) : List String → String
  | [] => ""
  | [x] => x
  | x :: xs => x ++ sep ++ joined sep xs

theorem joined_one (sep x : String) : joined sep [x] = x := rfl

theorem joined_cons (sep x y : String) (xs : List String) :
    joined sep (x :: y :: xs) = x ++ sep ++ joined sep (y :: xs) := by
  rw [joined]
  simp

def isVowel (c : Char) : Bool := c ∈ ['a', 'e', 'i', 'o', 'u']

theorem isVowel_a : isVowel 'a' = true := by
  decide

theorem not_isVowel_b : ¬ isVowel 'b' := by
  simp [isVowel]

def vowels (s : String) : Nat := (s.toList.filter isVowel).length

theorem vowels_le (s : String) : vowels s ≤ s.toList.length := by
  unfold vowels
  exact List.length_filter_le _ _

theorem append_empty (s : String) : s ++ "" = s := by
  simp

#guard joined ", " ["a", "b", "c"] = "a, b, c"
#guard vowels "education" = 5
#guard ("one two".splitOn " ").length = 2

end Strings
