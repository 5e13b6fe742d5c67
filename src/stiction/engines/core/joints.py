r"""Forces along joints: springs, dampers and actuators, with the commands that the core knows.

An actuator exerts $f = g u + b_0 + b_1 l + b_2 \dot l$ within its limits, with l its length; u is

$$ u = o + a \sin(2 \pi f t + \phi) + o_p + g_p (\text{desired}_p(t - t_p) - l), $$

a harmonic command, and the phase p that the actuator is in: a polynomial to follow from the time
t_p at which the phase began. Phases end at given times, which are events (`phase_end`).
"""

import warp as wp

from .layout import Machines
from .outer import is_outer, peek, tell
from .reals import (
    CALLED,
    INFINITY,
    ONE,
    ZERO,
    World,
    add_scaled,
    get,
    get_int,
    put,
    put_int,
    real,
    vec2,
)
from .tree import HINGE, SLIDE

TAU = wp.constant(real(6.283185307179586))


@wp.func(inline=CALLED)
def length(m: Machines, s: World, i: int):
    """The length of actuator i."""
    if is_outer(m):
        return peek(m[0].outer.actuator_length, i)
    total = real(0.0)
    for e in range(m[0].act.first[i], m[0].act.first[i + 1]):
        if m[0].act.entry_q[e] >= 0:
            total += m[0].act.gear[e] * get(s, m[0].at.q + m[0].act.entry_q[e])
    return total


@wp.func
def speed_of(m: Machines, s: World, i: int):
    """How fast the length of actuator i grows."""
    total = real(0.0)
    for e in range(m[0].act.first[i], m[0].act.first[i + 1]):
        total += m[0].act.gear[e] * get(s, m[0].at.v + m[0].act.entry_v[e])
    return total


@wp.func(inline=CALLED)
def command(m: Machines, s: World, i: int, t: real):
    """What actuator i is told."""
    angle = TAU * m[0].act.harmonic[i, 2] * t + m[0].act.harmonic[i, 3]
    u = (
        get(s, m[0].motors.command + i)
        + m[0].act.harmonic[i, 0]
        + m[0].act.harmonic[i, 1] * wp.sin(angle)
    )
    if m[0].act.n_phases > 0:
        p = get_int(s, m[0].motors.phase + i)
        since = t - get(s, m[0].motors.begin + i)
        desired = real(0.0)
        for back in range(m[0].act.n_powers):
            desired = desired * since + m[0].act.phases[i, p, 4 + m[0].act.n_powers - 1 - back]
        desired += m[0].act.phases[i, p, 3] * get(s, m[0].motors.origin + i)
        u += m[0].act.phases[i, p, 1]
        u += m[0].act.phases[i, p, 2] * (desired - length(m, s, i))
    return u


@wp.func
def command_all(m: Machines, s: World, t: real):
    """Tell MuJoCo's actuators what they are to do."""
    for i in range(m[0].act.count):
        tell(m, i, command(m, s, i, t))


@wp.func
def drive(m: Machines, s: World, t: real):
    """The joint forces of all actuators, and what each exerts."""
    for d in range(m[0].tree.nv):
        put(s, m[0].motors.drive + d, ZERO)
    for i in range(m[0].act.count):
        u = command(m, s, i, t)
        u = wp.clamp(u, m[0].act.control_range[i, 0], m[0].act.control_range[i, 1])
        f = m[0].act.gain[i] * u + m[0].act.bias[i, 0]
        f += m[0].act.bias[i, 1] * length(m, s, i) + m[0].act.bias[i, 2] * speed_of(m, s, i)
        f = wp.clamp(f, m[0].act.force_range[i, 0], m[0].act.force_range[i, 1])
        put(s, m[0].motors.effort + i, f)
        for e in range(m[0].act.first[i], m[0].act.first[i + 1]):
            to = m[0].motors.drive + m[0].act.entry_v[e]
            put(s, to, get(s, to) + m[0].act.gear[e] * f)
    if m[0].act.count > 0:
        for d in range(m[0].tree.nv):
            f = get(s, m[0].motors.drive + d)
            put(
                s,
                m[0].motors.drive + d,
                wp.clamp(f, m[0].act.joint_range[d, 0], m[0].act.joint_range[d, 1]),
            )


@wp.func
def servo_gains(m: Machines, s: World, i: int):
    """Stiffness and damping that actuator i gives a joint of its own; none where it is at its
    limit, or pulls on several joints.
    """
    f = get(s, m[0].motors.effort + i)
    e = m[0].act.first[i]
    free = f > m[0].act.force_range[i, 0] and f < m[0].act.force_range[i, 1]
    if not free or m[0].act.first[i + 1] != e + 1:
        return vec2(ZERO, ZERO)
    square = m[0].act.gear[e] * m[0].act.gear[e]
    k = -m[0].act.bias[i, 1]
    if m[0].act.entry_q[e] < 0:
        k = ZERO
    return vec2(wp.max(square * k, ZERO), wp.max(-square * m[0].act.bias[i, 2], ZERO))


@wp.func
def spring(m: Machines, s: World, i: int):
    """-k (q - q₀) of the joint of link i."""
    a = m[0].tree.at_q[i]
    return -m[0].tree.stiffness[i] * (get(s, m[0].at.q + a) - m[0].tree.spring_zero[a])


@wp.func
def passive_forces(m: Machines, s: World, to: int):
    """Springs and dampers of joints less c; the power lost in dampers."""
    lost = real(0.0)
    for d in range(m[0].tree.nv):
        v = get(s, m[0].at.v + d)
        lost += m[0].tree.damping[d] * v * v
        put(s, to + d, -m[0].tree.damping[d] * v - get(s, m[0].at.bias + d))
    for i in range(1, m[0].tree.n_joints + 1):
        kind = m[0].tree.kind[i]
        if kind == SLIDE or kind == HINGE:
            d = to + m[0].tree.at_v[i]
            put(s, d, get(s, d) + spring(m, s, i))
    return lost


@wp.func
def joint_forces(m: Machines, s: World, t: real):
    """τ - c, into the acceleration's place."""
    drive(m, s, t)
    put(s, m[0].z.damped, passive_forces(m, s, m[0].at.acceleration))
    add_scaled(s, m[0].at.acceleration, ONE, m[0].motors.drive, m[0].tree.nv)


@wp.func
def phase_end(m: Machines, s: World, i: int):
    """When the phase of actuator i ends."""
    if m[0].act.n_phases == 0:
        return INFINITY
    return m[0].act.phases[i, get_int(s, m[0].motors.phase + i), 0]


@wp.func
def next_phase(m: Machines, s: World, i: int, t: real):
    put_int(s, m[0].motors.phase + i, get_int(s, m[0].motors.phase + i) + 1)
    put(s, m[0].motors.begin + i, t)
    put(s, m[0].motors.origin + i, length(m, s, i))
