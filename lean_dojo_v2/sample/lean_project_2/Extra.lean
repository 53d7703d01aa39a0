import Extra.Peano
import Extra.Sort
import Extra.Expr

/-! Three short developments with longer proofs: arithmetic, sorting and a compiler. -/
