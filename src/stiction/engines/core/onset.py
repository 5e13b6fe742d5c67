r"""Which way contacts at rest begin to slip, in space.

A contact that lets go slips along its acceleration, and its friction is against that. With G the
part of W that is its own, c its acceleration without its friction and f its normal force,

$$ (\sigma I + \mu f G) d = c, \qquad |d| = 1, \quad \sigma \ge 0, $$

where σ is the acceleration. If friction is more than enough (|d| < 1 at σ = 0) the contact stays.
Loads of redundant contacts are shared as in the motion that follows (`sharing`), one contact is
asked after the other, and all again until none turns: so the motion begins as it was decided.
"""

import warp as wp

from .algebra import cholesky, solve_cholesky
from .events import FORCE_SLACK
from .forces import contact_forces, list_equations
from .layout import MU_DYNAMIC, MU_STATIC, SLIP, STICK, TANGENTS, Machines
from .reals import (
    EPSILON,
    HALF,
    ONE,
    TINY,
    TWO,
    ZERO,
    World,
    copy,
    dot,
    get,
    get_int,
    put,
    put_int,
    real,
    tolerance,
)
from .rows import first_row, law, n_active, n_rows, pair_of, times_W
from .sharing import least_margin, share_forces
from .sliding import FREE_TO

_ROUNDS = wp.constant(40)
_TURNED = tolerance(1e-10, 1e-5)  # change of a direction that ends them
_ASIDE = tolerance(1e-6, 1e-3)  # 1 - cosine of the angle by which a slip may miss its direction
_HALVINGS = wp.constant(60)


@wp.func
def begins(m: Machines, s: World, k: int):
    """Whether the k-th contact begins to slip in a direction that is to be found."""
    i = pair_of(m, s, k)
    at_rest = get_int(s, m[0].c.fixed + k) == FREE_TO and m[0].pairs.rows[i] > 2
    return at_rest and get_int(s, m[0].c.mode + i) == SLIP


@wp.func
def load(m: Machines, s: World, b: int):
    """Forces in the modes and directions that there are."""
    rank = contact_forces(m, s, b)
    share_forces(m, s, list_equations(m, s), rank)


@wp.func
def direction_for(s: World, G: int, A: int, c: int, d: int, count: int, acceleration: real):
    """d for a given σ; its length."""
    for i in range(count):
        for j in range(count):
            put(s, A + i * count + j, get(s, G + i * count + j))
        put(s, A + i * count + i, get(s, A + i * count + i) + acceleration)
    copy(s, d, c, count)
    cholesky(s, A, count, TINY)
    solve_cholesky(s, A, count, d)
    return wp.sqrt(dot(s, d, d, count))


@wp.func
def turn_to(m: Machines, s: World, b: int, k: int):
    """Turn the slip of the k-th contact to where it goes; by how much it was wrong, -1 if it stays.

    Loads are those of `force`.
    """
    i = pair_of(m, s, k)
    n = n_rows(m, s)
    begin = first_row(m, s, k)
    count = first_row(m, s, k + 1) - 1 - begin
    G = m[0].c.scratch
    A = G + count * count
    c = A + count * count
    d = c + count
    grip = law(m, s, i, MU_DYNAMIC) * get(s, m[0].c.force + begin + count)
    size = real(0.0)
    for j in range(count):
        value = get(s, b + begin + j) + times_W(m, s, n, begin + j, m[0].c.force)
        for l in range(count):
            w = get(s, m[0].c.W + (begin + j) * n + begin + l)
            put(s, G + j * count + l, grip * w)
            value -= w * get(s, m[0].c.force + begin + l)
        put(s, c + j, value)
        size += value * value
    high = wp.sqrt(size)
    if high == ZERO or grip < ZERO:
        return ZERO
    low = EPSILON * high
    if direction_for(s, G, A, c, d, count, low) <= ONE:
        return -ONE
    for _ in range(_HALVINGS):
        middle = HALF * (low + high)
        if direction_for(s, G, A, c, d, count, middle) > ONE:
            low = middle
        else:
            high = middle
    length = direction_for(s, G, A, c, d, count, HALF * (low + high))
    wrong = real(0.0)
    for j in range(count):
        to = TANGENTS * i + j
        new = get(s, d + j) / length
        wrong = wp.max(wrong, wp.abs(new - get(s, m[0].c.direction + to)))
        put(s, m[0].c.direction + to, new)
        put(s, m[0].c.heading + to, new)
    return wrong


@wp.func
def admissible(m: Machines, s: World, b: int):
    """Whether forces in the modes and directions that there are keep inside their cones."""
    load(m, s, b)
    most = real(0.0)
    for e in range(list_equations(m, s)):
        most = wp.max(most, wp.abs(get(s, m[0].c.unknown + e)))
    inside = least_margin(m, s, m[0].c.unknown) >= -FORCE_SLACK * most
    return inside and get(s, m[0].z.excess) == ZERO


@wp.func
def goes_as_decided(m: Machines, s: World, b: int):
    """Whether all contacts that begin to slip do so in their directions, under `force`: a body held
    at one of them would turn about it.
    """
    n = n_rows(m, s)
    for k in range(n_active(m, s)):
        if begins(m, s, k):
            begin = first_row(m, s, k)
            along = real(0.0)
            size = real(0.0)
            for j in range(first_row(m, s, k + 1) - 1 - begin):
                a = get(s, b + begin + j) + times_W(m, s, n, begin + j, m[0].c.force)
                along += a * get(s, m[0].c.direction + TANGENTS * pair_of(m, s, k) + j)
                size += a * a
            if along < (ONE - _ASIDE) * wp.sqrt(size):
                return False
    return True


@wp.func
def keep_at_rest(m: Machines, s: World, b: int, gives_way: int):
    """What could as well stay at rest as begin to slip stays. Where friction presses and presses
    less as a slip turns, such a slip would end as soon as it begins.
    """
    for k in range(n_active(m, s)):
        i = pair_of(m, s, k)
        if begins(m, s, k) and i != gives_way:
            before = get(s, m[0].c.mu + k)
            put_int(s, m[0].c.mode + i, STICK)
            put(s, m[0].c.mu + k, law(m, s, i, MU_STATIC))
            if not (admissible(m, s, b) and goes_as_decided(m, s, b)):
                put_int(s, m[0].c.mode + i, SLIP)
                put(s, m[0].c.mu + k, before)


@wp.func
def align_onsets(m: Machines, s: World, b: int, gives_way: int):
    """Directions of all contacts that begin to slip, with accelerations b without forces. Those
    that friction holds after all stick.
    """
    keep_at_rest(m, s, b, gives_way)
    some = bool(False)
    for k in range(n_active(m, s)):
        if begins(m, s, k):
            some = True
            i = pair_of(m, s, k)
            copy(s, m[0].c.heading + TANGENTS * i, m[0].c.direction + TANGENTS * i, TANGENTS)
    if not some:
        return
    for _ in range(_ROUNDS):
        worst = real(0.0)
        for k in range(n_active(m, s)):
            if begins(m, s, k):
                load(m, s, b)
                wrong = turn_to(m, s, b, k)
                if wrong < ZERO:
                    put_int(s, m[0].c.mode + pair_of(m, s, k), STICK)
                    wrong = TWO
                worst = wp.max(worst, wrong)
        if worst <= _TURNED:
            break
