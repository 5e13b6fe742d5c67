"""Runs whose plain passes are made by a program of their own, as on a GPU: here on a processor."""

import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_array_equal

import stiction
from stiction.engines.by_core import set_up, start_at
from stiction.engines.given import Extent, Given
from stiction.engines.simulation import _nothing

START = [0, 0, 0.05 + 1e-3, 1, 0, 0, 0], [1.0, 0.3, 0, 0, 0, 0.5]
SLIDES = {"start": {"q": START[0], "v": START[1]}, "contact": {"restitution": 0.0}}


def batch(built, until, lanes=6):
    """A scene from a few starts."""
    rng = np.random.default_rng(1)
    q = np.tile(np.asarray(built.q, float), (lanes, 1))
    v = np.asarray(built.v, float) * rng.uniform(0.5, 1, (lanes, 1))
    if not v.any():
        v = rng.normal(0, 0.3, v.shape)
    law, _ = built.law.spread(built.contacts, (lanes,), np.float64)
    control = _nothing(built.mechanism.nu, np.dtype(float))
    q, v, until = jnp.asarray(q), jnp.asarray(v), jnp.full(lanes, until)
    return Given(built.mechanism, built.contacts, control, built.solver, q, v, until, law)


def carried_out(given, *, turns):
    run, kernel = set_up(given, Extent(5, True, 200))
    if turns:
        run.take_turns()
        assert run.plain is not None
    start_at(run, given)
    run.go(kernel)
    z = run.design.machine.z
    counts = [run.wholes(at)[:, 0] for at in (z.status, z.steps, z.events)]
    return run.samples.numpy(), run.log.numpy(), *counts


@pytest.mark.parametrize(
    ("scene", "changes", "until"),
    [
        ("double-pendulum", {}, 2.0),
        ("box", SLIDES, 0.5),  # on four corners, whose forces are shared: it slides, then rests
    ],
)
def test_who_makes_a_pass_changes_nothing(scene, changes, until):
    given = batch(stiction.scene(scene, changes), until)
    alone, turns = (carried_out(given, turns=turns) for turns in (False, True))
    assert alone[4].min() > 1  # events
    for x, y in zip(alone, turns, strict=True):
        assert_array_equal(x, y)


def test_worlds_end_at_their_own_times():
    given = batch(stiction.scene("double-pendulum"), 1.0)
    given = given._replace(until=jnp.linspace(0.2, 1.0, 6))
    alone, turns = (carried_out(given, turns=turns) for turns in (False, True))
    assert (turns[2] == 1).all()
    assert_array_equal(alone[3], turns[3])
    assert len(set(turns[3])) > 2  # steps
