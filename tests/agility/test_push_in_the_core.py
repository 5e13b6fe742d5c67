"""The push of a jump inside the engine is the control's own, asked from outside."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import stiction
from stiction.agility import JumpControl, jump_control, place
from stiction.engines.by_core import _own_commands
from stiction.engines.given import Given


class _Asked(JumpControl):
    """The same control, which the engine has to ask."""

    def push_off(self):
        return None


POSTURES = {
    "jumping_leg": (None, [-1.0, 0.0, 1.0], 0.008),
    "planar_leg": ([0, 0, 0.1, -0.5, 0.9], [0.2, 0.0, 1.0], 0.3),
}


@pytest.mark.parametrize("leg", POSTURES)
def test_both_ways_go_through_the_same_phases_and_states(leg, request):
    """The leg in space through lift-off, an impact and both switches; the plane has two rows."""
    stance = request.getfixturevalue(leg)
    q, direction, until = POSTURES[leg]
    q = stiction.scene("jumping-leg").q if q is None else q
    q, _ = place(stance, jnp.asarray(q, float))
    control = jump_control(stance, q, direction, distance=5.0)
    asked = _Asked(*(getattr(control, f.name) for f in dataclasses.fields(control)))
    law = stiction.Hybrid(mu_static=0.5, mu_dynamic=0.25)
    runs = [
        stiction.simulate(
            stance.mechanism, q, jnp.zeros(stance.mechanism.nv), until=until, law=law, samples=21,
            contacts=stance.contacts, control=c, solver=stiction.Solver(rtol=1e-10, atol=1e-11),
        )
        for c in (control, asked)
    ]  # fmt: skip
    one, two = (r.events() for r in runs)
    assert [e.kind for e in one] == [e.kind for e in two]
    assert sum(e.kind == "switch" for e in one) == 2
    np.testing.assert_allclose([e.time for e in one], [e.time for e in two], atol=1e-9)
    scale = np.abs(runs[1].v).max()
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-8)
    np.testing.assert_allclose(runs[0].v, runs[1].v, atol=1e-7 * scale)
    np.testing.assert_allclose(runs[0].effort, runs[1].effort, atol=1e-6)
    assert np.abs(runs[0].effort[0]).max() > 1


def test_feet_that_the_run_does_not_have_are_asked_from_outside(jumping_leg):
    leg = jumping_leg.mechanism
    control = jump_control(jumping_leg, leg.q_reference, [0, 0, 1])
    others = stiction.find_contacts(leg, points=["body"])

    def known(contacts):
        return _own_commands(
            Given(leg, contacts, control, None, None, None, None, stiction.Hybrid())
        )

    assert known(others) is None
    assert known(stiction.find_contacts(leg, points=["body", "foot"])) is not None
