"""The scenes of the thesis (flickinger), and what they must show."""

import jax.numpy as jnp
import numpy as np
import pytest

import stiction
from stiction import Hybrid, Solver, find_contacts, simulate
from stiction.engines import rest_time

SOLVER = Solver(max_steps=4000)


@pytest.fixture(scope="module")
def pendulum():
    mechanism = stiction.load("double-pendulum")
    contacts = find_contacts(mechanism, points=["tip"])

    def run(q=(0.0, 0.0), until=10.0, impact="dissipation", **law):
        law["impact"] = impact
        trajectory = simulate(
            mechanism, jnp.array(q), jnp.zeros(2), until=until, contacts=contacts, solver=SOLVER,
            law=Hybrid(mu_static=0.74, mu_dynamic=0.57, stribeck_speed=1e-5, **law),
        )  # fmt: skip
        return trajectory, trajectory.events()

    return run


def impacts(events):
    return [e for e in events if e.kind == "impact"]


def energy(run):
    return np.asarray(run.kinetic + run.potential)


@pytest.mark.parametrize(
    ("q", "time", "velocity", "before", "after"),
    [
        ((0.0, 0.0), 0.515353, (-5.79523, -6.13513), 66.0307, 80.340),
        ((np.pi / 4, -3 * np.pi / 4), 0.508030, None, 73.1209, 79.4908),
    ],
)
def test_first_impact(pendulum, q, time, velocity, before, after):
    _, events = pendulum(q, until=1.0, restitution=1.0, impact="no-slip")
    first = impacts(events)[0]
    assert first.time == pytest.approx(time, abs=1e-5)
    assert first.kinetic_before == pytest.approx(before, rel=1e-5)
    assert first.kinetic_after == pytest.approx(after, rel=1e-5)
    if velocity:
        np.testing.assert_allclose(first.velocity_before, velocity, rtol=1e-5)


def test_the_tolerance_decides_how_exact_an_impact_is():
    mechanism = stiction.load("double-pendulum")
    contacts = find_contacts(mechanism, points=["tip"])
    times = []
    for tolerance in (1e-6, 1e-8, 1e-10, 1e-12):
        run = simulate(
            mechanism, jnp.zeros(2), jnp.zeros(2), until=0.6, contacts=contacts,
            law=Hybrid(restitution=1.0), solver=Solver(tolerance, tolerance, max_steps=4000),
        )  # fmt: skip
        times.append(float(run.log.time[0]))
    errors = np.abs(np.array(times[:-1]) - times[-1])
    assert errors[1] < 1e-8
    assert errors[2] < 1e-10


def test_elastic_without_control_gains_energy_and_goes_on(pendulum):
    """Sec. 3.4.1."""
    run, events = pendulum(restitution=1.0, impact="no-slip")
    assert max(e.kinetic_after - e.kinetic_before for e in impacts(events)) > 1.0
    assert energy(run).max() > energy(run)[0] + 1.0
    assert rest_time(run) is None


def test_elastic_with_control_never_gains(pendulum):
    """Sec. 5.2.1."""
    run, events = pendulum(restitution=1.0, energetic=1.0, energy_method="scale")
    assert max(e.kinetic_after - e.kinetic_before for e in impacts(events)) <= 1e-12
    assert np.diff(energy(run)).max() < 1e-5
    assert rest_time(run) is None


def test_half_of_the_energy_at_every_rebound_brings_it_to_rest(pendulum):
    """Sec. 5.2.2."""
    run, events = pendulum(restitution=1.0, energetic=0.5, energy_method="scale")
    assert rest_time(run) is not None
    fractions = [e.kinetic_after / e.kinetic_before for e in impacts(events)[:-1]]
    assert len(fractions) > 5
    assert max(fractions) <= 0.5 + 1e-12
    assert fractions[0] == pytest.approx(0.5)
    assert np.abs(run.ledger_error).max() <= 1e-6 * energy(run)[0]
    assert run.drift <= 1e-9


def test_little_restitution_soon_ends(pendulum):
    """Sec. 5.2.3: a few rebounds, slip, then stick."""
    run, events = pendulum(restitution=0.1, energetic=0.5, energy_method="scale")
    assert rest_time(run) is not None
    assert rest_time(run) < 3.0
    kinds = [e.kind for e in events]
    assert "stick" in kinds


def test_plastic_slides_sticks_and_rests(pendulum):
    """Sec. 3.6.1."""
    run, events = pendulum(restitution=0.0, energetic=0.5, energy_method="scale")
    assert rest_time(run) is not None
    after = [e for e in impacts(events)]
    assert all(abs(e.velocity_after[-1]) < 1e-12 for e in after)


@pytest.mark.parametrize("method", ["off", "scale", "constrain"])
def test_energy_control_of_the_bent_pendulum(pendulum, method):
    """Sec. 5.5: the first impact gains energy without control, never with."""
    bent = (np.pi / 4, -3 * np.pi / 4)
    _, events = pendulum(bent, until=5.0, restitution=1.0, energetic=1.0, energy_method=method)
    hits = impacts(events)
    gains = [e.kinetic_after - e.kinetic_before for e in hits]
    assert hits[0].time == pytest.approx(0.508030, abs=1e-5)
    if method == "off":
        assert gains[0] > 1.0
    else:
        assert max(gains) <= 1e-9


@pytest.fixture(scope="module")
def bicycle():
    from stiction.scenes import parse_settings, scene

    def run(*settings):
        done = scene("bicycle", parse_settings(list(settings))).run()
        return done, done.events()

    return run


ROUND = [f"mechanism.edits.geom.wheel_{w}.size=[0.5,0.02,0.5]" for w in "cd"]


def test_a_plastic_bicycle_rolls_after_one_hit(bicycle):
    """Sec. 5.3, e_n = 0: then it rolls at constant speed, without friction."""
    run, events = bicycle(
        *ROUND, "ground.slope_deg=0", "start.v=[2,0,0,0,0]", "contact.restitution=0",
        "contact.energetic=1.0",
    )  # fmt: skip
    assert len({e.time for e in impacts(events)}) == 1
    after = np.asarray(run.time) > impacts(events)[0].time + 1e-9
    speed = np.asarray(run.v)[after, 0]
    assert np.ptp(speed) < 1e-9
    force = np.asarray(run.force)[after]
    assert np.abs(force[:, :, 0]).max() < 1e-9 * force[:, :, 1].max()


def test_an_elastic_bicycle_keeps_bouncing(bicycle):
    """Sec. 3.4.2."""
    _, events = bicycle(
        *ROUND, "ground.slope_deg=0", "start.v=[2,0,0,0,0]", "contact.restitution=1",
        "contact.energetic=1.0",
    )  # fmt: skip
    assert len(impacts(events)) >= 4
    assert not [e for e in events if e.kind in ("zeno", "rest")]


def test_less_restitution_means_fewer_bounces(bicycle):
    """Sec. 3.7: elliptic wheels on a slope of 20 degrees."""
    counts, energies = [], []
    for e in (0.75, 0.5, 0.25):
        run, events = bicycle(f"contact.restitution={e}", "until=3")
        quick = [x for x in impacts(events) if x.velocity_before[-1] < -1e-3]
        fractions = [x.kinetic_after / x.kinetic_before for x in quick]
        assert max(fractions) <= 0.5 + 1e-12
        counts.append(len({x.time for x in impacts(events)}))
        energies.append(np.abs(run.ledger_error).max() / 245.25)
    assert counts[0] > counts[2]
    assert max(energies) < 1e-6


def test_rolling_on_ellipses_is_smooth(bicycle):
    """The thesis's chatter came from an approximate contact point; here it is exact."""
    run, events = bicycle("contact.restitution=0.25", "until=3")
    settled = np.asarray(run.time) > max(e.time for e in events) + 0.01
    modes = np.asarray(run.modes)[settled]
    force = np.asarray(run.force)[settled][:, :, -1]
    assert len(modes) > 50
    assert (modes == modes[0]).all()  # no chatter
    # Smooth: second differences are far below first ones.
    assert np.abs(np.diff(force, 2, axis=0)).max() < 0.2 * np.abs(np.diff(force, axis=0)).max()
