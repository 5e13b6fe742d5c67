r"""What a setup may have slightly wrong, estimated along with what is wanted.

Sensor offset and drift, turned axes, misplaced frames, plates and sizes, clocks: each is a group of
numbers z with a tolerance $\tau$. A tolerance that the setup declares is a prior, $z \sim N(0,
\tau^2)$. One that it does not is a suspicion: with probability $\pi$ the group is off by about its
usual tolerance, else it is right. `averaging` weighs the two by what the data say.
"""

from dataclasses import dataclass

import jax
import numpy as np

from stiction._base.arrays import AnyArray, Array, Float
from stiction.identify.contact.calibration import Calibration
from stiction.identify.kinds.contact_setup import ContactSetup
from stiction.identify.path.noise import Noise

_BIAS_IN_NOISE = 4.0  # usual offset of a force-torque sensor, in its noise

# Usual tolerances: of mounting by hand (1°, half a millimetre), of calipers on a shape (2 %), of
# two computers' clocks (10 ms apart, half a percent in rate).
USUAL = {
    "sensor_turn": 0.0175,
    "sensor_point": 1e-3,
    "frame_turn": 0.0087,
    "tool_turn": 0.0087,
    "tool_offset": 5e-4,
    "plates": 5e-4,
    "size": 0.02,
    "delay": 0.01,
    "rate": 0.005,
}
# What each group is called, the unit of its numbers, and the motion that tells it.
WORDS = {
    "bias": ("offset of the wrench sensor", "N, N·m", "wait in free air before touching"),
    "drift": ("drift of the wrench sensor", "N, N·m a test", "wait in free air before and after"),
    "sensor_turn": ("turn of the wrench sensor's axes", "rad", "press without sliding, then slide"
                    " both ways"),
    "sensor_point": ("place of the wrench's reference point", "m", "press on several spots"),
    "frame_turn": ("turn of the motion sensor's frame", "rad", "press to the same force at the ends"
                   " of each plate"),
    "tool_turn": ("turn of the body on the tracked frame", "rad", "turn the body while it presses"),
    "tool_offset": ("place of the body on the tracked frame", "m", "turn the body while it"
                    " presses"),
    "plates": ("places of the plates", "m", "touch and let go slowly, several times"),
    "size": ("size of the body's shapes", "", "touch opposite sides"),
    "delay": ("delay of the wrench's clock", "s", "press and let go quickly, several times"),
    "rate": ("rate of the wrench's clock", "", "press and let go quickly at the beginning and at"
             " the end"),
}  # fmt: skip


@dataclass(frozen=True)
class Nuisance:
    """One group.

    Attributes:
        name: As in the setup's `tolerances`.
        place: Where its numbers stand among all nuisances.
        tolerance: Standard deviation of each.
        declared: Whether the setup gave the tolerance.
    """

    name: str
    place: slice
    tolerance: Float[np.ndarray, " k"]
    declared: bool


@dataclass(frozen=True)
class Nuisances:
    """All groups of a setup, in the order of their numbers."""

    groups: tuple[Nuisance, ...]

    @property
    def tolerance(self) -> Float[np.ndarray, " q"]:
        """Of every number; zero for one that is held."""
        return np.concatenate([g.tolerance for g in self.groups])

    @property
    def suspects(self) -> list[Nuisance]:
        """Groups that may be off or not: neither declared nor held."""
        return [g for g in self.groups if not g.declared and np.any(g.tolerance > 0)]

    def mask(self, names: frozenset[str]) -> np.ndarray:
        """Which numbers are free: those of the declared groups and of the named ones."""
        on = [(g.declared or g.name in names) * (g.tolerance > 0) for g in self.groups]
        return np.concatenate(on).astype(bool)


def nuisances_of(setup: ContactSetup, noise: Noise) -> Nuisances:
    """The groups that a setup leaves open, with their tolerances."""
    given = setup.tolerances.model_dump(exclude_none=True)
    usual = {
        **USUAL,
        "bias": _BIAS_IN_NOISE * noise.wrench,
        "drift": _BIAS_IN_NOISE * noise.wrench,
    }
    if "force" in given or "moment" in given:
        pair = (given.get("force", 4 * noise.force), given.get("moment", 4 * noise.moment))
        given["bias"] = np.repeat(pair, 3)
    off = set()
    if setup.wrench.bias:  # already a parameter
        off |= {"bias"}
    if any("offset" in s.wanted for s in setup.surfaces):
        off |= {"plates"}
    if setup.wrench.delay == "estimate":
        given["delay"] = np.inf
    groups, start = [], 0
    for name, count in _layout(len(setup.surfaces)):
        tolerance = np.broadcast_to(given.get(name, usual[name]), (count,)).astype(float)
        if name in off:
            tolerance = np.zeros(count)
        groups.append(Nuisance(name, slice(start, start + count), tolerance, name in given))
        start += count
    return Nuisances(tuple(groups))


def _layout(n_plates: int) -> list[tuple[str, int]]:
    """Groups and how many numbers each has; the two of the clock come last."""
    of_model = Calibration.none(n_plates)
    sizes = [(name, int(np.size(value))) for name, value in vars(of_model).items()]
    return [("bias", 6), ("drift", 6), *sizes, ("delay", 1), ("rate", 1)]


def calibration_of(z: Float[Array, " q"], n_plates: int) -> Calibration:
    """The model's corrections among the nuisances."""
    none = Calibration.none(n_plates)
    leaves, tree = jax.tree.flatten(none)
    ends = 12 + np.cumsum([leaf.size for leaf in leaves])
    parts = [
        z[end - leaf.size : end].reshape(leaf.shape) for end, leaf in zip(ends, leaves, strict=True)
    ]
    return jax.tree.unflatten(tree, parts)


def added_reading(z: Float[AnyArray, " q"], age: Float[AnyArray, "*n"]) -> Float[AnyArray, "*n 6"]:
    """Offset and drift of the sensor; `age` is time since the test's middle, in test lengths."""
    return z[:6] + age[..., None] * z[6:12]


def sentence(group: Nuisance, z: np.ndarray, std: np.ndarray) -> str:
    """What was found of one group, in words."""
    what, unit, _ = WORDS[group.name]
    shown = ", ".join(f"{x:.3g} ± {s:.2g}" for x, s in zip(z, std, strict=True))
    return f"{what}: {shown} {unit}".rstrip()
