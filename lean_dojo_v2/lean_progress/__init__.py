"""LeanProgress: datasets for predicting how many steps of a proof remain."""
