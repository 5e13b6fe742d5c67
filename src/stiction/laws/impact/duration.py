r"""How long a free Hunt-Crossley impact lasts: one smooth integral.

With $y = \ln(1 + d v)/d$ as the variable (a velocity; $y = v$ without damping) the equation of
motion $m \dot v = -k x^n (1 + d v)$ becomes $m \dot y = -k x^n$, so that

$$ T = \frac{m}{k} \int_{y_o}^{y_i} \frac{dy}{x(y)^n} $$

(docs/compliant.md, HC.13), with the depth as in `phase_plane`. Compression and restitution are done
apart. At its end $y_*$ the depth goes as $D^{1/(n+1)}$ in the distance $D = |y_* - y|$;
$D = y_* t^{n+1}$ takes the singularity away and leaves a non-analytic $t^{n+1}$, for which a
double-exponential rule on (0, 1) still converges exponentially.
"""

import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Scalar, ScalarLike
from stiction.laws.impact.excess import exp_ratio
from stiction.laws.impact.phase_plane import energy_over_distance, log_velocities
from stiction.laws.impact.rebound import rebound_speed

# Double-exponential (tanh-sinh) rule: t = 1/(1 + exp(-π sinh s)), s = -S, ..., S. The far nodes lie
# 1e-18 from the ends.
STEP = 0.0875
HALF_RANGE = 3.25
_s = np.arange(-HALF_RANGE, HALF_RANGE + STEP / 2, STEP)
NODES = 1.0 / (1.0 + np.exp(-np.pi * np.sinh(_s)))
WEIGHTS = STEP * np.pi * np.cosh(_s) * NODES / (1.0 + np.exp(np.pi * np.sinh(_s)))


def contact_duration(
    *,
    speed: ScalarLike,
    dissipation: ScalarLike,
    mass: ScalarLike,
    stiffness: ScalarLike,
    exponent: ScalarLike = 1.0,
) -> Scalar:
    r"""Time from touch to separation of a free impact [s].

    Args:
        speed: Speed of approach $v_i > 0$ [m/s].
        dissipation: Dissipation $d$ [s/m]; $d = \tfrac32 \alpha$.
        mass: Mass $m$ [kg].
        stiffness: Elastic coefficient $k$ [N/m^n].
        exponent: Elastic exponent $n$ [-].

    Returns:
        Duration $T$ [s], right to 1e-12 of its value for $d v_i$ up to 1e6.
        Without damping and for $n = 1$ it is half a period, $\pi \sqrt{m/k}$.
    """
    v_i, d, n = jnp.asarray(speed), jnp.asarray(dissipation), jnp.asarray(exponent)
    scale = jnp.asarray(mass) / jnp.asarray(stiffness)
    y_i, y_o = log_velocities(v_i, rebound_speed(v_i, d), d)
    return _phase(y_i, d, n, scale) + _phase(y_o, d, n, scale)


def _phase(end: Scalar, d: Scalar, n: Scalar, scale: Scalar) -> Scalar:
    """Time between the end at `y = end` and the turn: compression if positive, else restitution."""

    def integrand(t: Scalar) -> Scalar:
        D = end * t ** (n + 1.0)
        y = end - D
        # D over t^(n+1) is `end`: it never appears as 0/0.
        energy = end * energy_over_distance(y * exp_ratio(d * y), D, d)
        depth_over_t = (scale * (n + 1.0) * energy) ** (1.0 / (n + 1.0))
        return scale * jnp.abs(end) * (n + 1.0) / depth_over_t**n

    nodes, weights = jnp.asarray(NODES, end.dtype), jnp.asarray(WEIGHTS, end.dtype)
    return weights @ jax.vmap(integrand)(nodes)
