r"""A model scaled to a subject by markers.

Each segment b is scaled by a factor $s_b = e^{\sigma_b}$, left and right alike, together with what
sits on it: joints, markers, soles, centre of mass. With poses $q_i$ of a few frames,

$$ \min_{\sigma, q_i} \sum_{i,k} w_k |x_k(q_i, \sigma) - y_{ik}|^2
   + \varepsilon^2 \sum_b \Big(\frac{\sigma_b - \bar\sigma}{\delta}\Big)^2 $$

by Gauss and Newton's method, the poses eliminated frame by frame. Markers sit on the skin to
$\varepsilon$ = 1 cm; segments of one person differ from their mean factor by $\delta$ = 5 %, which
decides where no marker does. Mass keeps its distribution; inertias go with $m s^2$.
"""

from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Float
from stiction._base.compile import quick_jit
from stiction._base.errors import InputError
from stiction._base.spatial import rotate
from stiction.biped.opensim.skeleton import Skeleton
from stiction.biped.subject.markers import (
    WORST,
    Markers,
    fit_markers,
    pose_bounds,
    refuse_misfit,
    shared_markers,
)
from stiction.biped.subject.subject import (
    MechanismPoses,
    Points,
    Subject,
    SubjectBodies,
    carried,
    side_of,
)

_FRAMES, _STEPS = 8, 25
_SKIN, _SPREAD = 0.01, 0.05  # m; of the factors' logarithms
_DAMPING = 1e-6


@dataclass(frozen=True)
class Scaling:
    """A scaled subject and how well it fits."""

    subject: Subject  # scaled
    factors: np.ndarray  # of each body
    # by segment: factor, number of markers, and their distance [mm] before they were moved
    rows: list[dict[str, Any]]
    notes: tuple[str, ...]  # in words


def scale_to_markers(
    subject: Subject,
    markers: Markers,
    *,
    mass: float | None = None,
    weights: dict[str, float] | None = None,
    place: bool = True,
) -> Scaling:
    """Scale a model to the person whose markers these are.

    Args:
        subject: The model, with markers of the same names.
        markers: A static trial; a moving one does too.
        mass: Body mass [kg]; the model's if not given.
        weights: Of markers.
        place: Whether markers are then moved on their segments to where they were seen.
    """
    ours, seen, w = shared_markers(markers, subject, weights)
    whole = np.flatnonzero(np.isfinite(seen).all(axis=-1).sum(axis=1) >= 0.8 * seen.shape[1])
    if not len(whole):
        raise InputError(
            f"no frame of `{markers.source}` shows four fifths of the {seen.shape[1]} markers"
        )
    use = whole[np.linspace(0, len(whole) - 1, min(_FRAMES, len(whole))).round().astype(int)]
    part = Markers(markers.source, markers.time[use], markers.names, markers.position[use])
    start = fit_markers(part, subject, weights, worst=np.inf).q
    model = subject.markers
    groups = [side_of(n)[1] for n in subject.body_names]
    names = list(dict.fromkeys(groups))
    member = np.array([names.index(g) for g in groups])
    visible = np.isfinite(seen[use]).all(axis=-1)
    low, high = pose_bounds(subject)
    data = (
        model.position[ours],
        np.nan_to_num(seen[use]),
        visible * w,
        start,
        np.stack([low, high]),
    )
    carriers = tuple(int(model.bodies[i]) for i in ours)
    q, sigma = _fit(
        subject.bodies.poses, carriers, tuple(int(g) for g in member), *jax.device_put(data)
    )
    factors = np.exp(np.asarray(sigma))[member]
    scaled = scaled_subject(subject, factors, mass)
    pose = scaled.poses(np.asarray(q))
    error = np.linalg.norm(
        carried(pose, model.bodies[ours], scaled.markers.position[ours]) - seen[use], axis=-1
    )
    error = np.sqrt(np.nanmean(error**2, axis=0))
    counts = np.isfinite(error) & (w > 0)
    apart = float(np.sqrt(np.average(error[counts] ** 2, weights=w[counts])))
    if apart > WORST:
        refuse_misfit(markers, subject, apart, error)
    rows = []
    for g, name in enumerate(names):
        own = [k for k, i in enumerate(ours) if member[model.bodies[i]] == g]
        if own:
            rows.append(
                {
                    "segment": name,
                    "factor": float(np.exp(sigma[g])),
                    "markers": len(own),
                    "marker error [mm]": float(np.sqrt(np.nanmean(error[own] ** 2)) * 1e3),
                }
            )
    note = (
        f"scaled by {len(ours)} markers of '{markers.source}': factors {factors[1:].min():.3f} to"
        f" {factors[1:].max():.3f}, marker error {apart * 1e3:.1f} mm,"
        f" '{model.names[ours[int(np.nanargmax(error))]]}' is farthest off,"
        f" {np.nanmax(error) * 1e3:.0f} mm"
    )
    if place:
        scaled = _placed(scaled, ours, pose, seen[use])
        note += "; markers were then moved to where they were seen"
    if mass is None:
        note += f"; the mass is the model's, {scaled.mass:.4g} kg (--mass says another)"
    scaled = replace(scaled, notes=(*scaled.notes, note))
    return Scaling(scaled, factors, rows, (note,))


def scaled_subject(subject: Subject, factors: np.ndarray, mass: float | None = None) -> Subject:
    """The subject with every body, and what sits on it, scaled by a factor."""
    if mass is not None and not (np.isfinite(mass) and mass > 0):
        raise InputError(f"`mass` must be a positive number [kg], got {mass}")
    bodies, s = subject.bodies, np.asarray(factors, float)
    m = np.asarray(bodies.mass)
    heavier = 1.0 if mass is None else mass / m.sum()
    inertia = heavier * np.asarray(bodies.inertia) * (s**2)[:, None, None]
    center = np.asarray(bodies.center) * s[:, None]

    def moved(points: Points) -> Points:
        if not points:
            return points
        on = s[points.bodies]
        return replace(points, position=points.position * on[:, None], radius=points.radius * on)

    scaled = SubjectBodies(
        scaled_poses(bodies.poses, jax.device_put(s)),
        *jax.device_put((heavier * m, center, inertia)),
        gravity=bodies.gravity,
    )
    return replace(
        subject,
        bodies=scaled,
        joints=subject.joints * s[:, None],
        markers=moved(subject.markers),
        soles=moved(subject.soles),
    )


def scaled_poses(poses, s: Float[Array, "n_bodies"]):
    """Poses of a model whose bodies are scaled: OpenSim's or a mechanism's."""
    if isinstance(poses, Skeleton):
        parent = s[np.array(poses.parents, int)]
        # Three turns, then three shifts a joint: the shifts are lengths of the parent.
        size = jnp.stack([jnp.ones_like(parent)] * 3 + [parent] * 3, axis=1).ravel()
        return eqx.tree_at(
            lambda p: (p.amounts.coefficients, p.parent_position, p.child_position),
            poses,
            (
                poses.amounts.coefficients * _not_of_base(poses, size)[:, None, None],
                poses.parent_position * parent[:, None],
                poses.child_position * s[1:, None],
            ),
        )
    if isinstance(poses, MechanismPoses):
        mechanism, tree = poses.mechanism, poses.mechanism.tree
        # The factor of a link is that of the last body on it; links without one go with the next.
        link = np.zeros(tree.n_joints + 1, int)
        for body, carrier in enumerate(tree.body_links):
            link[carrier] = body
        for j in range(tree.n_joints, 0, -1):
            parent = tree.joint_parents[j - 1]
            if parent and not link[parent]:
                link[parent] = link[j]
        above = s[link[np.array(tree.joint_parents, int)]]
        # The first link of a body hangs on its parent; the others sit at the body's own joint.
        joints, bodies = mechanism.joints, mechanism.bodies
        return eqx.tree_at(
            lambda p: (
                p.mechanism.joints.position,
                p.mechanism.joints.anchor,
                p.mechanism.bodies.position,
            ),
            poses,
            (
                joints.position * above[:, None],
                joints.anchor * s[link[1:]][:, None],
                bodies.position * s[:, None],
            ),
        )
    raise TypeError(f"poses of {type(poses).__name__} cannot be scaled")


def _not_of_base(poses: Skeleton, size):
    """Shifts of a joint that the ground carries are places in the laboratory, not lengths."""
    ground = np.repeat(np.array(poses.parents, int) == 0, 6)
    return jnp.where(ground, 1.0, size)


@quick_jit
def _fit(poses, carriers, member, local, seen, weight, q0, bounds):
    """Poses of the frames and logarithms of the factors."""
    index, group = np.array(carriers), np.array(member)
    n_groups = int(group.max()) + 1
    low, high = bounds

    def residual(q, sigma, y, w):
        s = jnp.exp(sigma)[group]
        pose = scaled_poses(poses, s)(q)
        x = pose.position[index] + rotate(pose.rotation[index], local * s[index][:, None])
        return ((x - y) * jnp.sqrt(w)[:, None]).ravel()

    def blocks(q, sigma, y, w):
        r = residual(q, sigma, y, w)
        A, B = jax.jacfwd(residual, (0, 1))(q, sigma, y, w)
        out = ((q <= low) & (A.T @ r > 0)) | ((q >= high) & (A.T @ r < 0))
        A = jnp.where(out[None], 0.0, A)
        H = A.T @ A + _DAMPING * jnp.eye(len(q), dtype=q.dtype)
        gain = jnp.linalg.solve(H, jnp.concatenate([A.T @ B, (A.T @ r)[:, None]], axis=1))
        S = B.T @ B - B.T @ A @ gain[:, :-1]
        g = B.T @ r - B.T @ A @ gain[:, -1]
        return S, g, gain

    center = jnp.eye(n_groups) - 1.0 / n_groups
    prior = (_SKIN / _SPREAD) ** 2 * len(q0) * center

    def step(_, state):
        q, sigma = state
        S, g, gain = jax.vmap(blocks, (0, None, 0, 0))(q, sigma, seen, weight)
        H = S.sum(0) + prior + _DAMPING * jnp.eye(n_groups)
        d = -jnp.linalg.solve(H, g.sum(0) + prior @ sigma)
        d = d * jnp.minimum(1.0, 0.2 / jnp.maximum(jnp.max(jnp.abs(d)), 1e-12))
        move = -(gain[..., :-1] @ d) - gain[..., -1]
        move = move * jnp.minimum(1.0, 0.5 / jnp.maximum(jnp.max(jnp.abs(move)), 1e-12))
        return jnp.clip(q + move, low[None], high[None]), sigma + d

    return jax.lax.fori_loop(0, _STEPS, step, (q0, jnp.zeros(n_groups, q0.dtype)))


def _placed(subject: Subject, ours: list[int], pose, seen: np.ndarray) -> Subject:
    """The subject with markers where they were seen on their segments, in the mean of frames."""
    bodies = subject.markers.bodies[ours]
    apart = seen - pose.position[:, bodies]
    local = np.einsum("nkji,nkj->nki", pose.rotation[:, bodies], apart)
    position = subject.markers.position.copy()
    position[ours] = np.nanmean(local, axis=0)
    return replace(subject, markers=replace(subject.markers, position=position))
