"""Where plugins for contract 1.0 import the generator from."""

from lean_dojo_plugins.causal_lm.generate.generator import TacticGenerator

__all__ = ["TacticGenerator"]
