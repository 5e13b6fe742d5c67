"""Jumps: a made-up one whose height is known, and recorded ones."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from stiction import InputError
from stiction.biped import find_jumps, read_vertical_force

MASS, G = 70.0, 9.81


def jump(speed=2.5, rate=1000.0, quiet=1.0, offset=0.0):
    """Stand, push with a half sine that gives the speed, fly, land with the same push, stand."""
    push = 0.4
    # ∫ (F - m g) over a half sine of length T and height A: 2 A T / π.
    peak = MASS * speed * np.pi / (2 * push)
    flight = 2 * speed / G
    ends = np.cumsum([quiet, push, flight, push, quiet])
    t = np.arange(0, ends[-1], 1 / rate)
    force = np.full(t.shape, MASS * G)
    for start in (ends[0], ends[2]):
        inside = (t >= start) & (t < start + push)
        force[inside] += peak * np.sin(np.pi * (t[inside] - start) / push)
    force[(t >= ends[1]) & (t < ends[2])] = 0.0
    return t, force + offset, speed**2 / (2 * G)


@pytest.mark.parametrize("speed", [1.0, 2.5, 3.5])
def test_both_roads_lead_to_the_height(speed):
    t, force, height = jump(speed)
    record = find_jumps(t, force)
    (found,) = record.jumps
    assert_allclose(record.weight, MASS * G, rtol=1e-12)
    # Two sampling periods of a flight of 0.2 s and more.
    assert_allclose(found.height, height, rtol=0.02)
    assert_allclose(found.takeoff_speed, speed, rtol=0.01)
    assert_allclose(found.impulse_height, height, rtol=0.02)


def test_noise_and_a_drifted_zero_do_not_matter():
    t, force, height = jump()
    force = force + np.random.default_rng(0).normal(3.0, 2.0, len(t))
    assert_allclose(find_jumps(t, force).jumps[0].height, height, rtol=0.02)


def test_several_jumps_are_all_found():
    _, force, height = jump()
    twice = np.concatenate([force, force])
    record = find_jumps(np.arange(len(twice)) / 1000, twice)
    assert len(record.jumps) == 2
    assert_allclose([j.height for j in record.jumps], height, rtol=0.02)
    assert record.jumps[0].landing < record.jumps[1].takeoff


def test_a_short_record_is_weighed_by_its_impulse():
    """At rest at both ends, too short to weigh by standing: the mean force is the weight."""
    t, force, height = jump(quiet=0.15)
    record = find_jumps(t, force)
    assert "begins and ends at rest" in record.weighed
    assert_allclose(record.weight, MASS * G, rtol=0.01)
    assert_allclose(record.jumps[0].impulse_height, height, rtol=0.1)


@pytest.mark.shared
def test_the_published_height_is_met(shared_data):
    """Published: 0.907 to 1.323 s in the air, 0.213 m. Within 2 %."""
    table = read_vertical_force(shared_data / "force_plate_jump" / "GRFZjump.txt", rate=600.0)
    (found,) = find_jumps(table.time, table.values[:, 0]).jumps
    assert_allclose(found.height, 0.213, rtol=0.02)
    assert_allclose(found.impulse_height, 0.213, rtol=0.02)
    assert_allclose(found.takeoff, 0.907, atol=0.005)
    assert_allclose(found.landing, 1.323, atol=0.005)


@pytest.mark.shared
@pytest.mark.parametrize("name", ["jump1.txt", "jump2.txt"])
def test_recorded_jumps_agree_by_both_roads(shared_data, name):
    table = read_vertical_force(shared_data / "force_plate_jump" / name)
    record = find_jumps(table.time, table.values[:, 0])
    (found,) = record.jumps
    assert "standing still" in record.weighed
    assert 0.3 < found.height < 0.5
    # People land with bent legs: the flight time overstates by a few centimetres.
    assert_allclose(found.impulse_height, found.height, rtol=0.1)


def test_records_without_a_jump_are_refused(tmp_path):
    t = np.arange(1000) / 1000
    with pytest.raises(InputError, match="no flight found"):
        find_jumps(t, np.full(1000, 700.0))
    with pytest.raises(InputError, match="never rises"):
        find_jumps(t, np.zeros(1000))
    path = tmp_path / "f.txt"
    path.write_text("1\n2\n3\n")
    with pytest.raises(InputError, match="add --rate"):
        read_vertical_force(path)
    for text in ("time,a,b\n0,1,2\n1,1,2\n", "time\n0\n1\n"):
        path.write_text(text)
        with pytest.raises(InputError, match=r"one column beside the time.*add --column"):
            read_vertical_force(path)


def test_one_column_with_a_heading_is_read_at_its_rate(tmp_path):
    (tmp_path / "bare.txt").write_text("700\n701\n702\n")
    (tmp_path / "headed.txt").write_text("Fz\n700\n701\n702\n")
    bare, headed = (
        read_vertical_force(tmp_path / f"{n}.txt", rate=100.0) for n in ("bare", "headed")
    )
    assert headed.names == ("Fz",)
    np.testing.assert_array_equal(headed.values, bare.values)
    np.testing.assert_array_equal(headed.time, [0, 0.01, 0.02])
