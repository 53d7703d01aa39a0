"""Supervised fine-tuning on traced tactics."""
