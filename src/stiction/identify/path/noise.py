"""How noisy a sensor is, from its own readings: no model, no second sensor."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb

import numpy as np

from stiction._base.arrays import Float
from stiction.identify.kinds.contact_setup import ContactSetup
from stiction.identify.path.coordinates import path_coordinates
from stiction.identify.recording import Recording

_ORDER = 6
NORMAL_MEDIAN = 0.6744897501960817  # of |x|, x normal with a standard deviation of 1
_NEGLIGIBLE = 1e-9  # noise below this part of the travel is rounding
_SMALLEST = 1e-12
LOUDER = 1.5  # times the stated noise: a scatter that is clearly larger


def white_noise(values: Float[np.ndarray, " n"]) -> float:
    """Standard deviation of the white noise on a smooth signal.

    Sixth differences remove all that is smooth at the scale of seven samples; of white noise they
    leave a variance of C(12, 6) σ² [Gasser1986]. The median makes it deaf to jumps at contact.
    """
    d = np.diff(np.asarray(values, dtype=float), n=_ORDER)
    if len(d) == 0:
        return 0.0
    return float(np.median(np.abs(d)) / NORMAL_MEDIAN / np.sqrt(comb(2 * _ORDER, _ORDER)))


def vector_noise(values: Float[np.ndarray, "n k"]) -> float:
    """Standard deviation of the white noise on a vector, one value for all its axes."""
    return float(np.sqrt(np.mean([white_noise(c) ** 2 for c in np.asarray(values).T])))


@dataclass(frozen=True)
class Noise:
    """Standard deviations of the sensors, per axis, given in the setup or estimated."""

    position: float
    rotation: float
    force: float
    moment: float
    velocity: float
    angular_velocity: float
    exact_motion: bool  # whether the motion has no noise worth naming

    @property
    def wrench(self) -> np.ndarray:
        """Of the six entries of a wrench."""
        return np.repeat([self.force, self.moment], 3)


def as_scattering(noise: Noise, recordings: Sequence[Recording]) -> Noise:
    """The noise levels, those replaced that the readings' own scatter clearly exceeds."""
    turns = [path_coordinates(r.position, r.rotation)[1][:, 3:] for r in recordings]
    own = {
        "position": [r.position for r in recordings],
        "rotation": [2 * g for g in turns],
        "force": [r.wrench[:, :3] for r in recordings],
        "moment": [r.wrench[:, 3:] for r in recordings],
    }
    scatter = {name: float(np.median([vector_noise(x) for x in v])) for name, v in own.items()}
    louder = {n: s for n, s in scatter.items() if s > LOUDER * getattr(noise, n)}
    return replace(noise, **louder)


def sensor_noise(recordings: Sequence[Recording], setup: ContactSetup) -> Noise:
    """What the setup says of the noise, and for the rest what the readings say themselves."""
    rms = lambda values: float(np.sqrt(np.mean(np.square(values))))  # noqa: E731
    given, wrench = setup.pose.noise, setup.wrench.noise
    travel = max(float(np.ptp(r.position, axis=0).max()) for r in recordings)
    if given is None:
        position = rms([vector_noise(r.position) for r in recordings])
        turns = [path_coordinates(r.position, r.rotation)[1][:, 3:] for r in recordings]
        rotation = rms([vector_noise(2 * g) for g in turns])
        twist = [r.twist for r in recordings if r.twist is not None]
        velocity = rms([vector_noise(t[:, :3]) for t in twist]) if twist else 0.0
        angular = rms([vector_noise(t[:, 3:]) for t in twist]) if twist else 0.0
    else:
        position, rotation = given.position, given.rotation
        velocity, angular = given.velocity, given.angular_velocity
    force = wrench.force if wrench else rms([vector_noise(r.wrench[:, :3]) for r in recordings])
    moment = wrench.moment if wrench else rms([vector_noise(r.wrench[:, 3:]) for r in recordings])
    exact = position <= _NEGLIGIBLE * max(travel, _SMALLEST) and rotation <= _NEGLIGIBLE
    # A sensor without noise still rounds; and rows must have some finite weight. Of forces and
    # moments without noise a moment weighs as a force on an arm of the travel's order.
    top_force = max(float(np.abs(r.wrench[:, :3]).max()) for r in recordings)
    top_moment = max(float(np.abs(r.wrench[:, 3:]).max()) for r in recordings)
    return Noise(
        position=max(position, _NEGLIGIBLE * max(travel, _SMALLEST)),
        rotation=max(rotation, _NEGLIGIBLE),
        force=max(force, 1e-6 * top_force, _SMALLEST),
        moment=max(moment, 1e-6 * top_moment, 1e-6 * top_force * travel, _SMALLEST),
        velocity=velocity,
        angular_velocity=angular,
        exact_motion=exact,
    )
