"""What the ground does to each body that it carries: force, impacts, and the phase of its contact.

The forces at the points of a body (the four of a foot) are added up, in the world's axes. An impact
of rigid bodies is an impulse, not a force; a force plate would show a peak as high as its filter
lets through. So the force is also given as a mean over `WINDOW`, impacts included.

rodic's phases, body by body: approach (nothing of it touches), impact, regular contact.
"""

import itertools
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.integrate import cumulative_trapezoid
from scipy.interpolate import make_interp_spline

from stiction.engines.forces import OPEN
from stiction.mechanism import Mechanism, center_of_mass, momentum, total_mass
from stiction.mechanism.kinematics import body_poses, motion
from stiction.surfaces import Contacts, contact_places

if TYPE_CHECKING:
    from stiction.scenes.run import Run

WINDOW = 0.01  # [s]
APPROACH, IMPACT, CONTACT = range(3)
PHASES = ("approach", "impact", "contact")


@dataclass(frozen=True)
class Reactions:
    """Of every body that touches the ground.

    Attributes:
        bodies: Their names.
        time: Of each sample [s].
        force: Without impacts, in world axes [N]. Shape (n, n_bodies, 3).
        mean: Over `WINDOW` around each sample, impacts included [N]. Shape (n, n_bodies, 3).
        phase: `APPROACH`, `IMPACT` (one falls between this sample and the next) or `CONTACT`. Shape
            (n, n_bodies).
        impact_time: Of each impact [s].
        impulse: Of each impact [N·s]. Shape (n_impacts, n_bodies, 3).
        center: Centre of mass [m]. Shape (n, 3).
        momentum: Of everything [N·s]. Shape (n, 3).
        weight: As a force [N]. Shape (3,).
    """

    bodies: tuple[str, ...]
    time: np.ndarray
    force: np.ndarray
    mean: np.ndarray
    phase: np.ndarray
    impact_time: np.ndarray
    impulse: np.ndarray
    center: np.ndarray
    momentum: np.ndarray
    weight: np.ndarray

    @property
    def up(self) -> np.ndarray:
        """Against gravity."""
        size = np.linalg.norm(self.weight)
        return -self.weight / size if size else np.array([0.0, 0.0, 1.0])

    @property
    def balance_error(self) -> float:
        """The most by which the impulse of all forces differs from the change of momentum [N·s]."""
        given = impulse_until(self.time, self.time, self.force, self.impact_time, self.impulse)
        given = given.sum(axis=1) + np.outer(self.time - self.time[0], self.weight)
        return float(np.abs(given - (self.momentum - self.momentum[0])).max())

    def flights(self) -> list[dict[str, float]]:
        """When nothing touched between two contacts: how long, and how high the centre rose."""
        flying = (self.phase == APPROACH).all(axis=1)
        changes = np.flatnonzero(np.diff(flying.astype(int))) + 1
        edges = [0, *changes, len(flying)]
        height = self.center @ self.up
        return [
            {
                "start": float(self.time[a]),
                "duration": float(self.time[min(b, len(flying) - 1)] - self.time[a]),
                "rise": float(height[a:b].max() - height[a]),
            }
            for a, b in itertools.pairwise(edges)
            if flying[a]
        ]

    def summary(self) -> dict[str, Any]:
        """In numbers, as plain data."""
        trapezoid = np.trapezoid(self.force, self.time, axis=0)
        return {
            "weight": float(np.linalg.norm(self.weight)),
            "momentum_error": self.balance_error,
            "flights": self.flights(),
            "bodies": {
                name: {
                    "peak": float((self.force[:, i] @ self.up).max()),
                    "peak_mean": float((self.mean[:, i] @ self.up).max()),
                    "impact_impulse": float((self.impulse[:, i] @ self.up).sum()),
                    "impulse": float((trapezoid[i] + self.impulse[:, i].sum(axis=0)) @ self.up),
                    "final": float(self.force[-1, i] @ self.up),
                }
                for i, name in enumerate(self.bodies)
            },
        }

    def variables(self) -> dict[str, Any]:
        """As variables of a run's dataset."""
        dims = ("time", "supported_body")
        flags = {"flag_values": [0, 1, 2], "flag_meanings": " ".join(PHASES)}
        what = {"long_name": "force of the ground, without impacts", "units": "N"}
        mean = {"long_name": f"force of the ground, mean over {WINDOW:g} s with impacts"}
        return {
            "supported_body": list(self.bodies),
            "axis": ["x", "y", "z"],
            "phase": (dims, self.phase.astype(np.int8), {"long_name": "phase of contact", **flags}),
            "reaction": ((*dims, "axis"), self.force, what),
            "reaction_mean": ((*dims, "axis"), self.mean, {**mean, "units": "N"}),
        }


def world_forces(run: "Run") -> np.ndarray | None:
    """Contact points and forces in the world at each sample [m, N]. Shape (n, n_contacts, 6)."""
    if run.contacts is None:
        return None
    t = run.trajectory
    return _in_world(run.mechanism, run.contacts, t.time, t.q, t.force)


def _in_world(mechanism: Mechanism, contacts: Contacts, time, q, vectors) -> np.ndarray:
    """Contact points at given states, and vectors there that are told in the contacts' frames."""
    rows = np.array([0, 2]) if contacts.planar else np.array([0, 1, 2])

    @jax.jit
    @jax.vmap
    def at(t, q, vector):
        places = contact_places(contacts, body_poses(mechanism, motion(mechanism, q).links), t)
        world = jnp.einsum("nkx,nk->nx", places.frame[:, rows], vector)
        return jnp.concatenate([places.point, world], axis=1)

    return np.array(at(time, q, vectors))


def reactions(run: "Run") -> Reactions | None:
    """The reactions of a run whose bodies touch the ground at several points; None of others."""
    contacts, mechanism = run.contacts, run.mechanism
    if contacts is None or run.trajectory.compliance is not None:
        return None
    first, second = contacts.bodies.T
    touched = [int(b) for b in dict.fromkeys(first[second == 0])]
    t, log = run.trajectory, run.trajectory.events
    if not touched or (second == 0).sum() == len(touched) or log is None:
        return None
    member = np.array([(first == b) & (second == 0) for b in touched], float)
    seen = world_forces(run)
    assert seen is not None
    ended = np.isfinite(np.asarray(t.q)).all(axis=1)
    time = np.asarray(t.time)[ended]
    force = np.einsum("bc,ncx->nbx", member, seen[ended][:, :, 3:])
    closed = (np.asarray(t.modes)[ended] != OPEN).astype(float) @ member.T > 0
    phase = np.where(closed, CONTACT, APPROACH)

    count = min(int(t.n_events), len(log.time) - 1)
    hits = np.flatnonzero(np.asarray(log.impact)[:count])
    impact_time, impulse = np.asarray(log.time)[hits], np.zeros((0, len(touched), 3))
    if hits.size:
        at = (np.asarray(x)[hits] for x in (log.time, log.q, log.impulse))
        impulse = np.einsum("bc,icx->ibx", member, _in_world(mechanism, contacts, *at)[:, :, 3:])
    place = np.clip(np.searchsorted(time, impact_time, side="right") - 1, 0, len(time) - 1)
    for k, p in zip(place, impulse, strict=True):
        phase[k, np.linalg.norm(p, axis=-1) > 0] = IMPACT
        if run.scenario.contact.law == "stepping":  # the impulse of its step is all in the impact
            force[k] = 0.0

    center, moved = jax.jit(
        jax.vmap(lambda q, v: (center_of_mass(mechanism, q), momentum(mechanism, q, v)[0]))
    )(jnp.asarray(t.q)[ended], jnp.asarray(t.v)[ended])
    return Reactions(
        bodies=tuple(mechanism.tree.body_names[b] for b in touched),
        time=time,
        force=force,
        mean=_mean(time, force, impact_time, impulse),
        phase=phase,
        impact_time=impact_time,
        impulse=impulse,
        center=np.asarray(center),
        momentum=np.asarray(moved),
        weight=float(total_mass(mechanism)) * np.asarray(mechanism.gravity),
    )


def _mean(time, force, impact_time, impulse) -> np.ndarray:
    """The running mean over `WINDOW`."""
    low, high = np.maximum(time - WINDOW / 2, time[0]), np.minimum(time + WINDOW / 2, time[-1])
    until = partial(impulse_until, time=time, force=force, hits=impact_time, impulse=impulse)
    return (until(high) - until(low)) / (high - low)[:, None, None]


def impulse_until(
    when: np.ndarray, time: np.ndarray, force: np.ndarray, hits: np.ndarray, impulse: np.ndarray
) -> np.ndarray:
    """The integral of sampled forces, and the impulses of impacts, up to given times [N·s]."""
    smooth = make_interp_spline(time, cumulative_trapezoid(force, time, axis=0, initial=0), k=1)
    jumps = np.concatenate([np.zeros((1, *force.shape[1:])), np.cumsum(impulse, axis=0)])
    return smooth(when) + jumps[np.searchsorted(hits, when)]
