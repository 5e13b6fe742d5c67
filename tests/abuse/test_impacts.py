"""Impacts of every law on every mechanism: 1 in 10 of the cases here, all with --thorough.

Newton's restitution with friction may add energy [Kane1984]: those laws are named in LAWS_THAT_MAY,
and bounded by e* = 1 when asked. Everything else holds of every impact to rounding.
"""

import numpy as np
import pytest

from stiction import Hybrid, simulate

from .impacts import LAWS, MODELS, POSES, impacts, mechanism_of

ROUNDING = 1e-12
LAWS_THAT_MAY = ("dissipation", "newton", "lcp", "lcp-pyramid", "lcp-cone", "no-slip")
# Flat friction: the square and the pyramid stand for the cone, and reach beyond it by their shape.
OUTSIDE = {"lcp": np.sqrt(2) - 1, "lcp-poisson": np.sqrt(2) - 1, "no-slip": np.inf}


def assert_sound(found, law, *, bounded):
    assert found.tried + found.failed > 0
    assert found.lost == 0
    if bounded:
        assert found.gained.max() <= ROUNDING
    assert found.pulled.max() <= ROUNDING
    assert found.inwards.max() <= 1e-11
    largest_mu = 1.5
    assert found.outside.max() <= OUTSIDE.get(law, 0.0) * largest_mu + ROUNDING


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("law", LAWS)
def test_no_impact_breaks_a_promise_of_its_law(law, model, rng, cases):
    found = impacts(model, law, rng, cases(3_000))
    assert_sound(found, law, bounded=law not in LAWS_THAT_MAY)
    assert found.failed == 0


@pytest.mark.parametrize("law", LAWS_THAT_MAY)
def test_where_a_law_may_add_energy_a_bound_keeps_it(law, rng, cases):
    found = impacts("box", law, rng, cases(5_000), energetic=1.0, energy_method="scale")
    assert found.gained.max() <= ROUNDING


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("law", LAWS)
def test_degenerate_contacts_keep_the_promises_too(law, model, rng, cases):
    """Redundant, parallel, nearly so, simultaneous, on an edge."""
    for pose in POSES[1:]:
        found = impacts(model, law, rng, cases(300), pose=pose)
        # Beside a contact that is a rounding away from touching, a cone may be as far off as that.
        slack = 1e-6 if pose == "nearly flat" else 0.0
        found.outside = found.outside - slack
        assert_sound(found, law, bounded=law not in LAWS_THAT_MAY)
        assert found.failed == 0


def test_square_friction_with_poissons_law_adds_no_energy():
    """Four corners that touch all but together: pivots lose digits, and Lemke's method its way."""
    rng = np.random.default_rng(1)
    found = impacts("box with an arm", "lcp-poisson", rng, 500, pose="nearly flat")
    assert found.gained.max() <= ROUNDING


def test_flat_contacts_that_do_not_slip_come_to_an_end():
    """Some are without friction, and come to rest all the same."""
    found = impacts("box", "no-slip", np.random.default_rng(1), 500, pose="flat")
    assert found.failed == 0


def test_contacts_that_do_not_slip_do_not_pull():
    """Where the only contact would have to be pulled to stick, it cannot."""
    found = impacts("heavy on light", "no-slip", np.random.default_rng(0), 500)
    assert found.pulled.max() <= ROUNDING


# A light foot under a heavy trunk that slides on it: to stick it would have to be pulled.
ASTRIDE = (
    [0, 0, 1.184752332294007, 0.7986595294205329, -0.01347612835550668, 0.04370903446479131,
     0.6000423904496036, -0.8395202805282855],
    [-0.02480155133639314, -0.026293962778568044, -0.21019346642314757, 0.009599145709976425,
     0.040258091391561134, 0.017742449428517965, -0.0004836236361761739],
)  # fmt: skip


@pytest.mark.parametrize(("law", "mu"), [("no-slip", 0.36), ("lcp-cone", 30.0)])
def test_a_light_foot_astride_is_thrown_off(law, mu):
    mechanism, contacts, _ = mechanism_of("heavy on light")
    q, v = (np.array(x) for x in ASTRIDE)
    given = Hybrid(restitution=0.9188, mu_static=mu, mu_dynamic=mu, rest_speed=0.0, impact=law)
    run = simulate(mechanism, q, v, until=1e-9, contacts=contacts, law=given, samples=2)
    log = run.to_numpy().log
    assert run.success
    assert log.impulse[0, -1, -1] > 0
    assert log.velocity_after[0, -1, -1] >= -1e-11


def test_an_impact_that_is_not_solved_ends_the_run():
    """It left all as it was, and struck again without end."""
    mechanism, contacts, _ = mechanism_of("heavy on light")
    q, v = (np.array(x) for x in ASTRIDE)
    law = Hybrid(
        restitution=0.9188, mu_static=1e3, mu_dynamic=1e3, rest_speed=0.0, impact="lcp-cone"
    )
    run = simulate(mechanism, q, v, until=1e-9, contacts=contacts, law=law, samples=2, throw=False)
    if run.success:
        assert run.to_numpy().log.velocity_after[0, -1, -1] >= -1e-11
    else:
        assert "another impact law" in run.message
