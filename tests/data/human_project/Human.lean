import Human.Faults
import Human.Terms
import Human.Blocks
import Human.Recursion
import Human.Scopes
