"""Events of a gait from the loads on the feet: strikes, lift-offs, flights, impact peaks."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from stiction.biped import FootLoads
from stiction.biped.gait.events import find_stances, find_strides
from stiction.biped.gait.flight import find_flights, kind_of_gait, landing_table

UP = np.array([0.0, 0.0, 1.0])


def hop(time, contact, flight, peak):
    """Vertical load of one foot: half sines."""
    phase = time % (contact + flight)
    return np.where(phase < contact, peak * np.sin(np.pi * np.minimum(phase / contact, 1)), 0.0)


def test_events_of_a_known_load_are_found_between_frames():
    rate, contact, flight = 100, 0.25, 0.55
    time = np.arange(270) / rate
    left, right = hop(time, contact, flight, 1500), hop(time - 0.4, contact, flight, 1500)
    force = np.zeros((len(time), 2, 3))
    force[:, 0, 2], force[:, 1, 2] = left, np.where(time >= 0.4, right, 0.0)
    zero = np.zeros_like(force)
    loads = FootLoads(("left", "right"), (1, 2), force, zero, zero, np.ones(force.shape[:2], bool))
    stances = find_stances(time, loads, UP, 20.0)
    delay = contact / np.pi * np.arcsin(20 / 1500)
    rights = [s for s in stances if s.foot == "right"]
    assert_allclose([s.strike for s in rights], 0.4 + 0.8 * np.arange(3) + delay, atol=1e-3)
    assert_allclose([s.off for s in rights], 0.65 + 0.8 * np.arange(3) - delay, atol=1e-3)
    strides = find_strides(stances, loads.feet)
    assert [s.foot for s in strides].count("right") == 2
    assert_allclose([s.end - s.start for s in strides], 0.8, atol=1e-3)
    height = 1 - 0.05 * np.sin(np.pi * np.minimum((time % 0.4) / contact, 1))
    flights = find_flights(time, loads, height, UP, 20.0)
    rows = landing_table(stances, flights, time, loads, height, UP, 700.0)
    assert_allclose([r["active peak [BW]"] for r in rows], 1500 / 700, rtol=0.01)
    assert_allclose([r["flight after [s]"] for r in rows[:-1]], 0.15 + 2 * delay, atol=2e-3)
    assert_allclose(rows[1]["vertical stiffness [kN/m]"], 1500 / 0.05 / 1e3, rtol=0.05)


@pytest.mark.parametrize(
    ("delay", "flight", "kind"),
    [(0.4, 0.55, "running"), (0.0, 0.55, "jumping"), (0.2, 0.15, "walking")],
)
def test_walks_runs_and_jumps_are_told_apart(delay, flight, kind):
    """Half sines of both feet, together or one after the other; standing is none of them."""
    time, contact = np.arange(300) / 100, 0.25
    force = np.zeros((len(time), 2, 3))
    for k in (0, 1):
        force[:, k, 2] = hop(time - k * delay + 4 * (contact + flight), contact, flight, 1500)
    zero, known = np.zeros_like(force), np.ones(force.shape[:2], bool)
    height = 1 + 0.1 * np.sin(2 * np.pi * time)
    for loads, expected in ((force, kind), (zero + 400 * UP, "standing")):
        loads = FootLoads(("left", "right"), (1, 2), loads, zero, zero, known)
        stances = find_stances(time, loads, UP, 20.0)
        flights = find_flights(time, loads, height, UP, 20.0)
        assert kind_of_gait(time, loads, stances, flights, UP, 20.0) == expected
    if kind == "jumping":  # the stiffness is that of both legs
        loads = replace(loads, force=force)
        flights = find_flights(time, loads, height, UP, 20.0)
        stances = find_stances(time, loads, UP, 20.0)
        fallen = 1 - 0.04 * force[:, 0, 2] / 1500
        rows = landing_table(stances, flights, time, loads, fallen, UP, 700.0)
        assert len(rows) == 8  # of both feet, at 0, 0.8, 1.6 and 2.4 s
        for row in rows:
            assert_allclose(row["active peak [BW]"], 1500 / 700, rtol=0.01)
            assert_allclose(row["vertical stiffness [kN/m]"], 3000 / 0.04 / 1e3, rtol=0.03)


def test_an_impact_peak_is_told_from_the_active_one():
    time = np.arange(260) / 1000
    load = 1600 * np.sin(np.pi * time / 0.26) + 700 * np.exp(-(((time - 0.03) / 0.01) ** 2))
    load[0] = load[-1] = 0
    time = np.arange(300) / 1000
    load = np.concatenate([np.zeros(20), load, np.zeros(20)])
    force = np.zeros((300, 1, 3))
    force[:, 0, 2] = load
    loads = FootLoads(("right",), (1,), force, 0 * force, 0 * force, np.ones((300, 1), bool))
    stances = find_stances(time, loads, UP, 20.0)
    (row,) = landing_table(stances, [], time, loads, 1 - 0.04 * load / load.max(), UP, 700.0)
    early = load[:80].max()
    assert_allclose(row["impact peak [BW]"], early / 700, rtol=1e-6)
    assert row["active peak [BW]"] >= row["impact peak [BW]"]
    assert 20 < row["loading rate [BW/s]"] < 150


def test_a_ripple_at_the_strike_is_no_impact():
    """A half-sine with a ripple of a seventh of body weight: its slope is that of the half-sine."""
    time, stance = np.arange(300) / 1000, 0.26
    own = 1600 * np.sin(np.pi * np.clip((time - 0.02) / stance, 0, 1))
    force = np.zeros((300, 1, 3))
    force[:, 0, 2] = own + 100 * np.exp(-(((time - 0.023) / 0.0015) ** 2))
    loads = FootLoads(("right",), (1,), force, 0 * force, 0 * force, np.ones((300, 1), bool))
    stances = find_stances(time, loads, UP, 20.0)
    (row,) = landing_table(stances, [], time, loads, 1 - 0.04 * own / own.max(), UP, 700.0)
    assert np.isnan(row["impact peak [BW]"])
    rise = np.sin(np.pi * 0.8 * 0.13) - np.sin(np.pi * 0.2 * 0.13)
    expected = 1600 / 700 * rise / (0.6 * 0.13 * stance)
    assert row["loading rate [BW/s]"] == pytest.approx(expected, rel=0.05)
