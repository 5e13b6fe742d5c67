"""A control that looks at instants of its own, and holds its commands between them."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rocket import MASS, ROCKET, G

import stiction
from stiction import Compliant, Hybrid, InputError, Stepping, find_contacts, simulate
from stiction.laws import HuntCrossley

PERIOD = 0.05
SOFT = Compliant(HuntCrossley(stiffness=1e5, dissipation=0.3))


class Hover(eqx.Module):
    """A spring and a damper to the height 1, so stiff that holding them makes another motion."""

    stiffness: float = 120.0  # [N/m]
    damping: float = 20.0  # [N s/m]
    period: float = eqx.field(static=True, default=PERIOD)  # [s]

    def __call__(self, t, q, v, modes):
        del t, modes
        return MASS * G - self.stiffness * (q - 1.0) - self.damping * v


def sampled_motion(z, w, count):
    """Between two looks the acceleration is constant."""
    rows, hover = [(z, w)], Hover()
    for _ in range(count):
        a = (-hover.stiffness * (z - 1.0) - hover.damping * w) / MASS
        z, w = z + w * PERIOD + a * PERIOD**2 / 2, w + a * PERIOD
        rows.append((z, w))
    return np.array(rows)


@pytest.fixture(scope="module")
def rocket():
    mechanism = stiction.load(ROCKET)
    return mechanism, find_contacts(mechanism)


@pytest.mark.parametrize("law", [None, Hybrid(), SOFT])
def test_the_motion_is_that_of_sampled_data(rocket, law):
    mechanism, contacts = rocket
    run = simulate(
        mechanism, jnp.array([1.3]), jnp.zeros(1), until=20 * PERIOD, samples=21, law=law,
        contacts=None if law is None else contacts, control=Hover(),
    )  # fmt: skip
    found = np.stack([np.asarray(run.q)[:, 0], np.asarray(run.v)[:, 0]], axis=1)
    np.testing.assert_allclose(found, sampled_motion(1.3, 0.0, 20), atol=1e-9)
    assert np.abs(run.ledger_error).max() < 1e-9
    assert not run.events()  # to look is no event


def test_every_world_of_a_batch_is_told_its_own(rocket):
    mechanism, contacts = rocket
    starts, ends = np.array([1.3, 0.8, 1.0]), np.array([20, 7, 12]) * PERIOD
    run = simulate(
        mechanism, starts[:, None], np.zeros((3, 1)), until=jnp.asarray(ends), samples=2,
        law=Hybrid(), contacts=contacts, control=Hover(),
    )  # fmt: skip
    for z, end, q in zip(starts, ends, np.asarray(run.q)[:, -1, 0], strict=True):
        assert q == pytest.approx(sampled_motion(z, 0.0, round(end / PERIOD))[-1, 0], abs=1e-9)


def test_what_cannot_hold_says_so(rocket):
    mechanism, contacts = rocket

    def end(z, law):
        return simulate(
            mechanism, z, jnp.zeros(1), until=0.3, contacts=contacts, law=law, control=Hover()
        ).q[-1, 0]

    with pytest.raises(InputError, match=r"`track\.rate` is for hybrid and compliant laws"):
        end(jnp.ones(1), Stepping(dt=1e-3))
    with pytest.raises(InputError, match="no derivatives"):
        jax.grad(lambda z: end(z, Hybrid()))(jnp.ones(1))
