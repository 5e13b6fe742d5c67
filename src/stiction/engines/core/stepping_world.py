"""Fixed steps in a world of MuJoCo's: what is near, its smooth forces, and bonds over a step."""

import warp as wp

from .bonds import hold_directions, n_held
from .contacts import NOTHING
from .joints import command_all
from .layout import MOST_ROWS, OPEN, Machines
from .near import count_margin, keep_normals
from .near import look_around as find_near
from .outer import ask_how, ask_where, n_activations, peek
from .reals import HALF, ZERO, World, add_scaled, copy, dot, fill, get, get_int, put, put_int, real

_AHEAD = wp.constant(real(3.0))  # steps that what was found must last for
_NEW = wp.constant(3)  # mark of a pair that has just been found


@wp.func(inline=False)
def ask(m: Machines, s: World, t: real):
    """Everything that MuJoCo knows of the state y."""
    ask_where(m, s)
    command_all(m, s, t)
    ask_how(m, s)


@wp.func(inline=False)
def find_pairs_ahead(m: Machines, s: World, t: real, h: real):
    """Evaluate the beginning of a step, and follow what comes near from there on."""
    copy(s, m[0].at.q, m[0].fixed.q, m[0].tree.nq)
    for d in range(m[0].tree.nv):
        v = get(s, m[0].fixed.v + d) + HALF * get(s, m[0].fixed.change + d)
        put(s, m[0].at.v + d, v)
    ask(m, s, t)
    put(s, m[0].z.t, t)
    put(s, m[0].z.stride, h)
    if m[0].shapes.count == 0:
        return
    keep_normals(m, s)
    if count_margin(m, s) >= _AHEAD * h:
        return
    find_near(m, s, t)
    for i in range(m[0].shapes.first_pair, m[0].pairs.count):
        if m[0].pairs.kind[i] == NOTHING:
            put_int(s, m[0].c.mode + i, OPEN)
        elif get_int(s, m[0].c.mark + i) == _NEW:
            put(s, m[0].fixed.ahead_gap + i, get(s, m[0].c.gap + i))
            put(s, m[0].fixed.ahead_velocity + i, get(s, m[0].c.closing + i))
            put(s, m[0].fixed.ahead_acceleration + i, ZERO)
            fill(s, m[0].fixed.pressed + MOST_ROWS * i, MOST_ROWS, ZERO)


@wp.func
def world_forces(m: Machines, s: World):
    """Forces of MuJoCo's in the form of a tree's: drive, and all the rest as bias.

    Its dampers act at the velocity now; those of joints are given back, for a step takes them at
    its mean velocity.
    """
    lost = get(s, m[0].z.damped)
    for d in range(m[0].tree.nv):
        v = get(s, m[0].at.v + d)
        D = m[0].tree.damping[d]
        smooth = get(s, m[0].at.acceleration + d)
        put(s, m[0].at.bias + d, get(s, m[0].motors.drive + d) - smooth - D * v)
        lost -= D * v * v
    put(s, m[0].z.damped, lost)


@wp.func
def take_activations(m: Machines, s: World, h: real):
    """Activations of actuators a step later."""
    for i in range(n_activations(m)):
        at = m[0].z.y + m[0].z.n - n_activations(m) + i
        put(s, at, get(s, at) + h * peek(m[0].outer.act_dot, i))


@wp.func(inline=False)
def hold_over_step(m: Machines, s: World, h: real, tau: real):
    r"""Bonds are closed at the end of the step: along each of their directions

    $$ Q^T (v^+ - v^-) + u^- + (h/2 - \tau) \beta + g / (h - \tau) = 0, $$

    with u⁻ the velocity half a step before.
    """
    nv = m[0].tree.nv
    hold_directions(m, s)
    if n_held(m, s) == 0:
        return
    # From the velocity now to that half a step before, in half-solved coordinates: D^(1/2) L v.
    for d in range(nv):
        p = get(s, m[0].fixed.v + d) - get(s, m[0].at.v + d)
        entry = m[0].at.M + m[0].tree.row[d] + 1
        j = m[0].tree.before[d]
        while j >= 0:
            p += get(s, entry) * (get(s, m[0].fixed.v + j) - get(s, m[0].at.v + j))
            entry += 1
            j = m[0].tree.before[j]
        put(s, m[0].z.shift + d, p / get(s, m[0].at.D + d))
    for j in range(n_held(m, s)):
        Q = m[0].c.held + j * nv
        short = dot(s, Q, m[0].z.half, nv) + dot(s, Q, m[0].z.shift, nv)
        short += get(s, m[0].c.held_velocity + j)
        short += (HALF * h - tau) * get(s, m[0].c.held_bias + j)
        short += get(s, m[0].c.held_gap + j) / (h - tau)
        add_scaled(s, m[0].z.half, -short, Q, nv)
