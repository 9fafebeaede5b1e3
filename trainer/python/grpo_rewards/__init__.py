"""Rewards of drift-grpo's service as reward functions of TRL. Needs nothing beyond the standard library."""

from grpo_rewards.client import RewardService, RewardServiceError, ScoredCompletion
from grpo_rewards.trl import reward_functions

__all__ = ["RewardService", "RewardServiceError", "ScoredCompletion", "reward_functions"]
