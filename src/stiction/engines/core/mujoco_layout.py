"""What a machine is given of a model of MuJoCo's: functions and arrays by address, and shapes."""

import warp as wp

from .reals import quat, real, vec3


@wp.struct
class Outer:
    """MuJoCo's model and data, its functions, and where its arrays are. No model: none of it."""

    model: wp.uint64
    data: wp.uint64
    functions: wp.array(dtype=wp.uint64)  # that find everything at a configuration
    force_functions: wp.array(dtype=wp.uint64)  # and then, under commands, at a state
    energy_function: wp.uint64
    na: int  # activations
    size_M: int
    M_to: wp.array(dtype=int)  # where each entry of M goes
    qpos: wp.uint64
    qvel: wp.uint64
    act: wp.uint64
    act_dot: wp.uint64
    ctrl: wp.uint64
    actuator_length: wp.uint64
    xpos: wp.uint64
    xquat: wp.uint64
    subtree_com: wp.uint64
    cvel: wp.uint64
    cdof: wp.uint64
    cdof_dot: wp.uint64
    M: wp.uint64
    qfrc_smooth: wp.uint64
    qfrc_bias: wp.uint64
    qfrc_spring: wp.uint64
    qfrc_damper: wp.uint64
    qfrc_fluid: wp.uint64
    actuator_force: wp.uint64
    energy: wp.uint64
    # tendons, if some of them have constraints
    n_tendons: int
    integrate: wp.uint64  # mj_integratePos
    tendon_functions: wp.array(dtype=wp.uint64)  # that find their Jacobians at a configuration
    tendon_first: wp.array(dtype=int)  # where the row of each begins in ten_J, and the end
    tendon_freedom: wp.array(dtype=int)
    ten_J: wp.uint64
    ten_length: wp.uint64


@wp.struct
class Geoms:
    """Geoms of MuJoCo's model and the parts of which they are made, in the frames of their bodies;
    where MuJoCo is told how far to look, and where it writes what it finds.
    """

    count: int
    first_pair: int  # from which on pairs are found, not given
    own_friction: int  # whether friction is the model's
    usual: wp.array(dtype=real)  # numbers of the law, of pairs that nothing else is said of
    law: wp.array2d(dtype=real)  # by geom, where something is said of it; below 0: nothing
    family: wp.array(dtype=int)
    body: wp.array(dtype=int)
    position: wp.array(dtype=vec3)
    rotation: wp.array(dtype=quat)
    size: wp.array(dtype=vec3)
    bound: wp.array(dtype=real)  # radius about the position
    rounded: wp.array(dtype=int)  # whether its parts are balls and cylinders of the radius size[0]
    near: wp.array(dtype=real)  # how near to a part a point is on it
    motion: wp.array(dtype=int)  # of ground that moves as prescribed, or -1
    # parts: of geom g from first_…[g] to first_…[g + 1]
    first_vertex: wp.array(dtype=int)
    first_edge: wp.array(dtype=int)
    first_face: wp.array(dtype=int)
    vertex: wp.array(dtype=vec3)
    edge: wp.array(dtype=wp.vec2i)  # its vertices
    into_one: wp.array(dtype=vec3)  # from an edge into its faces, along them
    into_other: wp.array(dtype=vec3)
    normal: wp.array(dtype=vec3)
    middle: wp.array(dtype=vec3)  # a point of a face
    disc: wp.array(dtype=real)  # radius of a round face
    first_corner: wp.array(dtype=int)
    corner: wp.array(dtype=int)  # vertices of a face, in order
    # MuJoCo's
    collision: wp.uint64
    geom_xpos: wp.uint64
    geom_margin: wp.uint64
    body_margin: wp.uint64
    n_contacts: wp.uint64
    contacts: wp.uint64
    contact_size: int  # bytes, and where in them
    at_pos: int
    at_frame: int
    at_friction: int
    at_dim: int
    at_geom: int
    at_exclude: int
