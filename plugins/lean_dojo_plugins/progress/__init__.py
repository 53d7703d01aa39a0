"""How far a proof is from its end: steps that remain (LeanProgress), or a critic of searches."""
