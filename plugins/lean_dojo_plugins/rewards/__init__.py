"""Reward functions and the adapter that every reward goes through."""
