"""What is wrong with a recording that reads well: found before anything is computed or written."""

from dataclasses import replace

import numpy as np

from stiction._base.arrays import Bool, Float
from stiction._base.errors import InputError
from stiction.identify.kinds.contact_setup import ContactSetup
from stiction.identify.path.noise import Noise, white_noise
from stiction.identify.recording import Recording
from stiction.tables import intervals

_SLOWEST = 0.5  # s between samples: beyond this the times are in another unit
_FASTEST = 1e-6
_STILL = 1e-12  # m and rad: a pose that moves less never moved
_CLIPPED = 5  # equal extreme readings in a row that only a limit explains
_AT_RANGE = 0.999
_DEEPEST = 10  # body sizes: plates on springs yield, but not by more than this
_MOST_BAD = 0.3  # share of rows: more are no exception
_STANDS_OUT = 12.0  # noise levels: far beyond what a smooth motion and noise give
_LOOKS = 3
_SHARE_LOST = 0.015  # of the time by which one sensor ends before the other
_SAME_SHARE = 2.5  # times what is missing within which clocks run apart for that reason
_FLAT = 8  # samples of a plateau, at least
_BESIDE = 3.0  # noise levels below a limit within which readings may have been cut
# Share of sound logs of which some channel may be taken for saturated: divided by how many runs are
# looked at, it is the probability by which one run may be so even by chance (Bonferroni).
_FALSE_ALARMS = 0.01
_CHANNELS = ("force x", "force y", "force z", "moment x", "moment y", "moment z")


def check_recording(recording: Recording, setup: ContactSetup) -> None:
    """Refuse times in the wrong unit, a pose that never moves and a sensor at its limit."""
    for what, time in (("pose", recording.pose_time), ("wrench", recording.wrench_time)):
        step = float(np.median(np.diff(time)))
        if not _FASTEST < step < _SLOWEST:
            raise InputError(
                f"`{what}.time` of '{recording.name}' must step by 1 µs to 0.5 s, got {step:.3g} s"
                f" (row 2 on); set units.time (now '{setup.units.time}')"
            )
    overlap = min(recording.pose_time[-1], recording.wrench_time[-1]) - max(
        recording.pose_time[0], recording.wrench_time[0]
    )
    if overlap <= 0:
        raise InputError(
            f"`pose.time` and `wrench.time` of '{recording.name}' must overlap, got"
            f" {recording.pose_time[0]:.6g} to {recording.pose_time[-1]:.6g} s and"
            f" {recording.wrench_time[0]:.6g} to {recording.wrench_time[-1]:.6g} s;"
            " set wrench.delay to the difference of the clocks"
        )
    moved = np.ptp(recording.position, axis=0).max()
    turned = np.abs(recording.rotation - recording.rotation[:1]).max()
    if max(moved, turned) < _STILL:
        raise InputError(
            f"the pose in '{recording.name}' never changes (rows 1 to {len(recording.pose_time)});"
            " is the motion sensor tracking? nothing can be identified from it"
        )
    _check_saturation(recording, setup)


def _check_saturation(recording: Recording, setup: ContactSetup) -> None:
    limits = setup.wrench.range
    for i, channel in enumerate(_CHANNELS):
        values = recording.wrench[:, i]
        if limits is not None:
            limit = limits.force if i < 3 else limits.moment
            over = np.abs(values) >= _AT_RANGE * limit
            if np.any(over):
                row = int(np.flatnonzero(over)[0]) + 1
                raise InputError(
                    f"{channel} must stay inside the sensor's range ±{limit:g}, got"
                    f" {values[row - 1]:.6g} in row {row} of '{recording.name}';"
                    " repeat the test with less force or cut the log there"
                )
            continue
        row = _clipped(values)
        if row is not None:
            raise InputError(
                f"{channel} in '{recording.name}' is stuck at its extreme {values[row]:.6g} from"
                f" row {row + 1} on, as a saturated sensor is; set wrench.range to its limits if"
                " it is not, or cut the log there"
            )


def _clipped(values: np.ndarray) -> int | None:
    """The first row of a run of equal extreme readings in a channel that is otherwise noisy."""
    span = np.ptp(values)
    if span == 0 or white_noise(values) < 1e-6 * span or _rounded_to(values):
        return None  # nothing measured, computed without noise, or rounded
    for extreme in (values.max(), values.min()):
        at = values == extreme
        if np.all(np.abs(values[at]) < 1e-3 * span):
            continue  # rests at zero
        if long := [first for first, after in intervals(at) if after - first >= _CLIPPED]:
            return long[0]
    return None


def _rounded_to(values: np.ndarray) -> float:
    """The step to which readings are rounded, where it is coarser than their scatter; else 0."""
    levels = np.unique(values)
    if not 3 <= len(levels) < 0.5 * len(values):
        return 0.0
    steps = np.diff(levels)
    step = float(steps.min())
    apart = steps / step
    on_grid = np.all(np.abs(apart - np.round(apart)) < 1e-6 * apart * len(levels))
    return step if on_grid and step > white_noise(values) else 0.0


def clean(recording: Recording, noise: Noise) -> tuple[Recording, list[str]]:
    """The recording without rows that bear the mark of a fault, and what was left out.

    Frames that repeat the one before, to the last digit; poses that stand out alone; wrenches on a
    plateau at their extreme, flatter than the sensor's noise, as a limit before an amplifier makes.
    Rounded readings are said.
    """
    r, said = recording, []
    readings = [(f"force and moment of '{r.name}'", r.wrench), (f"poses of '{r.name}'", r.position)]
    for what, columns in readings:
        step = max(_rounded_to(c) for c in columns.T)
        if step:
            said.append(f"{what} are rounded to steps of {step:.3g}: that counts as noise")
    again = np.zeros(len(r.pose_time), dtype=bool)
    again[1:] = np.all(r.position[1:] == r.position[:-1], axis=1) & np.all(
        r.rotation[1:] == r.rotation[:-1], axis=(1, 2)
    )
    if not noise.exact_motion and 0 < again.sum() < _MOST_BAD * len(again):
        r = _poses(r, ~again)
        said.append(f"{int(again.sum())} pose frames of '{r.name}' repeat the one before; left out")
    if not noise.exact_motion:
        out = _standing_out(r.position / noise.position)
        if 0 < out.sum() < _MOST_BAD * len(out):
            r = _poses(r, ~out)
            said.append(f"{int(out.sum())} poses of '{r.name}' stand out alone; left out")
        out = _standing_out(r.wrench / noise.wrench)
        if 0 < out.sum() < _MOST_BAD * len(out):
            r = replace(r, wrench_time=r.wrench_time[~out], wrench=r.wrench[~out])
            said.append(f"{int(out.sum())} wrenches of '{r.name}' stand out alone; left out")
    flat = np.zeros(len(r.wrench_time), dtype=bool)
    for i, channel in enumerate(_CHANNELS):
        mine = _plateau(r.wrench[:, i], float(noise.wrench[i]))
        if mine.any():
            flat |= mine
            said.append(
                f"{channel} of '{r.name}' is saturated: {int(mine.sum())} samples lie on a plateau"
                f" at {np.mean(r.wrench[mine, i]):.4g}, flatter than the sensor's noise; left out"
            )
    if flat.any():
        r = replace(r, wrench_time=r.wrench_time[~flat], wrench=r.wrench[~flat])
    return r, said


def lost_frames(r: Recording, rate: float) -> list[str]:
    """A sentence where one sensor's clock ends early: rows lost while the row clock went on.

    If the fit needs clocks that run apart by about as much (`rate`, of the wrench's), that is why,
    and the log is refused: which rows were lost is not known, so no fit can allow for it.
    """
    spans = {"poses": float(np.ptp(r.pose_time)), "wrenches": float(np.ptp(r.wrench_time))}
    short, long = sorted(spans, key=lambda n: spans[n])
    missing = 1 - spans[short] / spans[long]
    if missing < _SHARE_LOST:
        return []
    said = (
        f"{short} of '{r.name}' last {spans[short]:.4g} s, {long} {spans[long]:.4g} s: if both ran"
        f" together, {100 * missing:.1f} % of the {short} were lost while `time` went on; give the"
        " sensor's own time stamps"
    )
    apart = rate if short == "poses" else -rate
    if missing / _SAME_SHARE < apart < missing * _SAME_SHARE:
        raise InputError(f"{said} (the clocks seem to run apart by {100 * abs(rate):.1f} %)")
    return [said]


def _poses(r: Recording, keep: np.ndarray) -> Recording:
    parts = ("pose_time", "position", "rotation", "twist", "acceleration")
    kept = {n: getattr(r, n)[keep] for n in parts if getattr(r, n) is not None}
    return replace(r, **kept)


def _standing_out(x: Float[np.ndarray, "n k"]) -> Bool[np.ndarray, " n"]:
    """Samples far from their neighbours, looked for again without those that were found."""
    out = np.zeros(len(x), dtype=bool)
    for _ in range(_LOOKS):
        kept = np.flatnonzero(~out)
        far = _far_from_neighbours(x[kept])
        if not far.any():
            break
        out[kept[far]] = True
    return out


def _far_from_neighbours(x: Float[np.ndarray, "n k"]) -> Bool[np.ndarray, " n"]:
    """Samples far from the median of their neighbours, of readings in units of the noise.

    A moving median follows slopes and steps, and is deaf to up to three bad samples of seven; what
    it misses of a bend is within twice the local slope.
    """
    bend = np.abs(np.diff(x, n=2, axis=0)).max(axis=1, initial=0.0)
    if len(bend) < 9 or bend.max() < 2 * _STANDS_OUT:
        return np.zeros(len(x), dtype=bool)
    from scipy.ndimage import maximum_filter1d, median_filter

    # Mirrored at the ends: repeated there, the last sample would outvote its neighbours.
    around = median_filter(x, size=(7, 1), mode="mirror")
    slope = np.abs(np.gradient(median_filter(around, size=(7, 1), mode="mirror"), axis=0))
    # At a step the median may sit on either side of it.
    steepest = maximum_filter1d(slope, 7, axis=0)
    return np.any(np.abs(x - around) > _STANDS_OUT + 3 * steepest, axis=1)


def _plateau(values: np.ndarray, noise: float) -> np.ndarray:
    """Samples of a run at the channel's extreme that scatters far less than its noise."""
    from scipy.stats import chi2

    out = np.zeros(len(values), dtype=bool)
    if noise <= 0 or np.ptp(values) < 20 * noise:
        return out
    for sign in (1.0, -1.0):
        x = sign * values
        top = np.sort(x)[-_FLAT:]
        level = float(np.median(top))
        if level < 10 * noise:
            continue
        near = np.abs(x - level) < noise
        runs = [(a, b) for a, b in intervals(near) if b - a >= _FLAT]
        by_chance = _FALSE_ALARMS / (2 * len(_CHANNELS) * max(len(runs), 1))
        for a, b in runs:
            # Chosen for being near the level, they scatter by no more than an even spread there.
            even = 3 * (b - a) * np.var(x[a:b]) / noise**2
            out[a:b] |= chi2.cdf(even, b - a - 1) < by_chance
        if out.any():
            # A reading below the limit beside others at it is there by its noise: to keep it would
            # be to choose by noise. So its neighbours decide, not it itself.
            beside = np.pad(x, 2, mode="edge")
            around = (beside[:-4] + beside[1:-3] + beside[3:-1] + beside[4:]) / 4
            out |= (x > level - noise) | (around > level - _BESIDE * noise)
    return out


def check_touch(
    recording: Recording, setup: ContactSetup, depth: np.ndarray, near: np.ndarray, size: float
) -> None:
    """Refuse a test without contact, and depths that only a wrong unit explains.

    Args:
        recording: The test.
        setup: For what it says of units.
        depth: Of every candidate at every pose [m], samples first.
        near: Which of them lie over their plate.
        size: Of the body [m].
    """
    deep = np.where(near, depth, -np.inf)
    deepest = deep.reshape(len(deep), -1).max(axis=1)
    wrong = deepest > _DEEPEST * size
    if np.any(wrong):
        row = int(np.flatnonzero(wrong)[0])
        raise InputError(
            f"the depth must be less than {_DEEPEST} times the body's size {size:.3g} m, got"
            f" {deepest[row]:.3g} m in row {row + 1} of '{recording.name}'; check units.length (now"
            f" '{setup.units.length}'), the frames and the surfaces"
        )
    if not np.any(deepest > 0):
        row = int(np.argmax(np.max(depth.reshape(len(depth), -1), axis=1)))
        gap = -float(np.max(depth[row]))
        raise InputError(
            f"no contact at all in '{recording.name}': the body comes nearest to a surface in row"
            f" {row + 1}, {gap:.3g} m away; check units.length (now '{setup.units.length}'),"
            " the frames and the surfaces"
        )
