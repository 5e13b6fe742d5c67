"""Oblique impact of a sphere against its closed forms, and tables made by it."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stiction.identify.fields import Units
from stiction.identify.kinds.impacts import (
    ImpactSetup,
    identify,
    predict,
    tangential_impulse,
)
from stiction.tables import Table

impulse = jax.jit(tangential_impulse)
SCALE = jnp.asarray(3.9 / 2.5e-3)


@pytest.mark.parametrize("restitution", [0.6, 0.9, 1.0])
def test_a_steep_impact_slides_throughout(restitution):
    """J = μ (1 + e): Coulomb on the whole normal impulse."""
    J = float(impulse(5.0, 0.1, restitution, 0.8))
    assert pytest.approx(0.1 * (1 + restitution), rel=3e-3) == J  # the step is 1/650 of a contact


def test_a_sticking_impact_takes_at_most_what_reverses_the_contact_point():
    """With much friction the spring stops the contact point, J = 2/7 tan θ, or throws it back,
    J = 4/7 tan θ at most: the tangential mass at the contact is 2/7 of the sphere's."""
    J = np.array([float(impulse(0.1, 5.0, 1.0, k)) for k in np.linspace(0.1, 3.0, 30)])
    most = 4 / 7 * 0.1
    assert np.all((-0.05 * most < J) & (1.02 * most > J))
    assert np.max(J) > 0.95 * most


def test_no_friction_no_impulse():
    assert float(impulse(1.0, 0.0, 0.9, 0.8)) == 0.0


def test_tables_made_by_the_model_give_it_back():
    truth = jnp.array([0.12, 0.93, 0.7])
    angles = jnp.linspace(3.0, 65.0, 12)
    tables, fields = {}, {}
    for name, values in predict(angles, truth, SCALE).items():
        columns = {"angle": np.asarray(angles), "value": np.asarray(values)}
        tables[name] = Table(Path(name), columns, Units())
        fields[name] = {"file": name, "angle": "angle", "value": "value", "noise": 0.01}
    setup = ImpactSetup(kind="impacts", speed=3.9, diameter=0.005, **fields)
    found = identify(tables, setup)
    values = [p.value for p in found.parameters.values()]
    np.testing.assert_allclose(values, truth, rtol=1e-4)
