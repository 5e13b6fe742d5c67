"""Where the energy went: what each impact took, and that nothing is missing."""

import itertools

import numpy as np
import pytest

import stiction
from stiction.report.run_charts import contact_chart, touched
from stiction.report.waterfall import energy_steps, waterfall


@pytest.fixture(scope="module")
def ball():
    return stiction.scene("bouncing-ball", until=3.0).run()


def test_an_impact_takes_its_share_of_the_height(ball):
    """Of m g h, each bounce leaves e²."""
    steps = energy_steps(ball)
    e = ball.scene.scenario.contact.restitution
    q0 = np.asarray(ball.q[0])
    weight = 9.81 * float(np.sum(ball.mechanism.compiled.model.body_mass))
    fallen = weight * (q0[2] - 0.05)  # its radius
    for i in range(3):
        assert steps[1 + i].change == pytest.approx(-fallen * e ** (2 * i) * (1 - e**2), rel=1e-6)
    assert [s.time for s in steps[1:4]] == sorted(s.time for s in steps[1:4])


@pytest.mark.parametrize("scene", ["bouncing-ball", "mass-spring-friction", "double-pendulum"])
def test_steps_lead_from_the_first_energy_to_the_last(scene):
    run = stiction.scene(scene).run(until=2.0)
    steps = energy_steps(run)
    whole = sum(abs(s.change) for s in steps)
    assert sum(s.change for s in steps[:-1]) == pytest.approx(steps[-1].change, abs=1e-5 * whole)
    bars = [row[" "] for row in waterfall(steps)]
    for one, other in itertools.pairwise(bars[1:-1]):
        assert other.start == pytest.approx(one.end)
    assert all(0 <= x <= 1 for bar in bars for x in bar[:2])


def test_charts_show_the_contacts_that_touch():
    """Of the box, until its second impact, one corner."""
    run = stiction.scene("box", until=0.724).run()
    assert [run.contact_names[i] for i in touched(run)] == [e.contact for e in run.events()[:1]]
    (row,) = contact_chart(run).panels[-1].rows.values()
    starts, ends, states = row
    hit = starts[starts == ends]
    assert hit == pytest.approx([e.time for e in run.events() if e.kind == "impact"])
    assert set(states[starts == ends]) == {9}
