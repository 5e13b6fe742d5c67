r"""Design of a test: the motion that tells most about the wanted parameters, within limits.

The body keeps its orientation and moves along
$x(t) = x_0 + b_0 + \sum_h (a_h \sin h\omega t + b_h \cos h\omega t)$, one cycle of which is to be
repeated. What a cycle tells about the parameters, with the noise of *both* sensors counted, is the
information left after the unknown path is eliminated,

$$ \mathcal I = I_{pp} - I_{pc} I_{cc}^{-1} I_{cp} , $$

c being the coefficients of the path's spline, as in the errors-in-variables fit. Its determinant
is made as large as possible (D-optimal: the smallest confidence ellipsoid, whatever the units)
under bounds on depth, travel, speed, acceleration and force, all along the cycle.
Cycles are independent, so errors fall with the root of their number.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from scipy.interpolate import BSpline
from scipy.spatial.transform import Rotation

from stiction._base.arrays import Array, Float
from stiction._base.compile import quick_jit
from stiction._base.errors import InputError
from stiction.identify.contact.along import contacts_along, wrenches_along
from stiction.identify.contact.from_setup import contact_model
from stiction.identify.contact.geometry import BodyState
from stiction.identify.contact.model import ContactModel, find_contacts, wrench
from stiction.identify.contact.parameters import (
    jacobian_of_wanted,
    model_values,
    wanted_names,
    wanted_values,
)
from stiction.identify.kinds.contact_setup import ContactSetup, Design
from stiction.identify.path.splines import DEGREE, ORDER, segment_count

_POINTS = 120  # of a cycle, where information and limits are taken
_KNOTS = 20  # of a cycle
_STARTS = 3
_SLACK = 2e-3  # by which a limit may be passed, relative
_LEAST_DEPTH = 0.1  # of the greatest: contact is kept
_LEAST_FORCE = 0.03  # of the greatest
_SOFT_SLIP = 0.01  # of the greatest speed: where the direction of slip turns smoothly


@dataclass(frozen=True)
class DesignedTest:
    """A motion and what it promises."""

    time: Float[np.ndarray, " n"]  # one cycle [s]
    position: Float[np.ndarray, "n 3"]  # of the body [m]
    velocity: Float[np.ndarray, "n 3"]  # [m/s]
    rotation: Float[np.ndarray, "3 3"]  # constant, body to world
    depth: Float[np.ndarray, "n n_surfaces"]  # of each surface [m]
    surfaces: tuple[str, ...]  # their names
    force: float  # largest force along the cycle [N]
    std: dict[str, float]  # standard error of every wanted parameter after one cycle
    values: dict[str, float]  # the guess, in the same order
    seconds: float  # to reach the wanted relative error in every parameter
    wanted_error: float
    # standard errors of a plain harmonic test within the same limits, over these
    gain: dict[str, float]

    def to_json(self) -> dict[str, Any]:
        """As plain data, without the motion."""
        return {
            "parameters": {
                n: {
                    "guess": self.values[n],
                    "std_per_cycle": s,
                    "relative": s / abs(self.values[n]),
                }
                for n, s in self.std.items()
            },
            "cycle": float(self.time[-1] - self.time[0] + self.time[1] - self.time[0]),
            "wanted_error": self.wanted_error,
            "seconds": self.seconds,
            "largest_force": self.force,
            "gain": self.gain,
        }


class _Plan(eqx.Module):
    """What the search needs beside the amplitudes."""

    model: ContactModel
    theta: Float[Array, " p"]
    rotation: Float[Array, "3 3"]
    base: Float[Array, "3"]
    harmonics: tuple[Float[Array, "n m"], ...]  # path, rate and acceleration by amplitude
    pose_information: Float[Array, "k k"]
    basis: tuple[Float[Array, "n k"], Float[Array, "n k"]]  # path and rate by its coefficients
    wrench_noise: Float[Array, "6"]
    wrench_weight: Float[Array, ""]


def _path(plan: _Plan, amplitudes: Float[Array, "m 3"]):
    return tuple(h @ amplitudes for h in plan.harmonics)


def _motion(plan: _Plan, x: Float[Array, "3"], v: Float[Array, "3"]) -> BodyState:
    return BodyState(plan.base + x, plan.rotation, v, jnp.zeros(3))


def _information(plan: _Plan, amplitudes: Float[Array, "m 3"]) -> Float[Array, "p p"]:
    """What one cycle tells about the parameters, once the path is eliminated."""
    x, v, _ = _path(plan, amplitudes)

    def read(x, v, theta):
        return wrench(plan.model, theta, _motion(plan, x, v)) / plan.wrench_noise

    J = jax.vmap(jax.jacfwd(read, (0, 1, 2)), (0, 0, None))(x, v, plan.theta)
    over_path = sum(
        jnp.einsum("nij,nk->nikj", J_d, B_d) for J_d, B_d in zip(J[:2], plan.basis, strict=True)
    )
    C = jnp.asarray(over_path).reshape(-1, plan.basis[0].shape[1] * 3)
    P = J[2].reshape(-1, plan.theta.shape[0])
    w = plan.wrench_weight
    I_cc = jnp.kron(plan.pose_information, jnp.eye(3)) + w * C.T @ C
    I_cp, I_pp = w * C.T @ P, w * P.T @ P
    return I_pp - I_cp.T @ jax.scipy.linalg.solve(I_cc, I_cp, assume_a="pos")


@quick_jit
def _objective(amplitudes, plan: _Plan):
    """Minus the logarithm of the determinant, in units of the guess."""
    scale = jnp.abs(plan.theta)
    information = _information(plan, amplitudes.reshape(-1, 3)) * scale[:, None] * scale[None, :]
    return -jnp.linalg.slogdet(information)[1]


@quick_jit
def _margins(amplitudes, plan: _Plan, limits):
    """What must not become negative, each in units of its limit."""
    max_depth, max_travel, max_speed, max_acceleration, max_force = limits
    x, v, a = _path(plan, amplitudes.reshape(-1, 3))

    def one(x, v):
        found = find_contacts(plan.model, plan.theta, _motion(plan, x, v))
        i = jnp.argmax(jnp.where(found.near, found.depth, -jnp.inf), axis=1)[:, None]
        depth = jnp.take_along_axis(found.depth, i, axis=1)[:, 0]
        rate = jnp.take_along_axis(found.depth_rate, i, axis=1)[:, 0]
        t = plan.theta
        k, c, h, n = (plan.model.plate_values(name, t) for name in ("k", "c", "h", "lambda"))
        e = jnp.maximum(depth, 1e-9) ** n
        return depth, k * e + (c + h * e) * rate

    depth, force = jax.vmap(one)(x, v)
    parts = [
        1 - depth / max_depth,
        depth / max_depth - _LEAST_DEPTH,
        1 - force / max_force,
        force / max_force - _LEAST_FORCE,
        1 - jnp.sum((x / max_travel) ** 2, axis=1),
        1 - jnp.sum((v / max_speed) ** 2, axis=1),
        1 - jnp.sum((a / max_acceleration) ** 2, axis=1),
    ]
    return jnp.concatenate([p.reshape(-1) for p in parts])


_slope = quick_jit(eqx.filter_grad(_objective))
_slopes = quick_jit(jax.jacfwd(_margins))


def design_test(setup: ContactSetup, folder: Path = Path()) -> DesignedTest:
    """The best cycle for a setup that has a `design`.

    Args:
        setup: With `design`: limits, rates, and what is believed of the parameters.
        folder: Where mesh files of the setup lie.
    """
    from scipy.optimize import minimize

    if setup.design is None:
        raise InputError("the setup has no `design`; add one with a guess of the parameters")
    d = setup.design
    plan = _plan(setup, d, folder)
    limits = tuple(
        jnp.asarray(v)
        for v in (d.max_depth, d.max_travel, d.max_speed, d.max_acceleration, d.max_force)
    )
    random = np.random.default_rng(0)
    plain = _plain_start(plan, d)
    unit = d.max_depth  # amplitudes are searched for in this unit, so that all are near one

    def search(start: np.ndarray):
        return minimize(
            lambda y: float(_objective(jnp.asarray(y * unit), plan)),
            start.ravel() / unit,
            jac=lambda y: unit * np.asarray(_slope(jnp.asarray(y * unit), plan)),
            constraints={
                "type": "ineq",
                "fun": lambda y: np.asarray(_margins(jnp.asarray(y * unit), plan, limits)),
                "jac": lambda y: unit * np.asarray(_slopes(jnp.asarray(y * unit), plan, limits)),
            },
            method="SLSQP",
            options={"maxiter": 200, "ftol": 1e-6},
        )

    best, least = None, np.inf
    for i in range(_STARTS):
        shake = 0.5 * unit / d.harmonics * random.standard_normal(plain.shape)
        found = search(plain + shake if i else plain)
        worst = float(np.min(np.asarray(_margins(jnp.asarray(found.x * unit), plan, limits))))
        if worst > -_SLACK and found.fun < least:
            best, least = found.x * unit, found.fun
    if best is None:
        raise InputError(
            "no motion within `design`'s limits keeps contact; raise max_force, max_speed or"
            " max_acceleration, or lengthen the cycle"
        )
    return _designed(plan, setup, d, best, plain)


def _plan(setup: ContactSetup, d: Design, folder: Path) -> _Plan:
    model = contact_model(setup, folder)
    if model.has_bristles:
        raise InputError("`--design` cannot plan for 'k_f' and 'mu_s'; leave them out of `wanted`")
    theta = model_values(model, d.guess)
    rotation = Rotation.from_rotvec(np.radians(d.orientation_deg)).as_matrix()
    model = eqx.tree_at(lambda m: m.slip_floor, model, jnp.asarray(_SOFT_SLIP * d.max_speed))
    model, base = _base(model, rotation)
    t = np.arange(_POINTS) * d.duration / _POINTS
    phase = 2 * np.pi * np.outer(t / d.duration, np.arange(1, d.harmonics + 1))
    omega = 2 * np.pi * np.arange(1, d.harmonics + 1) / d.duration
    one, zero = np.ones((_POINTS, 1)), np.zeros((_POINTS, 1))
    s, c = np.sin(phase), np.cos(phase)
    harmonics = (
        np.concatenate([one, s, c], axis=1),
        np.concatenate([zero, c * omega, -s * omega], axis=1),
        np.concatenate([zero, -s * omega**2, -c * omega**2], axis=1),
    )
    spacing = setup.method.knot_spacing or d.duration / _KNOTS
    count = segment_count(np.array([0.0, d.duration]), spacing)
    knots = spacing * np.arange(-DEGREE, count + ORDER)
    spline = BSpline(knots, np.eye(count + DEGREE), DEGREE)
    B = [spline(t, nu=derivative) for derivative in range(2)]
    noise = setup.pose.noise
    position_noise = noise.position if noise else 1e-4
    wrench_noise = setup.wrench.noise
    sizes = (wrench_noise.force, wrench_noise.moment) if wrench_noise else (0.25, 0.025)
    share = d.duration / _POINTS
    stiff = 1e-12 * np.eye(count + DEGREE) / position_noise**2
    return _Plan(
        model=model,
        theta=theta,
        rotation=jnp.asarray(rotation),
        base=jnp.asarray(base),
        harmonics=tuple(jnp.asarray(h) for h in harmonics),
        pose_information=jnp.asarray(
            share * d.motion_rate * B[0].T @ B[0] / position_noise**2 + stiff
        ),
        basis=(jnp.asarray(B[0]), jnp.asarray(B[1])),
        wrench_noise=jnp.asarray(np.repeat(sizes, 3)),
        wrench_weight=jnp.asarray(share * d.wrench_rate),
    )


def _base(model: ContactModel, rotation: np.ndarray) -> tuple[ContactModel, np.ndarray]:
    """Where every plate is just touched, and the model with the one point that touches each."""
    n, o = np.asarray(model.plates.normal), np.asarray(model.plates.origin)
    if np.linalg.matrix_rank(n) < len(n):
        raise InputError(
            "`--design` needs surfaces whose normals are independent (at most three);"
            " design for some of them at a time"
        )
    allowed = np.asarray(model.allowed).copy()
    reach = []
    for p, normal in enumerate(n):
        points = np.concatenate(
            [
                np.asarray(s.touch_points(jnp.asarray(rotation), jnp.zeros(3), jnp.asarray(normal)))
                for s in model.body
            ]
        )
        height = np.where(allowed[p], points @ normal, np.inf)
        deepest = int(np.argmin(height))
        allowed[p] = np.arange(len(points)) == deepest
        reach.append(height[deepest])
    middle = o.mean(axis=0)
    rhs = np.sum(n * (o - middle), axis=1) - np.array(reach)
    base = middle + np.linalg.lstsq(n, rhs, rcond=None)[0]
    return eqx.tree_at(lambda m: m.allowed, model, jnp.asarray(allowed)), base


def _plain_start(plan: _Plan, d: Design) -> np.ndarray:
    """A plain test: half the greatest depth everywhere, a harmonic in depth and one across."""
    n = np.asarray(plan.model.plates.normal)
    into = -np.linalg.pinv(n) @ np.ones(len(n))
    across = np.linalg.svd(n)[2][-1] if len(n) < 3 else np.zeros(3)
    omega = 2 * np.pi / d.duration
    a = np.zeros((2 * d.harmonics + 1, 3))
    a[0] = 0.5 * d.max_depth * into
    a[min(2, d.harmonics)] = 0.15 * d.max_depth * into
    a[1] = min(0.5 * d.max_travel, 0.4 * d.max_speed / omega) * across
    return a


def _designed(
    plan: _Plan, setup: ContactSetup, d: Design, amplitudes: np.ndarray, plain: np.ndarray
) -> DesignedTest:
    names = wanted_names(plan.model)
    theta = np.asarray(plan.theta)
    none = np.zeros(len(plan.model.materials))
    values = np.asarray(wanted_values(plan.model, theta, none))
    J = jacobian_of_wanted(plan.model, theta, none)

    def errors(a) -> np.ndarray:
        information = np.asarray(_information(plan, jnp.asarray(a).reshape(-1, 3)))
        return np.sqrt(np.diag(J @ np.linalg.inv(information) @ J.T))

    std = errors(amplitudes)
    relative = np.max(std / np.abs(values))
    x, v, _ = (np.asarray(p) for p in _path(plan, jnp.asarray(amplitudes).reshape(-1, 3)))
    base = np.asarray(plan.base)
    motion = jax.vmap(lambda x, v: _motion(plan, x, v))(jnp.asarray(x), jnp.asarray(v))
    found = contacts_along(plan.model, plan.theta, motion)
    forces = wrenches_along(plan.model, plan.theta, motion)
    depth = np.max(
        np.where(np.asarray(plan.model.allowed), np.asarray(found.depth), -np.inf), axis=2
    )
    gain = errors(plain) / std
    return DesignedTest(
        time=np.arange(_POINTS) * d.duration / _POINTS,
        position=base + x,
        velocity=v,
        rotation=np.asarray(plan.rotation),
        depth=depth,
        surfaces=tuple(s.name for s in setup.surfaces),
        force=float(np.linalg.norm(np.asarray(forces)[:, :3], axis=1).max()),
        std=dict(zip(names, std.tolist(), strict=True)),
        values=dict(zip(names, values.tolist(), strict=True)),
        seconds=float(d.duration * max(1.0, (relative / d.wanted_error) ** 2)),
        wanted_error=d.wanted_error,
        gain=dict(zip(names, gain.tolist(), strict=True)),
    )
