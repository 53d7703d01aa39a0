"""Group relative policy optimisation with pluggable rewards."""
