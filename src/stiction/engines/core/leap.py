r"""A leap over instants at which events would never end.

Rigid contacts can chatter: where friction holds more at rest than in motion, where contacts are
redundant, where a load turns as a slip does, modes may change ever faster without time going on.
Where so many changes crowd into so short a time, one step of fixed length h carries all contacts
over them together, with the law of [StewartTrinkle1996] on velocities,

$$ u^+ = u + h a_0 + W p, \qquad 0 \le p_n \perp u_n^+ + g / h \ge 0, \qquad
   |p_t| \le \mu p_n \text{ against } u_t^+ . $$

It is told as an event of its own, with its impulses; what energy it takes is booked as lost to
friction. Modes are settled anew after it.
"""

import warp as wp

from .collide import JAM
from .cone import solve_cone
from .contacts import NOTHING
from .layout import (
    ACTUATOR_WORK,
    CAUSE,
    DAMPING_LOSS,
    EVENT_NUMBERS,
    FRICTION_LOSS,
    FUNCTION,
    IMPACT,
    IMPACT_LOSS,
    KINETIC_AFTER,
    MU_DYNAMIC,
    OPEN,
    PAIR_NUMBERS,
    STICK,
    SUPPORT_WORK,
    Machines,
)
from .log import LEAP, note, note_before, note_impulse
from .outer import n_activations, peek
from .reals import (
    HALF,
    ONE,
    TWO,
    ZERO,
    World,
    add_scaled,
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
from .rows import activate, build_rows, first_row, law, n_active, n_rows, pair_of, push
from .sampling import leg_end, sample_time
from .sliding import FREE_TO
from .step import displace, kinetic, potential
from .tree import second_half

# So many changes of modes within so short a time are a crowd [s], beyond two for each contact.
_WINDOW, _CROWD = tolerance(1e-5, 1e-4), wp.constant(40)
# As many as an event counts that changes nothing, or stops a jam: it will come again.
_IDLE = wp.constant(20)
_SHORTEST, _LONGEST = tolerance(2e-5, 1e-4), tolerance(1e-3, 1e-3)  # leaps [s]


@wp.func
def is_crowded(m: Machines, s: World):
    """Count a change of modes; whether there are too many to be told apart."""
    t = get(s, m[0].z.t)
    if t - get(s, m[0].z.crowd_since) > _WINDOW:
        put(s, m[0].z.crowd_since, t)
        put_int(s, m[0].z.crowd, 0)
    target = get_int(s, m[0].z.target)
    jams = get_int(s, m[0].z.after_impact) == JAM
    weight = int(1)
    if jams or (target >= 0 and target < 2 * m[0].pairs.count):
        weight = int(_IDLE)
    for i in range(m[0].pairs.count):
        if not jams and get_int(s, m[0].c.mode + i) != get_int(s, m[0].c.mode_before + i):
            weight = 1
    put_int(s, m[0].z.crowd, get_int(s, m[0].z.crowd) + weight)
    return get_int(s, m[0].z.crowd) > _CROWD + 2 * n_active(m, s)


@wp.func
def length_of_leap(m: Machines, s: World):
    """Twice as long as the last one if that did not bring it far."""
    t = get(s, m[0].z.t)
    h = TWO * get(s, m[0].z.leap)
    if t - get(s, m[0].z.leaped_to) > real(10.0) * h:
        h = _SHORTEST
    h = wp.clamp(h, _SHORTEST, _LONGEST)
    put(s, m[0].z.leap, h)
    left = wp.min(leg_end(m, s), sample_time(m, s)) - t
    if left > ZERO:
        h = wp.min(h, left)
    return h


@wp.func
def account(m: Machines, s: World, books: int):
    """What would not change if all books were closed."""
    total = kinetic(m, s, m[0].at.v) + potential(m, s)
    total -= get(s, books + ACTUATOR_WORK) + get(s, books + SUPPORT_WORK)
    total += get(s, books + DAMPING_LOSS) + get(s, books + FRICTION_LOSS)
    return total + get(s, books + IMPACT_LOSS)


@wp.func
def take_near(m: Machines, s: World, h: real):
    """Rows for what touches or comes to touch within the leap."""
    for i in range(m[0].pairs.count):
        gap = get(s, m[0].c.gap + i) + TWO * h * wp.min(get(s, m[0].c.closing + i), ZERO)
        near = get_int(s, m[0].c.mode + i) != OPEN or gap <= ZERO
        near = near and m[0].pairs.kind[i] != NOTHING
        put_int(s, m[0].c.mark + i, int(near))
    activate(m, s, m[0].c.mark)
    build_rows(m, s, get(s, m[0].z.t))


@wp.func(inline=False)
def leap(m: Machines, s: World):
    """From the state that was evaluated to one a little later."""
    h = length_of_leap(m, s)
    nv = m[0].tree.nv
    books = m[0].z.y + m[0].tree.nq + nv
    note_before(m, s)
    note(m, s, CAUSE, real(LEAP))
    note(m, s, FUNCTION, real(get_int(s, m[0].z.crowd)))
    note(m, s, IMPACT, ONE)
    take_near(m, s, h)
    n = n_rows(m, s)
    b = m[0].c.scratch
    for k in range(n_active(m, s)):
        i = pair_of(m, s, k)
        for r in range(first_row(m, s, k), first_row(m, s, k + 1)):
            put(s, b + r, get(s, m[0].c.velocity + r) + h * get(s, m[0].c.free + r))
        normal = first_row(m, s, k + 1) - 1
        put(s, b + normal, get(s, b + normal) + wp.max(get(s, m[0].c.gap + i), ZERO) / h)
        put(s, m[0].c.mu + k, law(m, s, i, MU_DYNAMIC))
        put(s, m[0].c.floor + k, ZERO)
        put_int(s, m[0].c.fixed + k, FREE_TO)
    fill(s, m[0].c.impulse, n, ZERO)
    solve_cone(m, s, b, m[0].c.impulse, True)
    put(s, m[0].z.account, account(m, s, books))
    # Velocities, and the work that is done while they change.
    copy(s, m[0].z.shift, m[0].z.half, nv)
    scale(s, m[0].z.shift, h, nv)
    push(m, s, m[0].c.impulse, m[0].z.shift)
    second_half(m, s, m[0].z.shift)
    work = h * dot(s, m[0].at.v, m[0].motors.drive, nv)
    work += HALF * h * dot(s, m[0].z.shift, m[0].motors.drive, nv)
    put(s, books + ACTUATOR_WORK, get(s, books + ACTUATOR_WORK) + work)
    put(s, books + DAMPING_LOSS, get(s, books + DAMPING_LOSS) + h * get(s, m[0].z.damped))
    given = real(0.0)
    for r in range(n):
        given += get(s, m[0].c.impulse + r) * get(s, m[0].c.ground + r)
    put(s, books + SUPPORT_WORK, get(s, books + SUPPORT_WORK) + given)
    for k in range(n_active(m, s)):
        note_impulse(m, s, k, ONE)
    add_scaled(s, m[0].at.v, ONE, m[0].z.shift, nv)
    note(m, s, KINETIC_AFTER, kinetic(m, s, m[0].at.v))
    to = EVENT_NUMBERS + PAIR_NUMBERS * m[0].pairs.count + m[0].tree.nq + nv
    for j in range(nv):
        note(m, s, to + j, get(s, m[0].at.v + j))
    # Positions.
    copy(s, m[0].z.shift, m[0].at.v, nv)
    scale(s, m[0].z.shift, h, nv)
    displace(m, s, m[0].z.y, m[0].z.shift)
    for i in range(n_activations(m)):
        at = m[0].z.y + m[0].z.n - n_activations(m) + i
        put(s, at, get(s, at) + h * peek(m[0].outer.act_dot, i))
    for i in range(m[0].pairs.count):
        put_int(s, m[0].c.mode + i, OPEN)
    for k in range(n_active(m, s)):
        if get(s, m[0].c.impulse + first_row(m, s, k + 1) - 1) > ZERO:
            put_int(
                s, m[0].c.mode + pair_of(m, s, k), STICK
            )  # it touches; which mode is asked next
    put(s, m[0].z.t, get(s, m[0].z.t) + h)
    put(s, m[0].z.leaped_to, get(s, m[0].z.t))
    put_int(s, m[0].z.crowd, 0)
    put_int(s, m[0].z.leaps, get_int(s, m[0].z.leaps) + 1)
    put_int(s, m[0].z.in_leap, 1)


@wp.func
def book_leap(m: Machines, s: World):
    """At the new state: what energy is gone was lost to friction."""
    books = m[0].z.y + m[0].tree.nq + m[0].tree.nv
    lost = get(s, m[0].z.account) - account(m, s, books)
    put(s, books + FRICTION_LOSS, get(s, books + FRICTION_LOSS) + lost)
    put_int(s, m[0].z.in_leap, 2)
