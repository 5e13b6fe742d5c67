"""Many virtual tests at once: how far estimates scatter, and whether their intervals are honest."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._arrays import Float
from stiction._errors import InputError
from stiction.identify.build import build_model, model_values, wanted_names, wanted_values
from stiction.identify.errors_in_variables import Problem, fit, smooth
from stiction.identify.identify import identify
from stiction.identify.paths import SmoothPath, sensor_noise, track_of
from stiction.identify.prune import prune
from stiction.identify.result import quantile
from stiction.identify.setup import ContactSetup
from stiction.identify.stages import make_case, without_letting_go
from stiction.identify.testbed import virtual_test
from stiction.identify.trajectory import set_weights

_BATCH = 100


@dataclass(frozen=True)
class Study:
    """Estimates of many tests, each on its own.

    Attributes:
        names: Of the parameters.
        truth: Their true values.
        estimates: Test by test.
        std: Standard errors, test by test.
        confidence: Of the intervals.
    """

    names: tuple[str, ...]
    truth: Float[np.ndarray, " w"]
    estimates: Float[np.ndarray, "n w"]
    std: Float[np.ndarray, "n w"]
    confidence: float

    @property
    def bias(self) -> Float[np.ndarray, " w"]:
        """Mean error, relative to the truth."""
        return self.estimates.mean(axis=0) / self.truth - 1

    @property
    def scatter(self) -> Float[np.ndarray, " w"]:
        """Standard deviation, relative to the truth."""
        return self.estimates.std(axis=0, ddof=1) / np.abs(self.truth)

    @property
    def coverage(self) -> Float[np.ndarray, " w"]:
        """The part of the intervals that hold the truth."""
        half = quantile(self.confidence) * self.std
        return np.mean(np.abs(self.estimates - self.truth) <= half, axis=0)


def repeat(setup: ContactSetup, count: int, folder: Path = Path()) -> Study:
    """Run and identify `count` virtual tests of a setup with a `testbed` and given knots.

    The same estimator as `identify` with errors in variables, batched; the first test is given to
    `identify` itself, whose outcome is where all fits start.
    """
    knots = setup.method.knot_spacing
    if setup.testbed is None or knots is None:
        raise InputError("a study needs a setup with `testbed` and `method.knot_spacing`")
    tests = [virtual_test(setup, folder, number=i).recording for i in range(count)]
    model = prune(build_model(setup, folder), tests)
    noise = sensor_noise(tests[:1], setup)
    names = wanted_names(model)
    first = identify(tests[:1], setup, folder)
    start = np.array([first.parameters[n].value for n in names])
    theta = np.asarray(model_values(model, dict(zip(names, start.tolist(), strict=True))))
    problem = Problem(model, jnp.asarray(noise.wrench), loss=setup.method.loss)
    free = jnp.asarray(np.append(np.ones(len(theta), dtype=bool), False))
    scale = jnp.asarray(np.append(np.maximum(np.abs(theta), 1e-6), 1e-3))
    tracks = [track_of(r, noise, knots) for r in tests]
    estimates, spread = [], []
    for i in range(0, count, _BATCH):
        batch = jax.tree.map(lambda *t: jnp.concatenate(t), *tracks[i : i + _BATCH])
        paths = smooth(batch)
        use = []
        for j, r in enumerate(tests[i : i + _BATCH]):
            path = SmoothPath(jax.tree.map(lambda leaf, j=j: leaf[j], batch), paths[j])
            case = make_case(r, path, model, noise, None, knots)
            use.append(without_letting_go(model, case, noise, theta, knots).use)
        batch = set_weights(batch, tests[i].wrench_time, np.array(use))
        found, cov = _fits(problem, batch, paths, jnp.append(jnp.asarray(theta), 0.0), free, scale)
        estimates.append(np.asarray(found))
        spread.append(np.sqrt(np.asarray(cov)))
    truth = np.array([setup.testbed.truth[n] for n in names])
    return Study(
        names, truth, np.concatenate(estimates), np.concatenate(spread), setup.method.confidence
    )


@eqx.filter_jit
def _fits(problem, tracks, paths, theta, free, scale):
    """Estimates and variances of the wanted parameters, test by test."""
    none = np.zeros(len(problem.model.materials))

    def one(track, path):
        alone = jax.tree.map(lambda leaf: leaf[None], track)
        found = fit(problem, alone, path[None], theta, free, scale)
        wanted = partial(wanted_values, problem.model, breakaway=none)
        J = jax.jacfwd(wanted)(found.theta[:-1])
        root = found.root[:-1, :-1]
        half = jax.scipy.linalg.solve_triangular(root, J.T, trans=1)
        return wanted(found.theta[:-1]), jnp.sum(half**2, axis=0)

    return jax.vmap(one)(tracks, paths)
