"""Impacts from velocities before and after: the three laws, and which one the data follow."""

import numpy as np
import pandas as pd
import pytest

from stiction.identify import identify_logs
from stiction.identify.kinds.impact_pairs import LAWS, ImpactPairSetup, rebound

MASS, INERTIA = 0.5, 4e-4
SETUP = ImpactPairSetup(
    kind="impact-pairs",
    mass=MASS,
    inertia=INERTIA,
    before=["vx", "vy", "w"],
    after=["vx2", "vy2", "w2"],
    arm=["rx", "ry"],
    folds=3,
)


def impacts(n: int, seed: int = 0):
    random = np.random.default_rng(seed)
    v = np.stack(
        [random.uniform(-1, 1, n), random.uniform(-2, -0.5, n), random.uniform(-8, 8, n)], axis=1
    )
    angle = random.uniform(-0.7, 0.7, n)
    arm = 0.04 * np.stack([np.sin(angle), -np.cos(angle)], axis=1)
    J = np.zeros((n, 2, 3))
    J[:, 0, 0] = J[:, 1, 1] = 1.0
    J[:, 0, 2], J[:, 1, 2] = -arm[:, 1], arm[:, 0]
    inverse = np.array([1 / MASS, 1 / MASS, 1 / INERTIA])
    u = np.einsum("nij,nj->ni", J, v)
    coming = u[:, 1] < -0.1
    v, arm, J, u = v[coming], arm[coming], J[coming], u[coming]
    return v, arm, J, inverse, u, np.einsum("nij,j,nkj->nik", J, inverse, J)


def march(u, G, mu, law, e, steps=40_000):
    """The same impact in small steps of impulse: the oracle."""
    u, p_n, p_t, work, turned = u.copy(), 0.0, 0.0, 0.0, None
    h = -2.5 * u[1] / G[1, 1] / steps * 2
    for _ in range(20 * steps):
        if abs(u[0]) < 1.1 * h * (abs(G[0, 0]) * mu + abs(G[0, 1])):
            hold = -G[0, 1] / G[0, 0]
            f = hold if abs(hold) <= mu else mu * np.sign(hold)
        else:
            f = -mu * np.sign(u[0])
        before = u[1]
        u = u + G @ np.array([f, 1.0]) * h
        p_n, p_t = p_n + h, p_t + f * h
        work += 0.5 * (before + u[1]) * h
        if turned is None and u[1] >= 0:
            turned = (p_n, work)
        if turned is not None:
            ends = {
                "newton": u[1] >= e * abs(march.u_n),
                "poisson": p_n >= (1 + e) * turned[0],
                "stronge": work - turned[1] >= e**2 * -turned[1],
            }
            if ends[law]:
                return np.array([p_t, p_n])
    raise AssertionError("did not end")


@pytest.mark.parametrize("law", LAWS)
def test_impulses_are_those_of_small_steps(law):
    """Sliding on, sticking and turning round all occur among these."""
    _, _, _, _, u, G = impacts(8, seed=4)
    for mu in (0.05, 0.3, 1.0):
        exact = rebound(law, u, G, mu, 0.6)
        for i in range(len(u)):
            march.u_n = u[i, 1]
            by_steps = march(u[i], G[i], mu, law, 0.6, steps=800)
            np.testing.assert_allclose(exact[i], by_steps, rtol=0.02, atol=0.02 * exact[i, 1])


def test_laws_agree_while_slip_keeps_its_direction():
    _, _, _, _, u, G = impacts(200, seed=1)
    mu = 0.02
    results = [rebound(law, u, G, mu, 0.5) for law in LAWS]
    # Whatever the law, the slip after the largest of the impulses has its old sign.
    most = np.max([p[:, 1] for p in results], axis=0)
    slope = -mu * np.sign(u[:, 0]) * G[:, 0, 0] + G[:, 0, 1]
    kept = (u[:, 0] + slope * most) * u[:, 0] > 0
    assert kept.sum() > 20
    for other in results[1:]:
        np.testing.assert_allclose(other[kept], results[0][kept], rtol=1e-9)


@pytest.mark.parametrize("law", LAWS)
def test_friction_restitution_and_law_are_found(law, tmp_path):
    v, arm, J, inverse, u, G = impacts(150)
    after = v + np.einsum("nji,nj->ni", J, rebound(law, u, G, 0.25, 0.6)) * inverse
    random = np.random.default_rng(2)
    after = after + random.standard_normal(after.shape) * [0.01, 0.01, 0.2]
    columns = np.column_stack([v, after, arm])
    pd.DataFrame(columns, columns=SETUP.columns).to_csv(tmp_path / "pairs.csv", index=False)
    found = identify_logs([tmp_path / "pairs.csv"], SETUP)
    for name, true in (("mu", 0.25), ("restitution", 0.6)):
        p = found.parameters[name]
        assert abs(p.value - true) < 3.5 * p.std
        assert p.std < 0.02
    assert found.laws.best == law or "cannot tell it" in found.laws.sentence


def test_a_mirrored_axis_is_named(tmp_path):
    v, arm, J, inverse, u, G = impacts(100)
    after = v + np.einsum("nji,nj->ni", J, rebound("poisson", u, G, 0.25, 0.6)) * inverse
    columns = np.column_stack([v * [-1, 1, 1], after * [-1, 1, 1], arm])
    pd.DataFrame(columns, columns=SETUP.columns).to_csv(tmp_path / "pairs.csv", index=False)
    found = identify_logs([tmp_path / "pairs.csv"], SETUP)
    assert any("mirrored" in w or "one impulse" in w for w in found.warnings)
