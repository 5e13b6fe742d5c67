"""How much does the shape of the friction set matter? One impact, every shape."""

from dataclasses import dataclass

import numpy as np

from stiction._arrays import ArrayLike, Float
from stiction.complementarity.impact import solve_impact


@dataclass(frozen=True)
class FrictionComparison:
    """The same impact with the document's square, with pyramids and with the exact cone (last).

    Attributes:
        shapes: Names, the exact cone last.
        impulses: (n_shapes, n_contacts, dim) [N·s].
        velocities: After the impact, (n_shapes, n_contacts, dim) [m/s].
        velocity_before: (n_contacts, dim) [m/s].
        mu: Friction coefficients, (n_contacts,) [-].
        mass: A mass of the problem, so that impulses that are only rounding can be told [kg].
    """

    shapes: tuple[str, ...]
    impulses: np.ndarray
    velocities: np.ndarray
    velocity_before: np.ndarray
    mu: np.ndarray
    mass: float

    @property
    def impulse_difference(self) -> np.ndarray:
        """Largest |γ - γ_cone| over contacts, as a share of the largest |γ_cone|."""
        largest = np.linalg.norm(self.impulses[-1], axis=-1).max()
        return self._difference(self.impulses, max(largest, self._rounding))

    @property
    def velocity_difference(self) -> np.ndarray:
        """Largest |u - u_cone| over contacts, as a share of the largest |u| before."""
        largest = np.linalg.norm(self.velocity_before, axis=-1).max()
        return self._difference(self.velocities, largest)

    @property
    def friction_used(self) -> np.ndarray:
        """Largest |γ_t| / (μ γ_n): 1 for a sliding cone, up to √2 for the square."""
        tangential = np.linalg.norm(self.impulses[..., :-1], axis=-1)
        limit = self.mu * self.impulses[..., -1]
        pressed = limit > self._rounding
        return np.where(pressed, tangential / np.where(pressed, limit, 1), 0).max(axis=-1)

    @property
    def energy_change(self) -> np.ndarray:
        """Kinetic energy gained, ½ γ·(u⁺ + u⁻) [J]; never positive at zero restitution."""
        mean = (self.velocities + self.velocity_before[None]) / 2
        return np.sum(self.impulses * mean, axis=(1, 2))

    @property
    def _rounding(self) -> float:
        return 1e-9 * self.mass * np.abs(self.velocity_before).max()

    def _difference(self, values, largest):
        distance = np.linalg.norm(values - values[-1:], axis=-1).max(axis=-1)
        return distance / largest if largest > 0 else distance

    def rows(self) -> list[dict[str, float | str]]:
        """One row a shape, for a table or a JSON object."""
        columns = {
            "shape": self.shapes,
            "impulse difference": self.impulse_difference,
            "velocity difference": self.velocity_difference,
            "friction used": self.friction_used,
            "energy change [J]": self.energy_change,
        }
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def __str__(self) -> str:
        lines = ["shape          impulse diff.  velocity diff.  |γt|/μγn  energy [J]"]
        for row in self.rows():
            name, impulse, velocity, used, energy = row.values()
            lines.append(f"{name:<14} {impulse:13.4%} {velocity:15.4%} {used:9.4f} {energy:11.5g}")
        return "\n".join(lines)


def compare_friction(
    W: Float[ArrayLike, "n n"],
    velocity: Float[ArrayLike, " n"],
    mu: Float[ArrayLike, " n_contacts"],
    *,
    restitution: Float[ArrayLike, " n_contacts"] | float = 0.0,
    n_sides: tuple[int, ...] = (4, 8, 16),
) -> FrictionComparison:
    """Solve one impact with every friction shape and report how much they differ.

    The square circumscribes the friction disc (its corners allow √2 μ), pyramids are inscribed.
    Where contacts are redundant a shape may have several solutions; the cone's is then the one
    that the finest pyramid leads to.

    Args:
        W: Delassus matrix, rows (t1, t2, n) of each contact [1/kg].
        velocity: Relative velocities before the impact [m/s].
        mu: Friction coefficients [-].
        restitution: Coefficients e (Newton's law) [-].
        n_sides: Pyramids to compare.
    """
    shapes = [("square", 0), *(("pyramid", k) for k in n_sides), ("cone", 0)]
    count = np.shape(mu)[0]
    impacts = []
    for shape, k in shapes:
        guess = impacts[-1].impulse if shape == "cone" else None
        options = {"friction": shape, "n_sides": k or 4, "guess": guess}
        impacts.append(solve_impact(W, velocity, mu, restitution=restitution, **options))
    return FrictionComparison(
        shapes=tuple(f"{shape} {k}" if k else shape for shape, k in shapes),
        impulses=np.stack([np.asarray(i.impulse).reshape(count, -1) for i in impacts]),
        velocities=np.stack([np.asarray(i.velocity).reshape(count, -1) for i in impacts]),
        velocity_before=np.asarray(velocity).reshape(count, -1),
        mu=np.asarray(mu),
        mass=1 / np.diagonal(np.asarray(W)).mean(),
    )
