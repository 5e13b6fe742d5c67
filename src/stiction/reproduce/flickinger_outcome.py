"""A run of Flickinger 2011 with its events, and what its figures must show of it."""

import functools
from dataclasses import dataclass

import jax
import numpy as np

from stiction.engines import Event, Trajectory, rest_time
from stiction.engines.forces import OPEN
from stiction.impacts import impact_forces
from stiction.mechanism import Mechanism
from stiction.reproduce.registry import Check
from stiction.scenes import PastImpact, parse_settings, past_impact, scene

SAMPLES = 2001
_HITS = ("impact", "zeno", "jam")


@dataclass(frozen=True)
class Outcome:
    """A run, with its events."""

    trajectory: Trajectory
    events: list[Event]

    @property
    def time(self) -> np.ndarray:
        """Times of the samples [s]."""
        return np.asarray(self.trajectory.time)

    @property
    def energy(self) -> np.ndarray:
        """Kinetic and potential energy [J]."""
        return np.asarray(self.trajectory.kinetic + self.trajectory.potential)

    @property
    def mechanism(self) -> Mechanism:
        """To be drawn."""
        return self.trajectory.mechanism

    @property
    def names(self) -> tuple[str, ...]:
        """Of the contacts."""
        return tuple(self.trajectory.contact_names)

    @property
    def modes(self) -> np.ndarray:
        """What each contact does at each sample."""
        return np.asarray(self.trajectory.modes)

    @property
    def force(self) -> np.ndarray:
        """Contact forces at each sample [N]."""
        return np.asarray(self.trajectory.force)

    @property
    def impacts(self) -> list[Event]:
        """Rebounds, and impacts that end without one; one row for each contact."""
        return [e for e in self.hits if e.kind == "impact"]

    @property
    def hits(self) -> list[Event]:
        """All events that have an impulse."""
        return [e for e in self.events if e.kind in _HITS]

    @property
    def pushes(self) -> list[Event]:
        """Those of which the impact law tells the impulse."""
        return self.hits

    @functools.cached_property
    def _past(self) -> list[tuple[float, PastImpact]]:
        """The impacts of the log, each instant once."""
        at = {e.index: e.time for e in self.hits}
        return [(t, past_impact(self.trajectory, i)) for i, t in at.items()]

    @functools.cached_property
    def estimates(self) -> tuple[np.ndarray, np.ndarray]:
        """Times of impacts, and the least forces (3.22)-(3.26) that do their work in 1 ms [N]."""
        forces = [
            np.asarray(_least_forces(p.problem, p.velocity_after, p.energy_change))
            for _, p in self._past
        ]
        return np.array([t for t, _ in self._past]), np.array(forces)

    @functools.cached_property
    def printed_estimates(self) -> np.ndarray:
        """Normal forces by (3.25) as it is printed, of one contact: work is force times q.

        F = ΔT W⁻¹ d / (dᵀ W⁻¹ d) with d = J q, which meets (3.24) with the least Fᵀ W F. The bound
        f_n ≥ 0 is left out: where this is negative nothing meets both.
        """
        out = []
        for _, past in self._past:
            W, d = np.asarray(past.problem.W), np.asarray(past.coordinates_as_rate).reshape(-1)
            along = np.linalg.solve(W, d)
            out.append(past.energy_change * along[-1] / (d @ along))
        return np.array(out)

    @property
    def rest(self) -> float | None:
        """When everything came to rest [s]."""
        return rest_time(self.trajectory)

    def kinds(self) -> list[str]:
        """What happened, in order."""
        return [e.kind for e in self.events]

    # What figures must show of it.

    @property
    def gains(self) -> np.ndarray:
        """Kinetic energy gained at each impact [J]."""
        return np.array([e.kinetic_after - e.kinetic_before for e in self.impacts])

    @property
    def left(self) -> np.ndarray:
        """Part of the kinetic energy that each impact leaves."""
        return np.array([e.kinetic_after / e.kinetic_before for e in self.impacts])

    @property
    def rolling_since(self) -> float:
        """When all contacts first stay on the ground together [s]."""
        both = (self.modes != OPEN).all(axis=1)
        return float(self.time[np.argmax(both)]) if both.any() else np.inf

    def check_ledger(self) -> Check:
        """Energies close."""
        error = np.abs(np.asarray(self.trajectory.ledger_error)).max() / self.energy.max()
        return Check.below("energy unaccounted for, of the whole", error, 1e-6)

    def check_never_gains(self) -> Check:
        """No impact creates energy."""
        most = self.gains.max() / self.energy[0]
        return Check.below("most energy gained at an impact, of the initial", most, 1e-12)

    def check_forces(self) -> list[Check]:
        """Nothing pulls, and friction stays inside its cones."""
        lasting, impulse = (
            self.force[self.modes != OPEN],
            np.array([e.impulse for e in self.pushes]),
        )
        both = np.concatenate([lasting, impulse]) if impulse.size else lasting
        largest = np.abs(both).max()
        pull = -both[:, 1].min() / largest
        mu = self.trajectory.scene.scenario.contact.mu_static
        excess = (np.abs(both[:, 0]) - mu * both[:, 1]).max() / largest
        return [
            Check.below("no force or impulse pulls; the most, of the largest", pull, 1e-9),
            Check.below("friction beyond the static cone, of the largest", excess, 1e-6),
        ]

    def check_settled(self) -> list[Check]:
        """At rest nothing changes any more, and what is kept is kept."""
        resting = self.force[self.time > (self.rest or 0.0) + 0.01, 0]
        drift = float(self.trajectory.drift)
        return [
            Check.below("at rest the force is constant [N]", np.ptp(resting, axis=0).max(), 1e-6),
            Check.below("drift of the kept contact [m]", drift, 1e-9),
        ]

    def check_rest(self, within: float) -> Check:
        """It comes to rest in time [s]."""
        rest = self.rest
        return Check("at rest", rest is not None and rest <= within, rest, f"within {within:g} s")

    def check_no_rest(self) -> Check:
        """It does not come to rest."""
        return Check(f"not at rest in {self.time[-1]:g} s", self.rest is None)


_least_forces = jax.jit(impact_forces)


@functools.cache
def outcome(name: str, *settings: str) -> Outcome:
    """A built-in scene with some fields changed."""
    run = scene(name, parse_settings([f"samples={SAMPLES}", *settings])).run()
    return Outcome(run, run.events())
