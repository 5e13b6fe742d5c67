"""What each foot and each point of its sole bears of the total reaction, frame by frame."""

from dataclasses import dataclass

import equinox as eqx
import jax
import numpy as np

from stiction._errors import InputError
from stiction.biped.split import SLACK, split_reaction, split_shares
from stiction.biped.subject import padded
from stiction.biped.touch import Touch
from stiction.biped.transition import inside_cones, smooth_transition

SPLITS = ("pivot", "least-norm", "smooth")
# Below this part of body weight the ground is taken to bear nothing.
LEAST_LOAD = 0.005
PIVOT_HEIGHT = 0.2  # m above the centre of mass, where a recording cannot tell ([Maus2010])
_PIVOT_RANGE = (-0.3, 0.6)  # m
_UNKNOWN = 1e6  # m²: the slack of a moment that is not known


@dataclass(frozen=True)
class Axes:
    """Directions that people speak of, as unit vectors of the world."""

    forward: np.ndarray
    left: np.ndarray
    up: np.ndarray

    @property
    def matrix(self) -> np.ndarray:
        """Rows forward, left, up: takes world vectors to (tangents, normal)."""
        return np.stack([self.forward, self.left, self.up])


@dataclass(frozen=True)
class Shares:
    """How the total reaction is shared. Forces act on the subject, in world axes.

    Attributes:
        point_force: At the points of the soles [N], shape (n, n_points, 3).
        foot_force: Of each foot [N], shape (n, n_feet, 3).
        pressure: Centre of pressure of each foot [m], nan while it bears nothing.
        free_moment: About the vertical through it [N·m].
        down: Whether each foot bears load.
        determined: Whether mechanics alone fixes the feet's forces, along world axes, by frame.
        moment_error: Moment of the points' forces less that asked for [N·m].
        needed_friction: The least coefficient that carries the total force.
        pivot_height: Of the pivot above the centre of mass [m]; nan where none was used.
        notes: What is odd about them.
    """

    point_force: np.ndarray
    foot_force: np.ndarray
    pressure: np.ndarray
    free_moment: np.ndarray
    down: np.ndarray
    determined: np.ndarray
    moment_error: np.ndarray
    needed_friction: np.ndarray
    pivot_height: float
    notes: tuple[str, ...]


def share(
    time: np.ndarray,
    force: np.ndarray,
    moment: np.ndarray,
    center: np.ndarray,
    touch: Touch,
    axes: Axes,
    group: np.ndarray,
    *,
    weight: float,
    ground: float,
    split: str,
    friction: float,
) -> Shares:
    """Share the total reaction among feet and points.

    Args:
        time: Of each frame [s].
        force: In total [N].
        moment: About the world's origin [N·m].
        center: Centre of mass [m].
        touch: Where the points are and how near they are to touching.
        axes: Forward, left and up.
        group: 1 where a point belongs to a foot, shape (n_points, n_feet).
        weight: Of the body [N].
        ground: Its height [m].
        split: "pivot", "least-norm" or "smooth".
        friction: Coefficient μ.
    """
    if not group.size:
        return _no_shares(len(time))
    to_contact = axes.matrix
    # Forces act where the ground is, whatever the model's soles do above or below it.
    on_ground = touch.position - ((touch.position @ axes.up) - ground)[..., None] * axes.up
    origin = on_ground.mean(axis=1)
    F = force @ to_contact.T / weight
    N = (moment - np.cross(origin, force)) @ to_contact.T / weight
    r = (on_ground - origin[:, None]) @ to_contact.T
    c = (center - origin) @ to_contact.T

    loaded = (F[:, 2] > LEAST_LOAD) & (touch.nearness.max(axis=1) > 0)
    needed = np.linalg.norm(F[:, :2], axis=1) / np.maximum(F[:, 2], 1e-9)
    # A force outside the cone is carried by the least cone that can, and reported.
    mu = np.maximum(friction, 1.001 * needed)
    near = np.where(loaded[:, None], touch.nearness, 0.0)
    down = (near @ group) > 0
    slack, planar = _slack(touch, axes)
    height = PIVOT_HEIGHT
    if split == "smooth":
        f, error, ok = _smooth(time, F, N, r, near, mu, down, group, slack, loaded)
    else:
        if split == "pivot":
            height = _pivot_height(F, N, c, down)
        pivot = c + np.array([0.0, 0.0, height])
        f, error, ok = _solve(F, N, r, near, mu, loaded, slack, group, pivot, split == "pivot")
    point_force = weight * f @ to_contact
    foot_force = np.einsum("nki,kf->nfi", point_force, group)
    pressure, free_moment = _pressure(f, r, group, origin, axes, weight)
    return Shares(
        point_force=point_force,
        foot_force=foot_force,
        pressure=pressure,
        free_moment=free_moment,
        down=foot_force @ axes.up > 0,
        determined=_determined(f, r, group, to_contact),
        moment_error=weight * error @ to_contact,
        needed_friction=np.where(loaded, needed, 0.0),
        pivot_height=height if split == "pivot" else np.nan,
        notes=_notes(planar, ok, (F[:, 2] > 0.1) & ~loaded, needed[loaded], friction),
    )


def _no_shares(n: int) -> Shares:
    """Where no feet are known, nothing is shared."""
    return Shares(
        point_force=np.zeros((n, 0, 3)),
        foot_force=np.zeros((n, 0, 3)),
        pressure=np.zeros((n, 0, 3)),
        free_moment=np.zeros((n, 0)),
        down=np.zeros((n, 0), bool),
        determined=np.ones((n, 3), bool),
        moment_error=np.zeros((n, 3)),
        needed_friction=np.zeros(n),
        pivot_height=np.nan,
        notes=(),
    )


def _notes(planar: bool, ok, unborne, needed, friction: float) -> tuple[str, ...]:
    notes = []
    if planar:
        notes.append("the motion is planar: forces and moments across it are not known")
    if not ok.all():
        notes.append(f"in {int((~ok).sum())} frames the split did not converge")
    if unborne.any():
        notes.append(
            f"in {int(unborne.sum())} frames no point touches though the body needs support: larger"
            " tolerances may help"
        )
    if slipping := int((needed > friction).sum()):
        notes.append(
            f"in {slipping} frames the force needs more friction than {friction:g}, up to"
            f" {needed.max():.2g}"
        )
    return tuple(notes)


def _slack(touch: Touch, axes: Axes) -> tuple[np.ndarray, bool]:
    """Moment slacks about the contact axes; a planar motion knows nothing of the other two."""
    across = np.abs(touch.rate @ axes.left).max()
    planar = bool(across < 1e-9 < 1e-3 < np.abs(touch.rate @ axes.forward).max())
    return np.array([_UNKNOWN, SLACK, _UNKNOWN] if planar else [SLACK] * 3), planar


def _pivot_height(F: np.ndarray, N: np.ndarray, c: np.ndarray, down: np.ndarray) -> float:
    """The height over the centre of mass that forces point to while one foot stands alone [m].

    Least squares of the moment about the pivot: Σ |N_c - h n × F|².
    """
    single = down.sum(axis=1) == 1
    about_center = N - np.cross(c, F)
    lever = np.cross([0.0, 0.0, 1.0], F)
    size = np.sum(lever[single] ** 2)
    if single.sum() < 10 or size < 1e-6:
        return PIVOT_HEIGHT
    return float(np.clip(np.sum(lever[single] * about_center[single]) / size, *_PIVOT_RANGE))


def _solve(F, N, r, near, mu, loaded, slack, group, pivot, use_pivot):
    """Split every loaded frame; the others are given a harmless problem and come out as zero."""
    F, N, near, mu = _harmless(F, N, near, mu, loaded)
    F, N, r, near, mu, pivot = map(padded, (F, N, r, near, mu, pivot))
    done = _split_frames(F, N, r, near, mu, pivot, slack, group, use_pivot)
    return _only(loaded, done)


@eqx.filter_jit
def _split_frames(F, N, r, near, mu, pivot, slack, group, use_pivot: bool):
    def frame(F, N, r, near, mu, pivot):
        aim = {"pivot": pivot, "feet": group} if use_pivot else {}
        return split_reaction(F, N, r, near, mu, slack=slack, **aim)

    return jax.vmap(frame)(F, N, r, near, mu, pivot)


def _smooth(time, F, N, r, near, mu, down, group, slack, loaded):
    """The smooth transition where it applies, the least norm elsewhere."""
    if group.shape[1] != 2:
        raise InputError(
            f"`split` smooth is for two feet, the model has {group.shape[1]}; use least-norm"
        )
    f, error, ok = _solve(F, N, r, near, mu, loaded, slack, group, np.zeros_like(F), False)
    shares, assigned = smooth_transition(time, F, down, np.array([1.0, 0.0, 0.0]))
    use = assigned & loaded & down.all(axis=1)
    first = inside_cones(shares[:, 0], F, mu)
    shares = np.stack([first, F - first], axis=1)
    safe = np.where(use[:, None, None], shares, [0.0, 0.0, 0.5])
    _, N_safe, near_safe, mu_safe = _harmless(F, N, near, mu, use)
    safe, N, r, near, mu = map(padded, (safe, N_safe, r, near_safe, mu_safe))
    done = _share_frames(safe, N, r, near, mu, slack, group)
    f2, error2, ok2 = _only(use, done)
    f, error = np.where(use[:, None, None], f2, f), np.where(use[:, None], error2, error)
    return f, error, np.where(use, ok2, ok)


@eqx.filter_jit
def _share_frames(forces, N, r, near, mu, slack, group):
    def frame(forces, N, r, near, mu):
        return split_shares(forces, N, r, near, mu, feet=group, slack=slack)

    return jax.vmap(frame)(forces, N, r, near, mu)


def _harmless(F, N, near, mu, use):
    """A problem with an easy answer where there is none to solve: stand still on all points."""
    return (
        np.where(use[:, None], F, [0.0, 0.0, 1.0]),
        np.where(use[:, None], N, 0.0),
        np.where(use[:, None], near, 1.0),
        np.where(use, mu, 1.0),
    )


def _only(use: np.ndarray, done) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n = len(use)
    f, error, ok = (np.asarray(x)[:n] for x in (done.force, done.moment_error, done.converged))
    return np.where(use[:, None, None], f, 0.0), np.where(use[:, None], error, 0.0), ok | ~use


def _pressure(f, r, group, origin, axes, weight) -> tuple[np.ndarray, np.ndarray]:
    """Centre of pressure and free moment of each foot: where its tangential moments vanish."""
    load = np.einsum("nk,kf->nf", f[:, :, 2], group)
    bears = load > 0
    safe = np.where(bears, load, 1.0)
    center = np.einsum("nk,nki,kf->nfi", f[:, :, 2], r, group) / safe[..., None]
    arm = r[:, :, None] - center[:, None]
    turning = arm[..., 0] * f[:, :, None, 1] - arm[..., 1] * f[:, :, None, 0]
    free = weight * np.einsum("nkf,kf->nf", turning, group)
    pressure = center @ axes.matrix + origin[:, None]
    return np.where(bears[..., None], pressure, np.nan), np.where(bears, free, 0.0)


def _determined(f, r, group, to_contact) -> np.ndarray:
    """Whether the total wrench fixes every foot's force, along each world axis.

    A change of the loaded points' forces that leaves the wrench alone lies in the null space of the
    matrix A from those forces to the wrench. A foot's force is fixed if no such change alters it.
    """
    n, k, _ = f.shape
    loaded = f[:, :, 2] > 1e-9
    fixed = np.ones((n, 3), bool)
    several = (np.einsum("nk,kf->nf", loaded.astype(float), group) > 0).sum(axis=1) > 1
    if not several.any():
        return fixed
    r, mask = r[several], loaded[several].astype(float)
    x, y, z = r[..., 0], r[..., 1], r[..., 2]
    o = np.zeros_like(x)
    turn = np.stack([o, -z, y, z, o, -x, -y, x, o], axis=-1).reshape(-1, k, 3, 3)
    unit = np.broadcast_to(np.eye(3), turn.shape)
    A = np.concatenate([unit, turn], axis=2) * mask[..., None, None]
    A = np.moveaxis(A, 1, 2).reshape(len(r), 6, 3 * k)
    # Rows that read each foot's force off the points' forces, along world axes.
    read = np.einsum("kf,ij->fijk", group, to_contact.T)[None] * mask[:, None, None, None]
    read = np.moveaxis(read, -1, -2).reshape(len(r), -1, 3 * k)
    null = read - read @ np.linalg.pinv(A, rcond=1e-9) @ A
    moved = np.linalg.norm(null, axis=-1).reshape(len(r), -1, 3).max(axis=1)
    fixed[several] = moved < 1e-6
    return fixed
