"""Contact parameters from recorded motion alone: simulated rollouts are made to follow it.

`record` reads the rollouts, `rest` finds the ground by how bodies lie on it, `flight` where each
rollout begins and first touches, `engine` carries them out, `fit` adjusts the law's numbers,
`errors` judges them on rollouts kept aside, `laws` compares laws so, and
`export` tells the result in another engine's words. `identify` is the walk through all of it.
"""

from stiction.identify.kinds.rollouts.identify import identify, validate
from stiction.identify.kinds.rollouts.laws import rank_laws
from stiction.identify.kinds.rollouts.setup import RolloutSetup

__all__ = ["RolloutSetup", "identify", "rank_laws", "validate"]
