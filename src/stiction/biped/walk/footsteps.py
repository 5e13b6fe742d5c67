"""Where and when feet stand: a plan of footsteps, and the way of a foot between them.

The plan starts and ends at rest on both feet. Feet swing in turn, the left one first; on the level
the first and the last step are half a step long, up stairs each goes one tread farther, and both
feet stand side by side at the ends. While a foot stands it turns with the pitch of the recorded
stride: about the edge of its heel until it is flat, and about its ball, on flat toes, from when the
heel rises. On its way through the air it moves forward as recorded, and so high that the lowest
point of its sole clears the ground.
"""

from dataclasses import dataclass

import numpy as np

from stiction.biped.walk.stride import SIDES, RecordedStride

_NEARLY_FLAT = np.radians(1.0)  # pitches of the record that count as flat
_CLEARANCE = 0.012  # of the sole on its way, beside what the landing adds [m]
_LANDING = 0.25  # speed at which a heel comes down [m/s]
_RISEN = 0.45  # part of a swing in which it is above the stair that it comes to
_TOES_BACK = 0.4  # part of a swing in which the toes straighten
_REST = 1.0  # before the first foot leaves the ground, and after the last landed [s]
_MIDDLE = 0.3  # phase in the middle of a flat stance
_SAME = 1e-9  # a sample this near to a landing is at it, however that was rounded [s]


@dataclass(frozen=True)
class Footstep:
    """A foot on the ground."""

    strike: float  # when it lands; -inf if it stands from the beginning [s]
    off: float  # when it leaves; inf if it stands to the end [s]
    at: np.ndarray  # below the ankle when the sole is flat [m]. Shape (3,)
    # how far the heel rises and the toes are up, of what was recorded: before and after
    lift: tuple[float, float]


@dataclass(frozen=True)
class Sole:
    """A foot from the side [m]: heel, ball and tip of the toes, counted forward from the ankle."""

    heel: float
    ball: float
    tip: float
    height: float  # of the ankle
    hinge: float  # height of the toes' joint, above the ball


@dataclass(frozen=True)
class WalkPlan:
    """Stances of both feet, and the clock."""

    stride: RecordedStride  # what was recorded
    stances: tuple[list[Footstep], list[Footstep]]  # of the left and of the right foot
    first: float  # when the first foot that steps lands [s]; it is at phase 1/2 of the stride
    duration: float  # [s]

    def phase(self, t: np.ndarray) -> np.ndarray:
        """Of the stride; the right heel strikes at whole numbers."""
        return 0.5 + (np.asarray(t) - self.first) / self.stride.period


def plan_walk(
    stride: RecordedStride,
    half_steps: int,
    *,
    step: float | None = None,
    rise: float = 0.0,
) -> WalkPlan:
    """A walk of so many half-steps from rest, and the one that brings the feet together.

    Args:
        stride: How fast, how far.
        half_steps: Landings before the last.
        step: Length of a half-step [m]; as recorded by default.
        rise: Of every step [m]; the last one brings both feet to one height.
    """
    half = stride.period / 2
    step = stride.speed * half if step is None else step
    swing = (1 - stride.toe_off) * stride.period
    first = _REST + swing
    places = [[np.array([0.0, y, 0.0])] for y in (stride.width / 2, -stride.width / 2)]
    landings: list[list[float]] = [[-np.inf], [-np.inf]]
    for k in range(half_steps + 1):
        foot, last = k % 2, k == half_steps
        level = half_steps if last else k + 1
        ahead = level - 0.5 * (half_steps > 0 and rise == 0)  # on stairs every step has its tread
        place = np.array([step * ahead, places[foot][0][1], rise * level])
        places[foot].append(place)
        landings[foot].append(first + k * half)
    stances = []
    for foot in (0, 1):
        found = []
        for i, (strike, at) in enumerate(zip(landings[foot], places[foot], strict=True)):
            more = i + 1 < len(landings[foot])
            off = landings[foot][i + 1] - swing if more else np.inf
            far = [_lift(places[foot], j, stride.speed * half) for j in (i - 1, i)]
            found.append(Footstep(strike, off, at, (far[0], far[1])))
        stances.append(found)
    end = first + half_steps * half + _REST
    return WalkPlan(stride, (stances[0], stances[1]), first, end)


def _lift(places: list[np.ndarray], i: int, step: float) -> float:
    """A short swing lifts the foot less."""
    if not 0 <= i < len(places) - 1:
        return 0.0
    return 0.35 + 0.65 * min(
        1.0, float(np.hypot(*(places[i + 1] - places[i])[[0, 2]])) / (2 * step)
    )


@dataclass(frozen=True)
class FootMotion:
    """A foot in time: its ankle, how far its heel is up, how far its toes, whether it stands."""

    ankle: np.ndarray  # (n, 3) [m]
    pitch: np.ndarray  # (n,) [rad]
    toes: np.ndarray  # (n,) [rad]
    stands: np.ndarray  # (n,)
    stance: np.ndarray  # (n,) which one, or the one before a swing
    progress: np.ndarray  # (n,) of the stance, from 0 to 1


def foot_motion(plan: WalkPlan, side: int, sole: Sole, t: np.ndarray) -> FootMotion:
    """The way of the left (0) or right (1) foot."""
    stances, stride = plan.stances[side], plan.stride
    own = plan.phase(t) + (0.5 if SIDES[side] == "left" else 0.0)
    n = len(t)
    ankle, pitch, toes = np.zeros((n, 3)), np.zeros(n), np.zeros(n)
    stands, which, progress = np.zeros(n, bool), np.zeros(n, int), np.zeros(n)
    for i, s in enumerate(stances):
        on = (t >= s.strike - _SAME) & (t <= s.off + _SAME)
        phase = _phase_in(own[on], s, stride)
        turn = _stance_pitch(phase, s, stride)
        ankle[on], pitch[on] = _on_ground(s, turn, sole), turn
        toes[on], stands[on], which[on] = np.maximum(turn, 0.0), True, i
        progress[on] = np.clip(phase / stride.toe_off, 0.0, 1.0)
        if np.isfinite(s.off):
            air = (t > s.off + _SAME) & (t < stances[i + 1].strike - _SAME)
            pose = _in_air(s, stances[i + 1], stride, sole, t[air])
            ankle[air], pitch[air], toes[air], which[air], progress[air] = *pose, i, 1.0
    return FootMotion(ankle, pitch, toes, stands, which, progress)


def _phase_in(own: np.ndarray, s: Footstep, stride: RecordedStride) -> np.ndarray:
    """The foot's phase within a stance; one without beginning or end waits in the middle."""
    if np.isfinite(s.strike) and np.isfinite(s.off):
        return np.clip(own - np.floor(own.mean()), 0.0, stride.toe_off) if len(own) else own
    if np.isfinite(s.off):  # counted back from its end
        return np.maximum(own - own[-1] + stride.toe_off, _MIDDLE) if len(own) else own
    if np.isfinite(s.strike):
        return np.minimum(own - own[0], _MIDDLE) if len(own) else own
    return np.full(len(own), _MIDDLE)


def _stance_pitch(phase: np.ndarray, s: Footstep, stride: RecordedStride) -> np.ndarray:
    turn = flat_if_small(stride.pitch(phase))
    return np.where(phase < _MIDDLE, np.minimum(turn, 0.0) * s.lift[0],
                    np.maximum(turn, 0.0) * s.lift[1])  # fmt: skip


def flat_if_small(pitch: np.ndarray) -> np.ndarray:
    """A pitch that is nothing near zero, and smooth."""
    over = np.maximum(np.abs(pitch) - _NEARLY_FLAT, 0.0)
    return np.sign(pitch) * over**2 / (over + _NEARLY_FLAT)


def turned(pitch: np.ndarray, x: np.ndarray | float, z: np.ndarray | float) -> np.ndarray:
    """A point of the foot after a pitch, counted from the ankle. Shape (n, 3)."""
    c, s = np.cos(pitch), np.sin(pitch)
    return np.stack([c * x + s * z, np.zeros_like(c), -s * x + c * z], axis=-1)


def _on_ground(s: Footstep, pitch: np.ndarray, sole: Sole) -> np.ndarray:
    """The ankle of a foot that turns about its heel, or about the joint of its toes."""
    up = np.where(pitch > 0, sole.hinge, 0.0)
    x = np.where(pitch > 0, sole.ball, sole.heel)
    pivot = s.at + np.stack([x, 0 * x, up], axis=-1)
    return pivot - turned(pitch, x, up - sole.height)


def _in_air(a: Footstep, b: Footstep, stride: RecordedStride, sole: Sole, t: np.ndarray):
    """Ankle, pitch and toes between two stances."""
    length = b.strike - a.off
    u = (t - a.off) / length
    phase = stride.toe_off + u * (1 - stride.toe_off)
    lift = a.lift[1]
    pitch = flat_if_small(stride.pitch(phase)) * lift
    left = flat_if_small(stride.pitch(np.array([stride.toe_off])))[0] * lift
    toes = left * (1 - smooth(u / _TOES_BACK))

    # Forward as recorded, brought to the ends, and to the speeds there.
    eps = 1e-4
    ends_t = np.array([a.off - eps, a.off]), np.array([b.strike, b.strike + eps])
    around = [stride.toe_off + (x - a.off) / length * (1 - stride.toe_off) for x in ends_t]
    way = stride.ankle(phase)
    own = [stride.ankle(p) for p in around]
    turns = [flat_if_small(stride.pitch(p)) * lift for p in around]
    held = [_on_ground(s, turn, sole) for s, turn in zip((a, b), turns, strict=True)]
    # A shorter step is the recorded one on another scale.
    part = (held[1][0, 0] - held[0][1, 0]) / (own[1][0] - own[0][1])
    way, own = part * way, [part * o for o in own]
    speeds = [np.diff(h[:, 0])[0] / eps for h in held], [np.diff(o)[0] / eps for o in own]
    gap = [held[0][1, 0] - own[0][1], held[1][0, 0] - own[1][0]]
    rate = [length * (speeds[0][k] - speeds[1][k]) for k in (0, 1)]
    x = way + _hermite(u, gap[0], gap[1], rate[0], rate[1])
    y = a.at[1] + (b.at[1] - a.at[1]) * smooth(u)

    # Up: what the lowest point of the sole needs.
    joint = turned(pitch, sole.ball, sole.hinge - sole.height)[:, 2]
    points = [
        joint + turned(pitch - toes, x, -sole.hinge)[:, 2] for x in (0.0, sole.tip - sole.ball)
    ]
    low = np.min([turned(pitch, sole.heel, -sole.height)[:, 2], *points], axis=0)
    clear = _LANDING * length * u**2 * (1 - u) + _CLEARANCE * 16 * u**2 * (1 - u) ** 2
    floor = a.at[2] + (b.at[2] - a.at[2]) * smooth(u / _RISEN)
    return np.stack([x, y, floor + clear - low], axis=-1), pitch, toes


def _hermite(u: np.ndarray, p0: float, p1: float, m0: float, m1: float) -> np.ndarray:
    return (
        (1 + 2 * u) * (1 - u) ** 2 * p0
        + u * (1 - u) ** 2 * m0
        + u**2 * (3 - 2 * u) * p1
        + u**2 * (u - 1) * m1
    )


def smooth(u: np.ndarray) -> np.ndarray:
    """From 0 to 1 with no jump of the acceleration."""
    u = np.clip(u, 0.0, 1.0)
    return u**3 * (10 - 15 * u + 6 * u**2)
