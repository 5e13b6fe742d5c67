"""The sweep along the path against a dense solution of the same problem, and against bias."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rigs import NOISE, record, star_setup

from stiction.identify import contact_model, identify, model_values
from stiction.identify.contact.prune import prune
from stiction.identify.fit.errors_in_variables import JointProblem, fit, predicted_wrench, smooth
from stiction.identify.fit.nuisances import nuisances_of
from stiction.identify.kinds.contact import fit_contact
from stiction.identify.path.noise import sensor_noise
from stiction.identify.path.readings import shifts_of
from stiction.identify.path.segments import WrenchSamples, lay_out_poses, stack
from stiction.identify.path.splines import ORDER, basis

SENSORS = {"motion_rate": 150.0, "wrench_rate": 200.0}
KNOTS = 0.1
# Of k, c, kμ, of what settles slowly in fz, of a cable's fz along x, of a tool that bends, of its
# play along x, and of the delay.
PLACES = np.array([0, 1, 2, 23, 35, -6, -5, -2])
SCALE = jnp.array([8e3, 1e3, 500.0, 1.0, 20.0, 1e-5, 1e-4, 1e-3])


@pytest.fixture(scope="module")
def case():
    """A short noisy test of one point, laid out along a spline."""
    setup = star_setup({"bottom": "steel"}, noise=NOISE, bed=SENSORS)
    recording = record(setup)
    model = prune(contact_model(setup), [recording])
    noise = sensor_noise([recording], setup)
    z = recording.position[:, 2]
    time = recording.wrench_time
    inside = (time >= recording.pose_time[0]) & (time <= recording.pose_time[-1])
    pressed = np.interp(time, recording.pose_time, -0.0015 - z) > 0
    on = 1.0 * pressed[inside]
    stamps, right = time[inside], np.zeros(2)
    wrenches = WrenchSamples(stamps, recording.wrench[inside], on, stamps, right)
    shifts = shifts_of(recording, noise, KNOTS, in_body=False)
    track = stack([lay_out_poses(recording, noise, KNOTS, shifts)], noise, [wrenches])
    problem = JointProblem(model, jnp.asarray(noise.wrench))
    count = len(nuisances_of(setup, noise).tolerance)
    theta = jnp.append(model_values(model, setup.testbed.truth), jnp.zeros(count))
    return problem, track, theta


def placed(theta, values):
    """Those of `PLACES` among all parameters, the others zero."""
    return jnp.zeros_like(theta).at[PLACES].set(jnp.asarray(values))


def fitted(problem, track, theta, free):
    """A fit of some of `PLACES`, the other nuisances held."""
    on = placed(theta, jnp.asarray(free, dtype=float)) > 0
    scale = jnp.full_like(theta, 1e-3).at[PLACES].set(SCALE)
    return fit(problem, track, smooth(track), theta, on, scale, jnp.zeros_like(theta))


def dense_residual(problem, track):
    """All residuals of a test as one function of (coefficients, parameters): the oracle."""
    one = jax.tree.map(lambda leaf: leaf[0], track)
    count = one.known.shape[0]

    def residual(y, like):
        c, theta = y[: -len(PLACES)].reshape(-1, 6), placed(like, y[-len(PLACES) :])
        windows = jnp.stack([c[i : i + count] for i in range(ORDER)], axis=1)
        flat = windows.reshape(count, -1)
        known = jnp.concatenate([flat, jnp.tile(theta[-6:-2], (count, 1))], axis=1)
        pose = jnp.einsum("sij,sj->si", one.known[..., :-1], known) - one.known[..., -1]

        def wrenches(window, u, measured, on, age):
            x, v, a = (
                basis(u - theta[-2] / one.spacing, d) @ window / one.spacing**d for d in range(3)
            )
            w = jax.vmap(
                lambda x, v, a, age: predicted_wrench(problem, one, x, v, a, theta[:-2], age)
            )(x, v, a, age)
            return (w - measured) / problem.wrench_noise[None] * jnp.sqrt(on)[:, None]

        at = (windows, one.wrench_u, one.wrench, one.wrench_on, one.wrench_age)
        return jnp.concatenate([pose.reshape(-1), jax.vmap(wrenches)(*at).reshape(-1)])

    return residual


def test_fit_and_covariance_are_those_of_the_dense_problem(case):
    problem, track, theta = case
    found = fitted(problem, track, theta, [1] * len(PLACES))
    assert bool(found.converged)
    residual = jax.jit(dense_residual(problem, track))
    jacobian = jax.jit(jax.jacfwd(dense_residual(problem, track)))
    found_theta = np.asarray(found.theta)[PLACES]
    y = np.concatenate([np.asarray(found.coefficients[0]).ravel(), found_theta])
    step_scale = np.concatenate([np.ones(len(y) - len(PLACES)), np.asarray(SCALE)])
    for _ in range(4):  # from there on the dense Gauss-Newton must not move
        J = np.asarray(jacobian(jnp.asarray(y), theta)) * step_scale
        r = np.asarray(residual(jnp.asarray(y), theta))
        y = y - np.linalg.lstsq(J, r, rcond=None)[0] * step_scale
    root = np.asarray(found.root)
    std = np.sqrt(np.diag(np.linalg.inv(root.T @ root)))[PLACES]
    moved = np.abs(y[-len(PLACES) :] - found_theta) / std
    assert np.max(moved) < 2e-3  # the fit stops when a step is below 1e-3 standard errors
    R = np.linalg.qr(J, mode="r")[-len(PLACES) :, -len(PLACES) :] / np.asarray(SCALE)
    dense = np.sqrt(np.diag(np.linalg.inv(R.T @ R)))
    np.testing.assert_allclose(std, dense, rtol=2e-3)


def test_held_parameters_stay(case):
    problem, track, theta = case
    found = fitted(problem, track, theta * 0.9, [1, 0, 1, 0, 0, 0, 0, 0])
    assert float(found.theta[1]) == pytest.approx(0.9 * float(theta[1]))
    assert np.all(np.asarray(found.theta[3:]) == 0.0)


def test_start_does_not_matter(case):
    problem, track, theta = case
    ends = [
        np.asarray(fitted(problem, track, s * theta, [1, 1, 1, 0, 0, 0, 0, 0]).theta)
        for s in (0.5, 1.0, 1.7)
    ]
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-4, atol=1e-9)
    np.testing.assert_allclose(ends[2], ends[1], rtol=1e-4, atol=1e-9)


def test_known_nuisances_give_the_same_fit_by_the_smaller_program(case):
    """Nuisances beside the data rather than among the parameters: the same k, c and kμ."""
    problem, track, theta = case
    bias = theta.at[5].set(0.4)  # fz
    bias = bias.at[-6].set(2e-6)  # and a tool that bends
    whole = fitted(problem, track, bias, [1, 1, 1, 0, 0, 0, 0, 0])
    small = replace(problem, nuisances=bias[3:])
    n = 3
    alone = fit(small, track, smooth(track), bias[:n], jnp.ones(n, bool), SCALE[:n], jnp.zeros(n))
    np.testing.assert_allclose(np.asarray(alone.theta), np.asarray(whole.theta)[:n], rtol=1e-6)


def test_a_prior_pulls_as_hard_as_a_measurement_of_its_width(case):
    """Of the sensor's offset: with σ of the prior equal to the data's own, half of it is left."""
    problem, track, theta = case
    offset = 5  # fz, after k, c and kμ
    read = track.wrench.at[..., 2].add(0.3)
    spoilt = eqx.tree_at(lambda t: t.wrench, track, read)
    free = (
        placed(theta, jnp.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0])).at[offset].set(1.0) > 0
    )
    scale = jnp.full_like(theta, 1e-3).at[PLACES].set(SCALE).at[offset].set(1.0)
    none = jnp.zeros_like(theta)
    plain = fit(problem, spoilt, smooth(spoilt), theta, free, scale, none)
    root = np.asarray(plain.root)
    std = np.sqrt(np.diag(np.linalg.inv(root.T @ root)))[offset]
    prior = none.at[offset].set(1 / std)
    pulled = fit(problem, spoilt, smooth(spoilt), theta, free, scale, prior)
    assert float(pulled.theta[offset]) == pytest.approx(0.5 * float(plain.theta[offset]), rel=0.05)


def test_outliers_in_the_wrench_lose_their_weight(case, rng):
    problem, track, theta = case
    bad = rng.random(track.wrench.shape[:-1]) < 0.03
    spoilt = eqx.tree_at(
        lambda t: t.wrench, track, track.wrench + jnp.asarray(60.0 * bad)[..., None]
    )
    error = {}
    for loss in ("squares", "huber"):
        p = JointProblem(problem.model, problem.wrench_noise, loss=loss)
        found = fitted(p, spoilt, theta, [1, 1, 1, 0, 0, 0, 0, 0])
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
        fit = fit_contact([recording], plain, investigating=False)  # noise is all that is wrong
        values["plain"].append(fit.found.theta[fit.problem.model.names.index("steel.c")])
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
