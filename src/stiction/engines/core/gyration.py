r"""Fixed steps of what spins fast: forces at the mean velocity of the step.

In the equation of a step,

$$ M(q_k) \, \Delta = h F(q_k, v + \Delta / 2) + J^T p , $$

the velocity in F is extrapolated from the last step. That holds as long as links turn little in a
step; gyroscopic forces of what turns by a third of a radian would let it spin up without end. Where
links turn further than a little, Δ is found by iteration, with the contact impulses of the last
step. This is the implicit midpoint rule: it keeps what is quadratic in v [HairerLubichWanner2006],
so the energy of a body that flies and its angular momentum, for any step.
"""

import warp as wp

from .layout import Machines
from .material import spin
from .outer import is_outer
from .reals import HALF, ZERO, World, copy, get, put, real, tolerance
from .stepping_contacts import step_forces
from .stepping_world import ask
from .tree import second_half

_LITTLE = wp.constant(real(0.02))  # [rad] in a step
_MOST_TURNS = wp.constant(30)  # of the iteration
_CLOSE = tolerance(1e-13, 1e-6)  # of the fastest velocity


@wp.func
def fastest_turn(m: Machines, s: World):
    """The largest angular velocity of a link, squared."""
    most = real(0.0)
    for i in range(1, m[0].tree.n_links):
        w = spin(m, s, i)
        most = wp.max(most, wp.dot(w, w))
    return most


@wp.func(inline=False)
def turn_fast(m: Machines, s: World, t: real, kick: real, h: real):
    """Velocity and forces in the middle of the step, if links turn far in it; whether they do.

    The change of v without contact is left at `unpressed` then.
    """
    if fastest_turn(m, s) * h * h < _LITTLE * _LITTLE:
        return False
    nv = m[0].tree.nv
    pushed = m[0].z.shift  # the change of v by contact, as it was in the last step
    free = m[0].fixed.unpressed
    for d in range(nv):
        put(s, pushed + d, get(s, m[0].fixed.change + d) - get(s, free + d))
    for _ in range(_MOST_TURNS):
        copy(s, free, m[0].z.half, nv)
        second_half(m, s, free)
        off = real(0.0)
        fastest = real(0.0)
        for d in range(nv):
            change = get(s, free + d) + get(s, pushed + d)
            mean = get(s, m[0].fixed.v + d) + HALF * change
            off = wp.max(off, wp.abs(mean - get(s, m[0].at.v + d)))
            fastest = wp.max(fastest, wp.abs(mean))
            put(s, m[0].at.v + d, mean)
        if off <= _CLOSE * fastest or off - off != ZERO:
            break
        if is_outer(m):
            ask(m, s, t)
        step_forces(m, s, t, kick, h)
    return True
