r"""Contact forces when it is known which contacts stick and which slip.

flickinger (3.17)-(3.21): known accelerations (stick: all zero; slip: normal zero) and known
directions of force (slip: $f_t = -\mu f_n d$ with d the direction of slip) leave a linear system.
With λ the unknown part of each force (all of it where a contact sticks, the normal part where it
slips) and f = B λ,

$$ \dot u = W B \lambda + a_0, \qquad \dot u_k = 0 \text{ in the rows that are known to vanish.} $$

Redundant contacts make it singular, but solvable: accelerations are unique, forces are not, and the
least are taken. (3.19) solves by normal equations instead, which needs full rank.
"""

import warp as wp

from .algebra import factor_rows, least_solution
from .layout import MU_DYNAMIC, SLIP, STICK, TANGENTS, Machines
from .reals import (
    ONE,
    TWO,
    ZERO,
    World,
    copy,
    dot,
    fill,
    get,
    get_int,
    put,
    put_int,
    real,
    scale,
    tolerance,
)
from .rows import first_row, law, n_active, n_rows, pair_of

# A slip in space slower than this keeps the direction that was settled last; from four times this
# on it has that of its velocity [m/s]. What steps get wrong of a slow slip would turn its friction
# to and fro.
SLOW_SLIP = tolerance(1e-6, 1e-4)


@wp.func
def follow_slip(m: Machines, s: World, k: int):
    """The heading of the k-th contact's slip: that of its velocity, and of the direction that was
    settled last as the velocity vanishes.

    In the plane the direction is a sign, which an event settles; so the motion stays smooth through
    the instant at which the slip ends, and the event can be found.
    """
    i = pair_of(m, s, k)
    d = m[0].c.direction + TANGENTS * i
    heading = m[0].c.heading + TANGENTS * i
    copy(s, heading, d, TANGENTS)
    if m[0].pairs.rows[i] > 2:
        count = m[0].pairs.rows[i] - 1
        u = m[0].c.velocity + first_row(m, s, k)
        speed = wp.sqrt(dot(s, u, u, count))
        x = wp.clamp((speed - SLOW_SLIP) / (real(3.0) * SLOW_SLIP), ZERO, ONE)
        if x > ZERO and dot(s, u, d, count) > ZERO:
            own = x * x * (real(3.0) - TWO * x)
            for j in range(count):
                put(s, heading + j, own * get(s, u + j) / speed + (ONE - own) * get(s, d + j))
            scale(s, heading, ONE / wp.sqrt(dot(s, heading, heading, count)), count)


@wp.func
def list_equations(m: Machines, s: World):
    """Rows whose acceleration vanishes, one after the other; how many."""
    e = int(0)
    for k in range(n_active(m, s)):
        mode = get_int(s, m[0].c.mode + pair_of(m, s, k))
        end = first_row(m, s, k + 1)
        begin = end
        if mode == STICK:
            begin = first_row(m, s, k)
        elif mode == SLIP:
            begin = end - 1
        for r in range(begin, end):
            put_int(s, m[0].c.equation + e, r)
            e += 1
    return e


@wp.func
def slip_column(m: Machines, s: World, k: int, e: int, n: int):
    """(W B) in row e for the normal force of slipping contact k: W (−μ d, 1)."""
    i = pair_of(m, s, k)
    begin = first_row(m, s, k)
    end = first_row(m, s, k + 1)
    mu = law(m, s, i, MU_DYNAMIC)
    value = get(s, m[0].c.W + e * n + end - 1)
    for j in range(end - 1 - begin):
        value -= (
            mu * get(s, m[0].c.heading + TANGENTS * i + j) * get(s, m[0].c.W + e * n + begin + j)
        )
    return value


@wp.func
def contact_forces(m: Machines, s: World, free: int):
    """Forces that keep sticking contacts from moving and slipping ones from leaving or sinking,
    with accelerations `free` without them.

    Returns the rank of their equations, whose factors are left for `sharing`.
    """
    n = n_rows(m, s)
    fill(s, m[0].c.force, n, ZERO)
    size = list_equations(m, s)
    if size == 0:
        return 0
    unknown = int(0)
    for k in range(n_active(m, s)):
        mode = get_int(s, m[0].c.mode + pair_of(m, s, k))
        if mode == STICK:
            for r in range(first_row(m, s, k), first_row(m, s, k + 1)):
                for e in range(size):
                    entry = m[0].c.W + get_int(s, m[0].c.equation + e) * n + r
                    put(s, m[0].c.A + e * size + unknown, get(s, entry))
                unknown += 1
        elif mode == SLIP:
            for e in range(size):
                value = slip_column(m, s, k, get_int(s, m[0].c.equation + e), n)
                put(s, m[0].c.A + e * size + unknown, value)
            unknown += 1
    for e in range(size):
        put(s, m[0].c.wanted + e, -get(s, free + get_int(s, m[0].c.equation + e)))
    rank = factor_rows(s, m[0].c.A, size, m[0].c.beta, m[0].c.order)
    least_solution(
        s, m[0].c.A, size, rank, m[0].c.beta, m[0].c.order, m[0].c.wanted, m[0].c.unknown
    )
    spread_unknowns(m, s)
    return rank


@wp.func
def spread_unknowns(m: Machines, s: World):
    """f = B λ."""
    unknown = int(0)
    for k in range(n_active(m, s)):
        i = pair_of(m, s, k)
        begin = first_row(m, s, k)
        end = first_row(m, s, k + 1)
        mode = get_int(s, m[0].c.mode + i)
        if mode == STICK:
            for r in range(begin, end):
                put(s, m[0].c.force + r, get(s, m[0].c.unknown + unknown))
                unknown += 1
        elif mode == SLIP:
            f_n = get(s, m[0].c.unknown + unknown)
            unknown += 1
            mu = law(m, s, i, MU_DYNAMIC)
            put(s, m[0].c.force + end - 1, f_n)
            for j in range(end - 1 - begin):
                put(
                    s,
                    m[0].c.force + begin + j,
                    -mu * f_n * get(s, m[0].c.heading + TANGENTS * i + j),
                )
