"""The first impact of a scenario, and what every law makes of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array
from stiction._base.compile import quick_jit
from stiction._base.errors import InputError
from stiction.engines import Hybrid, Trajectory
from stiction.engines.contact_dynamics import contact_dynamics, impact_problem, kinetic
from stiction.engines.tolerances import APPROACH, REST, TOUCH
from stiction.engines.worlds.impacts import ImpactOutcome
from stiction.impacts import (
    ONE_CONTACT,
    ImpactProblem,
    ImpactSolution,
    given_restitution,
    impact_forces,
    impact_law,
    restitution_matrix,
    tangential_ratios,
)
from stiction.mechanism import Mechanism
from stiction.scenes.run import Scene
from stiction.scenes.world_state import impacts_of
from stiction.surfaces import Contacts, WorldContacts

_CREATED = 1e-9  # more than this part of the kinetic energy is no rounding
_WRONG = 1e-8  # part of the speeds, or impulses, by which a contact may close in, or pull

# name: impact law, energy method, in sequence
LAWS = {
    "no-slip": ("no-slip", "off", False),
    "no-slip, scaled": ("no-slip", "scale", False),
    "dissipation": ("dissipation", "off", False),
    "dissipation, scaled": ("dissipation", "scale", False),
    "dissipation, constrained": ("dissipation", "constrain", False),
    "newton": ("newton", "off", False),
    "poisson": ("poisson", "off", False),
    "stronge": ("stronge", "off", False),
    "lcp (square)": ("lcp", "off", False),
    "lcp (square), poisson": ("lcp-poisson", "off", False),
    "lcp (cone)": ("lcp-cone", "off", False),
    "lcp (cone), poisson": ("lcp-cone-poisson", "off", False),
    "no-slip, in sequence": ("no-slip", "off", True),
    "dissipation, in sequence": ("dissipation", "off", True),
}


@dataclass(frozen=True)
class ImpactState:
    """A state at which something collides."""

    time: float
    q: Array
    v: Array
    names: tuple[str, ...]  # of the contacts that take part
    problem: ImpactProblem  # of these only
    support_velocity: Array
    outcomes: Mapping[str, ImpactOutcome] = field(default_factory=dict)  # where the core resolves


def find_impact(scene: Scene, *, at_start: bool) -> ImpactState:
    """The state just before the first impact, or the initial one.

    Args:
        scene: What happens; its contacts are taken as rigid.
        at_start: Take the initial state as it is; something must collide there.
    """
    if at_start:  # a jump would put it on the ground first
        scene = scene.change({"jump": None})
    scene = scene.rigid()
    if isinstance(scene.contacts, WorldContacts):
        return _in_world(scene, at_start=at_start)
    contacts, law = scene.contacts, scene.law
    if not isinstance(contacts, Contacts) or not isinstance(law, Hybrid):
        raise InputError("nothing in this scene can touch: there is no impact to resolve")
    time, q, v = _instant(scene, at_start=at_start)
    problem, gap, support = _problem(scene.mechanism, contacts, law, q, v, jnp.asarray(time))
    approaching = np.asarray(problem.velocity)[:, -1]
    if not bool(np.any((np.asarray(gap) <= TOUCH.of(gap)) & (approaching < -APPROACH.of(gap)))):
        near = int(np.argmin(gap))
        raise InputError(
            f"`--q` and `--v` must be a state in which something collides: the gap of"
            f" '{contacts.names[near]}' is {float(gap[near]):.6g} m and it moves at"
            f" {approaching[near]:.6g} m/s away from what it would touch"
        )
    taking_part = np.flatnonzero(np.asarray(problem.active))
    names = tuple(contacts.names[i] for i in taking_part)
    # The others are apart; without them the problem is smaller, and sooner compiled.
    part = problem.part(jnp.asarray(taking_part))
    return ImpactState(time, q, v, names, part, support[taking_part])


def _instant(scene: Scene, *, at_start: bool) -> tuple[float, Array, Array]:
    return (0.0, scene.q, scene.v) if at_start else _state_before(scene)


def _in_world(scene: Scene, *, at_start: bool) -> ImpactState:
    """The same where contacts are found on the way: loops are kept, limits take part."""
    time, q, v = _instant(scene, at_start=at_start)
    here, outcomes = impacts_of(scene, q, v, time, list(LAWS.values()))
    normal = here.velocity[:, -1]
    if not np.any(normal < -APPROACH.double):
        raise InputError("`--q` and `--v` must be a state in which something collides")
    # What is only rubbed has a bounded force, and no impulse.
    part = np.flatnonzero((normal <= REST.double) & ~here.is_dry)
    n, dim = len(part), here.velocity.shape[1]
    rows = (part[:, None] * dim + np.arange(dim)).ravel()
    restitution, static, dynamic, _, speed, power = map(jnp.asarray, here.law[part].T)
    assert isinstance(scene.law, Hybrid)
    problem = ImpactProblem(
        W=jnp.asarray(here.W[np.ix_(rows, rows)]),
        velocity=jnp.asarray(here.velocity[part]),
        active=jnp.ones(n, bool),
        restitution=restitution,
        mu_static=static,
        mu_dynamic=dynamic,
        stribeck_speed=speed,
        stribeck_exponent=power,
        kinetic=jnp.asarray(here.kinetic),
        energetic=jnp.asarray(scene.law.energetic),
    )
    return ImpactState(
        time,
        jnp.asarray(q),
        jnp.asarray(v),
        tuple(here.names[i] for i in part),
        problem,
        jnp.asarray(here.support_velocity[part]),
        {name: found.part(part) for name, found in zip(LAWS, outcomes, strict=True)},
    )


@dataclass(frozen=True)
class PastImpact:
    """An impact of a run: its problem, with all contacts, and the velocities that it left."""

    problem: ImpactProblem
    velocity_after: Array
    energy_change: float
    coordinates_as_rate: Array  # J q: what (3.24) of flickinger has for a displacement


def past_impact(trajectory: Trajectory, index: int) -> PastImpact:
    """An impact of a run from the log of its events, by its index there."""
    scene, log = trajectory.scene, trajectory.log
    law, contacts = scene.law, scene.contacts
    assert isinstance(law, Hybrid)
    assert contacts is not None
    time, q, v_before, v_after = (
        jnp.asarray(x[index]) for x in (log.time, log.q, log.v_before, log.v_after)
    )

    def at(v: Array) -> ImpactProblem:
        return _problem(scene.mechanism, contacts, law, q, v, time)[0]

    before, after = at(v_before), at(v_after)
    if q.shape == v_before.shape:
        rate = at(q).velocity - at(jnp.zeros_like(q)).velocity
    else:  # with quaternions among them, coordinates are no velocities
        rate = jnp.full_like(before.velocity, jnp.nan)
    return PastImpact(before, after.velocity, float(after.kinetic - before.kinetic), rate)


def resolve_by_all(impact: ImpactState, tangential: float | None = None) -> list[dict[str, Any]]:
    """What each law makes of an impact, as plain data.

    Args:
        impact: The state just before it.
        tangential: A restitution e_t of all tangents, for a row by flickinger (3.15).
    """
    several = len(impact.names) > 1
    rows = []
    for name, (law, method, sequence) in LAWS.items():
        if sequence and not several:
            continue
        title = f"{name}, in sequence" if several and law in ONE_CONTACT else name
        if impact.outcomes:
            rows.append({"law": title, **_told(impact, impact.outcomes[name])})
        else:
            rows.append({"law": title, **_resolve(impact, impact_law(law, method, sequence))})
    if tangential is not None:
        given = partial(_given, tangential)
        rows.append({"law": f"given, e_t = {tangential:g}", **_resolve(impact, given)})
    return rows


def _given(tangential: float, problem: ImpactProblem) -> ImpactSolution:
    """The normal restitution of the problem, and one of all tangents."""
    n, dim = problem.velocity.shape
    ratios = jnp.full((n, dim - 1), tangential, problem.velocity.dtype)
    return given_restitution(problem, restitution_matrix(problem.restitution, ratios))


def _resolve(impact: ImpactState, law: Callable[[ImpactProblem], ImpactSolution]) -> dict[str, Any]:
    problem, ground = impact.problem, impact.support_velocity

    @jax.jit
    def resolve(problem: ImpactProblem, ground: Array):
        s = law(problem)
        after = s.scale * (problem.velocity_after(s.impulse) + ground) - ground
        given = jnp.sum(s.impulse * ground)  # by moving supports
        T = s.scale**2 * (problem.kinetic + jnp.sum(problem.work(s.impulse)) + given)
        forces = impact_forces(problem, after, T - given - problem.kinetic)
        return s, after, T, given, forces

    s, after, T, given, forces = jax.tree.map(np.asarray, resolve(problem, ground))
    outcome = ImpactOutcome(after, s.impulse, s.mu, float(T), float(s.scale))
    feasible, sticks = bool(s.feasible), s.sticks
    return _as_row(impact, outcome, forces, float(given), feasible=feasible, sticks=sticks)


def _told(impact: ImpactState, found: ImpactOutcome) -> dict[str, Any]:
    """An impact that the core has resolved."""
    given = float(np.sum(found.impulse * np.asarray(impact.support_velocity)))
    change = found.kinetic - given - float(impact.problem.kinetic)
    forces = np.asarray(_least_forces(impact.problem, jnp.asarray(found.velocity), change))
    # What closes in afterwards, or pulls, is against every law.
    speed = np.abs(np.asarray(impact.problem.velocity)).max()
    size = np.abs(found.impulse).max(initial=0.0)
    closes = bool(np.any(found.velocity[:, -1] < -_WRONG * speed))
    pulls = bool(np.any(found.impulse[:, -1] < -_WRONG * size))
    still = np.linalg.norm(found.velocity[:, :-1], axis=1) <= REST.double
    feasible = not (closes or pulls)
    return _as_row(impact, found, forces, given, feasible=feasible, sticks=still)


_least_forces = jax.jit(impact_forces)


def _as_row(
    impact: ImpactState,
    found: ImpactOutcome,
    forces: np.ndarray,
    given: float,
    *,
    feasible: bool,
    sticks: np.ndarray,
) -> dict[str, Any]:
    """An impact as plain data; `given` is the work of moving supports."""
    problem, after = impact.problem, found.velocity
    before = float(problem.kinetic)
    ratios = np.asarray(tangential_ratios(problem.velocity, jnp.asarray(after)))
    contacts = [
        {
            "contact": name,
            "velocity_after": after[i].tolist(),
            "impulse": found.impulse[i].tolist(),
            "mu": float(found.mu[i]),
            "tangential_restitution": ratios[i].tolist(),
            "state": _state(bool(sticks[i]), found.impulse[i], after[i]),
            "force": forces[i].tolist(),
        }
        for i, name in enumerate(impact.names)
    ]
    return {
        "contacts": contacts,
        "kinetic_before": before,
        "kinetic_after": found.kinetic,
        "creates_energy": bool(found.kinetic - given > (1 + _CREATED) * before),
        "feasible": feasible,
        "scale": found.scale,
    }


def _state(sticks: bool, impulse: np.ndarray, after: np.ndarray) -> str:
    if not impulse[-1] > 0:
        return "free"
    return "stick" if sticks or np.linalg.norm(after[:-1]) <= REST.double else "slip"


def _state_before(scene: Scene) -> tuple[float, Array, Array]:
    """Time and state just before the first impact."""
    until = scene.scenario.until
    trajectory = scene.simulate(until, 2)
    hits = [e for e in trajectory.events() if e.kind in ("impact", "zeno")]
    if not hits:
        raise InputError(
            f"nothing collides within `until` = {until:g} s; make it longer, or give a"
            " state in contact with --q and --v"
        )
    first = hits[0].index
    return hits[0].time, trajectory.log.q[first], trajectory.log.v_before[first]


@quick_jit
def _problem(mechanism: Mechanism, contacts: Contacts, law: Hybrid, q: Array, v: Array, t: Array):
    """The impact problem of a state, the gaps, and the velocity of what is touched."""
    law, _ = law.spread(contacts, (), q.dtype)
    d = contact_dynamics(mechanism, contacts, q, v, t, jnp.zeros_like(v))
    u = d.contacts.velocity
    active = (d.contacts.gap <= TOUCH.of(u)) & (u[:, -1] <= REST.of(u))
    problem = impact_problem(d, law, active, law.restitution, kinetic(d.L, v))
    return problem, d.contacts.gap, d.contacts.support_velocity
