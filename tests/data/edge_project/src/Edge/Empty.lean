/-! A file without declarations. -/
