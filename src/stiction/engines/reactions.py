"""What the ground does to each body that it carries: force, impacts, and the phase of its contact.

The forces at the points of a body (the four of a foot) are added up, in the world's axes. An impact
of rigid bodies is an impulse, not a force; a force plate would show a peak as high as its filter
lets through. So the force is also given as a mean over `WINDOW`, impacts included.

rodic's phases, body by body: approach (nothing of it touches), impact, regular contact.
"""

import itertools
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from stiction._base.described import Described
from stiction.engines.forces import OPEN
from stiction.engines.places import center_and_momentum, places_along
from stiction.engines.result import Trajectory
from stiction.engines.stepping import Stepping
from stiction.mechanism import total_mass

WINDOW = 0.01  # [s]
APPROACH, IMPACT, CONTACT = range(3)
PHASES = ("approach", "impact", "contact")


@dataclass(frozen=True)
class Reactions:
    """Of every body that touches the ground."""

    bodies: tuple[str, ...]  # their names
    time: np.ndarray  # of each sample [s]
    force: np.ndarray  # without impacts, in world axes [N]. Shape (n, n_bodies, 3).
    # over `WINDOW` around each sample, impacts included [N]. Shape (n, n_bodies, 3).
    mean: np.ndarray
    # `APPROACH`, `IMPACT` (one falls between this sample and the next) or `CONTACT`. Shape (n,
    # n_bodies).
    phase: np.ndarray
    impact_time: np.ndarray  # of each impact [s]
    impulse: np.ndarray  # of each impact [N·s]. Shape (n_impacts, n_bodies, 3).
    center: np.ndarray  # centre of mass [m]. Shape (n, 3).
    momentum: np.ndarray  # of everything [N·s]. Shape (n, 3).
    weight: np.ndarray  # as a force [N]. Shape (3,).

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
        """When nothing touched, and nothing but the weight acted: how long, how high it rose."""
        flying = (self.phase == APPROACH).all(axis=1)
        changes = np.flatnonzero(np.diff(flying.astype(int))) + 1
        edges = [0, *changes.tolist(), len(flying)]
        height = self.center @ self.up
        return [
            {
                "start": float(self.time[a]),
                "duration": float(self.time[min(b, len(flying) - 1)] - self.time[a]),
                "rise": float(height[a:b].max() - height[a]),
            }
            for a, b in itertools.pairwise(edges)
            if flying[a] and self._falls(a, b)
        ]

    def _falls(self, start: int, end: int) -> bool:
        """Whether the momentum changes by the weight alone; not so of what hangs on the world."""
        time, momentum = self.time[start:end], self.momentum[start:end] @ self.up
        gained = (time - time[0]) * (self.weight @ self.up)
        allowed = 0.01 * np.abs(gained).max() + 1e-6 * np.abs(momentum).max()
        return bool(np.abs(momentum - momentum[0] - gained).max() <= allowed)

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

    def add_to(self, dataset: Described) -> Described:
        """A run's dataset with the reactions."""
        dims = ("time", "supported_body")
        flags = {"flag_values": [0, 1, 2], "flag_meanings": " ".join(PHASES)}
        what = {"long_name": "force of the ground, without impacts", "units": "N"}
        mean = {"long_name": f"force of the ground, mean over {WINDOW:g} s with impacts"}
        names = {
            "supported_body": ("supported_body", list(self.bodies)),
            "axis": ("axis", ["x", "y", "z"]),
        }
        found = {
            "phase": (dims, self.phase.astype(np.int8), {"long_name": "phase of contact", **flags}),
            "reaction": ((*dims, "axis"), self.force, what),
            "reaction_mean": ((*dims, "axis"), self.mean, {**mean, "units": "N"}),
        }
        return dataset._replace(
            variables={**dataset.variables, **found},
            coordinates={**dataset.coordinates, **names},
        )


def reactions_of(run: Trajectory) -> Reactions | None:
    """The reactions of a run whose bodies touch the ground at several points; None of others."""
    contacts, mechanism = run.contacts, run.mechanism
    if contacts is None or run.compliance is not None:
        return None
    first, second = contacts.bodies.T
    touched = [int(b) for b in dict.fromkeys(first[second == 0])]
    t, log = run, run.log
    if not touched or (second == 0).sum() == len(touched) or log is None or run.places is None:
        return None
    member = np.array([(first == b) & (second == 0) for b in touched], float)
    ended = np.isfinite(np.asarray(t.q)).all(axis=1)
    time = np.asarray(t.time)[ended]
    closed = (np.asarray(t.modes)[ended] != OPEN).astype(float) @ member.T > 0
    phase = np.where(closed, CONTACT, APPROACH)

    count = min(int(t.n_events), len(log.time) - 1)
    hits = np.flatnonzero(np.asarray(log.impact)[:count])
    impact_time = np.asarray(log.time)[hits]
    samples = np.flatnonzero(ended)
    sample = np.concatenate([samples, np.zeros(len(hits), int)])
    event = np.concatenate([np.full(len(samples), -1), hits])
    world = np.einsum("bc,ncx->nbx", member, places_along(run, sample, event)[2])
    force, impulse = np.split(world, [len(time)])
    place = np.clip(np.searchsorted(time, impact_time, side="right") - 1, 0, len(time) - 1)
    for k, p in zip(place, impulse, strict=True):
        phase[k, np.linalg.norm(p, axis=-1) > 0] = IMPACT
        if isinstance(run.law, Stepping):  # the impulse of its step is all in the impact
            force[k] = 0.0

    center, moved = center_and_momentum(mechanism, *(np.asarray(x)[ended] for x in (t.q, t.v)))
    return Reactions(
        bodies=tuple(mechanism.tree.body_names[b] for b in touched),
        time=time,
        force=force,
        mean=_mean(time, force, impact_time, impulse),
        phase=phase,
        impact_time=impact_time,
        impulse=impulse,
        center=center,
        momentum=moved,
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
    none, h = np.zeros((1, *force.shape[1:])), np.diff(time)[:, None, None]
    sums = np.concatenate([none, np.cumsum(h * (force[1:] + force[:-1]) / 2, axis=0)])
    # Straight between samples.
    i = np.clip(np.searchsorted(time, when, side="right") - 1, 0, len(time) - 2)
    smooth = sums[i] + (when - time[i])[:, None, None] * (np.diff(sums, axis=0) / h)[i]
    jumps = np.concatenate([none, np.cumsum(impulse, axis=0)])
    return smooth + jumps[np.searchsorted(hits, when)]
