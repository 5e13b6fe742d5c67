"""A whole robot from its joint log: inertias, armatures and friction, with intervals.

`regressor` has the torques as a linear function of the parameters, `inertia` keeps them physical,
`setup` names the columns, `identify` is the walk through all of it.
"""

from stiction.identify.kinds.robot.identify import identify
from stiction.identify.kinds.robot.setup import RobotSetup

__all__ = ["RobotSetup", "identify"]
