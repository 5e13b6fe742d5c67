"""The stages of fitting contact tests: regression on a path, then path and parameters together."""

from dataclasses import dataclass, replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction.identify import robust
from stiction.identify.bristles import follow_bristles
from stiction.identify.contacts import Contacts, Motion
from stiction.identify.errors_in_variables import Fit, Problem, fit, smooth
from stiction.identify.inertia import Inertia, inertial_wrench
from stiction.identify.model import Bristles, ContactModel, Material
from stiction.identify.paths import ExactPath, Noise, SmoothPath, track_of
from stiction.identify.recording import Recording
from stiction.identify.regression import (
    Regression,
    Rows,
    contacts_of,
    loaded_of,
    regress,
)
from stiction.identify.trajectory import Track

Path = ExactPath | SmoothPath

# A wrench sample is left out while a damped contact may or may not touch, and while the direction
# of slip is uncertain: within this many standard deviations.
_MARGIN = 3.0
_LEAST_SLIDING = 10, 0.1  # samples, and part of those in contact, that must slide surely
_LEAST_SAMPLES = 4  # poses for each knot
_SMAX_GRID = 40


@dataclass(frozen=True)
class Case:
    """A recording, where its body was at the wrench's times, and which samples are used."""

    recording: Recording
    path: Path
    motion: Motion
    wrench: np.ndarray  # without what measured accelerations explain
    use: np.ndarray


def make_case(
    recording: Recording,
    path: Path,
    model: ContactModel,
    noise: Noise,
    inertia: Inertia | None,
    spacing: float | None,
) -> Case:
    """Evaluate the path at the wrench's times and leave out what cannot be judged."""
    time = recording.wrench_time
    inside = (time >= recording.pose_time[0]) & (time <= recording.pose_time[-1])
    recording = replace(recording, wrench_time=time[inside], wrench=recording.wrench[inside])
    time = recording.wrench_time
    motion = path(time)
    wrench = recording.wrench
    if inertia is not None and recording.acceleration is not None:
        measured = np.stack(
            [np.interp(time, recording.pose_time, a) for a in recording.acceleration.T], axis=1
        )
        wrench = wrench - inertial(model, inertia, motion, measured)
    use = np.ones(len(time))
    if spacing is not None:
        found = contacts_of(model, _unloaded(model), motion)
        use = certain(model, found, noise, recording, spacing).astype(float)
    return Case(recording, path, motion, wrench, use)


def _unloaded(model: ContactModel):
    """Parameters of no force, where only the geometry matters."""
    return jnp.concatenate([jnp.zeros(len(model.linear_names)), model.nonlinear_start()])


def inertial(model: ContactModel, inertia: Inertia, motion: Motion, acceleration) -> np.ndarray:
    """Inertial wrenches at many samples, in the axes of the sensor."""
    a = jnp.asarray(acceleration)
    return np.asarray(_inertial(model, inertia, motion, a[:, :3], a[:, 3:]))


@eqx.filter_jit
def _inertial(model, inertia, motion, linear, angular):
    def one(motion, linear, angular):
        R = motion.rotation
        point = motion.position + R @ model.reference if model.axes == "body" else model.reference
        w = inertial_wrench(inertia, motion, linear, angular, point)
        if model.axes == "body":
            w = jnp.concatenate([R.T @ w[:3], R.T @ w[3:]])
        return w

    return jax.vmap(one)(motion, linear, angular)


def certain(
    model: ContactModel, found: Contacts, noise: Noise, recording: Recording, spacing: float
) -> np.ndarray:
    """Which samples can be judged: no damped contact at its brink, no slip near a reversal."""
    reach = _reach(model, noise)
    depth, near = np.asarray(found.depth), np.asarray(found.near)
    plates = model.material_of
    damped = np.array([model.materials[i].damping for i in plates])
    brink = near & (np.abs(depth) < _MARGIN * reach) & damped[:, None]
    rubbing = np.array(
        [_told_by_slip(model.materials[i]) and model.materials[i].slides for i in plates]
    )
    slow = _slow(found, reach, recording, spacing)
    turning = near & (depth > 0) & slow & rubbing[:, None]
    return ~np.any(brink | turning, axis=(1, 2))


def _told_by_slip(material: Material) -> bool:
    """Whether its friction has the direction of slip."""
    return material.friction != "none" and not material.bristle


def _reach(model: ContactModel, noise: Noise) -> float:
    """Noise of a point of the body [m]."""
    return float(np.hypot(noise.position, max(s.arm for s in model.body) * noise.rotation))


def _slow(found: Contacts, reach: float, recording: Recording, spacing: float) -> np.ndarray:
    """Whether the direction of slip is uncertain."""
    speed = np.linalg.norm(np.asarray(found.slip), axis=-1)
    return speed < _MARGIN * _speed_noise(reach, recording, spacing)


def without_idle_friction(
    model: ContactModel, cases: list[Case], noise: Noise, spacing: float
) -> ContactModel:
    """The model without the friction of materials that hardly ever slid.

    Samples at which the direction of slip is uncertain are left out for friction's sake. Where that
    would leave next to nothing, all are kept for stiffness and damping, and friction is given up.
    """
    touching, sliding = np.zeros(len(model.materials)), np.zeros(len(model.materials))
    for c in cases:
        found = contacts_of(model, _unloaded(model), c.motion)
        on = np.asarray(found.touching)
        sure = on & ~_slow(found, _reach(model, noise), c.recording, spacing)
        np.add.at(touching, np.array(model.material_of), on.any(axis=2).sum(axis=0))
        np.add.at(sliding, np.array(model.material_of), sure.any(axis=2).sum(axis=0))
    least, share = _LEAST_SLIDING
    enough = (sliding >= least) & (sliding >= share * touching)
    materials = tuple(
        replace(m, slides=bool(ok) or not _told_by_slip(m))
        for m, ok in zip(model.materials, enough, strict=True)
    )
    return replace(model, materials=materials)


def _speed_noise(reach: float, recording: Recording, spacing: float) -> float:
    """Velocity of a quintic smoothed over knots of m samples: about 2 σ / (spacing √m)."""
    step = float(np.median(np.diff(recording.pose_time)))
    return 2 * reach / spacing / np.sqrt(max(spacing / step, 1.0))


def without_letting_go(
    model: ContactModel, case: Case, noise: Noise, theta: np.ndarray, spacing: float
) -> Case:
    """The case without the samples at which a contact may or may not have let go.

    A contact lets go when its normal force would turn into a pull; friction on the elastic part
    (ma 6) then ends with a jump.
    """
    if model.may_pull:
        return case
    found = contacts_of(model, jnp.asarray(theta), case.motion)
    k, c, h, exponent = (
        model.plate_values(name, theta)[:, None] for name in ("k", "c", "h", "lambda")
    )
    depth, rate = np.asarray(found.depth), np.asarray(found.depth_rate)
    touching = np.asarray(found.touching)
    e = np.where(touching, np.maximum(depth, 0.0), 0.0) ** exponent
    force = k * e + (c + h * e) * rate
    reach = _reach(model, noise)
    slope = exponent * k * np.maximum(depth, reach) ** (exponent - 1)
    doubt = slope * reach + (c + h * e) * _speed_noise(reach, case.recording, spacing)
    leaving = touching & (np.abs(force) < _MARGIN * doubt) & (rate < 0)
    return replace(case, use=case.use * ~np.any(leaving, axis=(1, 2)))


def joined_rows(cases: list[Case], noise: Noise) -> Rows:
    """The samples of all cases, one after the other."""
    motion = jax.tree.map(lambda *parts: jnp.concatenate(parts), *(c.motion for c in cases))
    return Rows(
        motion,
        np.concatenate([c.wrench for c in cases]),
        noise.wrench,
        np.concatenate([c.use for c in cases]),
    )


def start(
    model: ContactModel,
    cases: list[Case],
    noise: Noise,
    inertia: Inertia | None,
    loss: robust.Loss,
    positive: bool,
) -> tuple[Regression, np.ndarray, np.ndarray]:
    """Least squares on the paths as they are; s_max and its standard error, by material."""
    if inertia is not None:
        cases = [
            c
            if c.recording.acceleration is not None
            else replace(
                c,
                wrench=c.wrench
                - inertial(model, inertia, c.motion, c.path.acceleration(c.recording.wrench_time)),
            )
            for c in cases
        ]
    rows = joined_rows(cases, noise)
    found = regress(model, rows, loss=loss, positive=positive)
    count = len(model.materials)
    if not model.has_bristles:
        return found, np.zeros(count), np.zeros(count)
    limit = np.zeros(count)
    spread = np.zeros(count)
    for i, m in enumerate(model.materials):
        if m.bristle:
            limit[i], spread[i] = _stretch_limit(model, cases, rows, found, limit, i, loss)
    bristles = bristles_of(model, cases, found.theta, limit)
    joined = jax.tree.map(lambda *parts: jnp.concatenate(parts), *bristles)
    found = regress(model, rows, bristles=joined, loss=loss, positive=positive)
    return found, limit, spread


def bristles_of(
    model: ContactModel, cases: list[Case], theta: np.ndarray, limit: np.ndarray
) -> list[Bristles]:
    """The bristles along each case."""
    by_plate = jnp.asarray(
        [limit[i] if model.materials[i].bristle else 0.0 for i in model.material_of]
    )
    out = []
    for c in cases:
        found = contacts_of(model, jnp.asarray(theta), c.motion)
        loaded = loaded_of(model, jnp.asarray(theta), found)
        out.append(follow_bristles(found, loaded, by_plate))
    return out


def _stretch_limit(model, cases, rows, found, limit, i, loss) -> tuple[float, float]:
    """s_max of one material: where the wrench is explained best (the switch found from data).

    A grid finds the valley; Gauss-Newton on the profile finds its floor, by differences so small
    that no sample changes sides.
    """
    theta = found.theta
    plates = [p for p, j in enumerate(model.material_of) if j == i]
    slides = []
    for c in cases:
        f = contacts_of(model, jnp.asarray(theta), c.motion)
        on = np.asarray(loaded_of(model, jnp.asarray(theta), f))[:, plates]
        path = np.linalg.norm(np.diff(np.asarray(f.point)[:, plates], axis=0), axis=-1)
        slides.append(np.sum(path * on[1:], axis=0).max())
    farthest = max(slides)

    def solve(s: float) -> Regression:
        trial = limit.copy()
        trial[i] = s
        parts = bristles_of(model, cases, theta, trial)
        joined = jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *parts)
        return regress(model, rows, bristles=joined, loss=loss)

    grid = np.geomspace(1e-4 * farthest, farthest, _SMAX_GRID)
    costs = np.array([solve(s).squares for s in grid])
    j = int(np.argmin(costs))
    low, high = grid[max(j - 1, 0)], grid[min(j + 1, len(grid) - 1)]
    from scipy.optimize import minimize_scalar

    best = minimize_scalar(
        lambda s: solve(s).squares, bounds=(low, high), method="bounded", options={"xatol": 1e-9}
    )
    s = float(best.x) if best.fun <= costs[j] else float(grid[j])
    step = 1e-5 * s
    here, up, down = (solve(x).squares for x in (s, s + step, s - step))
    curvature = (up - 2 * here + down) / step**2
    return s, float(np.sqrt(2 / curvature)) if curvature > 0 else float("inf")


@dataclass(frozen=True)
class JointFit:
    """Outcome of errors in variables: the fit, its tracks, and the knots' spacing.

    Parameters that are not `seen` moved nothing; those seen but not `free` were held at zero.
    """

    fit: Fit
    track: Track
    spacing: float
    seen: np.ndarray
    free: np.ndarray
    score: float


def joint(
    model: ContactModel,
    cases: list[Case],
    noise: Noise,
    inertia: Inertia | None,
    first: Regression,
    bristles: list[Bristles] | None,
    *,
    spacing: float,
    delay: bool,
    loss: robust.Loss,
    positive: bool,
) -> JointFit:
    """Fit path and parameters together, with knots of one spacing."""
    measured = all(c.recording.acceleration is not None for c in cases)
    problem = Problem(model, jnp.asarray(noise.wrench), None if measured else inertia, loss=loss)
    track = stacked_tracks(cases, noise, spacing, bristles)
    size = np.linalg.norm(first.root, axis=0)
    seen = size > 0
    scale = np.append(1 / np.where(seen, size, 1.0), 1e-3)
    free = np.append(seen, delay)
    theta = np.append(first.theta, 0.0)
    coefficients = smooth(track)
    linear = len(model.linear_names)
    signs = np.array([positive and not n.startswith("bias.") for n in model.linear_names])
    while True:
        found = fit(
            problem,
            track,
            coefficients,
            jnp.asarray(theta),
            jnp.asarray(free),
            jnp.asarray(scale),
        )
        wrong = signs & free[:linear] & (np.asarray(found.theta)[:linear] < 0)
        if not wrong.any():
            break
        # Hold at zero what came out furthest below it, in standard errors, and fit the rest.
        worst = int(
            np.argmin(np.where(wrong, np.asarray(found.theta)[:linear] / scale[:-1][:linear], 0))
        )
        free[worst] = False
        theta = np.asarray(found.theta).copy()
        theta[worst] = 0.0
    knots = sum(
        np.ceil((c.recording.pose_time[-1] - c.recording.pose_time[0]) / spacing) + 5 for c in cases
    )
    score = float(found.wrench_cost + found.pose_cost) + 12 * knots
    return JointFit(found, track, spacing, seen, free, score)


def stacked_tracks(
    cases: list[Case], noise: Noise, spacing: float, bristles: list[Bristles] | None
) -> Track:
    """The tracks of all cases in one shape, along a leading axis."""

    def lay(shape):
        return [
            track_of(
                replace(c.recording, wrench=c.wrench),
                noise,
                spacing,
                use=c.use,
                bristles=None if bristles is None else bristles[i],
                shape=shape,
            )
            for i, c in enumerate(cases)
        ]

    tracks = lay(None)
    shapes = [t.wrench_u.shape[1:] for t in tracks]
    if len(set(shapes)) > 1:
        tracks = lay(tuple(int(n) for n in np.max(shapes, axis=0)))
    if len(tracks) == 1:
        return tracks[0]
    return jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *tracks)


def joint_with_chosen_knots(
    model: ContactModel, cases: list[Case], noise: Noise, widest: float, **options
) -> JointFit:
    """Halve the knots until Akaike's criterion rises, and keep the last, finer ones.

    One level finer than the data demand, because intervals are right only where the path's own
    stiffness no longer biases the parameters: what the criterion cannot see can be as large as the
    standard errors.
    """
    densest = max(_LEAST_SAMPLES * float(np.median(np.diff(c.recording.pose_time))) for c in cases)
    spacing = max(widest / 2, densest)
    best = joint(model, cases, noise, spacing=spacing, **options)
    while spacing / 2 >= densest:
        spacing /= 2
        finer = joint(model, cases, noise, spacing=spacing, **options)
        worse = finer.score > best.score
        best = finer
        if worse:
            break
    return best
