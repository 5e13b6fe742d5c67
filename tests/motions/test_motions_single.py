"""One contact in closed form: against the general method and against the document's projections."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from agreement import answer
from problems import single as single_contact_motions
from random_problems import random_problem

from helpers import jit_once
from stiction.motions import Verdict
from stiction.motions.single import MODES

one = jit_once(single_contact_motions)


def batch(problems):
    """All problems (of one contact each) at once."""
    unit = [p.normals[0] / np.linalg.norm(p.normals[0]) for p in problems]
    values = {
        "arm": [-p.points[0] for p in problems],
        "normal": unit,
        "mass": [p.mass for p in problems],
        "gyration_radius": [np.sqrt(p.inertia / p.mass) for p in problems],
        "mu": [p.mu[0] for p in problems],
        "velocity": [p.velocity for p in problems],
        "force": [p.force for p in problems],
        "torque": [p.torque for p in problems],
        "curvature_body": [p.curvature_body[0] for p in problems],
        "curvature_obstacle": [p.curvature_obstacle[0] for p in problems],
    }
    arrays = {name: jnp.array(value) for name, value in values.items()}
    return jit_once(jax.vmap(lambda a: single_contact_motions(**a)))(arrays)


def test_agrees_with_the_general_method():
    problems = [random_problem(np.random.default_rng(seed), 1) for seed in range(160)]
    single = batch(problems)
    for i, p in enumerate(problems):
        general = answer(p)
        assert int(single.verdict[i]) == int(general.verdict), i
        found = {MODES[j]: j for j in np.flatnonzero(np.asarray(single.valid[i]))}
        for m in general.motions:
            # A contact kept without force has the free acceleration: "break" here.
            j = found.get(m.modes[0], 0)
            assert single.valid[i, j], i
            np.testing.assert_allclose(single.acceleration[i, j], m.acceleration, atol=1e-9)
            forces = [single.tangential_force[i, j], single.normal_force[i, j]]
            np.testing.assert_allclose(forces, m.forces[0], atol=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_at_rest_it_is_the_documents_two_projections(seed):
    """4.4: remove the t_r component, then project along t_r⊥ onto the cone.

    Valid where the cone lies above the tangent plane, which small friction ensures.
    """
    rng = np.random.default_rng(seed)
    r, angle, rho, mu = rng.normal(size=2), rng.uniform(0, 2 * np.pi), 0.8, 0.15
    nx, ny = np.cos(angle), np.sin(angle)
    F = rng.normal(size=3)
    n_q, v_q = nx * r[1] - ny * r[0], nx * r[0] + ny * r[1]
    normal = np.array([nx, ny, n_q / rho])  # Δ_n n
    v_f = np.array([ny, -nx, v_q / rho])
    n = normal / np.linalg.norm(normal)
    t_r = np.array([-r[1], r[0], rho])
    t_r = t_r / np.linalg.norm(t_r)
    across = np.cross(n, t_r)  # ± t_r⊥
    if F @ n >= 0:
        reaction = np.zeros(3)
    else:
        wanted = -(F - (F @ t_r) * t_r)
        # In the plane of the cone: wanted = f_n Δ_n n + f_t v_f.
        f_n, f_t = np.linalg.lstsq(np.stack([normal, v_f], axis=1), wanted, rcond=None)[0]
        reaction = wanted
        if abs(f_t) > mu * f_n:
            edge = normal + np.sign(f_t) * mu * v_f
            # wanted + s across on the edge: same component along n.
            reaction = edge * (wanted @ n) / (edge @ n)
            assert np.allclose(np.cross(reaction - wanted, across), 0, atol=1e-12)
    single = one(
        arm=jnp.array(r),
        normal=jnp.array([nx, ny]),
        mass=1.0,
        gyration_radius=rho,
        mu=mu,
        velocity=jnp.zeros(3),
        force=jnp.array(F[:2]),
        torque=float(F[2] * rho),
    )
    assert int(single.verdict) == Verdict.UNIQUE
    a = np.asarray(single.acceleration)[np.flatnonzero(np.asarray(single.valid))[0]]
    np.testing.assert_allclose(a * [1, 1, rho], F + reaction, atol=1e-12)


def test_a_vanishing_divisor_gives_a_continuum():
    """tan θ = 2 and μ = 4/3 exactly, with the tip's free acceleration zero."""
    x, y = 1 / np.sqrt(5), 2 / np.sqrt(5)
    single = one(
        arm=jnp.array([x, y]),
        normal=jnp.array([0.0, 1.0]),
        mass=1.0,
        gyration_radius=1 / np.sqrt(3),
        mu=4 / 3,
        velocity=jnp.array([-1.0, 0.0, 0.0]),
        force=jnp.zeros(2),
        torque=0.0,
    )
    assert int(single.verdict) == Verdict.AMBIGUOUS


def test_derivatives_are_those_of_finite_differences():
    def sliding(mu, velocity):
        return single_contact_motions(
            arm=jnp.array([0.3, 0.8]),
            normal=jnp.array([0.0, 1.0]),
            mass=1.3,
            gyration_radius=0.5,
            mu=mu,
            velocity=velocity,
            force=jnp.array([0.2, -9.81]),
            torque=0.1,
        ).acceleration[3]

    value = jit_once(sliding)
    v, step = jnp.array([0.5, 0.0, 0.0]), 1e-6
    by_steps = (value(0.3 + step, v) - value(0.3 - step, v)) / (2 * step)
    np.testing.assert_allclose(jit_once(jax.jacfwd(sliding))(0.3, v), by_steps, rtol=1e-7)
    second = jit_once(jax.jacfwd(jax.jacrev(sliding, argnums=(0, 1)), argnums=(0, 1)))
    for velocity in (v, jnp.zeros(3)):  # at rest the speed's square root must not give nan
        assert all(np.all(np.isfinite(x)) for x in jax.tree.leaves(second(0.3, velocity)))
