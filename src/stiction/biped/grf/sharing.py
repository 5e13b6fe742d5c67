"""What each foot and each point of its sole bears of the total reaction, frame by frame."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from stiction._base.errors import InputError
from stiction.biped.axes import Axes
from stiction.biped.grf.momentum import TotalReaction
from stiction.biped.grf.split import SLACK, Split, cross_matrix, split_reaction, split_shares
from stiction.biped.grf.touch import FootTouch, Ground, nearest
from stiction.biped.grf.transition import inside_cones, smooth_transition

SPLITS = ("pivot", "least-norm", "smooth")
# Below this part of body weight the ground is taken to bear nothing.
LEAST_LOAD = 0.005
_HELD, _APART = 0.1, 0.05  # of body weight, and m: a body so far up that needs so much is held
PIVOT_HEIGHT = 0.2  # m above the centre of mass, where a recording cannot tell ([Maus2010])
_PIVOT_RANGE = (-0.3, 0.6)  # m
_UNKNOWN = 1e6  # m²: the slack of a moment that is not known


@dataclass(frozen=True)
class Shares:
    """How the total reaction is shared. Forces act on the subject, in world axes."""

    point_force: np.ndarray  # at the points of the soles [N], shape (n, n_points, 3)
    foot_force: np.ndarray  # force of each foot [N], shape (n, n_feet, 3)
    pressure: np.ndarray  # centre of pressure of each foot [m], nan while it bears nothing
    free_moment: np.ndarray  # about the vertical through it [N·m]
    down: np.ndarray  # whether each foot bears load
    # whether mechanics alone fixes the feet's forces, along world axes, by frame
    determined: np.ndarray
    moment_error: np.ndarray  # moment of the points' forces less that asked for [N·m]
    needed_friction: np.ndarray  # the least coefficient that carries the total force
    pivot_height: float  # height of the pivot above the centre of mass [m]; nan where none was used
    notes: tuple[str, ...]  # what is odd about them


class Frames(NamedTuple):
    """The problem of every frame in contact axes (tangents, normal) and body weights."""

    F: np.ndarray  # total force
    N: np.ndarray  # total moment about the middle of the points [m]
    r: np.ndarray  # the points, from their middle [m]
    near: np.ndarray  # how near each point is to touching
    mu: np.ndarray  # coefficient of friction

    def only(self, use: np.ndarray) -> "Frames":
        """The frames in use; the others are made easy to solve: stand still on all points."""
        return Frames(
            np.where(use[:, None], self.F, [0.0, 0.0, 1.0]),
            np.where(use[:, None], self.N, 0.0),
            self.r,
            np.where(use[:, None], self.near, 1.0),
            np.where(use, self.mu, 1.0),
        )


def share(
    time: np.ndarray,
    total: TotalReaction,
    touch: FootTouch,
    axes: Axes,
    feet: np.ndarray,
    *,
    weight: float,
    ground: Ground,
    split: str,
) -> Shares:
    """Share the total reaction among feet and points.

    Args:
        time: Time of each frame [s].
        total: Force, moment and centre of mass in each frame.
        touch: Where the points are and how near they are to touching.
        axes: Forward, left and up.
        feet: 1 where a point belongs to a foot, shape (n_points, n_feet).
        weight: Weight of the body [N].
        ground: Its height, friction and tolerances.
        split: "pivot", "least-norm" or "smooth".
    """
    if not feet.size:
        return _no_shares(len(time))
    to_contact = axes.matrix
    # Forces act where the ground is, whatever the model's soles do above or below it.
    above = (touch.position @ axes.up) - (ground.level or 0.0)
    on_ground = touch.position - above[..., None] * axes.up
    origin = on_ground.mean(axis=1)
    F = total.force @ to_contact.T / weight
    N = (total.moment - np.cross(origin, total.force)) @ to_contact.T / weight
    r = (on_ground - origin[:, None]) @ to_contact.T
    c = (total.center - origin) @ to_contact.T

    loaded = F[:, 2] > LEAST_LOAD  # else the body falls freely
    needed = np.linalg.norm(F[:, :2], axis=1) / np.maximum(F[:, 2], 1e-9)
    # A force outside the cone is carried by the least cone that can, and reported.
    mu = np.maximum(ground.friction, 1.001 * needed)
    near = nearest(touch.nearness, touch.gap, ground.gap_tolerance) * loaded[:, None]
    down = (near @ feet) > 0
    slack, planar = _slack(touch, axes)
    frames, height = Frames(F, N, r, near, mu), PIVOT_HEIGHT
    if split == "smooth":
        f, error, ok = _smooth(time, frames, loaded, down, feet, slack)
    else:
        pivot = None
        if split == "pivot":
            height = _pivot_height(F, N, c, down)
            pivot = c + np.array([0.0, 0.0, height])
        f, error, ok = _solve(frames, loaded, feet, slack, pivot)
    point_force = weight * f @ to_contact
    foot_force = np.einsum("nki,kf->nfi", point_force, feet)
    pressure, free_moment = _pressure(f, r, feet)
    return Shares(
        point_force=point_force,
        foot_force=foot_force,
        pressure=pressure @ to_contact + origin[:, None],
        free_moment=weight * free_moment,
        down=foot_force @ axes.up > 0,
        determined=_determined(f, r, feet, to_contact),
        moment_error=weight * error @ to_contact,
        needed_friction=np.where(loaded, needed, 0.0),
        pivot_height=height if split == "pivot" else np.nan,
        notes=_notes(planar, ok, _high(touch, near, F[:, 2]), needed[loaded], ground.friction),
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


def _high(touch: FootTouch, near: np.ndarray, load: np.ndarray) -> np.ndarray:
    """Frames in which the body needs support while every sole is well above the ground."""
    return (load > _HELD) & (np.where(near > 0, touch.gap, np.inf).min(axis=1) > _APART)


def _notes(planar: bool, ok, high, needed, friction: float) -> tuple[str, ...]:
    notes = []
    if planar:
        notes.append("the motion is planar: forces and moments across it are not known")
    if not ok.all():
        notes.append(f"in {int((~ok).sum())} frames the split did not converge")
    if high.any():
        notes.append(
            f"in {int(high.sum())} frames the body needs support while every sole is more than"
            f" {_APART * 100:.0f} cm above the ground: is it held elsewhere, or the ground uneven?"
        )
    if slipping := int((needed > friction).sum()):
        notes.append(
            f"in {slipping} frames the force needs more friction than {friction:g}, up to"
            f" {needed.max():.2g}"
        )
    return tuple(notes)


def _slack(touch: FootTouch, axes: Axes) -> tuple[np.ndarray, bool]:
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


def _solve(
    frames: Frames,
    loaded: np.ndarray,
    feet: np.ndarray,
    slack: np.ndarray,
    pivot: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Forces, moment errors and convergence of all loaded frames, zero in the others."""
    problem = frames.only(loaded)
    return _only(loaded, split_reaction(*problem, slack=slack, pivot=pivot, feet=feet))


def _smooth(time, frames: Frames, loaded, down, feet, slack):
    """The smooth transition where it applies, the least norm elsewhere."""
    if feet.shape[1] != 2:
        raise InputError(
            f"`split` smooth is for two feet, the model has {feet.shape[1]}; use least-norm"
        )
    f, error, ok = _solve(frames, loaded, feet, slack, None)
    shares, assigned = smooth_transition(time, frames.F, down, np.array([1.0, 0.0, 0.0]))
    use = assigned & loaded & down.all(axis=1)
    first = inside_cones(shares[:, 0], frames.F, frames.mu)
    shares = np.stack([first, frames.F - first], axis=1)
    problem = frames.only(use)._replace(F=np.where(use[:, None, None], shares, [0.0, 0.0, 0.5]))
    found = _only(use, split_shares(*problem, feet=feet, slack=slack))
    return (
        np.where(use[:, None, None], found[0], f),
        np.where(use[:, None], found[1], error),
        np.where(use, found[2], ok),
    )


def _only(use: np.ndarray, done: Split) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    f, error, ok = done.force, done.moment_error, done.converged
    return np.where(use[:, None, None], f, 0.0), np.where(use[:, None], error, 0.0), ok | ~use


def _pressure(f: np.ndarray, r: np.ndarray, feet: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centre of pressure and free moment of each foot: where its tangential moments vanish."""
    load = np.einsum("nk,kf->nf", f[:, :, 2], feet)
    bears = load > 0
    safe = np.where(bears, load, 1.0)
    center = np.einsum("nk,nki,kf->nfi", f[:, :, 2], r, feet) / safe[..., None]
    arm = r[:, :, None] - center[:, None]
    turning = arm[..., 0] * f[:, :, None, 1] - arm[..., 1] * f[:, :, None, 0]
    free = np.einsum("nkf,kf->nf", turning, feet)
    return np.where(bears[..., None], center, np.nan), np.where(bears, free, 0.0)


def _determined(f, r, feet, to_contact) -> np.ndarray:
    """Whether the total wrench fixes every foot's force, along each world axis.

    A change of the loaded points' forces that leaves the wrench alone lies in the null space of the
    matrix A from those forces to the wrench. A foot's force is fixed if no such change alters it.
    """
    n, k, _ = f.shape
    loaded = f[:, :, 2] > 1e-9
    fixed = np.ones((n, 3), bool)
    several = (np.einsum("nk,kf->nf", loaded.astype(float), feet) > 0).sum(axis=1) > 1
    if not several.any():
        return fixed
    r, mask = r[several], loaded[several].astype(float)
    turn = cross_matrix(r)
    unit = np.broadcast_to(np.eye(3), turn.shape)
    A = np.concatenate([unit, turn], axis=2) * mask[..., None, None]
    A = np.moveaxis(A, 1, 2).reshape(len(r), 6, 3 * k)
    # Rows that read each foot's force off the points' forces, along world axes.
    read = np.einsum("kf,ij->fijk", feet, to_contact.T)[None] * mask[:, None, None, None]
    read = np.moveaxis(read, -1, -2).reshape(len(r), -1, 3 * k)
    null = read - read @ np.linalg.pinv(A, rcond=1e-9) @ A
    moved = np.linalg.norm(null, axis=-1).reshape(len(r), -1, 3).max(axis=1)
    fixed[several] = moved < 1e-6
    return fixed
