r"""Two laws of marhefka's related work, as baselines: free impacts in closed form.

**Two springs** [MooreWilhelms1988], marhefka Sec. 1: a spring that is weaker while parting,
$f = k x$ closing and $f = r k x$ parting. The force is zero at both ends but jumps at the greatest
depth. Of the energy stored a part r comes back, so that $e = \sqrt r$ for every mass and speed:
Poisson's ratio of impulses is $\sqrt r$ too, not r as its authors have it.

**In series** [MillsNguyen1992], marhefka Sec. 2: a stiff surface on a compliant and damped base.
Marhefka describes it in words alone: a stiff part for the collision, a soft one for the rest, a
continuous force, and a state more for each contact. Decided here: a spring $k_s$ on a spring and
damper $k_b, b$ without mass between them, whose deflection z is the state,

$$ m \ddot x = -f, \qquad f = k_s (x - z), \qquad b \dot z = f - k_b z . $$

It is linear, so that e depends on the mass and not on the speed, and the base is still pressed in
when the bodies part.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from scipy.optimize import brentq

from stiction._base.arrays import Array, Float
from stiction._base.checks import require_at_least, require_positive
from stiction.laws.impact.integrate import ImpactCourse


class SeriesCourse(eqx.Module):
    """An impact on a stiff surface in series with a damped base."""

    impact: ImpactCourse
    base: Float[Array, " samples"]  # z, deflection of the base [m]


def two_springs_course(
    *, mass: float, stiffness: float, ratio: float, speed: float, samples: int = 400
) -> ImpactCourse:
    """A free impact with one stiffness closing and another parting.

    Args:
        mass: [kg].
        stiffness: k while closing [N/m].
        ratio: r, stiffness while parting over that while closing, 0 to 1.
        speed: Of approach [m/s].
        samples: Even in time, half closing and half parting.
    """
    require_positive("mass", mass, "kg")
    require_positive("stiffness", stiffness, "N/m")
    require_positive("ratio", ratio, "")
    require_positive("speed", speed, "m/s")
    m, k, r, v = mass, stiffness, ratio, speed
    omega = np.sqrt(k / m)
    closing = np.linspace(0, np.pi / 2, samples // 2)
    parting = np.linspace(0, np.pi / 2, samples - samples // 2)
    deepest, slow = v / omega, omega * np.sqrt(r)
    depth = [deepest * np.sin(closing), deepest * np.cos(parting)]
    return ImpactCourse(
        time=jnp.asarray(np.concatenate([closing / omega, closing[-1] / omega + parting / slow])),
        depth=jnp.asarray(np.concatenate(depth)),
        velocity=jnp.asarray(
            np.concatenate([v * np.cos(closing), -deepest * slow * np.sin(parting)])
        ),
        force=jnp.asarray(np.concatenate([k * depth[0], r * k * depth[1]])),
    )


def series_course(
    *,
    mass: float,
    surface_stiffness: float,
    base_stiffness: float,
    damping: float,
    speed: float,
    samples: int = 400,
) -> SeriesCourse:
    """A free impact on a stiff surface in series with a damped base, until the force is zero.

    Args:
        mass: [kg].
        surface_stiffness: k_s [N/m].
        base_stiffness: k_b [N/m].
        damping: b of the base [N·s/m].
        speed: Of approach [m/s].
        samples: Even in time.
    """
    for name, value in (("mass", mass), ("surface_stiffness", surface_stiffness),
                        ("damping", damping), ("speed", speed)):  # fmt: skip
        require_positive(name, value, "")
    require_at_least("base_stiffness", base_stiffness, 0.0, "N/m")
    m, k_s, k_b, b = mass, surface_stiffness, base_stiffness, damping
    # y = (x, ẋ, z), ẏ = A y: a sum of exponentials.
    A = np.array([[0, 1, 0], [-k_s / m, 0, k_s / m], [k_s / b, 0, -(k_s + k_b) / b]])
    rates, modes = np.linalg.eig(A)
    weights = np.linalg.solve(modes, np.array([0.0, speed, 0.0]))

    def state(t: np.ndarray) -> np.ndarray:
        return (modes @ (weights[:, None] * np.exp(rates[:, None] * t[None]))).real

    def force(t: float) -> float:
        x, _, z = state(np.array([t]))[:, 0]
        return k_s * (x - z)

    # The force is positive at first; its first zero is looked for in steps that cannot miss it.
    step = 0.02 / np.abs(rates).max()
    end = step
    while force(end) > 0:
        end += step * max(1.0, 0.05 * end / step)
    before = end / 1.06 if end > 20 * step else max(end - step, step / 2)
    end = float(np.asarray(brentq(force, before, end)))
    t = np.linspace(0, end, samples)
    x, v, z = state(t)
    f = k_s * (x - z)
    course = ImpactCourse(*(jnp.asarray(a) for a in (t, x, v, f)))
    return SeriesCourse(course, jnp.asarray(z))
