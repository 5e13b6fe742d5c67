r"""Fixed steps once more: each is a function of the one before, and so are its derivatives.

The equations are those of `core.stepping`. The impulses p of a step are the run's own. What they
change by follows from the equations that hold at them, contact by contact,

$$ \text{stick: } \hat u = 0, \qquad
   \text{slip: } \hat u_n = 0, \; p_t + \mu p_n \hat u_t / |\hat u_t| = 0, \qquad
   \text{else: } p_n = p_0, $$

with û = W p + b the velocity in the middle of the step over its bound, and p₀ the least impulse
(0, or what the expansion of an impact gives back): one step of Newton's method, whose value is p.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from stiction._base.arrays import TINY, Array, Bool, Float, Int, Scalar, Tolerance
from stiction._base.errors import InputError
from stiction._base.linear import cholesky, solve_lower, solve_redundant, solve_upper
from stiction.control import AbstractSwitchingControl, HarmonicControl, PhasedControl
from stiction.control.switching import plain_of
from stiction.engines.forces import OPEN, SLIP, STICK
from stiction.engines.given import Extent, Given
from stiction.engines.replay import Replayed
from stiction.engines.state import LEDGER
from stiction.engines.tolerances import REST, TOUCH
from stiction.mechanism import (
    Mechanism,
    actuator_effort,
    actuator_force,
    add_velocity,
    bias_force_at,
    body_inertias,
    kinetic_energy,
    link_kinematics,
    link_velocities,
    lower_mass_matrix,
    normalize,
    potential_energy,
    scalar_entries,
    spring_force,
)
from stiction.surfaces import contact_kinematics, gaps_and_velocities

_PRESSED = Tolerance(1e-9, 1e-4)  # part of the largest impulse that counts as one
_INSIDE = 1e-6  # friction smaller than μ p_n by this share sticks
_SOON = 4.0  # steps ahead within which a contact takes part
_HASTE = 50.0  # faster than forces of one step make anything [m/s]
_LITTLE = 0.02  # how far links turn in a step at most without iteration [rad]
_TURNS = 12  # of the iteration


class Steps(eqx.Module):
    """What a step hands to the next."""

    q: Float[Array, "nq"]  # at t_k
    v: Float[Array, "nv"]  # half a step before; at the start: then
    change: Float[Array, "nv"]  # of v in the last step, 0 after an impact
    unpressed: Float[Array, "nv"]  # of it what is not by contact
    ledger: Float[Array, "5"]  # until v [J]
    force: Float[Array, "n dim"]  # of contact, without impacts [N]
    modes: Int[Array, "n"]
    gap: Float[Array, "n"]  # at t_k, if nothing happens [m]
    closing: Float[Array, "n"]  # velocity of the normal, in the middle of the last step [m/s]
    pull: Float[Array, "n"]  # acceleration of the normal, without contact forces [m/s²]
    memory: Any  # of the control


class StepEquations(eqx.Module):
    """The equations of motion of a step before impulses are known."""

    L: Float[Array, "nv nv"]  # of M and what is implicit
    Y: Float[Array, "nv m"]  # L⁻¹ Jᵀ
    now: Float[Array, "nv"]  # v for which forces are
    half: Float[Array, "nv"]  # L⁻¹ (kick F)
    force: Float[Array, "nv"]  # F
    drive: Float[Array, "nv"]  # of it the actuators'
    implicit: Float[Array, "nv"]  # on the diagonal of M
    servo: Float[Array, "nv"]  # of it the actuators'
    gap: Float[Array, "n"]
    closing: Float[Array, "n"]  # velocity of the normal now [m/s]
    velocity: Float[Array, "n dim"]  # J v - s, before [m/s]
    bias: Float[Array, "n dim"]  # contact acceleration while v does not change [m/s²]
    support: Float[Array, "n dim"]  # s [m/s]

    def kinetic(self, v: Float[Array, "nv"]) -> Scalar:
        """½ vᵀ M v [J]."""
        momentum = self.L.T @ v
        return (momentum @ momentum - jnp.sum(self.implicit * v * v)) / 2


def replay_steps(
    given: Given, between: Int[Array, ""], record: Float[Array, "room size"], extent: Extent
) -> Replayed:
    """The motion along the impulses that a run noted; there is room for so many steps."""
    m, samples, dtype = given.mechanism, extent.samples, given.q.dtype
    n, dim = given.contacts.count, given.contacts.dim
    if given.law.solver == "lcp" and dim == 3:
        raise InputError(
            'fixed steps with friction pyramids in space (`contact.solver` "lcp") have no'
            ' derivatives; take "newton"'
        )
    record = jax.lax.stop_gradient(record)
    last = (samples - 1) * between
    h = given.until / last.astype(dtype)
    rows = record[:, 1:].reshape(-1, n, 2, 6)[..., :dim]

    def step(s: Steps, k: Array, p: Array) -> tuple:
        return _step(given, s, k, h, p[:, 0], p[:, 1])

    start, room = _start(given), record.shape[0]
    shapes = jax.eval_shape(step, start, jnp.asarray(0), rows[0])[1]
    nothing = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)

    def one(s: Steps, now: tuple) -> tuple:
        return jax.lax.cond(now[0] <= last, step, lambda s, k, p: (s, nothing), s, *now)

    _, (shown, noted) = jax.lax.scan(jax.checkpoint(one), start, (jnp.arange(room), rows))
    at = jnp.minimum(jnp.arange(samples) * between, room - 1)
    shown = jax.tree.map(lambda x: x[at], shown)
    shown["time"] = jnp.linspace(0, 1, samples, dtype=dtype) * given.until
    shown["kinetic"] = jax.vmap(lambda a, b: kinetic_energy(m, a, b))(shown["q"], shown["v"])
    shown["potential"] = jax.vmap(lambda a: potential_energy(m, a))(shown["q"])
    shown |= dict(zip(LEDGER, shown.pop("ledger").T, strict=True))
    known = jnp.where(last < room, 1.0, jnp.nan)
    number = jnp.arange(1, extent.max_events + 2, dtype=dtype)
    index = jnp.searchsorted(jnp.where(jnp.arange(room) <= last, record[:, 0], jnp.inf), number)
    happened = number <= record[jnp.minimum(last, room - 1), 0]

    def event(x: Array) -> Array:
        chosen = x[jnp.minimum(index, room - 1)]
        return jnp.where(happened.reshape(-1, *[1] * (chosen.ndim - 1)), chosen, 0.0)

    return Replayed(
        jax.tree.map(lambda x: x * known, shown),
        jax.tree.map(event, noted) if extent.events else {},
    )


def _start(given: Given) -> Steps:
    m, c, dtype = given.mechanism, given.contacts, given.q.dtype
    q, v = normalize(m, given.q), given.v
    gap, u = gaps_and_velocities(m, c, link_kinematics(m, q), v, jnp.zeros((), dtype))
    still = jnp.sum(u[:, :-1] ** 2, axis=1) <= REST.of(q) ** 2
    modes = jnp.where(still & (gap <= TOUCH.of(q)), STICK, OPEN)
    none = jnp.zeros_like(u)
    return Steps(
        q, v, jnp.zeros_like(v), jnp.zeros_like(v), jnp.zeros(len(LEDGER), dtype), none, modes, gap,
        u[:, -1], none[:, 0], given.control.memory(),
    )  # fmt: skip


def _step(
    given: Given, s: Steps, k: Int[Array, ""], h: Scalar, p: Float[Array, "n dim"], squeeze: Array
) -> tuple[Steps, tuple]:
    """A step under impulses p, of which `squeeze` are those of compression."""
    m, law, dtype = given.mechanism, given.law, s.q.dtype
    first = k == 0
    t, kick = k.astype(dtype) * h, jnp.where(first, h / 2, h)
    v_now = s.v + s.change / 2
    memory = _switched(given.control, t, s.q, v_now, s.modes, s.memory)
    collides, tau = _collisions(s, h, kick - h / 2, law.rest_speed)
    q = add_velocity(m, s.q, tau * (v_now + tau / (2 * h) * s.change))
    since = kick - h / 2 + tau
    # Commands that the core knows are those of the instant, others those of the step's beginning.
    told = (t + tau, q) if _is_known(given.control) else (t, s.q)
    command = given.control.command(*told, v_now, s.modes, memory).astype(dtype)
    d, active, fast = _equations(given, s, t + tau, q, v_now, command, h, kick, tau, collides)
    v_now = d.now
    pull = (d.Y.T @ d.half).reshape(p.shape)
    a = pull[:, -1] / kick + d.bias[:, -1]
    low = _lower_bounds(law, d, collides, a, h, since, tau)
    free = d.velocity + pull + (h / 2 - tau) * d.bias
    W, b = d.Y.T @ d.Y, free.at[:, -1].add(-low)
    mu = jnp.where(s.modes == STICK, law.mu_static, law.mu_dynamic)
    p = _impulses(W, b, mu, p, squeeze, collides, law)

    hit = jnp.any(collides & (p[:, -1] > 0))
    change = solve_upper(d.L, d.half + d.Y @ p.reshape(-1))
    mid = free + (W @ p.reshape(-1)).reshape(p.shape)
    after = mid - (h / 2 - tau) * d.bias
    modes = _modes(p, mid, mu, collides & (low > 0))
    booked = _booked(m, d, s.v, change, p, after, kick, since, hit)
    T = d.kinetic(s.v)
    scale, removed = _bound_energy(law, d, s.v + change, T, hit)
    change = scale * (s.v + change) - s.v
    mid, after = (scale * (u + d.support) - d.support for u in (mid, after))
    half = jnp.where(first | hit, 0.0, 0.5).astype(dtype)  # v_k lies between v and v_next
    shown = {
        "q": s.q,
        "v": jnp.where(hit, v_now, s.v + half * change),  # an impact is after t_k
        "ledger": s.ledger + half * booked,
        "force": jnp.where(hit, s.force, p / kick),
        "effort": actuator_effort(m, q, v_now, command),
    }
    smooth = jnp.where(hit, 0.0, h / kick)
    ends = jnp.where(active, mid[:, -1], d.closing)
    new = Steps(
        q=add_velocity(m, q, (h - tau) * (s.v + change)),
        v=s.v + change,
        change=smooth * change,
        unpressed=smooth * jnp.where(fast, solve_upper(d.L, d.half), change),
        ledger=(s.ledger + booked).at[-1].add(removed),
        force=shown["force"],
        modes=modes,
        gap=d.gap + (h - tau) * ends,
        closing=ends,
        pull=jnp.where(active, a, s.pull),
        memory=memory,
    )
    noted = _noted(d, t + tau, q, s.v, p, after, active) | {
        "v_after": new.v,
        "kinetic_before": T,
        "kinetic_after": d.kinetic(new.v),
        "removed": removed,
        "speed": jnp.max(jnp.abs(new.v)),
    }
    return new, (shown, noted)


def _is_known(control: AbstractSwitchingControl) -> bool:
    """Whether the core itself computes the commands."""
    return isinstance(plain_of(control), HarmonicControl | PhasedControl)


def _switched(control: AbstractSwitchingControl, t, q, v, modes, memory: Any) -> Any:
    """The memory after guards that are below zero: all phases that the core knows, else one."""
    guards = control.guards(t, q, v, modes, memory)
    for i in range(guards.size):
        due = (guards[i] < 0) & (_is_known(control) | (i == jnp.argmin(guards)))
        new = control.switch(jnp.asarray(i), t, q, v, modes, memory)
        memory = jax.tree.map(lambda a, b, due=due: jnp.where(due, a, b), new, memory)
    return memory


def _collisions(
    s: Steps, h: Scalar, since: Scalar, rest_speed: Float[Array, "n"]
) -> tuple[Bool[Array, "n"], Scalar]:
    """Which contacts collide within the step, and when the first does [s]; 0 if none."""
    u = s.closing + since * s.pull
    fast = -u > jnp.maximum(rest_speed, 2 * h * jnp.abs(s.pull))
    due = fast & (s.gap + h * (u + h / 2 * s.pull) < 0)
    approach = jnp.where(due, -u, 1.0)
    when = jnp.clip(s.gap / approach, 0.0, h)
    when = jnp.clip(s.gap / (approach - jnp.where(due, s.pull, 0.0) * when / 2), 0.0, h)
    first = jnp.min(jnp.where(due, when, h))
    return due, jnp.where(jnp.any(due), first, 0.0)


def _equations(given: Given, s: Steps, t, q, v_now, command, h, kick, tau, collides) -> tuple:
    """The equations of a step, which contacts take part, and whether links turn far in it."""
    m, c = given.mechanism, given.contacts
    state = link_kinematics(m, q)
    inertias = body_inertias(m, state)
    M = lower_mass_matrix(m, state, inertias)
    (joints, _), at_v = scalar_entries(m.tree)
    springs = jnp.zeros_like(s.v).at[at_v].set(m.joints.stiffness[joints])

    def smooth(v: Array) -> dict[str, Array]:
        stiffness, damping = _servo(m, q, v, command)
        servo = kick / 2 * (damping + h / 2 * stiffness)
        implicit = servo + kick / 2 * (m.joints.damping + h / 2 * springs)
        L = cholesky(M + jnp.diag(implicit))
        drive = actuator_force(m, q, v, command) + damping * (v - s.v)
        force = drive - m.joints.damping * s.v + spring_force(m, q)
        force = force - bias_force_at(m, state, inertias, v)
        half = solve_lower(L, kick * force)
        return dict(now=v, L=L, servo=servo, implicit=implicit, drive=drive, force=force, half=half)

    def mean(_: Array, x: dict[str, Array]) -> dict[str, Array]:
        change = solve_upper(x["L"], x["half"]) + s.change - s.unpressed
        return smooth(s.v + change / 2)

    # What turns far in a step has its forces at the mean velocity of it (`core.gyration`).
    turns = jnp.max(jnp.sum(link_velocities(m.tree, state, v_now)[:, :3] ** 2, axis=1))
    fast = (turns * h * h >= _LITTLE**2) & (tau == 0)
    made = smooth(v_now)
    made = jax.lax.cond(fast, lambda x: jax.lax.fori_loop(0, _TURNS, mean, x), lambda x: x, made)
    v_now = made["now"]

    here = contact_kinematics(m, c, state, v_now, t)
    J = here.jacobian.reshape(c.count * c.dim, m.nv)
    u = here.velocity
    reach = _SOON * h * (jnp.abs(u[:, -1]) + _SOON * h * jnp.abs(s.pull)) + TOUCH.of(q)
    Y = solve_lower(made["L"], J.T)
    driven = u[:, -1] + (Y.T @ made["half"]).reshape(u.shape)[:, -1]
    soon = (here.gap <= _HASTE * h) & (here.gap <= _SOON * h * jnp.abs(driven))
    active = (here.gap <= reach) | soon | (s.modes != OPEN) | collides
    # How tangents turn is known where contact lasts; not what v will be where something lands.
    lands = jnp.any(active & ((s.modes == OPEN) | collides))
    bias = here.bias.at[:, :-1].multiply(jnp.where(lands, 0.0, 1.0))
    d = StepEquations(
        **made,
        Y=Y,
        gap=here.gap,
        closing=u[:, -1],
        velocity=u + (J @ (s.v - v_now)).reshape(u.shape),
        bias=bias,
        support=here.support_velocity,
    )
    return d, active, fast


def _servo(m: Mechanism, q: Array, v: Array, command: Array) -> tuple[Array, Array]:
    """Stiffness and damping that actuators give to joints of their own, unless at their limits."""
    x = m.actuators
    f = actuator_effort(m, q, v, command)
    free = (f > x.force_range[:, 0]) & (f < x.force_range[:, 1])
    alone = free & (jnp.sum(x.moment != 0, axis=1) == 1)
    (_, at_q), at_v = scalar_entries(m.tree)
    long = jnp.zeros_like(x.moment, bool).at[:, at_v].set(x.length_of_q[:, at_q] != 0)

    def on_joints(gain: Array, moment: Array) -> Array:
        return jnp.where(alone, jnp.maximum(-gain, 0.0), 0.0) @ moment**2

    stiffness = on_joints(x.bias[:, 1], jnp.where(long, x.moment, 0.0))
    return stiffness, on_joints(x.bias[:, 2], x.moment)


def _lower_bounds(law: Any, d: StepEquations, collides, a, h, since, tau) -> Float[Array, "n"]:
    """β of every contact [m/s]."""
    if law.restitution_law == "poisson":
        rebound = jnp.zeros_like(a)
    else:
        before = d.velocity[:, -1] - since * d.bias[:, -1]
        rebound = -law.restitution * (before + a * since) + a * (h / 2 - tau)
    rise = jnp.minimum(-d.gap / h, h * jnp.maximum(-a, 0.0))
    stays = jnp.where(d.gap >= 0, -d.gap / h, rise)
    return jnp.where(collides, jnp.maximum(rebound, 0.0), stays)


def _impulses(W, b, mu, p, squeeze, collides, law: Any) -> Float[Array, "n dim"]:
    """The step's impulses: in value the run's own, with the derivatives of what they solve."""
    none = jnp.zeros_like(mu)
    if law.restitution_law != "poisson":
        return _solved(W, b, mu, none, p)
    # Colliding normals stop first; then at least e times the impulse of that is given back.
    twice = jnp.any(squeeze != 0)
    first = _solved(W, b, mu, none, jnp.where(twice, squeeze, p))
    floor = jnp.where(collides, law.restitution * first[:, -1], 0.0)
    b = b + (W @ first.reshape(-1)).reshape(b.shape)
    second = _solved(W, b, mu, floor, jnp.where(twice, p - squeeze, 0.0))
    return first + jnp.where(twice, second, 0.0)


def _solved(
    W: Float[Array, "m m"],
    b: Float[Array, "n dim"],
    mu: Float[Array, "n"],
    floor: Float[Array, "n"],
    p: Float[Array, "n dim"],
) -> Float[Array, "n dim"]:
    p = jax.lax.stop_gradient(p)
    least = jax.lax.stop_gradient(floor)
    slack = _PRESSED.of(p) * jnp.max(p[:, -1]) + TINY.of(p)
    lifted = p[:, -1] > least + slack  # else the normal impulse is the least
    friction = jnp.sqrt(jnp.sum(p[:, :-1] ** 2, axis=1))
    scale = jnp.max(jnp.diag(W))

    def equations(p: Array, W: Array, b: Array, mu: Array, floor: Array) -> Array:
        u = b + (W @ p.reshape(-1)).reshape(p.shape)
        square = jnp.sum(u[:, :-1] ** 2, axis=1)
        still = square <= REST.of(u) ** 2
        speed = jnp.sqrt(jnp.where(still, 1.0, square))
        inside = (friction < (1 - _INSIDE) * mu * p[:, -1]) | (still & (p[:, -1] > slack))
        along = jnp.where(still, 0.0, mu * p[:, -1] / speed)[:, None] * u[:, :-1]
        tangents = jnp.where(inside[:, None], u[:, :-1], scale * (p[:, :-1] + along))
        normals = jnp.where(lifted, u[:, -1], scale * (p[:, -1] - floor))
        return jnp.concatenate([tangents, normals[:, None]], axis=1).reshape(-1)

    J = jax.jacfwd(equations)(p, *jax.lax.stop_gradient((W, b, mu, floor)))
    J = jax.lax.stop_gradient(J.reshape(W.shape))
    wrong = equations(p, W, b, mu, floor)
    change = solve_redundant(J, wrong - jax.lax.stop_gradient(wrong), jax.lax.stop_gradient(scale))
    return p - change.reshape(p.shape)


def _modes(p: Array, u: Array, mu: Array, rebounds: Array) -> Int[Array, "n"]:
    """Which contacts pressed and slid."""
    closed = (p[:, -1] > _PRESSED.of(p) * jnp.max(p[:, -1])) & ~rebounds
    friction, square = (jnp.sum(x[:, :-1] ** 2, axis=1) for x in (p, u))
    inside = friction < ((1 - _INSIDE) * mu * p[:, -1]) ** 2
    sticks = (square <= REST.of(u) ** 2) | inside
    return jnp.where(closed, jnp.where(sticks, STICK, SLIP), OPEN)


def _booked(m: Mechanism, d: StepEquations, v, change, p, after, kick, since, hit) -> Array:
    """Work done in the step [J], in the order of `LEDGER`."""
    mean = v + change / 2
    # Beyond the mean velocity, as far as an impact is not in the middle.
    beyond = jnp.where(hit, 0.5 - since / kick, 0.0) * change
    u = (d.velocity + after) / 2
    rubbing, normal = -jnp.sum(p[:, :-1] * u[:, :-1]), -jnp.sum(p[:, -1] * u[:, -1])
    return jnp.stack(
        [
            (kick * d.drive - d.servo * change) @ (mean + beyond),
            kick * jnp.sum(m.joints.damping * mean * (mean + beyond)),
            jnp.where(hit, 0.0, rubbing),
            jnp.sum(p * d.support),
            normal + jnp.where(hit, rubbing, 0.0) + (kick * d.force - d.implicit * change) @ beyond,
        ]
    )


def _bound_energy(law: Any, d: StepEquations, v, before, hit) -> tuple[Scalar, Scalar]:
    """The factor of all velocities after an impact, and the energy it removes: (5.2)-(5.4)."""
    if law.energetic is None:
        return jnp.ones_like(before), jnp.zeros_like(before)
    T, most = d.kinetic(v), law.energetic * before
    too_much = hit & (most < T)
    ratio = jnp.where(too_much, most / jnp.where(too_much, T, 1.0), 1.0)
    return jnp.sqrt(ratio), T * (1 - ratio)


def _noted(d: StepEquations, t, q, v, p, after, active) -> dict[str, Array]:
    """What the list of events would tell of a step."""
    pressed = p[:, -1] > _PRESSED.of(p) * jnp.max(p[:, -1])
    p = jnp.where(pressed[:, None], p, 0.0)
    rubs = jnp.sum(p[:, :-1] ** 2, axis=1)
    mu = jnp.sqrt(jnp.where(rubs > 0, rubs, 1.0)) / jnp.where(pressed, p[:, -1], 1.0)
    rows = jnp.where(active[:, None], 1.0, 0.0)
    return {
        "time": t,
        "q": q,
        "v_before": v,
        "gap": d.gap,
        "velocity_before": rows * d.velocity,
        "velocity_after": rows * after,
        "impulse": p,
        "mu": jnp.where(rubs > 0, mu, 0.0),
        "work": p * (d.velocity + after) / 2,
    }
