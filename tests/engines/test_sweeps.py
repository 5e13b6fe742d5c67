"""Cone problems by sweeps, as GPUs and single precision have them, against Newton's method."""

import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import stiction
from stiction.engines.by_core import set_up, start_at
from stiction.engines.given import Extent, Given
from stiction.engines.simulation import _nothing

# Two feet with four balls each: links stand for their contacts. A ball alone has three rows, fewer
# than its link: rows are taken one by one.
FEET = """<mujoco><worldbody><geom type="plane" size="2 2 0.1"/>
  <body pos="0 0 0.6"><freejoint/><geom type="box" size="0.2 0.1 0.1" mass="3"/>
    {legs}
  </body></worldbody></mujoco>"""
LEG = """<body pos="0 {y} -0.1"><joint type="slide" axis="0 0 1" stiffness="3000" damping="100"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.03" mass="1" contype="0"
        conaffinity="0"/>
      {balls}</body>"""
BALL = '<geom type="sphere" pos="{x} {y} -0.46" size="0.02" mass="0.1"/>'


def walker(ends):
    """A trunk on two legs that end in balls at these places."""
    balls = "".join(BALL.format(x=x, y=y) for x, y in ends)
    return FEET.format(legs="".join(LEG.format(y=y, balls=balls) for y in (-0.15, 0.15)))


def slid(model, sweeps):
    """The walker on the floor at 0.5 m/s, in steps of a millisecond; links taken at the tenth."""
    mechanism = stiction.load(model)
    contacts = stiction.find_contacts(mechanism)
    assert contacts is not None
    law = stiction.Stepping(restitution=0.0, mu_static=0.4, mu_dynamic=0.4, dt=1e-3)
    law, _ = law.spread(contacts, (1,), np.float64)
    q = np.concatenate([[0, 0, 0.58], [1, 0, 0, 0], np.zeros(mechanism.nq - 7)])
    v = np.concatenate([[0.5, 0.2, 0, 0, 0, 0], np.zeros(mechanism.nv - 6)])
    given = Given(
        mechanism, contacts, _nothing(mechanism.nu, jnp.dtype(float)), stiction.Solver(),
        jnp.asarray(q[None]), jnp.asarray(v[None]), jnp.full(1, 0.15), law,
    )  # fmt: skip
    run, kernel = set_up(given, Extent(151, False, 200))
    run.options.sweeps = sweeps
    start_at(run, given)
    m = run.design.machine
    run.go(kernel, 10)
    links = int(run.wholes(m.c.n_links)[0, 0])
    run.go(kernel)
    return run.samples.numpy()[0][:, : m.tree.nq + m.tree.nv], links


@pytest.mark.parametrize(
    ("ends", "links"),
    [([(-0.1, -0.04), (-0.1, 0.04), (0.1, -0.04), (0.1, 0.04)], 2), ([(0, 0)], 0)],
)
def test_sweeps_lead_where_newtons_method_leads(ends, links):
    model = walker(ends)
    exact, none = slid(model, 0)
    swept, taken = slid(model, 300)
    assert (none, taken) == (0, links)
    assert exact[-1, 0] > 0.03  # it has slid
    assert_allclose(swept, exact, atol=1e-8)
