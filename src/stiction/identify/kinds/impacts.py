r"""Oblique impacts of a sphere: friction, restitution and tangential stiffness from rebound tables.

A sphere meets a plate at the angle θ from the normal. In units of its normal speed and of the
largest depth, with Hertz's force in the normal direction,

$$ \ddot x = -f_n,\; f_n = \tfrac54 x^{3/2} \text{ (times } e^2 \text{ on the way out)}, \qquad
   \dot v_t = -\tfrac72 f_t, \quad
   \dot f_t = \kappa \frac{df_n}{dx} v_t, \quad |f_t| \le \mu f_n . $$

7/2 is the inverse tangential mass at the contact of a homogeneous sphere, κ the ratio of tangential
to normal stiffness. The impulse $J = \int f_t\,dt$ gives the tangential restitution
$e_t = 1 - J/\tan\theta$, the rebound angle $\tan\theta' = (\tan\theta - J)/e$ and the spin
$\omega = \tfrac52 J v \cos\theta / R$. Steep angles slide throughout, $J = \mu (1 + e)$; near the
normal the contact sticks for most of the time and springs back. Both regimes and the slips between
them come from the one model; it has no partial slip inside the contact area, as [Maw1976] has.
"""

from typing import Annotated, Literal

import jax
import jax.numpy as jnp
import numpy as np
from pydantic import Field

from stiction._base.arrays import Array, Float, ScalarLike
from stiction._base.errors import InputError
from stiction._base.files import Fields
from stiction.identify.fields import Fraction, Positive, Setup
from stiction.identify.fit.least_squares import scaled_condition
from stiction.identify.result import Identification, parameters
from stiction.tables import Table

_STEPS = 3000
# Hertz's collision lasts 2.94 in these units; restitution makes it longer, by 1/e at most.
_LONGEST = 4.5
_SPRINGS_BACK = 0.99  # of the sliding impulse: less is not sliding throughout
_UNITS = {"mu": "", "restitution": "", "kappa": ""}
_TABLES = ("tangential_restitution", "rebound_angle", "spin")


class ImpactTable(Fields):
    """One table: angles of incidence, and what was measured at each."""

    file: str
    angle: Annotated[str, Field(description="from the normal [deg]")]
    value: str
    noise: Annotated[Positive, Field(description="standard deviation, in the column's unit")]


class ImpactSetup(Setup):
    """Tables of oblique impacts. LOG is the directory that holds them."""

    kind: Literal["impacts"]
    speed: Annotated[Positive, Field(description="of the approach [m/s]")]
    diameter: Annotated[Positive, Field(description="[m]")]
    tangential_restitution: ImpactTable | None = None
    rebound_angle: Annotated[ImpactTable | None, Field(description="values in degrees")] = None
    spin: Annotated[ImpactTable | None, Field(description="values in rad/s")] = None
    confidence: Fraction = 0.95

    @property
    def tables(self) -> dict[str, ImpactTable]:
        """The tables that are given."""
        found = {name: getattr(self, name) for name in _TABLES}
        return {name: table for name, table in found.items() if table is not None}


def tangential_impulse(
    tangent: ScalarLike, mu: ScalarLike, restitution: ScalarLike, kappa: ScalarLike
) -> Float[Array, ""]:
    """J of one impact, in units of mass and normal speed; `tangent` is tan θ."""
    mu = jnp.asarray(mu)
    dt = _LONGEST / _STEPS

    def step(state, _):
        x, v_n, v_t, f_t, J = state
        x = x + dt * v_n
        on = x > 0
        safe = jnp.where(on, x, 1.0)
        way = jnp.where(v_n < 0, restitution**2, 1.0)
        f_n = jnp.where(on, 1.25 * safe**1.5, 0.0) * way
        slope = jnp.where(on, 1.875 * safe**0.5, 0.0) * way
        f_t = jnp.clip(f_t + kappa * slope * v_t * dt, -mu * f_n, mu * f_n)
        return (x, v_n - dt * f_n, v_t - 3.5 * f_t * dt, f_t, J + f_t * dt), None

    zero = jnp.zeros(())
    start = (zero, jnp.ones(()), jnp.asarray(tangent), zero, zero)
    return jax.lax.scan(step, start, None, length=_STEPS)[0][-1]


_impulses = jax.jit(jax.vmap(tangential_impulse, (0, None, None, None)))


@jax.jit
def predict(
    degrees: Float[Array, " n"], theta: Float[Array, "3"], scale: Float[Array, ""]
) -> dict[str, Float[Array, " n"]]:
    """The columns of the tables at these angles; theta is (μ, e, κ), scale v/R [1/s]."""
    mu, e, kappa = theta
    angle = jnp.radians(degrees)
    tangent = jnp.tan(angle)
    J = _impulses(tangent, mu, e, kappa)
    return {
        "tangential_restitution": 1 - J / tangent,
        "rebound_angle": jnp.degrees(jnp.arctan((tangent - J) / e)),
        "spin": 2.5 * J * jnp.cos(angle) * scale,
    }


def identify(tables: dict[str, Table], setup: ImpactSetup) -> Identification:
    """Friction, restitution and stiffness ratio from the tables at hand."""
    from scipy.optimize import least_squares

    if not setup.tables:
        raise InputError("`impacts` needs at least one of: " + ", ".join(_TABLES))
    scale = jnp.asarray(setup.speed / (setup.diameter / 2))
    data = {}
    for name, spec in setup.tables.items():
        table = tables[name]
        angle, value = table.plain([spec.angle, spec.value]).T
        wrong = (angle <= 0) | (angle >= 90)
        if np.any(wrong):
            row = int(np.flatnonzero(wrong)[0])
            raise InputError(
                f"column `{spec.angle}` must lie between 0 and 90 degrees, got {angle[row]:g} in"
                f" {table.row(row)}"
            )
        data[name] = (jnp.asarray(angle), value, spec.noise)

    def residuals(theta):
        theta = jnp.asarray(theta)
        return np.concatenate(
            [
                (np.asarray(predict(angle, theta, scale)[name]) - value) / noise
                for name, (angle, value, noise) in data.items()
            ]
        )

    rows = sum(len(value) for _, value, _ in data.values())
    if rows <= len(_UNITS):
        raise InputError(f"the tables must hold more than {len(_UNITS)} rows, got {rows}")
    start = np.array([0.2, 0.9, 0.8])
    found = least_squares(residuals, start, bounds=([1e-4, 0.05, 0.05], [2, 1, 5]), diff_step=1e-6)
    variance = max(2 * found.cost / (rows - len(start)), 1.0)
    cov = np.linalg.pinv(found.jac.T @ found.jac) * variance
    mu, e, _ = found.x
    grid = np.linspace(1.0, 89.0, 353)
    J = np.asarray(_impulses(jnp.tan(jnp.radians(jnp.asarray(grid))), *found.x))
    whole = mu * (1 + e)
    slides = J / whole >= _SPRINGS_BACK
    onset = float(grid[np.argmax(slides)]) if slides.any() else float("nan")
    curves = {"angle": grid}
    misfits = {}
    theta = jnp.asarray(found.x)
    along = predict(jnp.asarray(grid), theta, scale)
    for name, (angle, value, _) in data.items():
        curves |= {f"{name}.angle": np.asarray(angle), f"{name}.value": value}
        curves[f"{name}.fit"] = np.asarray(along[name])
        r = np.asarray(predict(angle, theta, scale)[name]) - value
        for regime, on in (("sliding", angle >= onset), ("sticking", angle < onset)):
            if np.any(on):
                misfits[f"{name}_{regime}"] = float(np.sqrt(np.mean(r[np.asarray(on)] ** 2)))
    return Identification(
        parameters=parameters(_UNITS, found.x, cov, setup.confidence),
        covariance=cov,
        residual_rms=float(np.sqrt(np.mean(found.fun**2))),
        residuals=misfits,
        condition=scaled_condition(found.jac),
        warnings=[] if slides.any() else ["friction: no impact slid throughout"],
        method="nonlinear least squares",
        confidence=setup.confidence,
        notes={"sliding_above_deg": onset, "samples": {"used": rows}},
        curves=curves,
    )
