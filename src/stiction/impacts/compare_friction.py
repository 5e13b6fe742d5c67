"""How much does the shape of the friction set matter? One impact, every shape."""

from dataclasses import dataclass

import numpy as np

from stiction._base.arrays import ArrayLike, Float
from stiction.impacts.simultaneous import solve_impact


@dataclass(frozen=True)
class FrictionComparison:
    """The same impact with the document's square, with pyramids and with the exact cone (last)."""

    shapes: tuple[str, ...]  # names, the exact cone last; everything else has one entry for each
    impulses: np.ndarray  # (n_shapes, n_contacts, dim) [N·s]
    velocities: np.ndarray  # after the impact, (n_shapes, n_contacts, dim) [m/s]
    # largest |γ - γ_cone| over contacts, a share of the largest |γ_cone|
    impulse_difference: np.ndarray
    # largest |u - u_cone| over contacts, a share of the largest |u| before
    velocity_difference: np.ndarray
    # largest |γ_t| / (μ γ_n): 1 for a sliding cone, up to √2 for the square
    friction_used: np.ndarray
    energy_change: np.ndarray  # kinetic energy gained, ½ γ·(u⁺ + u⁻) [J]; never positive at e = 0

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
    impacts = []
    for shape, k in shapes:
        guess = impacts[-1].impulse if shape == "cone" else None
        options = {"friction": shape, "n_sides": k or 4, "guess": guess}
        impacts.append(solve_impact(W, velocity, mu, restitution=restitution, **options))

    before = np.asarray(velocity).reshape(np.shape(mu)[0], -1)
    impulses = np.stack([np.asarray(i.impulse).reshape(before.shape) for i in impacts])
    velocities = np.stack([np.asarray(i.velocity).reshape(before.shape) for i in impacts])
    # Impulses below this [N·s] are rounding.
    rounding = 1e-9 / np.diagonal(np.asarray(W)).mean() * np.abs(before).max()
    limit = np.asarray(mu) * impulses[..., -1]
    used = np.linalg.norm(impulses[..., :-1], axis=-1) / np.where(limit > rounding, limit, np.inf)
    return FrictionComparison(
        shapes=tuple(f"{shape} {k}" if k else shape for shape, k in shapes),
        impulses=impulses,
        velocities=velocities,
        impulse_difference=_difference(impulses, max(_largest(impulses[-1]), rounding)),
        velocity_difference=_difference(velocities, _largest(before)),
        friction_used=used.max(axis=-1),
        energy_change=np.sum(impulses * (velocities + before[None]) / 2, axis=(1, 2)),
    )


def _largest(vectors: np.ndarray) -> float:
    return np.linalg.norm(vectors, axis=-1).max()


def _difference(values: np.ndarray, largest: float) -> np.ndarray:
    """Largest distance to the last of the values, as a share of what is largest."""
    distance = np.linalg.norm(values - values[-1:], axis=-1).max(axis=-1)
    return distance / largest if largest > 0 else distance
