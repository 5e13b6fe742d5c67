"""rodic 2.1: what is stepped on may be a body of its own (a trolley, a seesaw, a boat).

Worlds of MuJoCo let any two bodies touch: approach, impact, contact and slip on bodies that give
way, each against its closed form.
"""

import numpy as np
import pytest

from stiction.mujoco import RigidLaw
from worlds.drive import G, drive

FOOT = '<geom type="box" size=".1 .1 .05" mass="{}"/>'


def test_a_block_slides_on_a_trolley_until_both_go_alike():
    """Friction takes from the block what it gives to the trolley."""
    m, M, mu, speed = 2.0, 3.0, 0.3, 1.5
    trolley = '<body pos="0 0 .1"><joint type="slide" axis="1 0 0"/>'
    trolley += f'<geom type="box" size="2 .5 .1" mass="{M}"/></body>'
    block = f'<body pos="0 0 .25"><freejoint/>{FOOT.format(m)}</body>'
    together = m * speed / (m + M)
    when = (speed - together) / (mu * G)
    way = speed * when - 0.5 * mu * G * when**2 - 0.5 * together * when
    run = drive(trolley + block, until=1.0, v=[0, speed, *5 * [0]], law=RigidLaw(mu_static=mu))
    np.testing.assert_allclose(run.events()[-1, 0], when, rtol=1e-7)
    np.testing.assert_allclose(run.v[:2], together, rtol=1e-8)
    np.testing.assert_allclose(run.q[1] - run.q[0], way, rtol=1e-7)
    assert abs(run.ledger_error()) < 1e-8


def test_who_jumps_on_a_seesaw_lifts_the_other():
    """Both riders stay on the plank of thickness 2 h: ω = m w L / (I + (m + n) (L² + h²))."""
    m, n, L, h, drop = 3.0, 0.5, 1.0, 0.02, 0.3
    plank = '<body pos="0 0 1"><joint type="hinge" axis="0 1 0"/>'
    plank += f'<geom type="box" size="1.2 .1 {h}" mass="4"/></body>'
    rider = '<body pos="{x} 0 {z}">{joints}<geom type="sphere" size=".05" mass="{m}"/></body>'
    upright = '<joint type="slide" axis="0 0 1"/><joint type="slide" axis="1 0 0"/>'
    bodies = plank + rider.format(x=-L, z=1.07 + drop, joints=upright, m=m)
    bodies += rider.format(x=L, z=1.07, joints=upright, m=n)
    bodies += f'<geom type="sphere" size=".05" pos="{L} 0 .93"/>'  # keeps it level until then
    fall = np.sqrt(2 * drop / G)
    run = drive(bodies, until=fall + 1e-10, law=RigidLaw(restitution=0.0, mu_static=0.3))
    I = 4 * (2.4**2 + (2 * h) ** 2) / 12
    omega = m * G * fall * L / (I + (m + n) * (L**2 + h**2))
    expected = [-omega, -omega * L, -omega * h, omega * L, -omega * h]
    np.testing.assert_allclose(run.v, expected, rtol=1e-7)


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_who_jumps_into_a_boat_sets_it_adrift_and_rocking(restitution):
    """A boat that drifts freely and heaves on the water as on a spring k = ρ g A."""
    m, M, k = 70.0, 140.0, 2000.0
    ahead, drop = 1.2, 0.2
    boat = f'<body pos="0 0 {-M * G / k}"><joint type="slide" axis="1 0 0"/>'
    boat += f'<joint type="slide" axis="0 0 1" stiffness="{k}" springref="{M * G / k}"/>'
    boat += f'<geom type="box" size="2 .6 .1" mass="{M}"/></body>'
    # A man who keeps upright: he only travels.
    man = f'<body pos="0 0 {0.15 + drop - M * G / k}">'
    man += '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>'
    man += f"{FOOT.format(m)}</body>"
    fall = np.sqrt(2 * drop / G)
    law = RigidLaw(restitution=restitution, mu_static=2.0)
    until = fall + (0.6 if restitution == 0 else 1e-9)
    run = drive(boat + man, until=until, v=[0, 0, ahead, 0], law=law)
    w = G * fall
    np.testing.assert_allclose(run.v[0], m * ahead / (m + M), rtol=1e-8)  # momentum along
    np.testing.assert_allclose(run.v[0], run.v[2], rtol=1e-8)  # he stands still on it
    sink = -(1 + restitution) * m * w / (m + M)  # of the boat, at the impact
    if restitution:
        np.testing.assert_allclose(run.v[1], sink, rtol=1e-7)
        np.testing.assert_allclose(run.v[3] - run.v[1], restitution * w, rtol=1e-7)
        return
    W, rest = np.sqrt(k / (m + M)), -m * G / k
    heave = rest - rest * np.cos(W * 0.6) + sink / W * np.sin(W * 0.6)
    np.testing.assert_allclose(run.q[1], heave, atol=1e-8)
    np.testing.assert_allclose(run.q[3] + drop, run.q[1], atol=1e-9)
    assert abs(run.ledger_error()) < 1e-6
