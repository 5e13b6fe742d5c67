"""A run on a treadmill whose forces are known: flight, and heels that strike against the belt."""

from dataclasses import dataclass

import mujoco
import numpy as np
import pytest
from helpers_biped import person, recording

from stiction.biped import analyze, ground_reactions, human
from stiction.biped.walk.body import _Legs, sole_of
from stiction.biped.walk.footsteps import FootMotion, smooth, turned

RATE, SPEED, STEP, CONTACT, STEPS = 200.0, 3.0, 0.36, 0.24, 5  # Hz, m/s, s, s
AGAINST = np.array([1.5, 0.0, -0.6])  # how a sole moves against the belt when it strikes [m/s]
HEIGHT, MASS = 1.80, 72.6
TIME = np.arange(0, STEPS * STEP, 1 / RATE)


@dataclass(frozen=True)
class Run:
    """Coordinates, and the vertical force of each foot (left, right), of body weight."""

    table: object
    force: np.ndarray


def on_belt(u, y, sole):
    """Ankle and pitch at a part u of a stance: the heel first, then flat, then over the ball."""
    pitch = -0.25 * (1 - smooth(u / 0.25)) + 0.9 * smooth((u - 0.55) / 0.6)
    up = np.where(pitch > 0, sole.hinge, 0.0)
    x = np.where(pitch > 0, sole.ball, sole.heel)
    pivot = np.stack([0.29 - SPEED * CONTACT * u + x, np.full_like(u, y), up], axis=-1)
    return pivot - turned(pitch, x, up - sole.height), pitch


def foot_of(side, sole) -> FootMotion:
    y, n, eps = (0.05, -0.05)[side], len(TIME), 1e-4
    s = (TIME - side * STEP) % (2 * STEP)
    stands, swing = s <= CONTACT, 2 * STEP - CONTACT
    ankle, pitch = np.zeros((n, 3)), np.zeros(n)
    ankle[stands], pitch[stands] = on_belt(s[stands] / CONTACT, y, sole)
    w = (s[~stands] - CONTACT) / swing
    (a, turn_a), (b, turn_b) = (
        on_belt(np.array(u), y, sole) for u in ((1 - eps / CONTACT, 1.0), (0.0, eps / CONTACT))
    )

    def between(p0, p1, m0, m1):
        ends = (1 + 2 * w) * (1 - w) ** 2 * p0 + w**2 * (3 - 2 * w) * p1
        return ends + swing * (w * (1 - w) ** 2 * m0 + w**2 * (w - 1) * m1)

    rates = (a[1] - a[0]) / eps, (b[1] - b[0]) / eps + AGAINST
    for k in range(3):
        ankle[~stands, k] = between(a[1, k], b[0, k], rates[0][k], rates[1][k])
    ankle[~stands, 2] += 0.22 * 16 * w**2 * (1 - w) ** 2
    pitch[~stands] = between(turn_a[1], turn_b[0], (turn_a[1] - turn_a[0]) / eps, 0.0)
    toes = np.clip(pitch, 0, 0.5)
    return FootMotion(ankle, pitch, toes, stands, np.zeros(n, int), np.zeros(n))


@pytest.fixture(scope="module")
def run():
    """The centre of mass goes up and down as half-sines of force and free fall say."""
    text = human(HEIGHT, MASS, sole="hinged")
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    feet = [foot_of(side, sole_of(model)) for side in (0, 1)]

    def push(t):
        peak = 0.5 * np.pi * STEP / CONTACT  # as much as the weight on the average
        return np.where(t < CONTACT, peak * np.sin(np.pi * t / CONTACT), 0.0)

    fine = np.arange(0, STEP, 1e-5)
    rate = np.cumsum(9.81 * (push(fine) - 1)) * 1e-5
    rise = np.cumsum(rate - rate.mean()) * 1e-5
    wanted = np.interp(TIME % STEP, fine, rise - rise.mean())
    legs = _Legs(model, feet, np.zeros((len(TIME), 3)), np.tile([0.1, 0, 0], (len(TIME), 1)))
    pelvis = np.stack([0 * TIME, 0 * TIME, 0.865 + wanted], axis=1)
    q = np.zeros((len(TIME), model.nq))
    for _ in range(6):
        q, center = legs.solve(pelvis), np.zeros((len(TIME), 3))
        for i, row in enumerate(q):
            data.qpos[:] = row
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            center[i] = data.subtree_com[0]
        off = center - np.stack([0 * TIME, 0 * TIME, wanted], axis=1)
        pelvis -= off - off.mean(axis=0)
    force = np.stack([np.where(f.stands, push(TIME % STEP), 0.0) for f in feet], axis=1)
    subject = person(HEIGHT, MASS, "hinged")
    names = [c.name for c in subject.coordinates]
    return Run(recording(subject, TIME, dict(zip(names, q.T, strict=True))), force)


def test_what_the_body_needs_is_borne_and_flight_is_free_fall(run):
    subject = person(HEIGHT, MASS, "hinged")
    reactions = ground_reactions(run.table, subject)
    np.testing.assert_allclose(reactions.touch.support_velocity, [-SPEED, 0, 0], atol=0.05)
    assert reactions.motion.cutoff == np.inf  # nothing to be smoothed away
    inner = slice(20, -20)
    feet = reactions.shares.foot_force[inner, :, 2] / subject.weight
    order = [("left", "right").index(f) for f in reactions.feet]
    known = run.force[inner][:, order]
    # Each foot to 1 % of body weight: 0.8 were reached, between samples of a force with corners.
    assert np.sqrt(np.mean((feet - known) ** 2, axis=0)).max() < 0.01
    # Nobody's load: at most what counts as free fall.
    total = reactions.force[inner, 2] / subject.weight
    assert np.abs(feet.sum(axis=1) - total).max() < 0.06
    assert np.abs(feet.sum(axis=1) - total)[total > 0.1].max() < 1e-6


def test_a_run_in_numbers(run):
    subject = person(HEIGHT, MASS, "hinged")
    rows = analyze(ground_reactions(run.table, subject)).stance_rows
    assert [r["foot"] for r in rows[:4]] == ["left", "right", "left", "right"]
    peak = 0.5 * np.pi * STEP / CONTACT
    for row in rows[1:-1]:
        assert row["contact time [s]"] == pytest.approx(CONTACT, abs=0.01)
        assert row["flight after [s]"] == pytest.approx(STEP - CONTACT, abs=0.01)
        assert row["active peak [BW]"] == pytest.approx(peak, rel=0.01)
        # Of a half-sine F sin(π t / T): the mass falls by F (T/π)² / m - g T² / 8 at its middle.
        fall = 9.81 * (peak * (CONTACT / np.pi) ** 2 - CONTACT**2 / 8)
        stiffness = peak * subject.weight / fall / 1e3
        assert row["vertical stiffness [kN/m]"] == pytest.approx(stiffness, rel=0.05)


def test_noise_is_cut_near_the_optimum(run):
    """White noise of 0.2 mm and 0.02° at 200 Hz, and what a cut-off that knows the truth does."""
    subject, rng = person(HEIGHT, MASS, "hinged"), np.random.default_rng(5)
    noisy = {}
    for name in (c.name for c in subject.coordinates):
        size = 2e-4 if name.endswith((".x", ".y", ".z")) else 3.5e-4
        size = 0.0 if ".q" in name else size
        noisy[name] = run.table.column(name) + size * rng.normal(size=len(TIME))
    table, inner = recording(subject, TIME, noisy), slice(20, -20)

    def error(cutoff=None):
        force = ground_reactions(table, subject, cutoff=cutoff).force[inner, 2] / subject.weight
        return np.sqrt(np.mean((force - run.force[inner].sum(axis=1)) ** 2))

    # 6.6 % of body weight against 6.3 % at 12 Hz were reached.
    assert error() < 1.1 * min(error(cutoff) for cutoff in (8.0, 10.0, 12.0, 14.0))
