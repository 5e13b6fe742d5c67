"""The loop of the stepping engine: one compiled step, carried out a given number of times."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from stiction._arrays import Array, Bool, Float, Int, Scalar
from stiction.engines.control import AbstractSwitchingControl
from stiction.engines.flow import FORCE_SLACK, LEDGER, Mode, Patterns, State
from stiction.engines.forces import OPEN, SLIP, STICK
from stiction.engines.happenings import GUARD, REST, START, TOUCH, Cause, Happening, quiet
from stiction.engines.records import Packing, Records, add, no_records
from stiction.engines.stepping_contact import Ahead, lower_bounds, solve_step
from stiction.engines.stepping_step import StepDynamics, book, step_dynamics
from stiction.mechanism import Mechanism, actuator_effort, add_velocity
from stiction.mechanism.kinematics import motion
from stiction.mechanism.linear import wait_for
from stiction.surfaces import Contacts, gaps_and_velocities

_INSIDE = 1e-6  # friction smaller than μ p_n by this share sticks, whatever rounding moves


class Steps(eqx.Module):
    """What a step hands to the next."""

    k: Int[Array, ""]  # steps taken
    q: Float[Array, "nq"]  # at t_k
    v: Float[Array, "nv"]  # half a step before; at the start: then
    change: Float[Array, "nv"]  # of v in the last step, 0 after an impact
    booked: Float[Array, "5"]  # in the last step, 0 after an impact [J]
    ledger: Float[Array, "5"]  # until v [J]
    force: Float[Array, "n dim"]  # of contact, without impacts [N]
    modes: Int[Array, "n"]
    direction: Float[Array, "n k"]  # of slip
    ahead: Ahead
    memory: Any  # of the control
    resting: Bool[Array, ""]
    events: Int[Array, ""]
    drift: Scalar  # the deepest penetration [m]
    residual: Scalar  # the largest of the contact problems since the last sample [m/s]


class Sample(eqx.Module):
    """The state at a time t_k."""

    time: Scalar
    q: Float[Array, "nq"]
    v: Float[Array, "nv"]
    ledger: Float[Array, "5"]
    force: Float[Array, "n dim"]
    modes: Int[Array, "n"]
    effort: Float[Array, "nu"]
    residual: Scalar


def run_steps(
    m: Mechanism,
    contacts: Contacts,
    patterns: Patterns,
    law: Any,
    control: AbstractSwitchingControl,
    q: Float[Array, "nq"],
    v: Float[Array, "nv"],
    h: Scalar,
    between: Int[Array, ""],
    samples: int,
    log: int,
) -> tuple[Steps, Sample, Happening | None]:
    """Steps of length h from (q, v): the end, `samples` states `between` steps apart, the events.

    The number of steps is a number, not part of the program: none is compiled anew for another
    duration or step. A step samples the state at its beginning, when it knows the velocities on
    both sides; so one more is made at the end.
    """
    dtype = q.dtype
    start = _start(m, contacts, control, q, v)

    def step(s: Steps) -> tuple[Steps, Sample, Happening, Array]:
        first = s.k == 0
        t = s.k.astype(dtype) * h
        kick = jnp.where(first, h / 2, h)
        v_now = s.v + s.change / 2
        guards = control.guards(t, s.q, v_now, s.modes, s.memory).astype(dtype)
        which, switches = jnp.asarray(0), jnp.asarray(False)
        memory = s.memory
        if guards.size:
            which, switches = jnp.argmin(guards), jnp.min(guards) < 0
            other = control.switch(which, t, s.q, v_now, s.modes, memory)
            memory = jax.tree.map(lambda a, b: jnp.where(switches, a, b), other, memory)

        command = control.command(t, s.q, v_now, s.modes, memory).astype(dtype)
        # The motion goes on as it was until the first collision, if there is one.
        collides, tau = s.ahead.collisions(h, kick - h / 2, law.rest_speed)
        q = wait_for(add_velocity(m, s.q, tau * (v_now + tau / (2 * h) * s.change)), command)
        since = kick - h / 2 + tau
        d = step_dynamics(
            m, contacts, patterns, t + tau, q, s.v, v_now, command, kick, since, h / 2 - tau,
            s.modes != OPEN,
        )  # fmt: skip
        low = lower_bounds(d.contacts, collides, h, since, tau, law.restitution)
        mu = jnp.where(s.modes == STICK, law.mu_static, law.mu_dynamic)
        p, residual = solve_step(
            d.contacts, low, collides, mu, law.restitution, s.force * kick, law
        )
        change = d.kick(p)
        impact = jnp.any(collides & (p[:, -1] > 0))

        u_mid = d.contacts.free + (d.contacts.W @ p.reshape(-1)).reshape(p.shape)
        u_after = u_mid - (h / 2 - tau) * d.bias
        modes, direction = _modes(p, u_mid, mu, collides & (low > 0))
        booked = book(m, d, s.v, change, p, u_after, kick, since, impact)
        v_next, removed = s.v + change, jnp.zeros((), dtype)
        if law.energetic is not None:
            scale, removed = _energy_left(d, kick / 2 * m.joints.damping, s.v, v_next, law, impact)
            v_next = scale * v_next
            change = v_next - s.v
            u_mid, u_after = (scale * (u + d.support) - d.support for u in (u_mid, u_after))
            booked = booked + jnp.stack([*jnp.zeros(4, dtype), removed])
        now = jnp.where(first, 0.0, 0.5).astype(dtype)  # v_k lies between v and v_next
        sample = Sample(
            time=t,
            q=s.q,
            # An impact is after t_k: the state before it.
            v=jnp.where(impact, v_now, s.v + now * change),
            ledger=s.ledger + jnp.where(impact, s.booked / 2, now * booked),
            force=jnp.where(impact, s.force, p / kick),
            modes=jnp.where(impact, s.modes, modes),
            effort=actuator_effort(m, s.q, v_now, command),
            residual=jnp.maximum(s.residual, residual),
        )
        speed = jnp.max(jnp.abs(v_next))
        resting = (speed <= REST.of(q)) & (jnp.max(jnp.abs(s.v)) <= REST.of(q)) & ~first
        what, happened = _happening(
            s, d, m, t + tau, q, kick, p, modes, direction, u_after, change, impact, collides,
            switches, which, removed,
        )  # fmt: skip
        comes_to_rest = resting & ~s.resting & (s.k > 1)
        happened = happened | comes_to_rest
        smooth = jnp.where(impact, 0.0, 1.0).astype(dtype)
        after = Steps(
            k=s.k + 1,
            q=add_velocity(m, q, (h - tau) * v_next),
            v=v_next,
            change=smooth * change * (h / kick),
            booked=smooth * booked * (h / kick),
            ledger=s.ledger + booked,
            force=sample.force,
            modes=modes,
            direction=direction,
            ahead=Ahead(
                d.contacts.gap + (h - tau) * u_mid[:, -1], u_mid[:, -1], d.contacts.acceleration
            ),
            memory=memory,
            resting=resting,
            events=s.events + happened.astype(int),
            drift=jnp.maximum(s.drift, jnp.max(-d.contacts.gap)),
            residual=jnp.where(s.k % between == 0, 0.0, sample.residual),
        )
        return after, sample, what, happened

    shapes = jax.eval_shape(step, start)
    row, happening = Packing(shapes[1]), Packing(shapes[2])
    last = (samples - 1) * between

    def one_pass(carry: tuple[Steps, Array, Records]) -> tuple[Steps, Array, Records]:
        s, rows, events = carry
        after, sample, what, happened = step(s)
        # The place of the next sample is written until its time has come.
        place = (s.k + between - 1) // between
        rows = jax.lax.dynamic_update_index_in_dim(rows, row.pack(sample, dtype), place, 0)
        if log:
            events = add(events, happening.pack(what, dtype), happened)
        return after, rows, events

    rows = jnp.zeros((samples, row.size), dtype)
    carry = start, rows, no_records(happening.size, log, dtype)
    end, rows, events = jax.lax.while_loop(lambda c: c[0].k <= last, one_pass, carry)
    return end, row.unpack(rows), happening.unpack(events.vectors) if log else None


def _start(m: Mechanism, contacts: Contacts, control, q, v) -> Steps:
    dtype = q.dtype
    zero, rows = jnp.zeros((), dtype), jnp.zeros((contacts.count, contacts.dim), dtype)
    gap, u = gaps_and_velocities(m, contacts, motion(m, q), v, zero)
    still = jnp.sum(u[:, :-1] ** 2, axis=1) <= REST.of(q) ** 2
    return Steps(
        k=jnp.asarray(0),
        q=q,
        v=v,
        change=jnp.zeros_like(v),
        booked=jnp.zeros(len(LEDGER), dtype),
        ledger=jnp.zeros(len(LEDGER), dtype),
        force=rows,
        modes=jnp.where(still & (gap <= TOUCH.of(q)), STICK, OPEN),
        direction=rows[:, 1:],
        ahead=Ahead(gap, u[:, -1], jnp.zeros_like(gap)),
        memory=control.memory(),
        resting=jnp.asarray(False),
        events=jnp.asarray(0),
        drift=zero,
        residual=zero,
    )


def _energy_left(d: StepDynamics, damping, v, v_next, law, impact) -> tuple[Scalar, Scalar]:
    """The factor ẽ of all velocities after an impact, and the energy it removes [J].

    flickinger (5.2)-(5.4): no impact leaves more than e* of the kinetic energy.
    """
    T, before = d.kinetic(v_next, damping), d.kinetic(v, damping)
    most = law.energetic * before
    too_much = impact & (most < T)
    ratio = jnp.where(too_much, most / jnp.where(too_much, T, 1.0), 1.0)
    return jnp.sqrt(ratio), T * (1 - ratio)


def _modes(
    p: Float[Array, "n dim"],
    u: Float[Array, "n dim"],
    mu: Float[Array, "n"],
    rebounds: Bool[Array, "n"],
) -> tuple[Int[Array, "n"], Float[Array, "n k"]]:
    """Which contacts pressed and slid in a step, and in which direction."""
    closed = (p[:, -1] > FORCE_SLACK.of(p) * jnp.max(p[:, -1])) & ~rebounds
    friction = jnp.sqrt(jnp.sum(p[:, :-1] ** 2, axis=1))
    speed = jnp.sqrt(jnp.sum(u[:, :-1] ** 2, axis=1))
    still = speed <= REST.of(u)
    sticks = still | (friction < (1 - _INSIDE) * mu * p[:, -1])
    modes = jnp.where(closed, jnp.where(sticks, STICK, SLIP), OPEN)
    along = u[:, :-1] / jnp.where(still, 1.0, speed)[:, None]
    return modes, jnp.where((modes == SLIP)[:, None] & ~still[:, None], along, 0.0)


def _happening(
    s: Steps, d: StepDynamics, m, t, q, kick, p, modes, direction, u_after, change, impact,
    collides, switches, which, removed,
) -> tuple[Happening, Bool[Array, ""]]:  # fmt: skip
    """What a step did to the contacts, and whether it was anything."""
    turned = jnp.sum(s.direction * direction, axis=1) < 0
    # What touches at the start is no event.
    other = ((modes != s.modes) | turned) & (s.k > 0)
    changed = other | (collides & impact)
    overlaps = (s.k == 0) & jnp.any(d.contacts.gap < -TOUCH.of(q))
    whose = jnp.where(switches, GUARD, jnp.where(overlaps, START, jnp.argmax(changed)))
    cause = Cause(whose, jnp.where(switches, which, 0))
    damping = kick / 2 * m.joints.damping
    before, after = (d.kinetic(v, damping) for v in (s.v, s.v + change))
    # What a solver leaves on contacts that do not press is no impulse.
    pressed = p[:, -1] > FORCE_SLACK.of(p) * jnp.max(p[:, -1])
    p = jnp.where(pressed[:, None], p, 0.0)
    normal = jnp.where(pressed, p[:, -1], 1.0)
    friction = jnp.sqrt(jnp.sum(p[:, :-1] ** 2, axis=1))
    mode = Mode(s.modes, s.direction, s.memory)
    y = State(q, s.v, s.ledger, d.contacts.gap)
    what = eqx.tree_at(
        lambda h: (
            h.impact, h.modes_after, h.direction_after, h.velocity_after, h.impulse, h.mu, h.work,
            h.v_after, h.kinetic_after, h.removed, h.speed, h.acceleration,
        ),
        quiet(t, y, mode, cause, d.contacts.gap, d.velocity, before),
        (
            impact, modes, direction, u_after, p, friction / normal,
            p * (d.velocity + u_after) / 2, s.v + change, after, removed,
            jnp.max(jnp.abs(s.v + change)), jnp.max(jnp.abs(change)) / kick,
        ),
    )  # fmt: skip
    return what, jnp.any(changed) | switches | overlaps
