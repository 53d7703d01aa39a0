"""Documented import path of the lifelong-learning agent's configuration."""

from __future__ import annotations

from lean_dojo_v2.lean_agent.config import ProverConfig, TrainingConfig

__all__ = ["ProverConfig", "TrainingConfig"]
