"""Wheels that touch by corners of their rims, where flickinger approximates its contact point.

Of its rolling ellipses the document says that contact forces chatter, "caused by a combination of
using a rough approximation of the contact points [...] and coarse integrator tolerances" (3.7.1),
and does not say which approximation. Here a wheel touches by `CORNERS` points of its rim, so that
it rolls from corner to corner, each of which strikes. Study 10 has other numbers of them, and the
exact point.
"""

import functools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from stiction.engines import Event
from stiction.engines.forces import OPEN, SLIP, STICK
from stiction.mechanism import Mechanism
from stiction.reproduce.flickinger_outcome import SAMPLES, Outcome
from stiction.scenes import PastImpact, parse_settings, past_impact, scene

CORNERS = 48  # of a wheel
WHEELS = ("wheel_c", "wheel_d")
FAST = 0.1  # only of faster impacts forces are estimated [m/s]
_EVENTS = 5_000
_SIZE = "mechanism.edits.geom.wheel_c.size"


class Rims(Outcome):
    """A run on corners, told wheel by wheel."""

    @property
    def mechanism(self) -> Mechanism:
        """Without corners, which would leave a line each."""
        edits = self.trajectory.scene.scenario.mechanism.edits
        return scene("bicycle", {"mechanism.edits": edits}).mechanism

    @property
    def names(self) -> tuple[str, ...]:
        return WHEELS

    @functools.cached_property
    def modes(self) -> np.ndarray:
        modes = np.asarray(self.trajectory.modes).reshape(len(self.time), len(WHEELS), -1)
        sticks, slips = (np.any(modes == mode, axis=2) for mode in (STICK, SLIP))
        return np.where(sticks, STICK, np.where(slips, SLIP, OPEN))

    @functools.cached_property
    def force(self) -> np.ndarray:
        return _by_wheel(np.asarray(self.trajectory.force))

    @functools.cached_property
    def hits(self) -> list[Event]:
        """Impulses of corners that strike at once are added up; speeds are of the fastest."""
        found: dict[tuple[float, str], Event] = {}
        for event in super().hits:
            key = event.time, event.contact.rsplit("_", 1)[0]
            push = np.array(event.impulse)
            if key in found:
                push += found[key].impulse
                event = min(event, found[key], key=lambda e: e.velocity_before[1])
            mu = float(abs(push[0]) / push[1]) if push[1] > 0 else np.nan
            found[key] = replace(event, contact=key[1], impulse=tuple(push.tolist()), mu=mu)
        return list(found.values())

    @property
    def pushes(self) -> list[Event]:
        """Without what is brought to rest by a projection, which knows no cone."""
        at_rest = {e.time for e in self.events if e.kind == "zeno"}
        return [e for e in self.hits if e.time not in at_rest]

    @functools.cached_property
    def _past(self) -> list[tuple[float, PastImpact]]:
        at = {e.index: e.time for e in self.hits if e.velocity_before[1] < -FAST}
        return [(t, past_impact(self.trajectory, i)) for i, t in at.items()]

    @functools.cached_property
    def estimates(self) -> tuple[np.ndarray, np.ndarray]:
        times, force = super().estimates
        return times, _by_wheel(force)


def _by_wheel(force: np.ndarray) -> np.ndarray:
    """Forces on all corners, (n, corners, 2), added up."""
    return force.reshape(len(force), len(WHEELS), -1, force.shape[-1]).sum(axis=2)


def _model(corners: int, along: float, upright: float) -> str:
    """The bicycle's XML with sites on its rims; semi-axes in [m]."""
    text = Path(str(scene("bicycle").model_source)).read_text(encoding="utf-8")
    angle = 2 * np.pi * np.arange(corners) / corners
    rim = np.stack([along * np.cos(angle), 0 * angle, upright * np.sin(angle)], axis=1)
    for wheel in WHEELS:
        sites = "".join(
            f'<site name="{wheel}_{i}" pos="{x:.17g} {y:.17g} {z:.17g}"/>'
            for i, (x, y, z) in enumerate(rim.tolist())
        )
        text = text.replace(f'<geom name="{wheel}"', f'{sites}<geom name="{wheel}"')
    return text


@functools.cache
def rims(restitution: float, energetic: float, *settings: str, corners: int = CORNERS) -> Rims:
    """The bicycle of Sec. 2.4 on corners; otherwise as `flickinger_runs.bicycle`."""
    own: dict[str, Any] = parse_settings(list(settings))
    along, _, upright = own.get(_SIZE, (0.5, 0.02, 0.25))
    changes = {
        "mechanism.file": _model(corners, along, upright),
        "contact.points": [f"{wheel}_{i}" for wheel in WHEELS for i in range(corners)],
        "contact.max_events": _EVENTS,
        "contact.restitution": restitution,
        "contact.energetic": energetic,
        "samples": SAMPLES,
    }
    run = scene("bicycle", changes | own).run()
    return Rims(run, run.events())
