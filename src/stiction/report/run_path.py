"""The way of a run through its events: samples alone would cut the corners of a bounce."""

from typing import NamedTuple

import mujoco
import numpy as np

from stiction._base.arrays import Float, Int
from stiction._base.checks import LARGEST
from stiction.engines import Trajectory, places_along
from stiction.engines.events import pushed

_SAME = 1e-12  # s: a sample as near as this to an event is the event


class RunPath(NamedTuple):
    """States in order of time. An event is there twice: before and after what happened."""

    time: Float[np.ndarray, "n"]  # [s]
    q: Float[np.ndarray, "n nq"]  # configurations
    v: Float[np.ndarray, "n nv"]  # velocities
    sample: Int[np.ndarray, "n"]  # the last sample at or before each
    event: Int[np.ndarray, "n"]  # the event that each is, or -1

    def index(self, t: float) -> int:
        """The last state at or before a time."""
        found = np.searchsorted(self.time, t, side="right") - 1
        return int(np.clip(found, 0, len(self.time) - 1))

    def configuration(self, model: mujoco.MjModel, t: float) -> np.ndarray:
        """Where a model is at a time, between two states too."""
        k = self.index(t)
        here, after = np.array(self.q[k]), min(k + 1, len(self.time) - 1)
        if (step := self.time[after] - self.time[k]) > 0 and t > self.time[k]:
            way = np.zeros(model.nv)
            mujoco.mj_differentiatePos(model, way, 1.0, self.q[k], self.q[after])
            mujoco.mj_integratePos(model, here, way, min((t - self.time[k]) / step, 1.0))
        return here

    def thinned(self, most: int) -> "RunPath":
        """At most so many of the states, spread evenly, with the first and the last."""
        if len(self.time) <= most:
            return self
        kept = np.unique(np.linspace(0, len(self.time) - 1, most).astype(int))
        return RunPath(*(x[kept] for x in self))


def finite_samples(run: Trajectory) -> np.ndarray:
    """Which samples have a finite state and energy: those before a run failed or flew away."""
    state = np.concatenate([np.asarray(run.q), np.asarray(run.v)], axis=1)
    return np.isfinite(np.asarray(run.energy)) & (np.abs(state) < LARGEST).all(axis=1)


def event_count(run: Trajectory) -> int:
    """How many events the run's list has."""
    return 0 if run.log is None else min(int(run.n_events), len(run.log.time) - 1)


def has_place(run: Trajectory) -> np.ndarray:
    """Which contacts touch at a point; limits and dry friction of joints do not."""
    if run.places is None:
        return np.ones(len(run.contact_names), bool)
    return np.abs(run.places.frame).max(axis=(0, 2, 3)) > 0


def through_events(run: Trajectory) -> RunPath:
    """The finite samples of a run, and its events between them."""
    kept = np.flatnonzero(finite_samples(run))
    time, q, v = (np.asarray(x)[kept] for x in (run.time, run.q, run.v))
    samples = RunPath(time, q, v, kept, np.full(len(kept), -1))
    n = event_count(run)
    if n == 0 or kept.size == 0:
        return samples
    log = run.log
    at, places, before, after = (
        np.asarray(x)[:n] for x in (log.time, log.q, log.v_before, log.v_after)
    )
    known = np.isfinite(at) & np.isfinite(places).all(axis=1) & (at <= time[-1])
    at, places, before, after = at[known], places[known], before[known], after[known]
    number = np.flatnonzero(known)
    if len(number) == 0:  # events that no sample follows yet, or any more
        return samples
    # Samples at an event's own time are left to the event.
    near = np.searchsorted(at, time - _SAME)
    own = (near < len(at)) & (np.abs(at[np.minimum(near, len(at) - 1)] - time) <= _SAME)
    own[-1] = False  # the end is always there
    times = np.concatenate([time[~own], np.repeat(at, 2)])
    order = np.argsort(times, kind="stable")
    states = np.concatenate([q[~own], np.repeat(places, 2, axis=0)])[order]
    speeds = np.stack([before, after], axis=1).reshape(-1, v.shape[1])
    times = times[order]
    held = kept[np.clip(np.searchsorted(time, times, side="right") - 1, 0, len(time) - 1)]
    events = np.concatenate([np.full(np.count_nonzero(~own), -1), np.repeat(number, 2)])[order]
    return RunPath(times, states, np.concatenate([v[~own], speeds])[order], held, events)


def world_impulses(run: Trajectory) -> Float[np.ndarray, "n 7"]:
    """Impulses of impacts: time, point and impulse on the body, in the world [s, m, N s]."""
    n = event_count(run)
    if n == 0 or run.contacts is None:
        return np.empty((0, 7))
    log = run.log
    hits = np.flatnonzero(np.asarray(log.impact)[:n])
    if hits.size == 0:
        return np.empty((0, 7))
    impulse = np.asarray(log.impulse)[hits]
    point, _, vectors = places_along(run, np.zeros(len(hits), int), hits)
    event, contact = np.nonzero(pushed(impulse))
    time = np.asarray(log.time)[hits]
    return np.column_stack([time[event], point[event, contact], vectors[event, contact]])


def sampled_forces(run: Trajectory, path: RunPath) -> np.ndarray | None:
    """Contact points and forces along a path; None without contacts."""
    if run.contacts is None or run.places is None:
        return None
    point, frame, _ = places_along(run, path.sample, path.event)
    force = np.einsum("end,endx->enx", np.asarray(run.force)[path.sample], frame)
    return np.concatenate([point, force], axis=-1)
