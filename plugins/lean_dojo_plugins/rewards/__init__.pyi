from .adapter import (
    AdaptedReward as AdaptedReward,
    Scores as Scores,
    completion_texts as completion_texts,
)
from .lean_reward import LeanReward as LeanReward
from .resolve import resolve_rewards as resolve_rewards
