"""MuJoCo as the evaluator: its functions are called by address, and what they found is copied.

Everything that MuJoCo knows moves in this way: all joints, actuators with activation and muscles,
tendons, gravity compensation, fluids, loops. The machine around it is the same. Only on a
processor, and in double precision.
"""

import warp as wp

from .layout import Machines
from .reals import ZERO, World, fill, get, put, put3, put_quat, quat, real, vec3

_SOON = wp.constant(wp.float64(1e-5))  # over which changes along the motion are taken [s]
_CALL = """
#if !defined(__CUDA_ARCH__)
((void (*)(const void*, void*))f)((const void*)model, (void*)data);
#endif
"""


_INTEGRATE = """
#if !defined(__CUDA_ARCH__)
((void (*)(const void*, double*, const double*, double))f)(
    (const void*)model, (double*)qpos, (const double*)qvel, dt);
#endif
"""


@wp.func_native(snippet=_CALL)
def call(f: wp.uint64, model: wp.uint64, data: wp.uint64): ...


@wp.func_native(snippet=_INTEGRATE)
def _integrate(
    f: wp.uint64, model: wp.uint64, qpos: wp.uint64, qvel: wp.uint64, dt: wp.float64
): ...


@wp.func_native(snippet="return (wp::float64)((double*)address)[i];")
def _peek(address: wp.uint64, i: int) -> wp.float64: ...


@wp.func_native(snippet="((double*)address)[i] = value;")
def _poke(address: wp.uint64, i: int, value: wp.float64): ...


@wp.func_native(snippet="return ((wp::int32*)address)[i];")
def peek_int(address: wp.uint64, i: int) -> int: ...


@wp.func
def poke(address: wp.uint64, i: int, value: real):
    _poke(address, i, wp.float64(value))


@wp.func
def peek(address: wp.uint64, i: int):
    return real(_peek(address, i))


@wp.func
def peek3(address: wp.uint64, i: int):
    return vec3(peek(address, i), peek(address, i + 1), peek(address, i + 2))


# Worlds of MuJoCo's are never on a GPU: what is for them alone is left out of its programs.
_UNLESS_GPU = """
#if defined(__CUDA_ARCH__)
    return false;
#else
    return {0};
#endif
"""


@wp.func_native(snippet=_UNLESS_GPU.format("m.data->outer.model != 0"))
def is_outer(m: Machines) -> bool: ...


@wp.func_native(snippet=_UNLESS_GPU.format("m.data->shapes.count > 0"))
def has_shapes(m: Machines) -> bool:
    """Whether pairs are found on the way, from MuJoCo's collisions."""
    ...


@wp.func_native(snippet=_UNLESS_GPU.format("it_is"))
def of_worlds(it_is: bool) -> bool:
    """What only is so in a world of MuJoCo's."""
    ...


@wp.func
def n_activations(m: Machines):
    if is_outer(m):
        return m[0].outer.na
    return 0


@wp.func
def has_bonds(m: Machines):
    """Whether there are constraints that are always kept."""
    return is_outer(m) and m[0].bonds.count > 0


@wp.func
def put_configuration(m: Machines, s: World):
    for i in range(m[0].tree.nq):
        _poke(m[0].outer.qpos, i, wp.float64(get(s, m[0].at.q + i)))


@wp.func
def tendon_velocity(m: Machines, s: World, i: int):
    """How fast tendon i becomes longer."""
    o = m[0].outer
    rate = real(0.0)
    for e in range(o.tendon_first[i], o.tendon_first[i + 1]):
        rate += peek(o.ten_J, e) * get(s, m[0].at.v + o.tendon_freedom[e])
    return rate


@wp.func
def bend_tendons(m: Machines, s: World):
    """How fast the velocities of tendons change if v does not: from a little later and earlier."""
    o = m[0].outer
    fill(s, m[0].at.tendon_bias, o.n_tendons, ZERO)
    for turn in range(2):
        way = _SOON * wp.float64(1 - 2 * turn)
        put_configuration(m, s)
        _integrate(o.integrate, o.model, o.qpos, o.qvel, way)
        for i in range(o.tendon_functions.shape[0]):
            call(o.tendon_functions[i], o.model, o.data)
        for i in range(o.n_tendons):
            part = tendon_velocity(m, s, i) * real(wp.float64(0.5) / way)
            put(s, m[0].at.tendon_bias + i, get(s, m[0].at.tendon_bias + i) + part)


@wp.func
def ask_where(m: Machines, s: World):
    """Everything that the configuration of y tells."""
    o = m[0].outer
    for i in range(m[0].tree.nv):
        _poke(o.qvel, i, wp.float64(get(s, m[0].at.v + i)))
    if o.n_tendons > 0:
        bend_tendons(m, s)
    put_configuration(m, s)
    for i in range(o.na):
        _poke(o.act, i, wp.float64(get(s, m[0].z.y + m[0].z.n - o.na + i)))
    for i in range(o.functions.shape[0]):
        call(o.functions[i], o.model, o.data)


@wp.func
def tell(m: Machines, i: int, command: real):
    """Command actuator i."""
    _poke(m[0].outer.ctrl, i, wp.float64(command))


@wp.func
def ask_how(m: Machines, s: World):
    """Poses, velocities, mass matrix and forces at the state y, under the commands."""
    o = m[0].outer
    nv = m[0].tree.nv
    for i in range(o.force_functions.shape[0]):
        call(o.force_functions[i], o.model, o.data)
    for i in range(m[0].tree.n_links):
        put3(s, m[0].at.position + 3 * i, peek3(o.xpos, 3 * i))
        r = 4 * i
        turn = quat(
            peek(o.xquat, r + 1), peek(o.xquat, r + 2), peek(o.xquat, r + 3), peek(o.xquat, r)
        )
        put_quat(s, m[0].at.rotation + r, turn)
        put3(s, m[0].at.origin + 3 * i, peek3(o.subtree_com, 3 * i))
        for j in range(6):
            put(s, m[0].at.velocity + 6 * i + j, peek(o.cvel, 6 * i + j))
    copy_rates(m, s)
    fill(s, m[0].at.M, o.size_M, ZERO)
    for i in range(o.M_to.shape[0]):
        put(s, m[0].at.M + o.M_to[i], peek(o.M, i))
    lost = real(0.0)
    for d in range(nv):
        for j in range(6):
            put(s, m[0].at.motion + 6 * d + j, peek(o.cdof, 6 * d + j))
        put(s, m[0].at.acceleration + d, peek(o.qfrc_smooth, d))
        lost -= get(s, m[0].at.v + d) * (peek(o.qfrc_damper, d) + peek(o.qfrc_fluid, d))
        # Whatever is neither stored nor damped is given from outside.
        stored = peek(o.qfrc_spring, d) - peek(o.qfrc_bias, d)
        passive = peek(o.qfrc_damper, d) + peek(o.qfrc_fluid, d)
        put(s, m[0].motors.drive + d, peek(o.qfrc_smooth, d) - stored - passive)
    put(s, m[0].z.damped, lost)
    for i in range(m[0].act.count):
        put(s, m[0].motors.effort + i, peek(o.actuator_force, i))


@wp.func
def copy_rates(m: Machines, s: World):
    """How the velocity of each body changes if v does not: the sum of Ṡ v along its branch."""
    o = m[0].outer
    for i in range(m[0].tree.n_links):
        for j in range(6):
            value = real(0.0)
            if i > 0:
                value = get(s, m[0].at.rate + 6 * m[0].tree.parent[i] + j)
            for d in range(m[0].tree.first_freedom[i], m[0].tree.last_freedom[i] + 1):
                if m[0].tree.first_freedom[i] >= 0:
                    value += peek(o.cdof_dot, 6 * d + j) * get(s, m[0].at.v + d)
            put(s, m[0].at.rate + 6 * i + j, value)


@wp.func
def outer_potential(m: Machines, s: World):
    """The energy of gravity, springs and tendons at the state that was evaluated."""
    call(m[0].outer.energy_function, m[0].outer.model, m[0].outer.data)
    return peek(m[0].outer.energy, 0)
