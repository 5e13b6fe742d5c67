r"""What the data leave open, where it is not normal: Laplace's test, and draws by sampling.

Standard errors take the logarithm of the density for a quadratic (Laplace's approximation). The
test looks two standard errors away, either way along each line on which one parameter changes and
the others follow it, where it ought to have fallen by 2. If it has not, draws are made by an
ensemble of walkers that stretch moves along the lines between them carry over the density
[GoodmanWeare2010]: no scale or orientation of the density matters to them.
"""

from collections.abc import Callable

import numpy as np

from stiction._base.arrays import Float

Density = Callable[[Float[np.ndarray, " p"]], float]

NOT_NORMAL = 0.25  # part by which the distance of equal density may differ from a normal one's
_AWAY = 2.0  # standard errors
_STRETCH = 2.0  # the longest, and the inverse of the shortest
_SETTLE = 0.3  # part of the steps that only forget the start


def not_normal(
    density: Density, mean: Float[np.ndarray, " p"], axes: Float[np.ndarray, "p k"]
) -> float:
    """How far the density is from a normal one: 0.25 means ends of intervals off by a quarter.

    Args:
        density: Its logarithm, up to a constant.
        mean: Where it is largest.
        axes: Along which to look, a column each, one standard error long by the curvature there.
    """
    top, worst = density(mean), 0.0
    for axis in axes.T:
        for side in (-_AWAY, _AWAY):
            fallen = max(top - density(mean + side * axis), 0.0)
            worst = max(worst, abs(np.sqrt(2 * min(fallen, 1e6)) / _AWAY - 1))
    return float(worst)


def sample(
    density: Density,
    mean: Float[np.ndarray, " p"],
    root: Float[np.ndarray, "p p"],
    *,
    count: int,
    seed: int = 0,
) -> Float[np.ndarray, "count p"]:
    """Draws from a density, from about `count` evaluations of it.

    Args:
        density: Its logarithm, up to a constant.
        mean: Where walkers begin, about.
        root: L with L Lᵀ its covariance, about.
        count: Of draws.
        seed: Of all chance.
    """
    random = np.random.default_rng(seed)
    p = len(mean)
    walkers = 2 * max(p + 1, 4)
    x = mean + 0.5 * random.standard_normal((walkers, p)) @ root.T
    value = np.array([density(w) for w in x])
    steps = int(np.ceil(count / (1 - _SETTLE) / walkers))
    kept = []
    for _ in range(steps):
        for half in (np.arange(walkers // 2), np.arange(walkers // 2, walkers)):
            others = np.setdiff1d(np.arange(walkers), half)
            for i in half:
                # z has the density 1/√z between 1/a and a.
                z = ((_STRETCH - 1) * random.random() + 1) ** 2 / _STRETCH
                with_ = x[random.choice(others)]
                new = with_ + z * (x[i] - with_)
                its = density(new)
                # A walker that began where nothing is possible leaves at the first chance.
                gain = (
                    its - value[i]
                    if np.isfinite(value[i])
                    else (0.0 if its > value[i] else -np.inf)
                )
                if np.log(random.random()) < (p - 1) * np.log(z) + gain:
                    x[i], value[i] = new, its
        kept.append(x.copy())
    draws = np.concatenate(kept[int(_SETTLE * steps) :])
    return draws[-count:]
