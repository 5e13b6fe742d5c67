"""Contact parameters from recorded motion alone: simulated rollouts are made to follow it."""

from stiction.identify.rollouts.identify import identify_rollouts
from stiction.identify.rollouts.setup import RolloutSetup

__all__ = ["RolloutSetup", "identify_rollouts"]
