"""The contact problem of one fixed step: see `stepping`."""

import warp as wp

from .bonds import leave_out_bonds
from .collide import REST, TOUCH, stands_twice
from .cone import contact_equations, solve_cone, step_of
from .contacts import NOTHING, contact_velocity, place_contact
from .coordinates import is_dry
from .flat_friction import least_grip, missed_at, solve_flat
from .joints import drive, servo_gains, spring
from .layout import (
    MOST_ROWS,
    MU_DYNAMIC,
    MU_STATIC,
    OPEN,
    RESTITUTION,
    SLIP,
    STEP_NUMBERS,
    STEP_PAIR_NUMBERS,
    STICK,
    TANGENTS,
    Machines,
)
from .links import (
    lever_of,
    list_links,
    multiply_links,
    n_links,
    push_links,
    row_velocities,
    rows_of_link,
)
from .outer import has_shapes, is_outer
from .reals import (
    HALF,
    ONE,
    TINY,
    ZERO,
    World,
    add_scaled,
    copy,
    dot,
    fill,
    get,
    get_int,
    put,
    put6,
    put_int,
    real,
    tolerance,
    vec6,
)
from .rows import (
    ContactRow,
    activate,
    add_along,
    branch_of,
    delassus,
    dot_row,
    first_row,
    half_solve_row,
    law,
    lever,
    motion_of,
    moving_link,
    n_active,
    n_rows,
    pair_of,
    push,
    put_row,
    row_motion,
    times_rows,
)
from .step import kinetic
from .stepping_world import world_forces
from .tree import HINGE, SLIDE, factor, half_solve, solve_link, sweep_in, sweep_out

PRESSED = tolerance(1e-9, 1e-4)  # part of the largest impulse that counts as one
_INSIDE = wp.constant(real(1e-6))  # friction smaller than μ p_n by this share sticks
_FAR = wp.constant(real(10.0))  # times what anything moves in a step: how far open contacts are
_SOON = wp.constant(real(4.0))  # steps ahead within which a contact has rows
_HASTE = wp.constant(real(50.0))  # faster than forces of one step make anything [m/s]

BY_CONES, BY_PYRAMIDS = wp.constant(0), wp.constant(1)


@wp.func
def add_implicit(m: Machines, s: World, kick: real, h: real):
    """What stiffness K and damping B of joints and servos add to the diagonal of M.

    Their forces are those of the mean velocity of the step and of the mean position
    (q_{k-1} + 2 q_k + q_{k+1}) / 4, so that no gain makes a step unstable: M + (h/2) B + (h²/4) K.
    """
    fill(s, m[0].fixed.servo, m[0].tree.nv, ZERO)
    for i in range(m[0].act.count):
        gains = servo_gains(m, s, i)
        d = m[0].act.entry_v[m[0].act.first[i]]
        ahead = gains[1] * (get(s, m[0].at.v + d) - get(s, m[0].fixed.v + d))
        put(s, m[0].motors.drive + d, get(s, m[0].motors.drive + d) + ahead)
        put(
            s,
            m[0].fixed.servo + d,
            get(s, m[0].fixed.servo + d) + HALF * kick * (gains[1] + HALF * h * gains[0]),
        )
    for d in range(m[0].tree.nv):
        own = get(s, m[0].fixed.servo + d) + HALF * kick * m[0].tree.damping[d]
        put(s, m[0].fixed.implicit + d, own)
    for i in range(1, m[0].tree.n_joints + 1):
        if m[0].tree.kind[i] == SLIDE or m[0].tree.kind[i] == HINGE:
            to = m[0].fixed.implicit + m[0].tree.at_v[i]
            put(s, to, get(s, to) + HALF * HALF * kick * h * m[0].tree.stiffness[i])


@wp.func
def step_forces(m: Machines, s: World, t: real, kick: real, h: real):
    """Factor M with what is implicit, and the change of v without impulses, half solved."""
    if is_outer(m):
        world_forces(m, s)
    else:
        sweep_out(m, s)
        sweep_in(m, s)
        drive(m, s, t)
    add_implicit(m, s, kick, h)
    for d in range(m[0].tree.nv):
        f = get(s, m[0].motors.drive + d) - m[0].tree.damping[d] * get(s, m[0].fixed.v + d)
        put(s, m[0].fixed.force + d, f - get(s, m[0].at.bias + d))
        to = m[0].at.M + m[0].tree.row[d]
        put(s, to, get(s, to) + get(s, m[0].fixed.implicit + d))
    for i in range(1, m[0].tree.n_joints + 1):
        one = m[0].tree.kind[i] == SLIDE or m[0].tree.kind[i] == HINGE
        if one and not is_outer(m):  # MuJoCo has added its springs
            to = m[0].fixed.force + m[0].tree.at_v[i]
            put(s, to, get(s, to) + spring(m, s, i))
    factor(m, s)
    for d in range(m[0].tree.nv):
        put(s, m[0].z.half + d, kick * get(s, m[0].fixed.force + d))
    half_solve(m, s, m[0].z.half)


@wp.func
def give_rows(m: Machines, s: World, t: real, h: real):
    """Rows to all that touches or may do so within a few steps."""
    for i in range(m[0].pairs.count):
        here = place_contact(m, s, i, t)
        u = contact_velocity(m, s, i, here)
        put(s, m[0].c.gap + i, here.gap)
        put(s, m[0].c.closing + i, u[2])
        a = wp.abs(get(s, m[0].fixed.ahead_acceleration + i))
        near = here.gap <= _SOON * h * (wp.abs(u[2]) + _SOON * h * a) + TOUCH
        if not near and here.gap <= _HASTE * h:
            # The forces of this very step may drive it to what it would touch.
            c = motion_of(m, s, i, t)
            put_row(m, s, i, m[0].pairs.rows[i] - 1, c, m[0].z.shift)
            half_solve_row(m, s, m[0].z.shift, branch_of(m, i))
            driven = u[2] + dot_row(m, s, m[0].z.shift, m[0].z.half, branch_of(m, i))
            near = here.gap <= _SOON * h * wp.abs(driven)
        has = (
            near or get_int(s, m[0].c.mode + i) != OPEN or get_int(s, m[0].fixed.collides + i) != 0
        )
        if has and has_shapes(m):
            has = m[0].pairs.kind[i] != NOTHING and not stands_twice(m, s, i)
        put_int(s, m[0].c.mark + i, int(has))
    return activate(m, s, m[0].c.mark)


@wp.func
def step_rows(m: Machines, s: World, t: real, kick: real, since: real, ahead: real):
    """Y, W and û₀ of the active contacts."""
    nv = m[0].tree.nv
    landing = bool(False)
    for k in range(n_active(m, s)):
        i = pair_of(m, s, k)
        landing = landing or get_int(s, m[0].c.mode + i) == OPEN
        landing = landing or get_int(s, m[0].fixed.collides + i) != 0
    if m[0].opt.solver == BY_CONES:
        list_links(m, s)
    taken = n_links(m, s)
    solved = int(-1)  # the link whose six rows are: contacts of a link follow each other
    at = int(-1)  # which of the links that stand for their contacts
    half = vec6()
    drift = vec6()  # v is half a step before, what was evaluated is the velocity now
    for k in range(n_active(m, s)):
        begin = first_row(m, s, k)
        last = first_row(m, s, k + 1) - 1
        i = pair_of(m, s, k)
        link = moving_link(m, i)
        if link >= 0 and link != solved:
            rows = m[0].c.link
            if taken > 0:
                at += 1
                rows = rows_of_link(m, at)
            solve_link(m, s, rows, link)
            half = times_rows(m, s, rows, link, m[0].z.half)
            drift = times_rows(m, s, m[0].at.motion, link, m[0].fixed.v)
            drift -= times_rows(m, s, m[0].at.motion, link, m[0].at.v)
            solved = link
        c = motion_of(m, s, i, t)
        for r in range(begin, last + 1):
            Y = m[0].c.Y + r * nv
            made = ContactRow()
            driven = real(0.0)
            velocity = real(0.0)
            if link >= 0:
                made = row_motion(m, s, i, r - begin, c)
                takes = lever(m, s, i, r - begin, c.here, link)
                velocity = made.velocity + wp.dot(takes, drift)
                driven = wp.dot(takes, half)
                if taken > 0:
                    put6(s, lever_of(m, r), takes)
                else:
                    fill(s, Y, nv, ZERO)
                    add_along(m, s, takes, m[0].c.link, link, Y)
            else:
                made = put_row(m, s, i, r - begin, c, Y)
                velocity = made.velocity + dot(s, Y, m[0].fixed.v, nv)
                velocity -= dot(s, Y, m[0].at.v, nv)
                half_solve(m, s, Y)
                driven = dot(s, Y, m[0].z.half, nv)
            # How tangents turn is known where contact is kept. Elsewhere v now is not what v will
            # be, and several points of a body that lands could not all stick.
            b = made.bias
            if r < last and landing:
                b = ZERO
            put(s, m[0].fixed.bias + r, b)
            put(s, m[0].c.velocity + r, velocity)
            put(s, m[0].c.ground + r, made.ground)
            put(s, m[0].c.free + r, velocity + driven + ahead * b)
            put(s, m[0].fixed.pull + r, driven)
            put(s, m[0].fixed.slow + r, velocity - since * b)
            if taken == 0:
                leave_out_bonds(m, s, Y)
            if r == last and is_dry(m[0].pairs.kind[pair_of(m, s, k)]):
                put(s, m[0].fixed.bias + r, ZERO)
                put(s, m[0].c.free + r, kick * made.bias)  # its load, as an impulse
    if taken > 0:
        multiply_links(m, s)
    else:
        delassus(m, s)


@wp.func
def normal_acceleration(m: Machines, s: World, r: int, kick: real):
    """Of a normal row, without contact forces."""
    return get(s, m[0].fixed.pull + r) / kick + get(s, m[0].fixed.bias + r)


@wp.func
def lower_bound(m: Machines, s: World, k: int, kick: real, h: real, since: real, tau: real):
    """β of the k-th contact."""
    i = pair_of(m, s, k)
    r = first_row(m, s, k + 1) - 1
    a = normal_acceleration(m, s, r, kick)
    gap = get(s, m[0].c.gap + i)
    if get_int(s, m[0].fixed.collides + i) != 0:
        if m[0].opt.poisson != 0:
            return ZERO
        e = law(m, s, i, RESTITUTION)
        rebound = -e * (get(s, m[0].fixed.slow + r) + a * since) + a * (HALF * h - tau)
        return wp.max(rebound, ZERO)
    if gap >= ZERO:
        return -gap / h
    return wp.min(-gap / h, h * wp.max(-a, ZERO))


@wp.func
def solve_once(m: Machines, s: World, b: int, p: int):
    """By pyramids or cones."""
    if m[0].opt.solver == BY_PYRAMIDS:
        return solve_flat(m, s, b, p, False)
    return solve_cone(m, s, b, p, False)


@wp.func
def step_impulses(m: Machines, s: World, kick: real, h: real, since: real, tau: real):
    """p of the active contacts.

    Under Poisson's law colliding normals stop first; then at least e times the impulse of that
    compression is given back.
    """
    n = n_rows(m, s)
    count = n_active(m, s)
    b = m[0].c.scratch
    p = m[0].c.impulse
    most = real(TINY)
    for r in range(n):
        most = wp.max(most, wp.abs(get(s, m[0].c.free + r)))
    copy(s, b, m[0].c.free, n)
    collides = bool(False)
    for k in range(count):
        i = pair_of(m, s, k)
        begin = first_row(m, s, k)
        normal = first_row(m, s, k + 1) - 1
        low = lower_bound(m, s, k, kick, h, since, tau)
        put(s, b + normal, wp.min(get(s, m[0].c.free + normal) - low, _FAR * most))
        put(s, m[0].c.floor + k, ZERO)
        put_int(s, m[0].c.fixed + k, 0)
        put(s, m[0].c.mu + k, law(m, s, i, MU_DYNAMIC))
        if get_int(s, m[0].c.mode + i) == STICK:
            put(s, m[0].c.mu + k, law(m, s, i, MU_STATIC))
        for j in range(normal + 1 - begin):
            put(s, p + begin + j, kick * get(s, m[0].fixed.pressed + MOST_ROWS * i + j))
        collides = collides or get_int(s, m[0].fixed.collides + i) != 0
    solve_once(m, s, b, p)
    miss = miss_of(m, s, b, p)
    for r in range(n):
        u = get(s, m[0].c.work + m[0].c.capacity + r)
        put(s, m[0].fixed.after + r, u + get(s, m[0].c.free + r) - get(s, b + r))
    if collides and m[0].opt.poisson != 0:
        compression = b + n
        copy(s, compression, p, n)
        record_impulses(m, s, compression, MOST_ROWS)
        row_velocities(m, s, n, b, compression, b)
        for k in range(count):
            i = pair_of(m, s, k)
            if get_int(s, m[0].fixed.collides + i) != 0:
                p_n = get(s, compression + first_row(m, s, k + 1) - 1)
                put(s, m[0].c.floor + k, law(m, s, i, RESTITUTION) * wp.max(p_n, ZERO))
        fill(s, p, n, ZERO)
        solve_once(m, s, b, p)
        miss = wp.max(miss, miss_of(m, s, b, p))
        add_scaled(s, p, ONE, compression, n)
        put_after(m, s, p)
    record_impulses(m, s, p, 0)
    put(s, m[0].fixed.residual, wp.max(get(s, m[0].fixed.residual), miss))


@wp.func
def put_after(m: Machines, s: World, p: int):
    """Velocities of all rows in the middle of the step."""
    row_velocities(m, s, n_rows(m, s), m[0].c.free, p, m[0].fixed.after)


@wp.func
def record_impulses(m: Machines, s: World, p: int, at: int):
    """For derivatives, which go along the steps of a run."""
    step = get_int(s, m[0].fixed.k)
    if step >= m[0].impulses.shape[1]:
        return
    for k in range(n_active(m, s)):
        begin = first_row(m, s, k)
        to = STEP_NUMBERS + STEP_PAIR_NUMBERS * pair_of(m, s, k) + at
        for r in range(begin, first_row(m, s, k + 1)):
            m[0].impulses[s.index, step, to + r - begin] = get(s, p + r)


@wp.func
def miss_of(m: Machines, s: World, b: int, p: int):
    """How far impulses are from Coulomb's law, or from that of the pyramids, as a velocity."""
    n = n_rows(m, s)
    u = m[0].c.work + m[0].c.capacity
    row_velocities(m, s, n, b, p, u)
    worst = real(0.0)
    for k in range(n_active(m, s)):
        if m[0].opt.solver == BY_PYRAMIDS:
            worst = wp.max(worst, missed_at(m, s, k, b, p, False) / step_of(m, s, k, n))
            continue
        contact_equations(m, s, n, k, p, u, False)
        for r in range(first_row(m, s, k), first_row(m, s, k + 1)):
            worst = wp.max(worst, wp.abs(get(s, m[0].c.wanted + r)) / step_of(m, s, k, n))
    return worst


@wp.func
def settle_modes(m: Machines, s: World, rebounds: int):
    """Which contacts pressed and slid in the step, and in which direction."""
    most = real(0.0)
    for k in range(n_active(m, s)):
        most = wp.max(most, get(s, m[0].c.impulse + first_row(m, s, k + 1) - 1))
    for i in range(m[0].pairs.count):
        put_int(s, m[0].c.mode_before + i, get_int(s, m[0].c.mode + i))
        put_int(s, m[0].c.mode + i, OPEN)
    for k in range(n_active(m, s)):
        i = pair_of(m, s, k)
        begin = first_row(m, s, k)
        normal = first_row(m, s, k + 1) - 1
        p_n = get(s, m[0].c.impulse + normal)
        if p_n > PRESSED * most and get_int(s, rebounds + i) == 0:
            rub = real(0.0)
            speed = real(0.0)
            for r in range(begin, normal):
                rub += get(s, m[0].c.impulse + r) * get(s, m[0].c.impulse + r)
                u = get(s, m[0].fixed.after + r)
                put(s, m[0].c.work + r, u)
                speed += u * u
            speed = wp.sqrt(speed)
            grip = get(s, m[0].c.mu + k)
            if m[0].opt.solver == BY_PYRAMIDS:
                grip = grip * least_grip(m, s, k)
            inside = wp.sqrt(rub) < (ONE - _INSIDE) * grip * p_n
            put_int(s, m[0].c.mode + i, STICK)
            if speed > REST and not inside:
                put_int(s, m[0].c.mode + i, SLIP)
                for r in range(begin, normal):
                    put(
                        s,
                        m[0].c.direction + TANGENTS * i + r - begin,
                        get(s, m[0].c.work + r) / speed,
                    )


@wp.func
def velocity_after(m: Machines, s: World, r: int, h: real, tau: real):
    """Of a row, right after the impulse."""
    return get(s, m[0].fixed.after + r) - (HALF * h - tau) * get(s, m[0].fixed.bias + r)


@wp.func
def energy_of(m: Machines, s: World, v: int):
    """½ vᵀ M v: the factored matrix has what is implicit in it."""
    total = kinetic(m, s, v)
    for d in range(m[0].tree.nv):
        u = get(s, v + d)
        total -= HALF * get(s, m[0].fixed.implicit + d) * u * u
    return total


@wp.func
def push_step(m: Machines, s: World, x: int, to: int):
    """to += Y x, whichever way rows are known."""
    if n_links(m, s) > 0:
        push_links(m, s, x, to)
    else:
        push(m, s, x, to)
