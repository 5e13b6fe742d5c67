r"""Inertias, armatures and friction of a robot from its joint log.

$$ \tau = Y(q, \dot q, \ddot q)\, \pi + I_a \ddot q + F_v \dot q + F_c\,\mathrm{sign}(\dot q) + o $$

Positions pass a two-way low-pass and are differentiated; torques pass the same filter, and so do
the columns of friction, whose jumps it rounds [Janot2019]. One orthogonal factor a joint holds all
rows. Only combinations of inertias move torques, the base parameters; they are told by the data,
the rest is kept at the mechanism's own values by a wide prior, and every body stays a real one
(`inertia`). Standard errors count how residuals are correlated.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
from threadpoolctl import threadpool_limits

from stiction._base.arrays import Bool, Float
from stiction._base.errors import InputError
from stiction.identify.columns import even_rate
from stiction.identify.fit import least_squares
from stiction.identify.kinds.axis import two_way_low_pass
from stiction.identify.kinds.robot.inertia import (
    COUNT,
    body_parameters,
    log_cholesky,
    widths,
)
from stiction.identify.kinds.robot.regressor import (
    PER_BODY,
    Chain,
    chain_of,
    parameters_of,
    regressor,
)
from stiction.identify.kinds.robot.setup import RobotSetup
from stiction.identify.result import Identification, Parameter, parameter
from stiction.tables import Table

_EDGE = 2.0  # filter lengths cut off at both ends
_POWER, _ABOVE = 0.99, 6.0  # share of the power, and times its frequency: the cutoff
_STATES = 300  # random ones that tell which combinations can move torques at all
_RANK = 1e-8
_LETTERS = ("m", "mx", "my", "mz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
_UNITS = {
    "armature": "kg·m²", "viscous": "N·m·s/rad", "coulomb": "N·m", "offset": "N·m",
    "stribeck": "N·m", "spring": "N·m/rad",
}  # fmt: skip
_POSITIVE = ("armature", "viscous", "coulomb")
_SURE = 0.99  # of the filtered sign of a velocity: less is a joint that turns round


@dataclass(frozen=True)
class JointRows:
    """Rows of a log: Y and the joints' own columns, and the torques."""

    time: Float[np.ndarray, " n"]  # [s]
    Y: Float[np.ndarray, "n j p"]  # over bodies' parameters, then each joint's terms
    torque: Float[np.ndarray, "n j"]  # filtered
    position: Float[np.ndarray, "n j"]  # of the joints, filtered
    velocity: Float[np.ndarray, "n j"]  # of the joints
    acceleration: Float[np.ndarray, "n j"]  # of the joints
    # which rows of which joint may be judged: not while it turns round, where the filter has
    # smeared the jump of dry friction over times that noise makes uncertain
    use: Bool[np.ndarray, "n j"]

    def part(self, rows: slice) -> "JointRows":
        """Some of the rows."""
        return JointRows(*(x[rows] for x in vars(self).values()))

    def missed(self, phi: Float[np.ndarray, " p"]) -> Float[np.ndarray, "n j"]:
        """Torque less prediction; zero in rows that are not judged."""
        return np.where(self.use, self.torque - self.Y @ phi, 0.0)


@dataclass(frozen=True)
class RobotProblem:
    """What was fitted: the robot, its rows and all parameters, for export and validation."""

    chain: Chain
    logs: list[JointRows]
    phi: Float[np.ndarray, " p"]


@threadpool_limits.wrap(limits=1, user_api="blas")
def identify(
    tables: Sequence[Table],
    setup: RobotSetup,
    folder: Path = Path(),
    *,
    tell: Callable[[str], None] = lambda text: None,
) -> Identification:
    """The parameters of a robot from one or several joint logs."""
    chain = chain_of(spec_of(setup, folder).compile())
    if len(chain.joints) != len(setup.position):
        raise InputError(
            f"`position` must name {len(chain.joints)} columns, one for each joint"
            f" ({', '.join(chain.joints)}), got {len(setup.position)}"
        )
    tell("filtering")
    logs = [joint_rows(chain, table, setup) for table in tables]
    cut = [int(len(log.time) * (1 - setup.kept_aside)) for log in logs]
    fitted = [log.part(slice(0, n)) for log, n in zip(logs, cut, strict=True)]
    aside = [log.part(slice(n, None)) for log, n in zip(logs, cut, strict=True)]
    tell("fitting")
    return _fit(chain, setup, fitted, [a for a in aside if len(a.time) > 0])


def spec_of(setup: RobotSetup, folder: Path) -> mujoco.MjSpec:
    """The mechanism as MuJoCo's editable model."""
    from stiction.scenes import Scene
    from stiction.scenes.scenario import Scenario

    return Scene(Scenario(mechanism=setup.mechanism), folder).spec()


def validate(
    tables: Sequence[Table], setup: RobotSetup, folder: Path, found: Identification
) -> dict[str, float]:
    """How well other logs are foretold: what the prediction misses of their torques."""
    problem: RobotProblem = found.fitted_to
    logs = [joint_rows(problem.chain, table, setup) for table in tables]
    missed = _relative(logs, problem.phi)
    by_joint = dict(zip(problem.chain.joints, missed["joints"], strict=True))
    return {"torque_relative": missed["all"], **{f"{j}.relative": x for j, x in by_joint.items()}}


def joint_rows(chain: Chain, table: Table, setup: RobotSetup) -> JointRows:
    """The rows of one log."""
    time, rate = table.clock(setup.time), even_rate(table, setup.time)
    hinge = [int(t) == 3 for t in chain.model.jnt_type]
    q, tau = np.zeros((2, len(time), len(hinge)))
    for j, turns in enumerate(hinge):
        q[:, j] = table.vectors([setup.position[j]], "angle" if turns else "length")[:, 0]
        tau[:, j] = table.vectors([setup.torque[j]], "moment" if turns else "force")[:, 0]
        if np.ptp(q[:, j]) == 0:
            raise InputError(
                f"column `{setup.position[j]}` never changes (rows 1 to {len(q)}): joint"
                f" '{chain.joints[j]}' did not move; leave it out or move it"
            )
    tau = tau * (setup.torque_factor or 1.0)
    q[:, hinge] = np.unwrap(q[:, hinge], axis=0)
    cutoff = setup.cutoff or _cutoff_of(q, rate)
    if not cutoff < rate / 2:
        raise InputError(f"`cutoff` must be below half the rate {rate:.4g} Hz, got {cutoff}")
    smooth = lambda x: two_way_low_pass(x, rate=rate, cutoff=cutoff)  # noqa: E731
    q = smooth(q)
    v = np.gradient(q, 1 / rate, axis=0, edge_order=2)
    a = np.gradient(v, 1 / rate, axis=0, edge_order=2)
    edge = int(_EDGE * rate / cutoff) + 1
    rows = slice(edge, len(time) - edge, setup.keep_every)
    tau = smooth(tau)[rows]
    Y = np.concatenate(
        [
            regressor(chain, q[rows], v[rows], a[rows]),
            *(own[rows] for own in own_columns(setup, q, v, a, smooth)),
        ],
        axis=2,
    )
    if Y.shape[0] * Y.shape[1] < 5 * Y.shape[2]:
        raise InputError(
            f"the log must leave at least {5 * Y.shape[2] // Y.shape[1]} rows, got {Y.shape[0]};"
            " lower `keep_every` or record longer"
        )
    use = np.ones_like(tau, dtype=bool)
    if "coulomb" in setup.terms:
        use = np.abs(smooth(np.sign(v))[rows]) > _SURE
    return JointRows(time[rows], Y, tau, q[rows], v[rows], a[rows], use)


def own_columns(
    setup: RobotSetup, q: np.ndarray, v: np.ndarray, a: np.ndarray, smooth=lambda x: x
) -> list[Float[np.ndarray, "n j j"]]:
    """Columns of the joints' own terms; `smooth` is the filter that torques passed."""
    columns = {
        "armature": lambda: a,
        "viscous": lambda: v,
        "coulomb": lambda: smooth(np.sign(v)),
        "offset": lambda: np.ones_like(v),
        "spring": lambda: q,
        "stribeck": lambda: smooth(np.sign(v) * np.exp(-((v / setup.stribeck_speed) ** 2))),
    }
    return [_own(columns[name]()) for name in setup.terms]


def _cutoff_of(q: Float[np.ndarray, "n j"], rate: float) -> float:
    """Some times the frequency below which the velocity has nearly all its power [Hz]."""
    v = np.diff(q - q.mean(axis=0), axis=0)
    power = np.sum(np.abs(np.fft.rfft(v * np.hanning(len(v))[:, None], axis=0)) ** 2, axis=1)
    share = np.cumsum(power) / np.sum(power)
    top = np.fft.rfftfreq(len(v), 1 / rate)[int(np.argmax(share > _POWER))]
    return float(np.clip(_ABOVE * top, 2.0, 0.25 * rate))


def _own(values: np.ndarray) -> np.ndarray:
    """A term of each joint as columns: diagonal."""
    return np.einsum("nj,jk->njk", values, np.eye(values.shape[1]))


def _fit(
    chain: Chain, setup: RobotSetup, fitted: list[JointRows], aside: list[JointRows]
) -> Identification:
    n_bodies, joints = len(chain.bodies), len(chain.joints)
    factors = []
    for j in range(joints):
        A = np.concatenate([log.Y[log.use[:, j], j] for log in fitted])
        b = np.concatenate([log.torque[log.use[:, j], j] for log in fitted])
        R, z = least_squares.orthogonal_factor(A, b)
        factors.append((R, z, float(b @ b - z @ z), len(b)))
    start, width, to_phi = _numbers(chain, setup)
    # Twice: first all joints alike, then each by the size of its own residual.
    sigma = np.array([np.sqrt(max(f[2], 0.0) / f[3]) for f in factors])
    sigma = np.maximum(sigma, 1e-6 * max(float(sigma.max()), 1e-12))
    x, J_phi, H = start, np.zeros((0, 0)), np.zeros((0, 0))
    for _ in range(2):
        R = np.concatenate([f[0] / s for f, s in zip(factors, sigma, strict=True)])
        z = np.concatenate([f[1] / s for f, s in zip(factors, sigma, strict=True)])
        R, z = least_squares.orthogonal_factor(R, z)
        x, J_phi, H = _minimise(R, z, start, width, to_phi)
        residual = [log.missed(np.asarray(to_phi(jnp.asarray(x)))) for log in fitted]
        judged_rows = sum(log.use.sum(axis=0) for log in fitted)
        sigma = np.sqrt(np.sum(np.concatenate(residual) ** 2, axis=0) / judged_rows)
    phi = np.asarray(to_phi(jnp.asarray(x)))
    inflation = _inflation(residual)
    cov = J_phi @ np.linalg.inv(H) @ J_phi.T * inflation
    base, combine = _base_parameters(chain, setup, phi)
    base_std = np.sqrt(np.diag(combine @ cov @ combine.T))
    units = _joint_units(chain, setup)
    std = np.sqrt(np.diag(cov))
    out: dict[str, Parameter] = {}
    for i, name in enumerate(units):
        at = n_bodies * PER_BODY + i
        out[name] = parameter(phi[at], std[at], units[name], setup.confidence)
    out |= {
        name: parameter(value, s, "", setup.confidence)
        for (name, value), s in zip(base.items(), base_std, strict=True)
    }
    order = [n_bodies * PER_BODY + i for i in range(len(units))]
    pick = np.concatenate([np.eye(len(phi))[order], combine])
    relative = _relative(fitted, phi)
    judged = _relative(aside, phi) if aside else {}
    bodies = {
        name: dict(zip(_LETTERS, phi[i * PER_BODY : (i + 1) * PER_BODY].tolist(), strict=True))
        for i, name in enumerate(chain.body_names)
    }
    rms = float(np.sqrt(np.mean(np.concatenate(residual) ** 2)))
    warnings = _warnings(out, judged, relative, [name for name in units])
    everything = np.concatenate([r.ravel() for r in residual])
    return Identification(
        parameters=out,
        covariance=pick @ cov @ pick.T,
        residual_rms=rms,
        residuals={"torque_rms": rms, "relative": relative["all"], "correlation": inflation},
        condition=least_squares.scaled_condition(R @ np.linalg.pinv(combine) if len(base) else R),
        warnings=warnings,
        method="inverse dynamics, physically consistent",
        confidence=setup.confidence,
        notes={
            "samples": {"used": len(everything) // joints},
            "base_parameters": len(base),
            "bodies": bodies,
            "relative_error_by_joint": dict(zip(chain.joints, relative["joints"], strict=True)),
            "kept_aside_relative_error": judged.get("all"),
        },
        fitted_to=RobotProblem(chain, fitted, phi),
        curves={
            "time": fitted[0].time,
            "velocity": fitted[0].velocity[:, 0],
            "force": fitted[0].torque[:, 0],
            "predicted": (fitted[0].Y @ phi)[:, 0],
        },
    )


def _numbers(chain: Chain, setup: RobotSetup):
    """Where the search begins, how wide the prior is, and the parameters of its numbers."""
    pi = parameters_of(chain)
    bodies = [log_cholesky(p, name) for p, name in zip(pi, chain.body_names, strict=True)]
    joints = len(chain.joints)
    own, wide = [], []
    typical = {"armature": chain.model.dof_armature, "viscous": chain.model.dof_damping,
               "coulomb": chain.model.dof_frictionloss}  # fmt: skip
    for name in setup.terms:
        if name in _POSITIVE:
            own.append(np.sqrt(np.maximum(typical[name], 1e-3)))
        else:
            own.append(np.zeros(joints))
        wide.append(np.full(joints, 1e3))
    start = np.concatenate([*bodies, *own])
    width = np.concatenate([*(widths(b, setup.doubt) for b in bodies), *wide])
    n = len(bodies) * COUNT
    squares = np.array([name in _POSITIVE for name in setup.terms]).repeat(joints)

    def to_phi(x):
        inertias = jax.vmap(body_parameters)(x[:n].reshape(-1, COUNT)).reshape(-1)
        return jnp.concatenate([inertias, jnp.where(squares, x[n:] ** 2, x[n:])])

    return start, width, to_phi


def _minimise(R, z, start, width, to_phi):
    """The numbers that follow the data and, where these say nothing, the prior."""
    from scipy.optimize import least_squares as minimise

    value, slope = jax.jit(to_phi), jax.jit(jax.jacfwd(to_phi))

    def rows(x):
        return np.concatenate([R @ np.asarray(value(x)) - z, (x - start) / width])

    def jacobian(x):
        return np.concatenate([R @ np.asarray(slope(x)), np.diag(1 / width)])

    by: Any = jacobian  # SciPy's stubs know words only
    found = minimise(rows, start, jac=by, x_scale="jac", max_nfev=200, xtol=1e-12, ftol=1e-12)
    J = jacobian(found.x)
    return found.x, np.asarray(slope(found.x)), J.T @ J


def _inflation(residuals: list[np.ndarray]) -> float:
    """By how much the correlation of residuals makes variances larger, the worst joint's."""
    worst = 1.0
    for j in range(residuals[0].shape[1]):
        parts = [r[:, j] for r in residuals]
        square = sum(float(x @ x) for x in parts)
        total = 1.0
        for lag in range(1, 200):
            c = sum(float(x[:-lag] @ x[lag:]) for x in parts if len(x) > lag) / max(square, 1e-300)
            if c < 0.05:
                break
            total += 2 * c
        worst = max(worst, total)
    return worst


def _base_parameters(
    chain: Chain, setup: RobotSetup, phi: np.ndarray
) -> tuple[dict[str, float], Float[np.ndarray, "b p"]]:
    """Combinations of inertias that torques depend on: values, and how they are combined.

    Of random motions: a column that depends on others before it gives them its part. Armatures
    count among the columns, and come first, so that they are told apart where they can be.
    """
    random = np.random.default_rng(0)
    joints = len(chain.joints)
    q, v, a = random.uniform(-2, 2, (3, _STATES, joints))
    n = len(chain.bodies) * PER_BODY
    Y = regressor(chain, q, v, a).reshape(-1, n)
    own = _own(a).reshape(-1, joints) if "armature" in setup.terms else np.zeros((len(Y), 0))
    first = own.shape[1]
    full = np.concatenate([own, Y], axis=1)
    Q = np.zeros((len(full), 0))
    independent, names = [], []
    labels = [f"{b}.{x}" for b in chain.body_names for x in _LETTERS]
    for i, column in enumerate(full.T):
        rest = column - Q @ (Q.T @ column)
        rest -= Q @ (Q.T @ rest)
        size = np.linalg.norm(column)
        if size > 0 and np.linalg.norm(rest) > _RANK * size:
            Q = np.concatenate([Q, rest[:, None] / np.linalg.norm(rest)], axis=1)
            independent.append(i)
            if i >= first:
                names.append(labels[i - first])
    K = np.linalg.lstsq(full[:, independent], full, rcond=None)[0]
    K[np.abs(K) < 1e-9] = 0.0
    combine = np.zeros((len(names), len(phi)))
    combine[:, :n] = K[len(independent) - len(names) :, first:]
    return dict(zip([f"base.{x}" for x in names], (combine @ phi).tolist(), strict=True)), combine


def _joint_units(chain: Chain, setup: RobotSetup) -> dict[str, str]:
    return {f"{joint}.{term}": _UNITS[term] for term in setup.terms for joint in chain.joints}


def _relative(logs: list[JointRows], phi: np.ndarray) -> dict[str, Any]:
    """Size of what the prediction misses, of the torques' own."""
    r = np.concatenate([log.missed(phi) for log in logs])
    tau = np.concatenate([np.where(log.use, log.torque, 0.0) for log in logs])
    by_joint = np.linalg.norm(r, axis=0) / np.linalg.norm(tau, axis=0)
    return {"all": float(np.linalg.norm(r) / np.linalg.norm(tau)), "joints": by_joint.tolist()}


def _warnings(out, judged, relative, joint_names) -> list[str]:
    warnings = []
    if judged and judged["all"] > 1.5 * relative["all"] + 0.01:
        warnings.append(
            f"torques kept aside are missed by {100 * judged['all']:.3g} %, those fitted by"
            f" {100 * relative['all']:.3g} %: the motion excites too little, or something changed"
        )
    for name in joint_names:
        p = out[name]
        if p.std and p.value and not name.endswith("offset") and abs(p.value) < 2 * p.std:
            warnings.append(f"{name}: not identifiable beyond being less than {p.interval[1]:.3g}")
    return warnings
