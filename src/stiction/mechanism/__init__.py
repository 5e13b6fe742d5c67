"""What moves: load, tree, spatial algebra, kinematics, mass matrix, bias force, energy."""

from stiction.mechanism.configuration import (
    add_velocity,
    difference,
    normalize,
    random_state,
    rate,
    velocity_of_rate,
)
from stiction.mechanism.dynamics import (
    bias_force,
    forward_dynamics,
    inverse_dynamics,
    mass_matrix,
    solve_mass_matrix,
)
from stiction.mechanism.energy import (
    center_of_mass,
    kinetic_energy,
    momentum,
    potential_energy,
    total_mass,
)
from stiction.mechanism.forces import (
    actuator_effort,
    actuator_force,
    damping_force,
    passive_force,
    spring_force,
)
from stiction.mechanism.kinematics import (
    Pose,
    point_bias_acceleration,
    point_jacobian,
    point_position,
    point_velocity,
    rotation_jacobian,
    world_poses,
)
from stiction.mechanism.load import load_mechanism
from stiction.mechanism.mechanism import Mechanism
from stiction.mechanism.tree import Tree

__all__ = [
    "Mechanism",
    "Pose",
    "Tree",
    "actuator_effort",
    "actuator_force",
    "add_velocity",
    "bias_force",
    "center_of_mass",
    "damping_force",
    "difference",
    "forward_dynamics",
    "inverse_dynamics",
    "kinetic_energy",
    "load_mechanism",
    "mass_matrix",
    "momentum",
    "normalize",
    "passive_force",
    "point_bias_acceleration",
    "point_jacobian",
    "point_position",
    "point_velocity",
    "potential_energy",
    "random_state",
    "rate",
    "rotation_jacobian",
    "solve_mass_matrix",
    "spring_force",
    "total_mass",
    "velocity_of_rate",
    "world_poses",
]
