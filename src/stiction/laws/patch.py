r"""A flat patch of contact: forces and moments, and how far friction resists sliding and spinning.

flickinger (2.3) has moments beside forces at a contact, and leaves "surface contacts, which
introduce contact and impact moments" to future work. Here a patch is points with shares of the
normal force.

symbol  name     meaning                                          unit
f_n     normal   normal force, > 0 pressing                       N
m_t     tilting  moment about the two tangents (x, y)             N·m
m_n     torque   moment about the normal                          N·m
ξ       twist    sliding velocity (v_x, v_y) and spin ω           m/s, rad/s

**Normal**: the patch stays flat as long as its centre of pressure $c = (-m_y, m_x) / f_n$ is in its
hull. How the pressure is spread over a rigid patch cannot be known. Decided here: as under an
elastic bed, linear over the patch and zero where it would pull.

**Friction**: every point slides with $v_i = v + \omega \hat z \times r_i$ and is opposed by
$\mu f_n s_i$, so that all of them together give

$$ w(\xi) = -\mu f_n \sum_i s_i (u_i, \; r_i \times u_i), \qquad u_i = v_i / |v_i| . $$

These wrenches are the limit surface [GoyalRuina1991]: a patch that sticks may carry any wrench
inside it, one that slides is on it, and its twist is normal to it (most dissipation).
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import scipy  # which imports its parts when they are first used: they are slow to import

from stiction._base.arrays import Array, Float
from stiction._base.checks import require_positive

_STILL = 1e-12  # slower than this part of the fastest, a point turns about itself
_REST = 1e-9  # of the first speed: at rest


class FlatPatch(eqx.Module):
    """Points of a patch in its plane, and the share of the normal force that each bears.

    Attributes:
        points: [m], about the point that forces and moments refer to.
        share: >= 0, 1 in all.
        outline: Corners of the patch [m].
    """

    points: Float[Array, "n 2"]
    share: Float[Array, " n"]
    outline: Float[Array, "k 2"]

    @classmethod
    def ring(cls, radius: float, count: int = 128) -> "FlatPatch":
        """A thin ring, evenly pressed."""
        require_positive("radius", radius, "m")
        angle = 2 * np.pi * (np.arange(count) + 0.5) / count
        points = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        return cls(jnp.asarray(points), jnp.full(count, 1 / count), jnp.asarray(points))

    @classmethod
    def disc(cls, radius: float, count: int = 24) -> "FlatPatch":
        """A disc, evenly pressed: `count` rings at the points of Gauss, weighted by radius."""
        require_positive("radius", radius, "m")
        x, w = np.polynomial.legendre.leggauss(count)
        r, weight = radius * (x + 1) / 2, w * (x + 1) / 2
        around = 4 * count
        angle = 2 * np.pi * (np.arange(around) + 0.5) / around
        unit = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        points = (r[:, None, None] * unit[None]).reshape(-1, 2)
        share = np.repeat(weight / weight.sum() / around, around)
        return cls(jnp.asarray(points), jnp.asarray(share), jnp.asarray(radius * unit))

    @classmethod
    def rectangle(cls, half_x: float, half_y: float, count: int = 24) -> "FlatPatch":
        """A rectangle, evenly pressed, at the points of Gauss."""
        require_positive("half_x", half_x, "m")
        require_positive("half_y", half_y, "m")
        x, w = np.polynomial.legendre.leggauss(count)
        points = np.stack(np.meshgrid(half_x * x, half_y * x, indexing="ij"), axis=-1)
        share = np.outer(w, w) / 4
        corners = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * [half_x, half_y]
        return cls(
            jnp.asarray(points.reshape(-1, 2)), jnp.asarray(share.reshape(-1)), jnp.asarray(corners)
        )

    # ------------------------------------------------------------------------------- normal

    def margin(self, tilting: Float[np.ndarray, "2"], normal: float) -> float:
        """How far the centre of pressure is inside the outline [m]; negative: the patch tips."""
        center = np.array([-tilting[1], tilting[0]]) / normal
        hull = scipy.spatial.ConvexHull(np.asarray(self.outline)).equations
        return float(-(hull[:, :2] @ center + hull[:, 2]).max())

    def pressed(self, center: Float[np.ndarray, "2"]) -> "FlatPatch":
        """The patch with its centre of pressure elsewhere: pressure linear, and zero not less.

        Args:
            center: Of pressure [m], inside the outline.
        """
        points, share = np.asarray(self.points), np.asarray(self.share)
        size = np.abs(points).max()
        g = np.column_stack([np.ones(len(points)), points / size])
        wanted = np.array([1.0, *(np.asarray(center) / size)])

        def missed(plane: np.ndarray) -> np.ndarray:
            return g.T @ (share * np.maximum(g @ plane, 0.0)) - wanted

        start = np.linalg.solve((g * share[:, None]).T @ g, wanted)
        found = scipy.optimize.root(
            missed, start, method="lm", options={"xtol": 1e-13, "ftol": 1e-13}
        )
        new = share * np.maximum(g @ found.x, 0.0)
        return eqx.tree_at(lambda p: p.share, self, jnp.asarray(new / new.sum()))

    # ----------------------------------------------------------------------------- friction

    def slip(self, twist: Float[Array, "3"]) -> Float[Array, "n 2"]:
        """Sliding velocity of every point [m/s]."""
        turn = jnp.stack([-self.points[:, 1], self.points[:, 0]], axis=1)
        return twist[None, :2] + twist[2] * turn

    def power(self, twist: Float[Array, "3"]) -> Float[Array, ""]:
        """What friction takes for μ f_n = 1 N [W]: the support function of the limit surface."""
        return self.share @ jnp.sqrt(jnp.sum(self.slip(twist) ** 2, axis=1))

    def friction(self, twist: Float[Array, "3"], strength: float = 1.0) -> Float[Array, "3"]:
        """Force (x, y) and torque of a patch that slides, against its twist [N, N, N·m].

        Args:
            twist: Velocity of the reference point and spin; not zero.
            strength: μ f_n [N].
        """
        v = self.slip(twist)
        speed = jnp.sqrt(jnp.sum(v**2, axis=1))
        moves = speed > _STILL * jnp.max(speed)
        unit = jnp.where(moves[:, None], v / jnp.where(moves, speed, 1.0)[:, None], 0.0)
        force = -strength * self.share[:, None] * unit
        torque = self.points[:, 0] * force[:, 1] - self.points[:, 1] * force[:, 0]
        return jnp.concatenate([force.sum(axis=0), torque.sum()[None]])

    def spin_radius(self) -> float:
        """Torque of pure spinning over μ f_n [m]: 2/3 of a disc's radius, a ring's own."""
        return float(-self.friction(jnp.array([0.0, 0.0, 1.0]))[2])

    def used(self, wrench: Float[np.ndarray, "3"], strength: float = 1.0) -> float:
        """How much of what friction can hold a wrench takes: 1 on the limit surface, less inside.

        The limit surface is convex, and `power` its support function: the part used is the most of
        w·ξ / (μ f_n power(ξ)) over all twists.
        """
        points, share = np.asarray(self.points), np.asarray(self.share)
        lever = self.spin_radius()
        w = np.asarray(wrench, dtype=float) / [1, 1, lever] / strength
        size = np.linalg.norm(w)
        if size == 0:
            return 0.0
        # ξ with w·ξ = |w|: one along w, and any across it. Convex in what is across.
        across = np.linalg.svd(w[None])[2][1:]

        def taken(y: np.ndarray) -> tuple[float, np.ndarray]:
            xi = w / size + y @ across
            v = xi[:2] + xi[2] / lever * np.stack([-points[:, 1], points[:, 0]], axis=1)
            speed = np.maximum(np.linalg.norm(v, axis=1), 1e-14)
            unit = share[:, None] * v / speed[:, None]
            torque = points[:, 0] @ unit[:, 1] - points[:, 1] @ unit[:, 0]
            slope = np.array([*unit.sum(axis=0), torque / lever])
            return float(share @ speed), across @ slope

        least = scipy.optimize.minimize(
            taken, np.zeros(2), jac=True, method="BFGS", options={"gtol": 1e-10}
        )
        return float(size / least.fun)

    def ellipsoid(self, wrench: Float[np.ndarray, "3"], strength: float = 1.0) -> float:
        """The same by the ellipsoid through force and torque alone, as planners use it."""
        w = np.asarray(wrench, dtype=float) / [1, 1, self.spin_radius()] / strength
        return float(np.linalg.norm(w))


class SlideToRest(eqx.Module):
    """A body that slides and spins on a patch until it rests."""

    time: Float[Array, " m"]  # [s]
    velocity: Float[Array, "m 2"]  # [m/s]
    spin: Float[Array, " m"]  # [rad/s]


def slide_and_spin(
    patch: FlatPatch,
    *,
    gyration: float,
    deceleration: float,
    velocity: Float[np.ndarray, "2"],
    spin: float,
) -> SlideToRest:
    """Slide and spin on level ground until both end, which they do together.

    Args:
        patch: With the centre of mass above its reference point, and so low that it does not tilt.
        gyration: Radius of gyration about the normal [m].
        deceleration: μ g [m/s²].
        velocity: At first [m/s].
        spin: At first [rad/s].
    """
    require_positive("gyration", gyration, "m")
    require_positive("deceleration", deceleration, "m/s²")
    first = np.array([*velocity, spin * gyration])
    size = np.linalg.norm(first)
    scale = np.array([1, 1, gyration])
    inverse = np.array([1, 1, 1 / gyration])  # of the mass matrix in (v, ρ ω), per unit mass

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        w = _friction(patch, jnp.asarray(y / scale), deceleration)
        return np.asarray(w) * inverse

    def rest(t: float, y: np.ndarray) -> float:
        return float(np.linalg.norm(y) - _REST * size)

    rest.terminal = True  # type: ignore[attr-defined]
    longest = 4 * size / deceleration * max(1.0, gyration / patch.spin_radius())
    run = scipy.integrate.solve_ivp(
        rates, (0, longest), first, events=rest, rtol=1e-9, atol=1e-12 * size
    )
    y = run.y.T / scale
    return SlideToRest(jnp.asarray(run.t), jnp.asarray(y[:, :2]), jnp.asarray(y[:, 2]))


_friction = eqx.filter_jit(FlatPatch.friction)
