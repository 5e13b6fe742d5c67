"""What moves: a tree of rigid bodies, read from MJCF or URDF, and its exact dynamics.

`load_mechanism` makes a `Mechanism` (find and parse the file, refuse what cannot be simulated, tidy
what real files leave untidy, compile with MuJoCo, copy the arrays). Everything else is a function
of the mechanism, q and v: poses and Jacobians, mass matrix and bias force, energies, springs and
motors. Engines compute `link_kinematics` once a state and hand it to the functions ending in `_at`.
"""

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
    bias_force_at,
    body_inertias,
    forward_dynamics,
    inverse_dynamics,
    lower_mass_matrix,
    mass_matrix,
    solve_mass_matrix,
    spatial_momentum,
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
    scalar_entries,
    spring_force,
)
from stiction.mechanism.kinematics import (
    LinkKinematics,
    Pose,
    as_mask,
    axis_angle,
    body_poses,
    link_kinematics,
    link_velocities,
    point_bias_acceleration,
    point_jacobian,
    point_position,
    point_velocity,
    rotation_jacobian,
    subspace_rate,
    world_poses,
)
from stiction.mechanism.load import load_mechanism, parse_model
from stiction.mechanism.mechanism import GREY, Keyframe, Mechanism
from stiction.mechanism.tree import BALL, COORDINATES, FREE, FREEDOMS, HINGE, SLIDE, Tree

__all__ = [
    "BALL",
    "COORDINATES",
    "FREE",
    "FREEDOMS",
    "GREY",
    "HINGE",
    "SLIDE",
    "Keyframe",
    "LinkKinematics",
    "Mechanism",
    "Pose",
    "Tree",
    "actuator_effort",
    "actuator_force",
    "add_velocity",
    "as_mask",
    "axis_angle",
    "bias_force",
    "bias_force_at",
    "body_inertias",
    "body_poses",
    "center_of_mass",
    "damping_force",
    "difference",
    "forward_dynamics",
    "inverse_dynamics",
    "kinetic_energy",
    "link_kinematics",
    "link_velocities",
    "load_mechanism",
    "lower_mass_matrix",
    "mass_matrix",
    "momentum",
    "normalize",
    "parse_model",
    "passive_force",
    "point_bias_acceleration",
    "point_jacobian",
    "point_position",
    "point_velocity",
    "potential_energy",
    "random_state",
    "rate",
    "rotation_jacobian",
    "scalar_entries",
    "solve_mass_matrix",
    "spatial_momentum",
    "spring_force",
    "subspace_rate",
    "total_mass",
    "velocity_of_rate",
    "world_poses",
]
