r"""What a setup may have slightly wrong, estimated along with what is wanted.

Sensor offset, drift and slow wander, a cable's pull, turned axes, misplaced frames, plates and
sizes, a tool that bends or has play, clocks: each is a group of numbers z with a tolerance
$\tau$. A tolerance that the setup declares is a prior, $z \sim N(0, \tau^2)$. One that it does not
is a suspicion: with probability $\pi$ the group is off by about its usual tolerance, else it is
right. `averaging` weighs the two by what the data say.
"""

from dataclasses import dataclass, replace

import jax
import numpy as np

from stiction._base.arrays import AnyArray, Array, Float, Int
from stiction.identify.contact.calibration import Calibration
from stiction.identify.kinds.contact_setup import ContactSetup
from stiction.identify.path.noise import Noise
from stiction.identify.path.readings import SHIFTS

_BIAS_IN_NOISE = 4.0  # usual offset of a force-torque sensor, in its noise
_CABLE = 20.0  # N/m: usual stiffness of a cable or hose that hangs on the tool
_CABLE_ARM = 0.05  # m: at which it pulls
_MOST_SHOWN = 18  # numbers in a sentence
_SETTLING = 4.0, 12.0  # rates at which an offset settles, in test lengths

# What is added to the reading: six numbers for each of 1, age, three more functions of it, and
# the way since the start along x, y, z.
_ADDED = {"bias": 1, "drift": 1, "wander": 3, "cable": 3}
N_ADDED = 6 * sum(_ADDED.values())

# Usual tolerances: of mounting by hand (1°, half a millimetre), of calipers on a shape (2 %), of an
# arm with its tool (200 N/mm, 0.4 mm of play), of two computers' clocks (10 ms apart, half a
# percent in rate).
USUAL = {
    "sensor_turn": 0.0175,
    "sensor_point": 1e-3,
    "frame_turn": 0.0087,
    "tool_turn": 0.0087,
    "tool_offset": 5e-4,
    "plates": 5e-4,
    "size": 0.02,
    "bending": 5e-6,
    "play": 2e-4,
    "delay": 0.01,
    "rate": 0.005,
}
# Groups of which every log has its own: sensors are set to zero and clocks started anew.
OWN = frozenset({"bias", "drift", "wander", "delay", "rate"})
# What each group is called, the unit of its numbers, and the motion that tells it.
WORDS = {
    "bias": ("offset of the wrench sensor", "N, N·m", "wait in free air before touching"),
    "drift": ("drift of the wrench sensor", "N, N·m a test", "wait in free air before and after"),
    "wander": ("slow change of the wrench sensor's offset", "N, N·m", "wait in free air now and"
               " then"),
    "cable": ("pull of a cable on the tool", "N/m, N", "go the same way in free air"),
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
    "bending": ("bending of the tool under its load", "m/N", "press the bare tool on something"
                " rigid"),
    "play": ("play between the tool and the tracked frame (half of it)", "m", "reverse the motion"
             " under load"),
    "delay": ("delay of the wrench's clock", "s", "press and let go quickly, several times"),
    "rate": ("rate of the wrench's clock", "", "press and let go quickly at the beginning and at"
             " the end"),
}  # fmt: skip


@dataclass(frozen=True)
class Nuisance:
    """One group."""

    name: str  # as in the setup's `tolerances`
    place: slice | np.ndarray  # where its numbers stand among all nuisances
    tolerance: Float[np.ndarray, " k"]  # standard deviation of each
    declared: bool  # whether the setup gave the tolerance


@dataclass(frozen=True)
class Nuisances:
    """All groups of a setup.

    The numbers of the first log come first, in the order of the groups; then those that each
    further log has to itself.
    """

    groups: tuple[Nuisance, ...]
    places: Int[np.ndarray, "tests q"]  # of each log, where its numbers stand among all

    @property
    def tolerance(self) -> Float[np.ndarray, " q"]:
        """Of every number; zero for one that is held."""
        return self._placed([g.tolerance for g in self.groups])

    def of_one(self) -> "Nuisances":
        """The same groups of one log."""
        tolerance, groups = self.tolerance, []
        for g in self.groups:
            place = g.place
            if isinstance(place, np.ndarray):
                place = slice(int(place[0]), int(place[0]) + len(place) // len(self.places))
            groups.append(replace(g, place=place, tolerance=tolerance[place]))
        return Nuisances(tuple(groups), np.arange(self.places.shape[1])[None])

    def _placed(self, values) -> np.ndarray:
        out = np.zeros(int(self.places.max()) + 1)
        for g, value in zip(self.groups, values, strict=True):
            out[g.place] = value
        return out

    @property
    def suspects(self) -> list[Nuisance]:
        """Groups that may be off or not: neither declared nor held."""
        return [g for g in self.groups if not g.declared and np.any(g.tolerance > 0)]

    def mask(self, names: frozenset[str]) -> np.ndarray:
        """Which numbers are free: those of the declared groups and of the named ones."""
        on = [(g.declared or g.name in names) * (g.tolerance > 0) for g in self.groups]
        return self._placed(on).astype(bool)


def nuisances_of(setup: ContactSetup, noise: Noise, tests: int = 1) -> Nuisances:
    """The groups that a setup leaves open for a number of logs, with their tolerances."""
    given = setup.tolerances.model_dump(exclude_none=True)
    usual = {
        **USUAL,
        "bias": _BIAS_IN_NOISE * noise.wrench,
        "drift": _BIAS_IN_NOISE * noise.wrench,
        "wander": np.tile(_BIAS_IN_NOISE * noise.wrench, 3),
        "cable": np.tile(np.repeat([_CABLE, _CABLE * _CABLE_ARM], 3), 3),
    }
    if "cable" in given:
        given["cable"] = given["cable"] / _CABLE * usual["cable"]
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
    layout = _layout(len(setup.surfaces))
    own = np.repeat([name in OWN for name, _ in layout], [count for _, count in layout])
    places = np.tile(np.arange(len(own)), (tests, 1))
    places[1:, own] = len(own) + np.arange((tests - 1) * own.sum()).reshape(tests - 1, own.sum())
    groups, start = [], 0
    for name, count in layout:
        tolerance = np.broadcast_to(given.get(name, usual[name]), (count,)).astype(float)
        if name in off:
            tolerance = np.zeros(count)
        place: slice | np.ndarray = slice(start, start + count)
        if name in OWN and tests > 1:
            place, tolerance = places[:, place].reshape(-1), np.tile(tolerance, tests)
        groups.append(Nuisance(name, place, tolerance, name in given))
        start += count
    return Nuisances(tuple(groups), places)


def _layout(n_plates: int) -> list[tuple[str, int]]:
    """Groups and how many numbers each has; those of the motion's readings and clock come last."""
    of_model = Calibration.none(n_plates)
    sizes = [(name, int(np.size(value))) for name, value in vars(of_model).items()]
    added = [(name, 6 * count) for name, count in _ADDED.items()]
    return [*added, *sizes, *SHIFTS.items(), ("delay", 1), ("rate", 1)]


def calibration_of(z: Float[Array, " q"], n_plates: int) -> Calibration:
    """The model's corrections among the nuisances."""
    none = Calibration.none(n_plates)
    leaves, tree = jax.tree.flatten(none)
    ends = N_ADDED + np.cumsum([leaf.size for leaf in leaves])
    parts = [
        z[end - leaf.size : end].reshape(leaf.shape) for end, leaf in zip(ends, leaves, strict=True)
    ]
    return jax.tree.unflatten(tree, parts)


def added_basis(
    age: Float[AnyArray, "*n"], way: Float[AnyArray, "*n 3"]
) -> Float[AnyArray, "*n 8"]:
    """What the added readings are proportional to.

    `age` is the time since the test's middle in test lengths, `way` from where it began [m].
    """
    xp = age.__array_namespace__()
    # A bend, and what settles after switching on, slowly or soon: together with offset and drift
    # they make any decay of between a half and a twentieth of the test.
    curved = [6 * age**2 - 0.5, *(xp.exp(-rate * (age + 0.5)) for rate in _SETTLING)]
    return xp.concat([xp.stack([xp.ones_like(age), age, *curved], axis=-1), way], axis=-1)


def added_reading(
    z: Float[AnyArray, " q"], age: Float[AnyArray, "*n"], way: Float[AnyArray, "*n 3"]
) -> Float[AnyArray, "*n 6"]:
    """Offset, drift and wander of the sensor, and a cable's pull."""
    return added_basis(age, way) @ z[:N_ADDED].reshape(-1, 6)


def sentence(group: Nuisance, z: np.ndarray, std: np.ndarray) -> str:
    """What was found of one group, in words."""
    what, unit, _ = WORDS[group.name]
    shown = [f"{x:.3g} ± {s:.2g}" for x, s in zip(z, std, strict=True)]
    if len(shown) > _MOST_SHOWN:  # of many logs
        shown = [*shown[:_MOST_SHOWN], f"… ({len(shown)} numbers)"]
    return f"{what}: {', '.join(shown)} {unit}".rstrip()
