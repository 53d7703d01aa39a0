"""A plugin with a reward, a dataset formatter and a trainer of its own."""
