r"""Fixed steps: leapfrog, with all contacts of a step in one complementarity problem.

Positions are known at t_k, velocities half a step later:

$$ M(q_k) (v_{k+1/2} - v_{k-1/2}) = h F(q_k, v_k) + J(q_k)^T p_k , \qquad
   q_{k+1} = q_k \oplus h \, v_{k+1/2} . $$

F holds gravity, Coriolis forces, springs, actuators and dampers. Where nothing touches this is
Verlet's method, of second order; where contacts are kept, their gaps are held at every t_k, as
SHAKE holds the bonds of molecules [Ryckaert1977]. v_k in F is extrapolated (where links turn far in
a step it is the mean of both velocities: see `gyration`); joint damping takes that mean, which is
stable for any step. In the step of an impact the motion goes on
as it was until the instant τ of the first one, and everything is evaluated there.

Over a step a contact moves by h û, with û its velocity in the middle of the step,
û = J v_{k+1/2} - s + (h/2) b. With the gap g and the impulse p of the step,

$$ \hat u = W p + \hat u_0 , \qquad 0 \le p_n \perp \hat u_n - \beta \ge 0 , $$

and Coulomb's law between p_t and û_t. The bound β says what the normal may do:

- a contact that comes (or stays) within reach slowly: β = -g/h. It may close its gap in this step
  and no more [StewartTrinkle1996]; so rigid contact is kept in positions, without any drift.
- a contact that collides: β is its rebound by Newton's law, with the acceleration a before and
  after the instant of impact, as if nothing else touched,
  $\beta = -e (\hat u^- + a s) + a (h/2 - \tau) \ge 0$, where the impact comes s after û⁻.
- a contact that has sunk in: it may rise, but no faster than the forces that press it take away
  again within a step. So it does not hop, and no kinetic energy comes from the correction.
"""

import warp as wp

from .collide import REST, TOUCH
from .contacts import contact_velocity, place_contact
from .gyration import turn_fast
from .joints import next_phase, phase_end
from .layout import (
    ACTUATOR_WORK,
    BEGAN_INSIDE,
    BEGIN,
    BOOKS,
    DAMPING_LOSS,
    DONE,
    FRICTION_LOSS,
    IMPACT_LOSS,
    MOST_ROWS,
    NOT_FINITE,
    OPEN,
    REST_SPEED,
    RUNNING,
    STAGE,
    STICK,
    SUPPORT_WORK,
    TANGENTS,
    TOO_MANY_CONTACTS,
    Machines,
)
from .outer import is_outer
from .reals import (
    COMPILED,
    HALF,
    ONE,
    TWO,
    ZERO,
    World,
    copy,
    fill,
    get,
    get_int,
    put,
    put_int,
    real,
    vec2,
    world,
)
from .rows import (
    first_row,
    law,
    n_active,
    pair_of,
)
from .step import displace
from .stepping_contacts import (
    energy_of,
    give_rows,
    lower_bound,
    normal_acceleration,
    push_step,
    settle_modes,
    step_forces,
    step_impulses,
    step_rows,
    velocity_after,
)
from .stepping_log import note_step, take_sample
from .stepping_world import ask, find_pairs_ahead, hold_over_step, take_activations
from .tree import second_half, sweep_out


@wp.func
def first_collision(m: Machines, s: World, h: real, since: real):
    """Mark the pairs that will collide within the step; when the first does, 0 if none."""
    first = real(h)
    some = bool(False)
    for i in range(m[0].pairs.count):
        a = get(s, m[0].fixed.ahead_acceleration + i)
        gap = get(s, m[0].fixed.ahead_gap + i)
        u = get(s, m[0].fixed.ahead_velocity + i) + since * a
        # What the forces of a step or two give is no collision either, but contact that is kept.
        fast = -u > wp.max(law(m, s, i, REST_SPEED), TWO * h * wp.abs(a))
        due = fast and gap + h * (u + HALF * h * a) < ZERO
        put_int(s, m[0].fixed.collides + i, int(due))
        if due:
            some = True
            when = wp.clamp(gap / -u, ZERO, h)
            # Fast is faster than twice what a changes, so one correction is enough.
            when = wp.clamp(gap / (-u - HALF * a * when), ZERO, h)
            first = wp.min(first, when)
    if some:
        return first
    return ZERO


@wp.func
def book_step(m: Machines, s: World, kick: real, before: real, h: real, tau: real, hit: bool):
    """Work done in the step, into `booked`.

    Forces and impulses times mean velocities are exactly the change of ½ vᵀ M v. In the step of an
    impact, forces act along the way before it (for the time `before`) and after it, and friction is
    part of the impact.
    """
    part = real(0.0)
    if hit:
        part = HALF - before / kick
    work = real(0.0)
    damping = real(0.0)
    beyond = real(0.0)
    for d in range(m[0].tree.nv):
        change = get(s, m[0].fixed.change + d)
        mean = get(s, m[0].fixed.v + d) + HALF * change
        D = m[0].tree.damping[d]
        driven = kick * get(s, m[0].motors.drive + d) - get(s, m[0].fixed.servo + d) * change
        work += driven * (mean + part * change)
        damping += kick * D * mean * (mean + part * change)
        given = kick * get(s, m[0].fixed.force + d) - get(s, m[0].fixed.implicit + d) * change
        beyond += given * part * change
    if is_outer(m):  # in fluids, and along tendons
        damping += kick * get(s, m[0].z.damped)
    rubbing = real(0.0)
    normal = real(0.0)
    carried = real(0.0)
    for k in range(n_active(m, s)):
        last = first_row(m, s, k + 1) - 1
        for r in range(first_row(m, s, k), last + 1):
            p = get(s, m[0].c.impulse + r)
            after = velocity_after(m, s, r, h, tau)
            done = -p * HALF * (get(s, m[0].c.velocity + r) + after)
            carried += p * get(s, m[0].c.ground + r)
            if r < last:
                rubbing += done
            else:
                normal += done
    put(s, m[0].fixed.booked + ACTUATOR_WORK, work)
    put(s, m[0].fixed.booked + DAMPING_LOSS, damping)
    put(s, m[0].fixed.booked + SUPPORT_WORK, carried)
    put(s, m[0].fixed.booked + FRICTION_LOSS, rubbing)
    put(s, m[0].fixed.booked + IMPACT_LOSS, normal + beyond)
    if hit:
        put(s, m[0].fixed.booked + FRICTION_LOSS, ZERO)
        put(s, m[0].fixed.booked + IMPACT_LOSS, normal + rubbing + beyond)


@wp.func
def look_around(m: Machines, s: World):
    """Gaps and modes at the start: what touches without moving sticks."""
    copy(s, m[0].at.q, m[0].fixed.q, m[0].tree.nq)
    copy(s, m[0].at.v, m[0].fixed.v, m[0].tree.nv)
    if is_outer(m):
        find_pairs_ahead(m, s, ZERO, m[0].opt.dt[s.index % m[0].opt.dt.shape[0]])
    else:
        sweep_out(m, s)
    for i in range(m[0].pairs.count):
        here = place_contact(m, s, i, ZERO)
        u = contact_velocity(m, s, i, here)
        put(s, m[0].fixed.ahead_gap + i, here.gap)
        put(s, m[0].fixed.ahead_velocity + i, u[2])
        still = m[0].pairs.rows[i] == 1 or u[0] * u[0] + u[1] * u[1] <= REST * REST
        if m[0].pairs.rows[i] == 2:
            still = wp.abs(u[0]) <= REST
        put_int(s, m[0].c.mode + i, OPEN)
        if here.gap < -m[0].opt.deepest:
            put_int(s, m[0].z.status, BEGAN_INSIDE)
        if still and here.gap <= TOUCH:
            put_int(s, m[0].c.mode + i, STICK)


@wp.func
def take_step(m: Machines, s: World):
    """One step from t_k to t_{k+1}."""
    nq = m[0].tree.nq
    nv = m[0].tree.nv
    h = m[0].opt.dt[s.index % m[0].opt.dt.shape[0]]
    k = get_int(s, m[0].fixed.k)
    first = k == 0
    t = real(k) * h
    kick = h
    if first:
        kick = HALF * h
    since = kick - HALF * h
    for a in range(m[0].act.count):
        if phase_end(m, s, a) - t < ZERO:
            next_phase(m, s, a, t)
            put_int(s, m[0].z.target, 2 * m[0].pairs.count + a)
    if is_outer(m):
        find_pairs_ahead(m, s, t, h)
    # The motion goes on as it was until the first collision, if there is one.
    tau = first_collision(m, s, h, since)
    copy(s, m[0].at.q, m[0].fixed.q, nq)
    for d in range(nv):
        change = get(s, m[0].fixed.change + d)
        now = get(s, m[0].fixed.v + d) + HALF * change
        put(s, m[0].at.v + d, now)
        put(s, m[0].z.shift + d, tau * (now + HALF * tau / h * change))
    if tau > ZERO:
        displace(m, s, m[0].at.q, m[0].z.shift)
    since += tau
    if is_outer(m) and tau > ZERO:
        ask(m, s, t + tau)
    step_forces(m, s, t + tau, kick, h)
    fast = bool(False)
    if tau == ZERO:
        fast = turn_fast(m, s, t, kick, h)
    if is_outer(m):
        hold_over_step(m, s, h, tau)
    if not give_rows(m, s, t + tau, h):
        put_int(s, m[0].z.status, TOO_MANY_CONTACTS)
    step_rows(m, s, t + tau, kick, since, HALF * h - tau)
    step_impulses(m, s, kick, h, since, tau)
    # The whole change of v.
    copy(s, m[0].fixed.change, m[0].z.half, nv)
    push_step(m, s, m[0].c.impulse, m[0].fixed.change)
    second_half(m, s, m[0].fixed.change)
    hit = bool(False)
    for c in range(n_active(m, s)):
        i = pair_of(m, s, c)
        pressed = get(s, m[0].c.impulse + first_row(m, s, c + 1) - 1) > ZERO
        hit = hit or (pressed and get_int(s, m[0].fixed.collides + i) != 0)
        rebounds = lower_bound(m, s, c, kick, h, since, tau) > ZERO
        put_int(s, m[0].c.mark + i, int(rebounds and get_int(s, m[0].fixed.collides + i) != 0))
    copy(s, m[0].c.heading, m[0].c.direction, TANGENTS * m[0].pairs.count)
    settle_modes(m, s, m[0].c.mark)
    if not hit:  # in the step of an impact forces stay what they were
        fill(s, m[0].fixed.pressed, MOST_ROWS * m[0].pairs.count, ZERO)
        for c in range(n_active(m, s)):
            begin = first_row(m, s, c)
            for j in range(first_row(m, s, c + 1) - begin):
                to = m[0].fixed.pressed + MOST_ROWS * pair_of(m, s, c) + j
                put(s, to, get(s, m[0].c.impulse + begin + j) / kick)
    book_step(m, s, kick, since, h, tau, hit)
    bounded = bound_energy(m, s, hit)
    note_step(m, s, t + tau, kick, h, tau, hit, bounded)
    if k < m[0].impulses.shape[1]:
        m[0].impulses[s.index, k, 0] = real(get_int(s, m[0].z.events))
    look_ahead(m, s, kick, h, tau, bounded[0])
    # The next state; the sample of this one needs both velocities, so it comes first.
    copy(s, m[0].z.end, m[0].at.q, nq)
    if k % m[0].opt.between == 0:
        take_sample(m, s, t, first, hit)
    for j in range(BOOKS):
        put(s, m[0].fixed.books + j, get(s, m[0].fixed.books + j) + get(s, m[0].fixed.booked + j))
    put(s, m[0].fixed.books + IMPACT_LOSS, get(s, m[0].fixed.books + IMPACT_LOSS) + bounded[1])
    take_activations(m, s, h)
    smooth = h / kick
    if hit:
        smooth = ZERO
    finite = bool(True)
    for d in range(nv):
        v = get(s, m[0].fixed.v + d) + get(s, m[0].fixed.change + d)
        finite = finite and v - v == ZERO
        put(s, m[0].fixed.v + d, v)
        put(s, m[0].z.shift + d, (h - tau) * v)
        put(s, m[0].fixed.change + d, smooth * get(s, m[0].fixed.change + d))
        if fast:
            put(s, m[0].fixed.unpressed + d, smooth * get(s, m[0].fixed.unpressed + d))
        else:
            put(s, m[0].fixed.unpressed + d, get(s, m[0].fixed.change + d))
    copy(s, m[0].fixed.q, m[0].z.end, nq)
    displace(m, s, m[0].fixed.q, m[0].z.shift)
    put_int(s, m[0].fixed.k, k + 1)
    if not finite:
        put_int(s, m[0].z.status, NOT_FINITE)
    elif k + 1 > m[0].opt.last:
        put_int(s, m[0].z.status, DONE)


@wp.func
def bound_energy(m: Machines, s: World, hit: bool):
    """No impact leaves more than e* of the kinetic energy (5.2)-(5.4).

    The factor of all velocities, and what is removed.
    """
    if not hit or m[0].opt.bounded == 0:
        return vec2(ONE, ZERO)
    nv = m[0].tree.nv
    before = energy_of(m, s, m[0].fixed.v)
    for d in range(nv):
        put(s, m[0].z.shift + d, get(s, m[0].fixed.v + d) + get(s, m[0].fixed.change + d))
    after = energy_of(m, s, m[0].z.shift)
    most = m[0].opt.energetic[s.index % m[0].opt.energetic.shape[0]] * before
    if after <= most:
        return vec2(ONE, ZERO)
    part = wp.sqrt(most / after)
    for d in range(nv):
        put(s, m[0].fixed.change + d, part * get(s, m[0].z.shift + d) - get(s, m[0].fixed.v + d))
    return vec2(part, after - most)


@wp.func
def look_ahead(m: Machines, s: World, kick: real, h: real, tau: real, scale: real):
    """Gap, normal velocity and acceleration of all pairs at the beginning of the next step, when
    all velocities have been scaled.
    """
    for i in range(m[0].pairs.count):
        u = get(s, m[0].c.closing + i)
        put(s, m[0].fixed.ahead_gap + i, get(s, m[0].c.gap + i) + (h - tau) * u)
        put(s, m[0].fixed.ahead_velocity + i, u)
        put(s, m[0].z.drift, wp.max(get(s, m[0].z.drift), -get(s, m[0].c.gap + i)))
    for k in range(n_active(m, s)):
        i = pair_of(m, s, k)
        r = first_row(m, s, k + 1) - 1
        ground = get(s, m[0].c.ground + r)
        mid = get(s, m[0].fixed.after + r)
        mid = scale * (mid + ground) - ground
        put(s, m[0].fixed.ahead_gap + i, get(s, m[0].c.gap + i) + (h - tau) * mid)
        put(s, m[0].fixed.ahead_velocity + i, mid)
        put(s, m[0].fixed.ahead_acceleration + i, normal_acceleration(m, s, r, kick))


wp.set_module_options(COMPILED)


@wp.kernel
def run(m: Machines, numbers: wp.array2d(dtype=real), wholes: wp.array2d(dtype=int), count: int):
    """Up to so many steps of every world that has not ended; the first pass looks around."""
    w = wp.tid()
    s = world(numbers, wholes, w)
    for _ in range(count):
        if get_int(s, m[0].z.status) != RUNNING:
            break
        if get_int(s, m[0].z.phase) == BEGIN:
            look_around(m, s)
            put_int(s, m[0].z.phase, STAGE)
        else:
            take_step(m, s)
