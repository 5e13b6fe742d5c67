"""Axis, slider and tosses with known truth."""

from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

from stiction._base.errors import InputError
from stiction.identify import identify_logs, validate
from stiction.identify.kinds import axis, sliding, tosses
from stiction.identify.kinds.axis import AxisSetup
from stiction.identify.kinds.sliding import SlidingSetup, stretch
from stiction.identify.kinds.tosses import TossSetup, corner_heights
from stiction.tables import Table, Units

AXIS = AxisSetup(kind="axis", time="t", position="q", force="f", cutoff=60.0)


def axis_table(rng, noise=1.0):
    t = np.arange(0, 10, 1e-3)
    w = 2 * np.pi * np.array([0.4, 1.1, 2.3])[:, None]
    amplitude = np.array([0.08, 0.03, 0.01])[:, None]
    q, v, a = (np.sum(amplitude * w**d * np.sin(w * t + d * np.pi / 2), axis=0) for d in range(3))
    f = 95.0 * a + 200.0 * v + 20.0 * np.sign(v) - 3.0 + noise * rng.normal(size=len(t))
    return Table(Path("axis"), {"t": t, "q": q + 1e-6 * rng.normal(size=len(t)), "f": f}, Units())


def test_axis_gives_its_parameters_back(rng):
    found = axis.identify(axis_table(rng), AXIS)
    for p, truth in zip(found.parameters.values(), (95.0, 200.0, 20.0, -3.0), strict=True):
        assert p.value == pytest.approx(truth, rel=0.01, abs=0.05)
        assert abs(p.value - truth) < 5 * p.std


def test_other_records_judge_the_numbers(rng, tmp_path):
    """A record like the first agrees and is foretold to its noise; a heavier axis is named."""
    logs = []
    for name, factor in (("a", 1.0), ("b", 1.0), ("heavier", 1.05)):
        table = axis_table(rng)
        columns = {**table.columns, "f": factor * table.columns["f"]}
        logs.append(tmp_path / f"{name}.csv")
        pd.DataFrame(columns).to_csv(logs[-1], index=False)
    found = identify_logs(logs[:1], AXIS)
    same, other = (validate(found, [log], AXIS) for log in logs[1:])
    assert max(abs(z) for z in same.apart.values()) < 3.5
    assert same.warnings == []
    assert same.foretold["force_rms"] == pytest.approx(found.residual_rms, rel=0.2)
    assert other.apart["M"] > 3.5
    assert "M differs between the records" in other.warnings[0]


def test_axis_with_outliers(rng):
    table = axis_table(rng)
    table.columns["f"][rng.choice(10_000, 100, replace=False)] += 3000.0
    robust = AXIS.model_copy(update={"loss": "tukey", "keep_every": 1})
    found = axis.identify(table, robust)
    assert found.parameters["M"].value == pytest.approx(95.0, rel=0.02)


def test_axis_refuses_uneven_times(rng):
    table = axis_table(rng)
    table.columns["t"][500:] += 0.0004
    with pytest.raises(InputError, match=r"must be evenly spaced .* row 501"):
        axis.identify(table, AXIS)


def test_bristle_follows_and_stays_within_its_limit(rng):
    x = np.cumsum(rng.normal(size=500))
    s = np.asarray(stretch(jnp.asarray(x), jnp.asarray(2.0)))
    assert np.max(np.abs(s)) <= 2.0
    inside = np.abs(s[1:]) < 2.0
    np.testing.assert_allclose(np.diff(s)[inside & (np.abs(s[:-1]) < 2)],
                               np.diff(x)[inside & (np.abs(s[:-1]) < 2)], atol=1e-12)  # fmt: skip


def test_slider_gives_its_parameters_back(rng):
    t = np.arange(0, 40, 0.005)
    x = 1.5e-4 * np.sin(2 * np.pi * 0.25 * t)
    limit, k_f, mu, N = 4e-5, 5e4, 0.35, 5.0
    s = np.asarray(stretch(jnp.asarray(x), jnp.asarray(limit)))
    f = np.where(np.abs(s) >= limit * (1 - 1e-9), -mu * N * np.sign(s), -k_f * s) + 0.1
    f = f + 0.01 * rng.normal(size=len(t))
    table = Table(Path("s"), {"t": t, "n": np.full(len(t), N), "x": x, "f": f}, Units())
    setup = SlidingSetup(kind="sliding", time="t", normal="n", position="x", friction="f")
    found = sliding.identify(table, setup)
    p = {n: v.value for n, v in found.parameters.items()}
    assert p["k_f"] == pytest.approx(k_f, rel=0.02)
    assert p["mu"] == pytest.approx(mu, rel=0.005)
    assert p["s_max"] == pytest.approx(limit, rel=0.02)
    assert p["offset"] == pytest.approx(0.1, abs=0.01)


def test_corner_heights_of_a_cube_on_its_edge():
    q = np.array([[np.cos(np.pi / 8), np.sin(np.pi / 8), 0, 0]])  # 45° about x
    heights = np.sort(corner_heights(np.zeros((1, 3)), q, 0.5)[0])
    np.testing.assert_allclose(heights[[0, 1]], -0.5 * np.sqrt(2), atol=1e-12)


def test_sliding_cubes_give_friction_whatever_the_length_scale(rng):
    """μ is a ratio of accelerations: a recording 7 % too small tells the same."""
    for scale in (1.0, 0.93):
        rate, g, mu, h = 150.0, 9.81, 0.23, 0.05
        parts, starts, lengths = [], [], []
        for _ in range(6):
            t_fly = np.arange(20) / rate
            speed = rng.uniform(0.6, 1.2)
            t_slide = np.arange(int(rate * speed / (mu * g))) / rate
            fall = h + 0.5 * g * (t_fly[::-1] + 0.05) ** 2 + 0.02
            z = np.concatenate([fall, np.full(len(t_slide), h)])
            v_z = np.concatenate([-g * (t_fly + 0.3), np.zeros(len(t_slide))])
            v_x = np.concatenate([np.full(20, speed), speed - mu * g * t_slide])
            n = len(z)
            x = np.cumsum(v_x) / rate
            rows = np.zeros((n, 13))
            rows[:, 0], rows[:, 2], rows[:, 3] = x, z, 1.0
            rows[:, 7], rows[:, 9] = v_x, v_z
            starts.append(sum(lengths))
            lengths.append(n)
            parts.append(rows)
        data = np.concatenate(parts)
        data[:, :3] *= scale
        data[:, 7:10] *= scale
        columns = {f"data[{i}]": c for i, c in enumerate(data.T)}
        columns |= {"start": np.array(starts), "length": np.array(lengths)}
        names = [f"data[{i}]" for i in range(13)]
        setup = TossSetup(
            kind="tosses", half_width=h * scale, position=names[:3], quaternion=names[3:7],
            velocity=names[7:10], angular_velocity=names[10:], start="start", length="length",
            rate=rate,
        )  # fmt: skip
        found = tosses.identify(Table(Path("tosses"), columns, Units()), setup)
        assert found.parameters["mu"].value == pytest.approx(mu, rel=1e-6)
        assert found.notes["gravity_of_the_recording"] == pytest.approx(scale * g, rel=1e-6)
