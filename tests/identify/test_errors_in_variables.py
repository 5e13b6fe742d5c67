"""The sweep along the path against a dense solution of the same problem, and against bias."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rigs import NOISE, record, star_setup

from stiction.identify import identify
from stiction.identify.build import build_model, model_values
from stiction.identify.errors_in_variables import Problem, fit, predicted_wrench, smooth
from stiction.identify.paths import sensor_noise, track_of
from stiction.identify.prune import prune
from stiction.identify.splines import ORDER, basis

SENSORS = {"motion_rate": 150.0, "wrench_rate": 200.0}
KNOTS = 0.1


@pytest.fixture(scope="module")
def case():
    """A short noisy test of one point, laid out along a spline."""
    setup = star_setup({"bottom": "steel"}, noise=NOISE, bed=SENSORS)
    recording = record(setup)
    model = prune(build_model(setup), [recording])
    noise = sensor_noise([recording], setup)
    z = recording.position[:, 2]
    pressed = np.interp(recording.wrench_time, recording.pose_time, -0.0015 - z) > 0
    track = track_of(recording, noise, KNOTS, use=pressed.astype(float))
    problem = Problem(model, jnp.asarray(noise.wrench))
    theta = jnp.append(model_values(model, setup.testbed.truth), 0.0)
    return problem, track, theta


def dense_residual(problem, track):
    """All residuals of a test as one function of (coefficients, parameters): the oracle."""
    one = jax.tree.map(lambda leaf: leaf[0], track)
    count = one.known.shape[0]

    def residual(y, n_theta):
        c, theta = y[:-n_theta].reshape(-1, 6), y[-n_theta:]
        windows = jnp.stack([c[i : i + count] for i in range(ORDER)], axis=1)
        flat = windows.reshape(count, -1)
        pose = jnp.einsum("sij,sj->si", one.known[..., :-1], flat) - one.known[..., -1]

        def wrenches(window, u, measured, on):
            x, v, a = (
                basis(u - theta[-1] / one.spacing, d) @ window / one.spacing**d for d in range(3)
            )
            w = jax.vmap(
                lambda x, v, a: predicted_wrench(problem, one.center, x, v, a, theta[:-1])
            )(x, v, a)
            return (w - measured) / problem.wrench_noise[None] * jnp.sqrt(on)[:, None]

        r = jax.vmap(wrenches)(windows, one.wrench_u, one.wrench, one.wrench_on)
        return jnp.concatenate([pose.reshape(-1), r.reshape(-1)])

    return residual


def test_fit_and_covariance_are_those_of_the_dense_problem(case):
    problem, track, theta = case
    free = jnp.array([True, True, True, True])  # the delay too
    scale = jnp.array([8e3, 1e3, 500.0, 1e-3])
    found = fit(problem, track, smooth(track), theta, free, scale)
    assert bool(found.converged)
    residual = jax.jit(dense_residual(problem, track), static_argnums=1)
    jacobian = jax.jit(jax.jacfwd(dense_residual(problem, track)), static_argnums=1)
    y = np.concatenate([np.asarray(found.coefficients[0]).ravel(), np.asarray(found.theta)])
    step_scale = np.concatenate([np.ones(len(y) - 4), np.asarray(scale)])
    for _ in range(4):  # from there on the dense Gauss-Newton must not move
        J = np.asarray(jacobian(jnp.asarray(y), 4)) * step_scale
        r = np.asarray(residual(jnp.asarray(y), 4))
        y = y - np.linalg.lstsq(J, r, rcond=None)[0] * step_scale
    std = np.sqrt(np.diag(np.linalg.inv(np.asarray(found.root).T @ np.asarray(found.root))))
    moved = np.abs(y[-4:] - np.asarray(found.theta)) / std
    assert np.max(moved) < 2e-3  # the fit stops when a step is below 1e-3 standard errors
    R = np.linalg.qr(J, mode="r")[-4:, -4:] / np.asarray(scale)
    dense = np.sqrt(np.diag(np.linalg.inv(R.T @ R)))
    np.testing.assert_allclose(std, dense, rtol=2e-3)


def test_held_parameters_stay(case):
    problem, track, theta = case
    free = jnp.array([True, False, True, False])
    scale = jnp.array([8e3, 1e3, 500.0, 1e-3])
    found = fit(problem, track, smooth(track), theta * 0.9, free, scale)
    assert float(found.theta[1]) == pytest.approx(0.9 * float(theta[1]))
    assert float(found.theta[3]) == 0.0


def test_start_does_not_matter(case):
    problem, track, theta = case
    free = jnp.array([True, True, True, False])
    scale = jnp.array([8e3, 1e3, 500.0, 1e-3])
    ends = [
        np.asarray(fit(problem, track, smooth(track), s * theta, free, scale).theta)
        for s in (0.5, 1.0, 1.7)
    ]
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-4, atol=1e-9)
    np.testing.assert_allclose(ends[2], ends[1], rtol=1e-4, atol=1e-9)


def test_outliers_in_the_wrench_lose_their_weight(case, rng):
    problem, track, theta = case
    bad = rng.random(track.wrench.shape[:-1]) < 0.03
    spoilt = eqx.tree_at(
        lambda t: t.wrench, track, track.wrench + jnp.asarray(60.0 * bad)[..., None]
    )
    free = jnp.array([True, True, True, False])
    scale = jnp.array([8e3, 1e3, 500.0, 1e-3])
    error = {}
    for loss in ("squares", "huber"):
        p = Problem(problem.model, problem.wrench_noise, loss=loss)
        found = fit(p, spoilt, smooth(spoilt), theta, free, scale)
        error[loss] = np.max(np.abs(np.asarray(found.theta)[:3] / np.asarray(theta)[:3] - 1))
    assert error["huber"] < 0.05
    assert error["huber"] < 0.2 * error["squares"]


def test_plain_least_squares_is_biased_and_this_is_not():
    """Noise in its column draws damping towards zero: by σ²/v², v the rate's size, σ its noise."""
    setup = star_setup({"bottom": "steel"}, noise=NOISE, bed=SENSORS, method__knot_spacing=KNOTS)
    # Rates smoothed over four samples, as a short filter does.
    method = setup.method.model_copy(update={"name": "least-squares", "knot_spacing": 0.027})
    plain = setup.model_copy(update={"method": method})
    truth = setup.testbed.truth["steel.c"]
    values = {"plain": [], "both": []}
    for i in range(10):
        recording = record(setup, i)
        values["plain"].append(identify([recording], plain).parameters["steel.c"].value)
        found = identify([recording], setup)
        assert found.method == "errors-in-variables"
        values["both"].append(found.parameters["steel.c"].value)
    bias = {k: np.mean(v) / truth - 1 for k, v in values.items()}
    error = np.std(values["both"], ddof=1) / truth / np.sqrt(10)
    assert abs(bias["both"]) < 4 * error
    assert bias["plain"] < -0.02
    assert abs(bias["plain"]) > 5 * abs(bias["both"])


def test_an_unknown_delay_is_found_with_its_error():
    late = 0.0234
    setup = star_setup(
        {"bottom": "steel"},
        noise=NOISE,
        bed={**SENSORS, "delay": late},
        wrench__delay="estimate",
        method__knot_spacing=KNOTS,
    )
    found = identify([record(setup)], setup)
    assert 0 < found.notes["delay_std"] < 2e-3
    assert abs(found.notes["delay"] - late) < 4 * found.notes["delay_std"]


def test_noise_levels_are_read_from_the_log_itself():
    setup = star_setup({"bottom": "steel"}, noise=NOISE, bed={"motion_rate": 450.0})
    noise = sensor_noise([record(setup)], setup)
    assert noise.position == pytest.approx(1e-4, rel=0.1)
    assert noise.rotation == pytest.approx(5e-4, rel=0.1)
    assert noise.force == pytest.approx(0.25, rel=0.1)
    assert noise.moment == pytest.approx(0.025, rel=0.1)
