"""Progress models: how many steps of a proof remain (LeanProgress)."""
