"""A whole robot from its joint log: inertias, armatures and friction, with intervals.

`regressor` has the torques as a linear function of the parameters, `inertia` keeps them physical,
`setup` names the columns, `identify` is the walk through all of it, `export` writes the result into
the model, and `design` proposes the motion that tells most.
"""

from stiction.identify.kinds.robot.design import RobotMotion, design_robot
from stiction.identify.kinds.robot.export import export_robot
from stiction.identify.kinds.robot.identify import identify, validate
from stiction.identify.kinds.robot.setup import RobotSetup

__all__ = ["RobotMotion", "RobotSetup", "design_robot", "export_robot", "identify", "validate"]
