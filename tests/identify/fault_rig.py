"""Virtual logs with one fault each, as laboratories make them, and what comes of them.

A fault turns a recording into the one that a faulty rig would have given, or the setup into one
that states something wrong. `judge` counts how often intervals hold the truth, and how often the
log was refused or the fault named. Logs are numbered from 0 on, and their number is the seed of all
chance in them: nobody chose it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from stiction._base.errors import InputError
from stiction.identify import Recording, identify, read_setup, testbed_of, virtual_test
from stiction.identify.kinds.contact_setup import ContactSetup

_WIDE = 3.92  # standard errors in an interval of 95 %
Log = tuple[Recording, ContactSetup]
Fault = Callable[[Recording, ContactSetup, np.random.Generator], Log]


def _wrench(change) -> Fault:
    """A fault of the wrench: `change(wrench, age, random)`, age from 0 to 1 along the test."""

    def fault(r, setup, random):
        age = (r.wrench_time - r.wrench_time[0]) / np.ptp(r.wrench_time)
        return replace(r, wrench=change(r.wrench.copy(), age[:, None], random)), setup

    return fault


def _pose(change) -> Fault:
    """A fault of the poses: `change(position, rotation, time, random)` gives the first two."""

    def fault(r, setup, random):
        p, R = change(r.position.copy(), r.rotation.copy(), r.pose_time, random)
        return replace(r, position=p, rotation=R), setup

    return fault


def _times(change) -> Fault:
    """A fault of the wrench's clock: `change(time, random)`."""
    return lambda r, setup, random: (
        replace(r, wrench_time=change(r.wrench_time, random)),
        setup,
    )


def _setup(change) -> Fault:
    """A setup that states something wrong: `change(setup)`."""
    return lambda r, setup, random: (r, change(setup))


def _turn(degrees, axis=(0.3, 0.8, 0.52)):
    return Rotation.from_rotvec(np.radians(degrees) * np.array(axis)).as_matrix()


def _both(a: Fault, b: Fault) -> Fault:
    return lambda r, setup, random: b(*a(r, setup, random), random)


def _shifted_plates(setup, by=2e-4):
    plates = [
        s.model_copy(update={"point": (np.array(s.point) - by * np.array(s.normal)).tolist()})
        for s in setup.surfaces
    ]
    return setup.model_copy(update={"surfaces": plates})


def _resized(setup, factor=1.05):
    def one(s):
        sizes = ("radius",) if s.shape == "sphere" else ("width", "height", "depth", "leg")
        return s.model_copy(update={n: factor * getattr(s, n) for n in sizes})

    return setup.model_copy(update={"body": [one(s) for s in setup.body]})


def _point_left_out(setup):
    return setup.model_copy(
        update={"wrench": setup.wrench.model_copy(update={"point": [0.0, 0.0, 0.0]})}
    )


def _clipped(share):
    def change(w, age, random):
        top = share * np.abs(w[:, 2]).max()
        w[:, 2] = np.clip(w[:, 2], -top, top) + 0.05 * random.standard_normal(len(w))
        return w

    return change


def _lost_frames(r, setup, random):
    """Frames are lost while the row clock goes on: times are those of a full recording."""
    keep = random.random(len(r.pose_time)) > 0.05
    n = int(keep.sum())
    return (
        replace(r, pose_time=r.pose_time[:n], position=r.position[keep], rotation=r.rotation[keep]),
        setup,
    )


def _outliers(w, age, random):
    hit = random.random(len(w)) < 0.1
    w[hit] += 20 * random.standard_normal((int(hit.sum()), 6)) * [1, 1, 1, 0.1, 0.1, 0.1]
    return w


def _pose_outliers(p, R, t, random):
    hit = random.random(len(p)) < 0.1
    p[hit] += 0.005 * random.standard_normal((int(hit.sum()), 3))
    return p, R


def _filtered(values, strength):
    """A first-order low-pass as sensors have it: late and smooth."""
    out = values.copy()
    for i in range(1, len(out)):
        out[i] = strength * out[i - 1] + (1 - strength) * values[i]
    return out


def _filtered_pose(p, R, t, random):
    return _filtered(p, 0.6), R


def _backlash(p, R, t, random):
    """The tracked marker follows the tool with 0.4 mm of play along x."""
    x, out = p[0, 0], p[:, 0].copy()
    for i, true in enumerate(p[:, 0]):
        x = min(max(x, true - 2e-4), true + 2e-4)
        out[i] = x
    p[:, 0] = out
    return p, R


def _compliant_tool(r, setup, random):
    """The tracked frame does not see how the tool bends: 1 mm at 100 N."""
    f = np.stack([np.interp(r.pose_time, r.wrench_time, c) for c in r.wrench[:, :3].T], axis=1)
    return replace(r, position=r.position - 1e-5 * f), setup


def _repeated(r, setup, random):
    """Every tenth pose frame is the one before it again."""
    p, R = r.position.copy(), r.rotation.copy()
    late = np.arange(10, len(p), 10)
    p[late], R[late] = p[late - 1], R[late - 1]
    return replace(r, position=p, rotation=R), setup


def _swapped(r, setup, random):
    """Some pairs of neighbouring wrench rows are swapped."""
    w = r.wrench.copy()
    for i in range(5, len(w) - 1, 8):
        w[[i, i + 1]] = w[[i + 1, i]]
    return replace(r, wrench=w), setup


def _jitter(time, random):
    return np.sort(time + 0.004 * random.standard_normal(len(time)))


def _quaternion_conjugated(p, R, t, random):
    return p, np.swapaxes(R, 1, 2)


def _quaternion_order(p, R, t, random):
    """The columns are x, y, z, w; the setup says w first."""
    q = Rotation.from_matrix(R).as_quat(scalar_first=False)
    return p, Rotation.from_quat(q, scalar_first=True).as_matrix()


def _degrees(r, setup, random):
    """The columns are a rotation vector in degrees; the setup says radians."""
    turns = Rotation.from_matrix(r.rotation).as_rotvec() * 180 / np.pi
    pose = setup.pose.model_copy(update={"quaternion": None, "rotation_vector": ["rx", "ry", "rz"]})
    return (
        replace(r, rotation=Rotation.from_rotvec(turns).as_matrix()),
        setup.model_copy(update={"pose": pose}),
    )


_CABLE = np.array([20.0, 10.0, 15.0])  # N/m

# Each with whether it keeps what it does within what a fit can tell (then intervals must cover).
FAULTS: dict[str, Fault] = {
    "none": lambda r, setup, random: (r, setup),
    # the table of the issue
    "force offset 0.5 N": _wrench(lambda w, age, rng: w + np.array([0, 0, 0.5, 0, 0, 0])),
    "pose frame turned 0.5°": _pose(lambda p, R, t, rng: (p @ _turn(0.5).T, _turn(0.5) @ R)),
    "wrench axes turned 3°": _wrench(
        lambda w, age, rng: np.concatenate([w[:, :3] @ _turn(3), w[:, 3:] @ _turn(3)], axis=1)
    ),
    "plates 0.2 mm off": _setup(_shifted_plates),
    "sizes 5 % off": _setup(_resized),
    "wrench 20 ms late": _times(lambda t, rng: t + 0.02),
    "wrench clock 1 % fast": _times(lambda t, rng: t * 1.01),
    "an axis clipped at 60 %, then noise": _wrench(_clipped(0.6)),
    "an axis clipped at 90 %, then noise": _wrench(_clipped(0.9)),
    "5 % of pose frames lost": _lost_frames,
    "force in pounds": _wrench(lambda w, age, rng: w / [4.448, 4.448, 4.448, 1, 1, 1]),
    "force in pounds, moment in pound-inches": _wrench(
        lambda w, age, rng: w / [4.448, 4.448, 4.448, 0.113, 0.113, 0.113]
    ),
    "quaternion order wrong": _pose(_quaternion_order),
    "quaternion sense wrong": _pose(_quaternion_conjugated),
    "degrees read as radians": _degrees,
    "wrench.point left out": _setup(_point_left_out),
    "10 % outliers in force": _wrench(_outliers),
    "10 % outliers in pose": _pose(_pose_outliers),
    "wrench sign wrong": _wrench(lambda w, age, rng: -w),
    # twenty more
    "force axes swapped (x, y)": _wrench(lambda w, age, rng: w[:, [1, 0, 2, 3, 4, 5]]),
    "position in another handedness": _pose(lambda p, R, t, rng: (p * [1, -1, 1], R)),
    "force drifts by 1 N": _wrench(lambda w, age, rng: w + age * [0.3, 0.2, 1.0, 0, 0, 0]),
    "offset settles with temperature": _wrench(
        lambda w, age, rng: w + np.exp(-6 * age) * [0.5, 0, 2.0, 0, 0, 0.05]
    ),
    "backlash 0.4 mm": _pose(_backlash),
    "cable force 20 N/m": lambda r, setup, rng: (
        replace(r, wrench=_with_cable(r)),
        setup,
    ),
    "tool bends 10 µm/N": _compliant_tool,
    "time stamps jitter by 4 ms": _times(_jitter),
    "force rounded to 2 N": _wrench(
        lambda w, age, rng: np.concatenate([2 * np.round(w[:, :3] / 2), w[:, 3:]], axis=1)
    ),
    "position rounded to 0.5 mm": _pose(lambda p, R, t, rng: (5e-4 * np.round(p / 5e-4), R)),
    "force filtered": _wrench(lambda w, age, rng: _filtered(w, 0.6)),
    "poses filtered": _pose(_filtered_pose),
    "force noise three times as large": _wrench(
        lambda w, age, rng: w + 0.7 * rng.standard_normal(w.shape) * [1, 1, 1, 0.1, 0.1, 0.1]
    ),
    "pose noise twice as large": _pose(
        lambda p, R, t, rng: (p + 1.7e-4 * rng.standard_normal(p.shape), R)
    ),
    "mains hum aliased, 1 N": _wrench(
        lambda w, age, rng: w + np.sin(2 * np.pi * 40 * age) * [0.5, 0, 1.0, 0, 0, 0]
    ),
    "tool mounted 0.3 mm off": _pose(lambda p, R, t, rng: (p + R @ [1e-4, 0, 3e-4], R)),
    "tool mounted 1° off": _pose(lambda p, R, t, rng: (p, R @ _turn(1.0))),
    "reference point 2 mm off": _wrench(
        lambda w, age, rng: np.concatenate(
            [w[:, :3], w[:, 3:] + np.cross([2e-3, 0, 0], w[:, :3])], axis=1
        )
    ),
    "frames repeated": _repeated,
    "rows swapped": _swapped,
    "offset and late": _both(
        _wrench(lambda w, age, rng: w + np.array([0.3, 0, 0.5, 0, 0, 0])),
        _times(lambda t, rng: t + 0.01),
    ),
    "turned and drifting": _both(
        _pose(lambda p, R, t, rng: (p @ _turn(0.4).T, _turn(0.4) @ R)),
        _wrench(lambda w, age, rng: w + age * [0, 0.5, 0.5, 0, 0, 0]),
    ),
}  # fmt: skip

# Words by which a fault is named, in a refusal, a warning or a correction (or a caveat alone).
NAMES: dict[str, tuple[str, ...]] = {
    "force offset 0.5 N": ("offset of the wrench sensor",),
    "pose frame turned 0.5°": ("turn of the motion sensor's frame",),
    "wrench axes turned 3°": ("turn of the wrench sensor's axes",),
    "plates 0.2 mm off": ("places of the plates",),
    "sizes 5 % off": ("size of the body's shapes",),
    "wrench 20 ms late": ("delay of the wrench's clock",),
    "wrench clock 1 % fast": ("rate of the wrench's clock",),
    "an axis clipped at 60 %, then noise": ("saturated",),
    "an axis clipped at 90 %, then noise": ("saturated",),
    "5 % of pose frames lost": ("were lost",),
    "force in pounds": ("lbf",),
    "force in pounds, moment in pound-inches": ("lbf",),
    "quaternion order wrong": ("quaternion's order",),
    "quaternion sense wrong": ("quaternion's sense",),
    "degrees read as radians": ("angles look like", "units.angle"),
    "wrench.point left out": ("wrench.point", "reference point"),
    "10 % outliers in force": ("stand out alone",),
    "10 % outliers in pose": ("stand out alone",),
    "wrench sign wrong": ("opposite sign",),
    "force axes swapped (x, y)": ("axes look swapped",),
    "position in another handedness": ("mirrored",),
    "force drifts by 1 N": ("drift of the wrench sensor",),
    "offset settles with temperature": ("slow change",),
    "backlash 0.4 mm": ("play",),
    "cable force 20 N/m": ("cable",),
    "tool bends 10 µm/N": ("bending of the tool",),
    "force rounded to 2 N": ("rounded",),
    "position rounded to 0.5 mm": ("rounded",),
    "force filtered": ("filter",),
    "poses filtered": ("filter",),
    "force noise three times as large": ("scatters by",),
    "pose noise twice as large": ("scatters by",),
    "tool mounted 0.3 mm off": ("place of the body on the tracked frame",),
    "tool mounted 1° off": ("turn of the body on the tracked frame",),
    "reference point 2 mm off": ("reference point",),
    "frames repeated": ("repeat the one before",),
    "rows swapped": ("stand out alone",),
    "offset and late": ("offset of the wrench sensor", "delay of the wrench's clock"),
    "turned and drifting": ("turn of the motion sensor's frame", "drift of the wrench sensor"),
}


def _with_cable(r: Recording) -> np.ndarray:
    p = np.stack([np.interp(r.wrench_time, r.pose_time, c) for c in r.position.T], axis=1)
    w = r.wrench.copy()
    w[:, :3] -= _CABLE * (p - p[0])
    return w


@dataclass(frozen=True)
class Outcome:
    """What came out of one log.

    Attributes:
        held: Whether each interval holds the truth, by parameter; empty if the log was refused.
        width: Of intervals, in standard errors (a quarter of each), relative to the truth.
        refused: Whether the log was refused.
        named: Whether a refusal, a warning or a correction names the fault.
        caveat: Whether only a caveat does, which clean logs have too.
        said: The refusal, or the first warning.
    """

    held: dict[str, bool]
    width: dict[str, float]
    refused: bool
    named: bool
    caveat: bool
    said: str


@dataclass(frozen=True)
class Verdict:
    """What came out of many logs with one fault.

    Attributes:
        count: Of logs.
        held: Of the intervals that hold the truth, by parameter, how many of how many.
        width: Median of that, by parameter.
        mean_width: Its mean.
        refused: Logs that were refused.
        named: Logs, those refused among them, whose fault is named.
        caveat: Logs whose fault only a caveat names.
        said: The commonest refusal or warning.
    """

    count: int
    held: dict[str, tuple[int, int]]
    width: dict[str, float]
    mean_width: dict[str, float]
    refused: int
    named: int
    caveat: int
    said: str

    @property
    def coverage(self) -> dict[str, float]:
        """Part of the intervals that hold the truth, by parameter, of logs not refused."""
        return {n: a / b for n, (a, b) in self.held.items() if b}

    @property
    def honest(self) -> bool:
        """Whether every interval covers in at least 90 %, or 90 % of the logs name the fault."""
        covers = bool(self.coverage) and min(self.coverage.values()) >= 0.9
        return covers or self.named >= 0.9 * self.count


def try_log(name: str, fault: str, number: int, **changes) -> Outcome:
    """Identify one virtual log of a built-in setup with one fault.

    The number fixes all chance, that of the sensors and that of the fault, which are independent.
    """
    setup, folder = read_setup(name)
    setup = setup.model_copy(update=changes)
    truth = testbed_of(setup).truth
    random = np.random.default_rng(np.random.SeedSequence(number).spawn(1)[0])
    clean = virtual_test(setup, folder, number=number).recording
    recording, stated = FAULTS[fault](clean, setup, random)
    try:
        found = identify([recording], stated, folder)
    except InputError as error:
        return Outcome({}, {}, True, _names(fault, [str(error)]), False, str(error))
    told = {n: p for n in truth if (p := found.parameters[n]).interval is not None}
    named = _names(fault, found.warnings + found.corrections)
    return Outcome(
        {n: p.interval[0] <= truth[n] <= p.interval[1] for n, p in told.items()},
        {n: (p.interval[1] - p.interval[0]) / _WIDE / truth[n] for n, p in told.items()},
        False,
        named,
        not named and _names(fault, found.caveats),
        next(iter(found.warnings), ""),
    )


def verdict_on(outcomes: Sequence[Outcome]) -> Verdict:
    """Outcomes counted."""
    names = list(dict.fromkeys(n for o in outcomes for n in o.held))
    said = [o.said for o in outcomes if o.said]
    held = {n: [o.held[n] for o in outcomes if n in o.held] for n in names}
    widths = {n: [o.width[n] for o in outcomes if n in o.width] for n in names}
    return Verdict(
        len(outcomes),
        {n: (sum(v), len(v)) for n, v in held.items()},
        {n: float(np.median(w)) for n, w in widths.items()},
        {n: float(np.mean(w)) for n, w in widths.items()},
        sum(o.refused for o in outcomes),
        sum(o.named for o in outcomes),
        sum(o.caveat for o in outcomes),
        max(set(said), key=said.count) if said else "",
    )


def judge(name: str, fault: str, count: int, **changes) -> Verdict:
    """The logs with the numbers 0, 1, 2, … of a built-in setup with one fault."""
    return verdict_on([try_log(name, fault, i, **changes) for i in range(count)])


def _names(fault: str, sentences: list[str]) -> bool:
    return any(word in s for word in NAMES.get(fault, ()) for s in sentences)
