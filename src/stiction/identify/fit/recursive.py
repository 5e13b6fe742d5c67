"""Recursive least squares with forgetting, in square-root form (ma Sec. 2.2.2).

The state is the triangular factor of all rows so far, right-hand side included; a new row is
appended and rotated away by a QR of a matrix one row taller. Nothing is inverted, no first guess is
needed, and with no forgetting the state is that of a batch QR of the same rows. With a forgetting
factor γ < 1 a row that is j updates old weighs γʲ in the sum of squares.
"""

import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, ArrayLike, Float
from stiction._base.errors import InputError
from stiction.identify.fit.least_squares import covariance, scaled_condition, triangle


@jax.jit
def absorb(
    root: Float[Array, "k k"],
    rows: Float[Array, "updates r n"],
    values: Float[Array, "updates r"],
    forgetting: Float[Array, ""],
) -> Float[Array, "k k"]:
    """The factor after a sequence of updates of r rows each; k is n + 1."""
    fade = jnp.sqrt(forgetting)

    def step(root, update):
        return jnp.linalg.qr(jnp.concatenate([fade * root, update]), mode="r"), None

    return jax.lax.scan(step, root, jnp.concatenate([rows, values[..., None]], axis=-1))[0]


class RecursiveLeastSquares:
    """An estimate that follows rows as they arrive.

    rls = RecursiveLeastSquares(3)
    rls.update(row, value)
    rls.estimate, rls.std
    """

    def __init__(self, n_parameters: int, *, forgetting: float = 1.0):
        """
        Args:
            n_parameters: How many unknowns.
            forgetting: γ in (0, 1]; the memory is about 1 / (1 - γ) updates.
        """
        if not 0 < forgetting <= 1:
            raise InputError(f"`forgetting` must lie in (0, 1], got {forgetting}")
        self.forgetting = float(forgetting)
        self.updates = 0
        self._root = np.zeros((n_parameters + 1, n_parameters + 1))

    def update(self, row: Float[np.ndarray, "*r n"], value: Float[ArrayLike, "*r"]) -> None:
        """Take in one row and its measurement, or the several rows of one sample."""
        rows = np.column_stack([np.atleast_2d(row), np.atleast_1d(value)])
        faded = np.sqrt(self.forgetting) * self._root
        self._root = triangle(np.concatenate([faded, rows]))
        self.updates += 1

    def update_many(
        self, rows: Float[np.ndarray, "updates *r n"], values: Float[np.ndarray, "updates *r"]
    ) -> None:
        """Take in many updates at once, one after the other, compiled."""
        rows, values = np.asarray(rows, dtype=float), np.asarray(values, dtype=float)
        if rows.ndim == 2:
            rows, values = rows[:, None], values[:, None]
        fade = jnp.asarray(self.forgetting)
        new = absorb(jnp.asarray(self._root), jnp.asarray(rows), jnp.asarray(values), fade)
        self._root = np.asarray(new)
        self.updates += len(rows)

    @property
    def root(self) -> Float[np.ndarray, "n n"]:
        """Triangular factor R of the weighted rows."""
        return self._root[:-1, :-1]

    @property
    def estimate(self) -> Float[np.ndarray, " n"]:
        """The parameters; nan while the rows do not yet determine them."""
        if scaled_condition(self.root) > 1e12:
            return np.full(len(self.root), np.nan)
        return np.linalg.solve(self.root, self._root[:-1, -1])

    @property
    def std(self) -> Float[np.ndarray, " n"]:
        """Standard errors, for rows in units of their noise."""
        return np.sqrt(np.diag(covariance(self.root)))

    @property
    def residual(self) -> float:
        """Square root of the sum of the (faded) squared residuals."""
        return float(abs(self._root[-1, -1]))
