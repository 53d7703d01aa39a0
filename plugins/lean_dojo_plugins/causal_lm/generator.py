"""Where plugins for contract 1.0 import the generator from, under its name of then."""

from lean_dojo_plugins.causal_lm.generate.generator import CausalTacticGenerator as TacticGenerator

__all__ = ["TacticGenerator"]
