"""How the equations of motion are integrated: method, tolerances, limits."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp

from stiction._base import defaults
from stiction._base.arrays import Scalar
from stiction._base.errors import InputError, unknown

METHODS = (
    "auto",  # tsit5, and kvaerno5 for steps that are too stiff for it
    "tsit5",  # explicit, order 5
    "dopri5",
    "dopri8",  # explicit, order 8: tolerances below 1e-9
    "kvaerno5",  # implicit, order 5: stiff springs and dampers
)


class Solver(eqx.Module):
    """Adaptive Runge-Kutta integration. Tolerances are numbers: changing them is free.

    Attributes:
        method: One of `METHODS`. "auto" chooses from step to step: tsit5, and kvaerno5 where
            springs and dampers, or slow slips in worlds of MuJoCo's, are so stiff that explicit
            steps would be short.
        rtol: Relative tolerance of a step.
        atol: Absolute tolerance of a step [m, rad, m/s, rad/s].
        max_steps: Steps after which the run ends with a result code.
    """

    rtol: Scalar = eqx.field(converter=jnp.asarray, default=1e-8)
    atol: Scalar = eqx.field(converter=jnp.asarray, default=1e-9)
    method: str = eqx.field(static=True, default="auto")
    max_steps: int = eqx.field(static=True, default=defaults.MAX_STEPS)

    def __check_init__(self):
        if self.method == "rodas5p":
            raise InputError('`solver.method` "rodas5p" has been replaced: take "kvaerno5"')
        if self.method not in METHODS:
            raise unknown("`solver.method`", self.method, METHODS)
        if self.max_steps < 1:
            raise InputError(f"`solver.max_steps` must be at least 1, got {self.max_steps}")

    def astype(self, dtype: Any) -> "Solver":
        """The same with tolerances of another floating-point type."""
        if self.rtol.dtype == self.atol.dtype == dtype:
            return self
        return Solver(
            jnp.asarray(self.rtol, dtype),
            jnp.asarray(self.atol, dtype),
            self.method,
            self.max_steps,
        )
