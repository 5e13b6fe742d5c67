"""Compare the package's answer with brute force, as sets of accelerations."""

import numpy as np
from brute_force import ModeSet, Problem, brute_force, linear_parts
from problems import planar
from scipy.optimize import nnls

from stiction.motions import Motions, PossibleMotion

# Linear programs are solved to about 1e-9; families that reach far are compared relative to that.
AGREE = 1e-6

# The first sees whether a set is a single point; all are compared for continua.
DIRECTIONS = np.array(
    [[0.61, 0.37, 0.53], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.5, -0.7, 0.3], [-0.4, 0.2, 0.9]]
)


def answer(p: Problem) -> Motions:
    """The package's answer."""
    return planar(
        mass=p.mass,
        inertia=p.inertia,
        points=p.points,
        normals=p.normals,
        mu=p.mu,
        velocity=p.velocity,
        force=p.force,
        torque=p.torque,
        curvature_body=p.curvature_body,
        curvature_obstacle=p.curvature_obstacle,
    )


def disagreements(p: Problem, result: Motions) -> list[str]:
    """Every way in which the answer differs from brute force."""
    v_n = linear_parts(p)[4]
    if np.any(v_n < -1e-9 * np.linalg.norm(p.velocity)):
        return [] if str(result.verdict) == "collision" else ["missed a collision"]
    return differences(brute_force(p, DIRECTIONS), result)


def differences(sets: list[ModeSet], result: Motions) -> list[str]:
    """As sets: verdict, isolated accelerations, and the ends of continua."""
    wrong = []
    # Every acceleration of brute force belongs to a motion.
    for s in sets:
        for a in s.points:
            if not any(_belongs(a, m) for m in result.motions):
                wrong.append(f"missing {s.modes} {a}")
    # Every motion is the whole set of its modes.
    by_modes = {s.modes: s for s in sets}
    for m in result.motions:
        s = by_modes.get(m.modes)
        if s is None:
            wrong.append(f"false {m.modes} {m.acceleration}")
            continue
        low, high = extent(m)
        size = 1.0 + max(np.abs(x[np.isfinite(x)]).max(initial=0.0) for x in (low, high))
        for ours, theirs in ((low, s.lowest), (high, s.highest)):
            if not np.allclose(ours, theirs, rtol=0, atol=AGREE * size):
                wrong.append(f"extent of {m.modes}: {ours} not {theirs}")
    if str(result.verdict) != verdict(sets):
        wrong.append(f"verdict {result.verdict} not {verdict(sets)}")
    return wrong


def verdict(sets) -> str:
    """From brute force alone: are all accelerations of all modes one and the same?"""
    if not sets:
        return "inconsistent"
    points = np.concatenate([s.points for s in sets])
    spread = np.abs(points - points[0]).max() if len(points) else 0.0
    unbounded = any(np.isinf(s.lowest).any() or np.isinf(s.highest).any() for s in sets)
    alone = spread <= AGREE * (1 + np.abs(points).max(initial=0.0)) and not unbounded
    return "unique" if alone else "ambiguous"


def extent(m: PossibleMotion) -> tuple[np.ndarray, np.ndarray]:
    """Least and largest direction·a over a motion."""
    corners = m.acceleration[None] if m.family is None else m.family.corners
    low, high = (DIRECTIONS @ corners.T).min(axis=1), (DIRECTIONS @ corners.T).max(axis=1)
    if m.family is not None and len(m.family.rays):
        along = DIRECTIONS @ m.family.rays.T
        low = np.where((along < -1e-9).any(axis=1), -np.inf, low)
        high = np.where((along > 1e-9).any(axis=1), np.inf, high)
    return low, high


def _belongs(a: np.ndarray, m: PossibleMotion) -> bool:
    corners = m.acceleration[None] if m.family is None else m.family.corners
    rays = np.zeros((0, 3)) if m.family is None else m.family.rays
    size = 1.0 + np.abs(a).max() + np.abs(corners).max()
    weights = np.concatenate([np.ones(len(corners)), np.zeros(len(rays))])
    mixture = np.concatenate([np.concatenate([corners / size, rays]).T, weights[None]])
    return nnls(mixture, np.append(a / size, 1.0))[1] <= AGREE
