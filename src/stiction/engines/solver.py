"""How the equations of motion are integrated: method, tolerances, limits."""

from typing import Any

import diffrax
import equinox as eqx
import jax.numpy as jnp

from stiction._arrays import Array, Float, Scalar
from stiction._errors import InputError, unknown

METHODS = {
    "auto": diffrax.Tsit5,  # and, for compliant contacts too stiff for it, rodas5p
    "tsit5": diffrax.Tsit5,  # explicit, order 5
    "dopri5": diffrax.Dopri5,
    "dopri8": diffrax.Dopri8,  # explicit, order 8: tolerances below 1e-9
    "kvaerno5": diffrax.Kvaerno5,  # implicit, order 5: stiff springs
}


class Solver(eqx.Module):
    """Adaptive Runge-Kutta integration by diffrax. Tolerances are numbers: changing them is free.

    Attributes:
        method: One of `METHODS`, or "rodas5p" (implicit) where contacts are compliant.
        rtol: Relative tolerance of a step.
        atol: Absolute tolerance of a step [m, rad, m/s, rad/s].
        max_steps: Steps after which the run ends with a result code.
    """

    rtol: Scalar = eqx.field(converter=jnp.asarray, default=1e-8)
    atol: Scalar = eqx.field(converter=jnp.asarray, default=1e-9)
    method: str = eqx.field(static=True, default="auto")
    max_steps: int = eqx.field(static=True, default=20_000)

    def __check_init__(self):
        known = [*METHODS, "rodas5p"]
        if self.method not in known:
            raise unknown("`solver.method`", self.method, known)
        if self.max_steps < 1:
            raise InputError(f"`solver.max_steps` must be at least 1, got {self.max_steps}")

    def astype(self, dtype: Any) -> "Solver":
        """The same with tolerances of another floating-point type."""
        return Solver(
            jnp.asarray(self.rtol, dtype),
            jnp.asarray(self.atol, dtype),
            self.method,
            self.max_steps,
        )

    def by(self, method: str) -> "Solver":
        """The same by another method."""
        return Solver(self.rtol, self.atol, method, self.max_steps)

    def stepper(self) -> diffrax.AbstractSolver:
        """The diffrax solver."""
        return METHODS[self.method]()

    def controller(self, times: Float[Array, "n_samples"]) -> diffrax.AbstractStepSizeController:
        """Step-size control by the embedded error estimate, with steps that end on the samples.

        Interpolating inside long steps would be cheaper, but the interpolants are of lower order
        than the steps: the samples would be a hundred times less exact than the motion.
        """
        steps = diffrax.PIDController(rtol=self.rtol, atol=self.atol)
        return diffrax.ClipStepSizeController(steps, step_ts=times)
