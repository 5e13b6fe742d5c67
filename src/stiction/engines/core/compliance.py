r"""Compliant contacts: forces are functions of depth, velocity and the bend of a bristle.

$$ M \dot v + c = \tau + J^T f(x, \dot x, u_t, z), \qquad \dot z = z'(z, u_t, f_n), $$

marhefka (6) and its "multiple contacts". Every normal law of `stiction.laws` is a member of one
family, and every tangential law of one of two, so that a law is a row of numbers:

$$ f_n = k x^n (1 + d \dot x) + b \dot x, \quad d = d_c \text{ closing}, \; d_r \text{ parting}; $$
$$ f_t = -\mu(|u|) f_n \frac{u}{\sqrt{|u|^2 + \epsilon^2}} \quad\text{or}\quad
   f_t = -P_{\mu f_n}(k_b z + c_b u), \quad c_b \dot z = P_{\mu f_n}(k_b z + c_b u) - k_b z, $$

with $P_r$ the nearest point of a disc of radius r. While a bristle sticks P is the identity, while
it slips P is a point of the circle: within a mode the motion is smooth.
"""

import warp as wp

from .bonds import hold_directions, hold_motion
from .contacts import NOTHING, contact_velocity, is_of_number, place_contact, put_jacobian
from .coordinates import is_dry, put_number_row
from .layout import (
    BOOKS,
    BRISTLE_DAMPING,
    BRISTLE_STIFFNESS,
    CLAMP,
    CLOSING,
    CREEP_SPEED,
    DAMPING,
    EXPONENT,
    FRICTION_LOSS,
    IMPACT_LOSS,
    OPEN,
    PARTING,
    SLIP,
    SOFT_MU_DYNAMIC,
    SOFT_MU_STATIC,
    SOFT_STRIBECK_POWER,
    SOFT_STRIBECK_SPEED,
    STICK,
    STIFFNESS,
    SUPPORT_WORK,
    Machines,
)
from .outer import has_bonds
from .reals import (
    HALF,
    INFINITY,
    ONE,
    ZERO,
    World,
    add_scaled,
    copy,
    fill,
    get,
    get_int,
    mat22,
    put,
    real,
    vec2,
    vec3,
)
from .rows import law
from .tree import half_solve, second_half


@wp.struct
class Yielding:
    """What one contact does, and how that depends on its motion."""

    force: vec3  # along the tangents and the normal
    bend: vec2  # rate of the bristle
    normal_loss: real  # [W]
    friction_loss: real  # [W]
    stored: real  # [J]
    margin: real  # how far inside the cone [N]
    # Derivatives: of the normal force, and of the pull P = -f_t.
    by_depth: real
    by_rate: real
    by_load: vec2
    by_slip: mat22
    by_trial: mat22  # by k_b z + c_b u


@wp.func
def push_back(m: Machines, s: World, i: int, x: real, rate: real):
    """The reaction along the normal, at a depth x that changes at a rate.

    A stage of the step that ends where the contact parts may lie beyond: there a linear force goes
    on straight, so that the step is as exact as any other.
    """
    r = Yielding()
    k = law(m, s, i, STIFFNESS)
    n = law(m, s, i, EXPONENT)
    d = law(m, s, i, PARTING)
    if rate > ZERO:
        d = law(m, s, i, CLOSING)
    b = law(m, s, i, DAMPING)
    damped = ONE + d * rate
    power = real(0.0)
    slope = real(0.0)
    if n == ONE:
        power = x
        slope = ONE
    elif x > ZERO:
        power = wp.pow(x, n)
        slope = n * power / x
    f = k * power * damped + b * rate
    r.by_depth = k * slope * damped
    r.by_rate = k * power * d + b
    pulls = f < ZERO
    if x <= ZERO:  # what it did as it came there
        pulls = damped < ZERO or b * rate < ZERO
    if pulls and law(m, s, i, CLAMP) != ZERO:
        f = ZERO
        r.by_depth = ZERO
        r.by_rate = ZERO
    r.force = vec3(ZERO, ZERO, f)
    r.normal_loss = (f - k * power) * rate
    r.stored = k * power * wp.max(x, ZERO) / (n + ONE)
    return r


@wp.func
def friction(m: Machines, s: World, i: int, speed: real):
    """The coefficient of friction at a speed of slip, and its derivative."""
    mu = law(m, s, i, SOFT_MU_DYNAMIC)
    more = law(m, s, i, SOFT_MU_STATIC) - mu
    if more == ZERO or speed <= ZERO:
        return vec2(mu + more, ZERO)
    a = law(m, s, i, SOFT_STRIBECK_POWER)
    power = wp.pow(speed / law(m, s, i, SOFT_STRIBECK_SPEED), a)
    more = more * wp.exp(-power)
    return vec2(mu + more, -more * a * power / speed)


@wp.func
def across(e: vec2):
    """I - e eᵀ."""
    return mat22(ONE - e[0] * e[0], -e[0] * e[1], -e[0] * e[1], ONE - e[1] * e[1])


@wp.func(inline=False)
def slide(m: Machines, s: World, i: int, r: Yielding, u: vec2):
    """Friction without memory."""
    load = wp.max(r.force[2], ZERO)
    creep = law(m, s, i, CREEP_SPEED)
    square = wp.dot(u, u)
    speed = wp.sqrt(square + creep * creep)
    mu = friction(m, s, i, square / (speed + creep))  # speed - creep, without cancellation
    e = u / speed
    r.by_load = e * mu[0]
    r.by_slip = across(e) * (load * mu[0] / speed) + wp.outer(e, e) * (load * mu[1])
    pull = r.by_load * load
    r.force = vec3(-pull[0], -pull[1], r.force[2])
    r.friction_loss = wp.dot(pull, u)
    r.margin = -ONE
    return r


@wp.func
def bristle(m: Machines, s: World, i: int, r: Yielding, u: vec2, z: vec2, mode: int):
    """Friction by a spring and a damper in series with a slider."""
    load = wp.max(r.force[2], ZERO)
    k = law(m, s, i, BRISTLE_STIFFNESS)
    c = law(m, s, i, BRISTLE_DAMPING)
    trial = z * k + u * c
    size = wp.length(trial)
    speed = wp.length(u)
    mu = friction(m, s, i, speed)
    cone = mu[0] * load
    r.margin = cone - size
    pull = trial
    r.by_trial = mat22(ONE, ZERO, ZERO, ONE)
    # A stage may lie inside the cone, but not so far that there is no direction left.
    if mode == SLIP and size > HALF * cone:
        e = trial / size
        pull = e * cone
        r.by_trial = across(e) * (cone / size)
        r.by_load = e * mu[0]
        if speed > ZERO:
            r.by_slip = wp.outer(e, u) * (load * mu[1] / speed)
    # Written around u, so that sticking gives the velocity itself: no rounding, no drift.
    r.bend = u + (pull - trial) / c
    r.force = vec3(-pull[0], -pull[1], r.force[2])
    r.friction_loss = wp.dot(pull, u) - k * wp.dot(z, r.bend)
    r.stored += HALF * k * wp.dot(z, z)
    return r


@wp.func
def bristle_at(m: Machines, i: int):
    """Where the bristle of a pair lies in y."""
    return m[0].tree.nq + m[0].tree.nv + BOOKS + 2 * i


@wp.func
def loss_at(m: Machines, i: int):
    """Where the loss of a pair along its normal lies in y; its friction loss is `count` after."""
    return m[0].tree.nq + m[0].tree.nv + BOOKS + 2 * m[0].pairs.count + i


@wp.func(inline=False)
def react(m: Machines, s: World, i: int, u: vec3):
    """The reaction of a closed contact, at the state y and its gap."""
    r = push_back(m, s, i, -get(s, m[0].c.gap + i), -u[2])
    if is_dry(m[0].pairs.kind[i]):  # a constant load
        r = Yielding()
        r.force = vec3(ZERO, ZERO, m[0].pairs.radius[i])
    slip = vec2(u[0], u[1])
    if law(m, s, i, BRISTLE_STIFFNESS) == ZERO:
        return slide(m, s, i, r, slip)
    at = m[0].z.y + bristle_at(m, i)
    z = vec2(get(s, at), get(s, at + 1))
    return bristle(m, s, i, r, slip, z, get_int(s, m[0].c.mode + i))


@wp.func
def axis_of(n: int, j: int):
    """Which axis of a contact's frame row j of n is: the normal comes last."""
    if j == n - 1:
        return 2
    return j


@wp.func
def put_axes(m: Machines, s: World, to: int, i: int, value: vec3):
    """The components that the contact of pair i has: in the plane there is one tangent."""
    n = m[0].pairs.rows[i]
    for j in range(n):
        put(s, to + n * i + j, value[axis_of(n, j)])


@wp.func
def get_axes(m: Machines, s: World, a: int, i: int):
    n = m[0].pairs.rows[i]
    value = vec3()
    for j in range(n):
        value[axis_of(n, j)] = get(s, a + n * i + j)
    return value


@wp.func
def push_number(m: Machines, s: World, i: int, f: real):
    """What a limit, or dry friction, does to the number that it acts on."""
    fill(s, m[0].soft.row, m[0].tree.nv, ZERO)
    put_number_row(m, s, i, m[0].soft.row)
    add_scaled(s, m[0].at.acceleration, f, m[0].soft.row, m[0].tree.nv)


@wp.func(inline=False)
def press_pair(m: Machines, s: World, i: int, t: real):
    """The force of one pair in its mode, and what it loses."""
    n = m[0].pairs.count
    kind = m[0].pairs.kind[i]
    r = Yielding()
    r.margin = -ONE
    if kind == NOTHING:  # a free place in the list of a world
        put(s, m[0].c.gap + i, INFINITY)
        put(s, m[0].c.closing + i, ZERO)
        put_axes(m, s, m[0].c.velocity, i, r.force)
    else:
        here = place_contact(m, s, i, t)
        u = contact_velocity(m, s, i, here)
        if m[0].pairs.rows[i] < 3:
            u[1] = ZERO
        put(s, m[0].c.gap + i, here.gap)
        put(s, m[0].c.closing + i, u[2])
        put_axes(m, s, m[0].c.velocity, i, u)
        if get_int(s, m[0].c.mode + i) != OPEN:
            r = react(m, s, i, u)
            f = wp.transpose(here.frame) * r.force
            if is_dry(kind):
                push_number(m, s, i, r.force[0])
            elif is_of_number(kind):
                push_number(m, s, i, r.force[2])
            else:
                first = m[0].pairs.first[i]
                second = m[0].pairs.second[i]
                put_jacobian(m, s, first, f, here.point, ONE, m[0].at.acceleration)
                put_jacobian(m, s, second, f, here.point, -ONE, m[0].at.acceleration)
            book(s, m[0].soft.power, wp.dot(f, here.support))
            book(s, m[0].soft.power + 1, r.friction_loss)
            book(s, m[0].soft.power + 2, r.normal_loss)
    put_axes(m, s, m[0].c.force, i, r.force)
    put(s, m[0].soft.margin + i, r.margin)
    put(s, m[0].soft.stored + i, r.stored)
    put(s, m[0].soft.rate + 2 * i, r.bend[0])
    put(s, m[0].soft.rate + 2 * i + 1, r.bend[1])
    put(s, m[0].soft.rate + 2 * n + i, r.normal_loss)
    put(s, m[0].soft.rate + 3 * n + i, r.friction_loss)


@wp.func(inline=False)
def press(m: Machines, s: World):
    """Forces of all contacts in their modes, what they lose, and v̇ under them, loops kept."""
    t = get(s, m[0].z.now)
    copy(s, m[0].at.acceleration, m[0].z.half, m[0].tree.nv)
    fill(s, m[0].soft.power, 3, ZERO)
    fill(s, m[0].soft.rate, 4 * m[0].pairs.count, ZERO)
    for i in range(m[0].pairs.count):
        press_pair(m, s, i, t)
    half_solve(m, s, m[0].at.acceleration)
    if has_bonds(m):
        hold_directions(m, s)
        hold_motion(m, s, m[0].at.acceleration)
    second_half(m, s, m[0].at.acceleration)


@wp.func
def book(s: World, to: int, value: real):
    put(s, to, get(s, to) + value)


@wp.func
def put_soft_rate(m: Machines, s: World, k: int):
    """What contacts lose and remember, into the rate of y."""
    books = k + m[0].tree.nq + m[0].tree.nv
    put(s, books + SUPPORT_WORK, get(s, m[0].soft.power))
    put(s, books + FRICTION_LOSS, get(s, m[0].soft.power + 1))
    put(s, books + IMPACT_LOSS, get(s, m[0].soft.power + 2))
    copy(s, books + BOOKS, m[0].soft.rate, 4 * m[0].pairs.count)


@wp.func
def let_go(m: Machines, s: World, i: int):
    """A contact has opened: its bristle springs back, and what it stores is lost. The law would
    take c/k for that; here it is at once, and flight need not resolve it.
    """
    y = m[0].z.y
    z = y + bristle_at(m, i)
    square = get(s, z) * get(s, z) + get(s, z + 1) * get(s, z + 1)
    lost = HALF * law(m, s, i, BRISTLE_STIFFNESS) * square
    fill(s, z, 2, ZERO)
    book(s, y + loss_at(m, i) + m[0].pairs.count, lost)
    book(s, y + m[0].tree.nq + m[0].tree.nv + FRICTION_LOSS, lost)


@wp.func
def vanish(m: Machines, s: World, i: int):
    """A pair is no more while it pressed: others have taken its place, and what it stored is lost.
    Theirs is won: see `appear`.
    """
    z = m[0].z.y + bristle_at(m, i)
    square = get(s, z) * get(s, z) + get(s, z + 1) * get(s, z + 1)
    bent = HALF * law(m, s, i, BRISTLE_STIFFNESS) * square
    lost = get(s, m[0].soft.stored + i) - bent
    book(s, m[0].z.y + loss_at(m, i), lost)
    book(s, m[0].z.y + m[0].tree.nq + m[0].tree.nv + IMPACT_LOSS, lost)
    let_go(m, s, i)


@wp.func
def appear(m: Machines, s: World, i: int):
    """A pair is deep already as it is found: what it stores at once is no work of anybody."""
    won = push_back(m, s, i, wp.max(-get(s, m[0].c.gap + i), ZERO), ZERO).stored
    book(s, m[0].z.y + loss_at(m, i), -won)
    book(s, m[0].z.y + m[0].tree.nq + m[0].tree.nv + IMPACT_LOSS, -won)


@wp.func
def rubbing(m: Machines, s: World, i: int, slow: real):
    """Whether a contact that has just closed sticks or slips: it sticks inside its cone, or if it
    hardly moves (at touch there is no force yet). What has no bristle slips for good.
    """
    if law(m, s, i, BRISTLE_STIFFNESS) == ZERO:
        return SLIP
    u = get_axes(m, s, m[0].c.velocity, i)
    still = u[0] * u[0] + u[1] * u[1] <= slow * slow
    f = get_axes(m, s, m[0].c.force, i)
    if get(s, m[0].soft.margin + i) >= ZERO or (still and f[2] <= ZERO):
        return STICK
    return SLIP
