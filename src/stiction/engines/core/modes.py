r"""Which contacts stick, slip or part: the mode whose forces and accelerations are consistent.

At an instant some contacts touch without approaching. Coulomb's law on accelerations decides all of
them together (`cone`): a contact parts if it is accelerated outwards, sticks if it is not
accelerated along the surface, and slips against its friction otherwise. flickinger (3.1), (3.3).
Accelerations decide, not forces: these are not unique where contacts are redundant, those are.

At the instant at which a force comes to zero, or friction to its cone, nothing is accelerated yet,
neither in the old mode nor in the new. So the question is asked a little later: with accelerations
carried on as they have changed since the beginning of the step, with the contacts apart whose
forces have come to zero (unless they then sink), and with a little less friction where it has come
to its cone.

A contact at rest holds with the static coefficient; what gives way is asked again with the dynamic
one. Friction can press a sliding contact into the ground instead of keeping it off (Painlevé): if a
normal force does not push its own contact outwards, or if no consistent mode is found, the instant
is suspicious: `stiction.motions` can tell which modes there are.
"""

import warp as wp

from .cone import solve_cone
from .layout import MOST_ROWS, MU_DYNAMIC, MU_STATIC, OPEN, SLIP, STICK, TANGENTS, Machines
from .onset import admissible, align_onsets
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
    largest,
    put,
    put_int,
    real,
    tolerance,
)
from .rows import first_row, law, n_active, n_rows, pair_of, times_W
from .sharing import margin, unknowns_of
from .sliding import APART, FREE_TO, SLIDING

_LATER = tolerance(1e-4, 1e-3)  # change of accelerations that decides, part of the largest
# What all forces lose at once vanishes with them: then at least this part of a step's change.
_AHEAD = tolerance(1e-6, 1e-3)
_STEADY = tolerance(1e-9, 1e-5)  # change in a step below which nothing can be told from it
_MOVES = tolerance(1e-8, 1e-4)  # acceleration that counts, part of the largest
_BEARS = tolerance(1e-9, 1e-5)  # force that counts, part of the largest
_RETRIES = wp.constant(6)

CONSISTENT, SUSPICIOUS = wp.constant(1), wp.constant(2)


@wp.func
def carry_on(m: Machines, s: World, to: int):
    """Accelerations without forces a little later than now; the largest of them."""
    n = n_rows(m, s)
    most = real(0.0)
    change = real(0.0)
    fill(s, to, n, ZERO)
    for k in range(n_active(m, s)):
        i = pair_of(m, s, k)
        begin = first_row(m, s, k)
        for j in range(first_row(m, s, k + 1) - begin):
            now = get(s, m[0].c.free + begin + j)
            most = wp.max(most, wp.abs(now))
            if get_int(s, m[0].c.mode_before + i) != OPEN:
                rise = now - get(s, m[0].c.earlier + MOST_ROWS * i + j)
                put(s, to + begin + j, rise)
                change = wp.max(change, wp.abs(rise))
    part = real(0.0)
    if change > _STEADY * most:
        part = wp.max(_LATER * most / change, _AHEAD)
    for r in range(n):
        put(s, to + r, get(s, m[0].c.free + r) + part * get(s, to + r))
    return most


@wp.func
def presses_itself_in(m: Machines, s: World):
    """Whether some sliding contact's force pulls its own contact inwards: (W B)ₙₙ ≤ 0."""
    n = n_rows(m, s)
    for k in range(n_active(m, s)):
        i = pair_of(m, s, k)
        if get_int(s, m[0].c.mode + i) == SLIP:
            begin = first_row(m, s, k)
            normal = first_row(m, s, k + 1) - 1
            out = get(s, m[0].c.W + normal * n + normal)
            mu = law(m, s, i, MU_DYNAMIC)
            for j in range(normal - begin):
                d = get(s, m[0].c.heading + TANGENTS * i + j)
                out -= mu * d * get(s, m[0].c.W + normal * n + begin + j)
            if out <= ZERO:
                return True
    return False


@wp.func
def has_no_load(m: Machines, s: World, i: int):
    """Whether the normal force of a closed pair had come to zero at the end of the step, to as much
    as instants are found: redundant contacts share a load, so they lose it together.
    """
    closed = get_int(s, m[0].c.mode_before + i) != OPEN
    left = get(s, m[0].c.value + 2 * i)
    nothing = wp.max(TWO * get(s, m[0].z.slack), _AHEAD * get(s, m[0].c.value_start + 2 * i))
    return closed and left <= nothing


@wp.func
def all_hold(m: Machines, s: World, b: int, x: int, moves: real):
    """Whether everything at rest can stay so: the modes then. If not, the modes are as before.

    Asked first, because several modes may be consistent where contacts are redundant; and with the
    forces that the motion will have.
    """
    for k in range(n_active(m, s)):
        if get_int(s, m[0].c.fixed + k) == APART:
            put_int(s, m[0].c.mode + pair_of(m, s, k), OPEN)
    holds = admissible(m, s, b)
    n = n_rows(m, s)
    for k in range(n_active(m, s)):
        if get_int(s, m[0].c.fixed + k) == APART:
            normal = first_row(m, s, k + 1) - 1
            holds = holds and get(s, b + normal) + times_W(m, s, n, normal, x) >= -moves
    for k in range(n_active(m, s)):
        if not holds and get_int(s, m[0].c.fixed + k) == APART:
            i = pair_of(m, s, k)
            put_int(s, m[0].c.mode + i, STICK)
            if get_int(s, m[0].c.mark + i) == 0:
                put_int(s, m[0].c.mode + i, SLIP)
    return holds


@wp.func
def found_forces(m: Machines):
    """Where the solution of the cone problem is kept while forces are tried."""
    return m[0].c.work + 3 * m[0].c.capacity


@wp.func
def open_unloaded(m: Machines, s: World):
    """Open the contacts that bear nothing in the solution of the cone problem.

    Where contacts are all but in one place or on one line, those that part are hardly accelerated,
    and would be pulled if they were kept.
    """
    x = found_forces(m)
    most = largest(s, x, n_rows(m, s))
    for k in range(n_active(m, s)):
        if get(s, x + first_row(m, s, k + 1) - 1) <= _BEARS * most:
            put_int(s, m[0].c.mode + pair_of(m, s, k), OPEN)


@wp.func
def most_strained(m: Machines, s: World):
    """The sticking contact whose friction is farthest outside of its cone; -1 for none."""
    first = int(0)
    worst = int(-1)
    least = real(0.0)
    for k in range(n_active(m, s)):
        if get_int(s, m[0].c.mode + pair_of(m, s, k)) == STICK and unknowns_of(m, s, k) > 1:
            value = margin(m, s, k, first, m[0].c.unknown)
            if value < least:
                least = value
                worst = k
        first += unknowns_of(m, s, k)
    return worst


@wp.func
def let_slip(m: Machines, s: World, k: int):
    """The k-th contact slips against the friction that it would need."""
    i = pair_of(m, s, k)
    f = m[0].c.force + first_row(m, s, k)
    count = first_row(m, s, k + 1) - 1 - first_row(m, s, k)
    size = wp.sqrt(dot(s, f, f, count))
    for j in range(count):
        put(s, m[0].c.direction + TANGENTS * i + j, -get(s, f + j) / size)
        put(s, m[0].c.heading + TANGENTS * i + j, -get(s, f + j) / size)
    put_int(s, m[0].c.mode + i, SLIP)
    put(s, m[0].c.mu + k, law(m, s, i, MU_DYNAMIC))


@wp.func
def release_strained(m: Machines, s: World, b: int):
    """What the modes that were found cannot hold slips at once: it would in the next instant."""
    for _ in range(_RETRIES):
        if admissible(m, s, b):
            return
        worst = most_strained(m, s)
        if worst < 0:
            return
        let_slip(m, s, worst)
        align_onsets(m, s, b, pair_of(m, s, worst))


@wp.func(inline=False)
def choose_modes(m: Machines, s: World, lets_go: int, gives_way: int):
    """Settle the modes of closed contacts, which come marked `STICK` (at rest) or `SLIP`.

    Pair `lets_go` has just lost its normal force, the friction of `gives_way` has just come to its
    cone; -1 for none. Returns flags.
    """
    count = n_active(m, s)
    n = n_rows(m, s)
    if count == 0:
        return CONSISTENT
    b = m[0].c.impulse
    x = m[0].c.force
    most = carry_on(m, s, b)
    suspicious = presses_itself_in(m, s)
    for k in range(count):
        i = pair_of(m, s, k)
        if get_int(s, m[0].c.mode + i) == SLIP:
            put_int(s, m[0].c.fixed + k, SLIDING)
            put(s, m[0].c.mu + k, law(m, s, i, MU_DYNAMIC))
        else:
            put_int(s, m[0].c.fixed + k, FREE_TO)
            put(s, m[0].c.mu + k, law(m, s, i, MU_STATIC))
            if i == gives_way:
                put(s, m[0].c.mu + k, (ONE - _LATER) * law(m, s, i, MU_DYNAMIC))
        if i == lets_go or (lets_go >= 0 and has_no_load(m, s, i)):
            put_int(s, m[0].c.fixed + k, APART)
    fill(s, m[0].c.floor, count, ZERO)
    flags = int(CONSISTENT)
    if suspicious:
        flags += SUSPICIOUS
        fill(s, x, n, ZERO)
    elif all_hold(m, s, b, x, _MOVES * most):
        return flags
    solved = bool(False)
    for _ in range(_RETRIES):
        solved = solve_cone(m, s, b, x, True)
        moves = wp.max(_MOVES, real(10.0) * get(s, m[0].z.unsolved)) * most
        again = bool(False)
        for k in range(count):
            i = pair_of(m, s, k)
            begin = first_row(m, s, k)
            normal = first_row(m, s, k + 1) - 1
            a_n = get(s, b + normal) + times_W(m, s, n, normal, x)
            size = real(0.0)
            for r in range(begin, normal):
                a = get(s, b + r) + times_W(m, s, n, r, x)
                put(s, m[0].c.work + r, a)
                size += a * a
            size = wp.sqrt(size)
            if get_int(s, m[0].c.fixed + k) == APART and a_n < -moves:
                put_int(s, m[0].c.fixed + k, FREE_TO)  # it sinks
                if get_int(s, m[0].c.mark + i) == 0:
                    put_int(s, m[0].c.fixed + k, SLIDING)
                again = True
            elif get_int(s, m[0].c.fixed + k) == APART or a_n > moves:
                put_int(s, m[0].c.mode + i, OPEN)
            elif get_int(s, m[0].c.fixed + k) == SLIDING or size > moves:
                put_int(s, m[0].c.mode + i, SLIP)
                if get_int(s, m[0].c.fixed + k) == FREE_TO:
                    for r in range(begin, normal):
                        put(
                            s,
                            m[0].c.direction + TANGENTS * i + r - begin,
                            get(s, m[0].c.work + r) / size,
                        )
                    if get(s, m[0].c.mu + k) > law(m, s, i, MU_DYNAMIC):
                        put(s, m[0].c.mu + k, law(m, s, i, MU_DYNAMIC))
                        again = True
            else:
                put_int(s, m[0].c.mode + i, STICK)
        if not again:
            break
    copy(s, found_forces(m), x, n)
    if solved and not admissible(m, s, b):
        open_unloaded(m, s)
    align_onsets(m, s, b, gives_way)
    if solved:
        release_strained(m, s, b)
    else:
        flags = int(SUSPICIOUS)
    return flags
