"""Recorded landings of a robot whose legs are closed loops: physics of the posed impact."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from benchmarks.cassie import ROD, SIDES, landing_problem, load_cassie, read_landing

from stiction.impacts import impact_law
from stiction.mechanism import kinetic_energy, mass_matrix, point_jacobian, point_position

MU = 0.8


@pytest.fixture(scope="module")
def landed(shared_data):
    """Two landings before and after an impact without rebound, on the points that take part."""
    folder = shared_data / "cassie_landing"
    m = load_cassie(folder)
    resolve = impact_law("lcp", "off")

    @jax.jit
    def land(q, v, active, which):
        problem, change = landing_problem(m, q, v, active, 0.0, MU)
        part = problem.part(which)
        impulse = resolve(part).impulse
        p = jnp.zeros_like(problem.velocity).at[which].set(impulse)
        after = v + change @ p.reshape(-1)
        energies = [kinetic_energy(m, q, x) for x in (v, after)]
        soles = [(m.body(f"toe_{s}"), jnp.asarray(x)) for s in SIDES
                 for x in ((-0.0457, 0.112, 0.0), (0.088, 0.0, 0.0))]  # fmt: skip
        J = jnp.concatenate([point_jacobian(m, q, b, x) for b, x in soles])
        return p, after, energies, mass_matrix(m, q), J

    rows = []
    for k in (0, 11):
        one = read_landing(folder, k, m)
        which = jnp.asarray(np.flatnonzero(one.active)[:1])  # one program for both
        args = (jnp.asarray(one.q), jnp.asarray(one.v), jnp.asarray(one.active), which)
        rows.append((one, jax.tree.map(np.asarray, land(*args))))
    return m, rows


def rod_lengths(m, q):
    """Of both legs, as the document of the data set gives their ends [m]."""
    lengths = []
    for side, mirror in zip(SIDES, (1.0, -1.0), strict=True):
        one = point_position(m, q, m.body(f"thigh_{side}"), jnp.asarray([0.0, 0.0, 0.045 * mirror]))
        two = point_position(m, q, m.body(f"heel_spring_{side}"), jnp.asarray([0.11877, -0.01, 0]))
        lengths.append(jnp.linalg.norm(one - two))
    return jnp.stack(lengths)


def test_rods_have_their_length_and_keep_it(landed):
    """Before and after the impact the rods' lengths do not change, by differences in time."""
    from stiction.mechanism import add_velocity

    m, rows = landed
    of = jax.jit(lambda q, v: rod_lengths(m, add_velocity(m, q, v)))
    for one, (_, after, *_rest) in rows:
        q = jnp.asarray(one.q)
        np.testing.assert_allclose(of(q, jnp.zeros(m.nv)), ROD, atol=1e-6)
        for v in (one.v, after):
            h = 1e-6
            rate = (of(q, jnp.asarray(h * v)) - of(q, jnp.asarray(-h * v))) / (2 * h)
            np.testing.assert_allclose(rate, 0, atol=1e-6)


def test_impulses_are_in_their_cones_and_take_energy(landed):
    _, rows = landed
    for _, (p, _, (before, after), *_rest) in rows:
        assert p[:, 2].max() > 1.0  # [N s]: it lands
        # The law's cones are squares along both tangents.
        assert np.all(np.abs(p[:, :2]).max(axis=1) <= MU * p[:, 2] + 1e-9)
        assert after < before


def test_momentum_is_that_of_ground_and_rods(landed):
    """M Δv - Jᵀ p is an impulse of the two rods, which have one direction each."""
    _, rows = landed
    for one, (p, after, _, M, J) in rows:
        left = M @ (after - one.v) - J.T @ p.reshape(-1)
        # An internal impulse: it gives the base as a whole no linear momentum.
        np.testing.assert_allclose(left[:3], 0, atol=1e-9)
        assert np.linalg.norm(left) > 1e-3
        # What lands stops, and the measured foot was approaching.
        down = np.flatnonzero(p[:, 2] > 0)
        u = (J @ one.v).reshape(-1, 3)[down, 2], (J @ after).reshape(-1, 3)[down, 2]
        assert np.all(u[0] < -0.5)
        np.testing.assert_allclose(u[1], 0, atol=1e-8)
