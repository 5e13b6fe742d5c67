r"""How far joint moments move with what is not known well: resampling from a declared noise.

Every draw repeats the whole way from coordinates to moments with

- coordinates moved by slow random curves (skin moves over bone at the pace of the gait: noise
  below `GaitNoise.pace`, of the given standard deviations);
- the cut-off multiplied by a log-normal factor;
- masses of the segments multiplied by random factors, their sum kept;
- every plate's centre of pressure shifted by a constant, its force turned about the vertical.

The band is the standard deviation over the draws, about the undisturbed result; 95 % of outcomes
lie within 1.96 of it as far as they are normal. What the declared noise does not hold (a wrong
model, a marker on the wrong place) is not in it.
"""

from dataclasses import dataclass, replace

import jax
import numpy as np

from stiction._base.errors import InputError
from stiction.biped.gait.dynamics import FootLoads, joint_loads
from stiction.biped.gait.loads import foot_loads
from stiction.biped.gait.trial import Gait
from stiction.biped.grf.reactions import GroundReactions, ground_reactions
from stiction.biped.grf.smoothing import low_pass
from stiction.biped.grf.touch import Ground
from stiction.biped.subject.subject import SubjectBodies
from stiction.tables import Table


@dataclass(frozen=True)
class GaitNoise:
    """Standard deviations of what is not known well."""

    # of joint angles [deg]: skin on bone, a few degrees in the planes that matter least
    angle: float = 1.0
    position: float = 0.002  # of the base's place [m]
    pace: float = 1.0  # highest frequency of these two [Hz]
    cutoff: float = 0.15  # of the logarithm of the cut-off
    mass: float = 0.05  # of the segments' masses, as a part of each
    pressure: float = 0.005  # of a plate's place, along each horizontal axis [m]
    turn: float = 0.5  # of a plate's direction about the vertical [deg]

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (np.isfinite(value) and value >= 0):
                raise InputError(f"`{name}` of the noise must be 0 or more, got {value}")


def moment_bands(
    gait: Gait, noise: GaitNoise | None = None, *, draws: int = 24, seed: int = 0
) -> np.ndarray:
    """Standard deviation of every coordinate's moment in every frame [N·m].

    Args:
        gait: The undisturbed result.
        noise: What is not known well.
        draws: How many times it is drawn.
        seed: Of the random numbers.
    """
    noise = noise or GaitNoise()
    rng = np.random.default_rng(seed)
    reactions, motion = gait.reactions, gait.reactions.motion
    subject = reactions.subject
    names = tuple(c.name for c in subject.coordinates)
    highest = 0.49 / (motion.time[1] - motion.time[0])
    spread = np.zeros_like(gait.joints.moment)
    for _ in range(draws):
        q = motion.q + wobble(gait, noise, rng)
        fc = motion.cutoff * np.exp(noise.cutoff * rng.standard_normal())
        drawn = ground_reactions(
            Table.recording("drawn", motion.time, names, q, degrees=False),
            _other_masses(subject, noise.mass, rng),
            filter=motion.filter if np.isfinite(fc) else "none",
            cutoff=min(fc, highest) if np.isfinite(fc) else None,
            split=reactions.split if reactions.feet else "pivot",
            ground=Ground(reactions.friction, reactions.ground or None),
        )
        loads = _other_loads(gait.loads, drawn, noise, rng)
        moved = drawn.motion
        found = joint_loads(drawn.subject, moved.q, moved.rate, drawn.bodies, loads)
        spread += (found.moment - gait.joints.moment) ** 2
    return np.sqrt(spread / draws)


def wobble(gait: Gait, noise: GaitNoise, rng) -> np.ndarray:
    """Slow random curves of every free coordinate."""
    subject, time = gait.reactions.subject, gait.reactions.time
    period = time[1] - time[0]
    raw = rng.standard_normal((len(time), len(subject.coordinates)))
    slow = low_pass(raw, period, min(noise.pace, 0.4 / period), "spline")
    slow /= np.sqrt(np.mean(slow**2, axis=0))
    size = np.array(
        [
            0.0
            if c.locked or c.follows
            else np.radians(noise.angle)
            if c.rotational
            # A quaternion's parts turn by half the angle.
            else np.radians(noise.angle) / 2
            if c.name.rpartition(".")[2] in ("qw", "qx", "qy", "qz")
            else noise.position
            for c in subject.coordinates
        ]
    )
    return slow * size


def _other_masses(subject, part: float, rng):
    """The subject with other masses of its segments, and the same in all."""
    mass = np.asarray(subject.bodies.mass)
    factor = np.maximum(1 + part * rng.standard_normal(len(mass)), 0.1)
    factor *= mass.sum() / (factor @ mass)
    b = subject.bodies
    inertia = np.asarray(b.inertia) * factor[:, None, None]
    other = SubjectBodies(
        b.poses, *jax.device_put((mass * factor, b.center, inertia)), gravity=b.gravity
    )
    return replace(subject, bodies=other)


def _other_loads(loads: FootLoads, drawn: GroundReactions, noise: GaitNoise, rng) -> FootLoads:
    """Plates moved and turned; where the motion gives the loads, those of the drawn motion."""
    up = drawn.axes.up
    level = np.eye(3) - np.outer(up, up)
    shift = noise.pressure * rng.standard_normal((len(loads.feet), 3)) @ level
    angle = np.radians(noise.turn) * rng.standard_normal(len(loads.feet))[None, :, None]
    by_motion, use = foot_loads(drawn, None, "motion"), loads.measured[..., None]
    return replace(
        loads,
        force=np.where(use, loads.force + angle * np.cross(up, loads.force), by_motion.force),
        point=np.where(use, loads.point + shift, by_motion.point),
        moment=np.where(use, loads.moment, by_motion.moment),
    )
