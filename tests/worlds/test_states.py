"""Impacts and possible motions at a state of a world: against closed forms, and the engine."""

import numpy as np
import pytest

import stiction
from stiction.motions import Verdict
from stiction.scenes import Scene, find_impact, motions_at, resolve_by_all
from stiction.surfaces import world_contacts

G = 9.81
# A block that weighs 1 kg on a floor, and one of 3 kg that slides twice as far. It needs no floor.
COUPLED = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1"/>
    <geom name="wall" type="box" size=".1 1 1" pos="1.3 0 1"/>
    <body pos="0 0 .1">
      <joint name="x" type="slide" axis="1 0 0"/>
      <joint name="z" type="slide" axis="0 0 1"/>
      <geom name="block" type="box" size=".1 .1 .1" mass="1"/>
    </body>
    <body pos="0 3 1">
      <joint name="far" type="slide" axis="1 0 0"/>
      <geom type="box" size=".1 .1 .1" mass="3" contype="0" conaffinity="0"/>
    </body>
  </worldbody>
  <equality><joint joint1="far" joint2="x" polycoef="0 2 0 0 0"/></equality>
  <actuator><motor name="push" joint="far"/></actuator>
</mujoco>"""
INERTIA = 1 + 2**2 * 3  # of both along x


def rows(impact):
    return {row["law"]: row for row in resolve_by_all(impact)}


@pytest.mark.parametrize("law", ["newton", "poisson", "stronge", "dissipation", "lcp (cone)"])
def test_an_impact_moves_all_that_is_coupled(law):
    """Against a wall at 2 m/s, without a floor: the impulse is (1 + e) 13 kg 2 m/s."""
    e = 0.4
    start = {"q": {"x": 1.1, "far": 2.2}, "v": {"x": 2.0, "far": 4.0}}
    contact = {"restitution": e, "mu_static": 0.0, "mu_dynamic": 0.0}
    text = COUPLED.replace('<geom name="floor" type="plane" size="5 5 .1"/>', "")
    scene = stiction.scene(text, start=start, contact=contact)
    found = find_impact(scene, at_start=True)
    row = next(r for name, r in rows(found).items() if name.startswith(law))
    total = sum(c["impulse"][-1] for c in row["contacts"])
    np.testing.assert_allclose(found.problem.kinetic, INERTIA * 2.0**2 / 2)
    np.testing.assert_allclose(total, (1 + e) * INERTIA * 2.0, rtol=1e-9)
    np.testing.assert_allclose(row["kinetic_after"], e**2 * INERTIA * 2.0**2 / 2, rtol=1e-9)


def test_a_limit_takes_part_in_an_impact():
    """A bar of 1 m and 1 kg that runs against its limit at 3 rad/s: (1 + e) I ω."""
    text = """
    <mujoco><compiler angle="radian"/><worldbody><body>
      <joint name="hinge" type="hinge" axis="0 1 0" range="-1 1"/>
      <geom type="box" size=".5 .01 .01" pos=".5 0 0" mass="1"/>
    </body></worldbody></mujoco>"""
    start = {"q": [1.0], "v": [3.0]}
    scene = stiction.scene(text, start=start, contact={"restitution": 0.5})
    found = find_impact(scene, at_start=True)
    inertia = 2 * float(found.problem.kinetic) / 3.0**2
    assert found.names == ("hinge at its upper limit",)
    row = rows(found)["newton"]
    np.testing.assert_allclose(row["contacts"][0]["impulse"][-1], 1.5 * inertia * 3.0, rtol=1e-9)
    np.testing.assert_allclose(row["contacts"][0]["velocity_after"][-1], 1.5, rtol=1e-9)


def test_both_ways_to_an_impact_agree():
    """Contacts that are known beforehand by JAX, the same in a world by the core: every law."""
    own = stiction.scene("double-pendulum")
    other = Scene(own.scenario, own.folder)
    points = world_contacts(own.mechanism, points=own.contacts, touches="nothing")
    vars(other).update(mechanism=own.mechanism, contacts=points)
    one, two = (find_impact(scene, at_start=False) for scene in (own, other))
    np.testing.assert_allclose(two.time, one.time, atol=1e-7)
    np.testing.assert_allclose(two.problem.W, one.problem.W, atol=1e-6)
    for ours, theirs in zip(resolve_by_all(one), resolve_by_all(two), strict=True):
        assert ours["law"] == theirs["law"]
        np.testing.assert_allclose(theirs["kinetic_after"], ours["kinetic_after"], rtol=1e-5)
        for a, b in zip(ours["contacts"], theirs["contacts"], strict=True):
            np.testing.assert_allclose(b["impulse"], a["impulse"], atol=1e-5)
            np.testing.assert_allclose(b["velocity_after"], a["velocity_after"], atol=1e-5)


@pytest.mark.parametrize(("part", "moves"), [(0.99, False), (1.01, True)])
def test_what_is_coupled_slides_when_friction_is_used_up(part, moves):
    """A push F on the far block is 2 F on the near one: it slides iff 2 F > μ m g."""
    mu = 0.5
    push = part * mu * G / 2
    scene = stiction.scene(
        COUPLED,
        contact={"mu_static": mu, "mu_dynamic": mu},
        control={"push": {"offset": push}},
    )
    found = motions_at(scene, 0.0)
    assert found.answer.verdict == Verdict.UNIQUE
    (motion,) = found.answer.motions
    along = (2 * push - mu * G) / INERTIA if moves else 0.0
    np.testing.assert_allclose(motion.acceleration, [along, 0, 2 * along], atol=1e-9)
    np.testing.assert_allclose(motion.forces[:, 1].sum(), G, rtol=1e-9)


@pytest.mark.parametrize("push", [0.9, 1.5])
def test_dry_friction_is_one_of_the_forces(push):
    text = """
    <mujoco><worldbody><body>
      <joint name="x" type="slide" axis="1 0 0" frictionloss="1"/>
      <geom type="box" size=".1 .1 .1" mass="2"/>
    </body></worldbody><actuator><motor name="push" joint="x"/></actuator></mujoco>"""
    found = motions_at(stiction.scene(text, control={"push": {"offset": push}}), 0.0)
    (motion,) = found.answer.motions
    np.testing.assert_allclose(motion.acceleration, [max(push - 1.0, 0.0) / 2.0], atol=1e-9)


def test_the_peg_moves_as_its_possible_motions_say():
    """On its way into the hole the one motion that is possible is the run's."""
    scene = stiction.scene("peg-in-hole")
    run = scene.run(until=0.5, samples=501)
    assert run.success, run.message
    event_times = run.log.time[: int(run.n_events)]
    told = 0
    for t in (0.1, 0.2, 0.3, 0.4):
        if np.abs(event_times - t).min() < 1e-3:
            continue
        found = motions_at(scene, t)
        i = int(np.argmin(np.abs(run.time - t)))
        if found.answer.verdict == Verdict.UNIQUE:
            (motion,) = found.answer.motions
            np.testing.assert_allclose(motion.acceleration, run.acceleration[i], atol=1e-6)
            told += 1
    assert told >= 2
