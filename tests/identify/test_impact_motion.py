"""Impact pairs out of recorded poses: flights before and after, one corner's impacts alone."""

import numpy as np
import pandas as pd
import pytest

from stiction._base.errors import InputError
from stiction.identify import identify_logs, read_setup, validate
from stiction.identify.kinds.impact_pairs import ImpactPairSetup, rebound

MU, RESTITUTION, GRAVITY = 0.2, 0.5, 9.81
SETUP, _ = read_setup("square-impacts")
CORNERS = np.array(SETUP.motion.corners)
INVERSE = np.array([1.0, 1.0, 1 / SETUP.inertia])


def heights(q):
    c, s = np.cos(q[..., 2:]), np.sin(q[..., 2:])
    x, y = CORNERS.T
    return q[..., 1:2] + s * x + c * y, c * x - s * y


def drop(random) -> np.ndarray:
    """Poses of a square that falls and bounces, at the setup's rate, by exact flights."""
    q = np.array([0.0, random.uniform(0.1, 0.2), random.uniform(0, 2 * np.pi)])
    v = np.array([random.uniform(-0.5, 0.5), random.uniform(-1, 0), random.uniform(-3, 3)])
    fall = np.array([0.0, -GRAVITY, 0.0])
    rows, clock, t_end = [], 0.0, 0.35
    while clock < t_end:
        t = np.arange(0, t_end - clock + 0.05, 2e-5)[:, None]
        path = q + v * t + fall * t**2 / 2
        below = np.flatnonzero((heights(path)[0].min(axis=1) <= 0) & (t[:, 0] > 1e-4))
        last = below[0] if len(below) else len(t) - 1
        now = np.arange(np.ceil(clock * 250), np.ceil((clock + t[last, 0]) * 250)) / 250 - clock
        rows.append(q + v * now[:, None] + fall * now[:, None] ** 2 / 2)
        clock += float(t[last, 0])
        if not len(below) or t[last, 0] < 0.02:
            break
        q, v = path[last], v + fall * t[last]
        high, ahead = (x for x in heights(q))
        i = int(np.argmin(high))
        J = np.array([[1, 0, -(high[i] - q[1])], [0, 1, ahead[i]]])
        G = (J * INVERSE) @ J.T
        p = rebound("poisson", (J @ v)[None], G[None], MU, RESTITUTION)[0]
        v = v + INVERSE * (J.T @ p)
    return np.concatenate(rows)


@pytest.fixture(scope="module")
def drops(tmp_path_factory):
    folder, random = tmp_path_factory.mktemp("drops"), np.random.default_rng(0)
    logs = []
    for i in range(60):
        q = drop(random)
        q = q + random.standard_normal(q.shape) * [5e-5, 5e-5, 2e-3]
        logs.append(folder / f"drop-{i}.csv")
        pd.DataFrame(q, columns=["x", "z", "th"]).to_csv(logs[-1], index=False)
    return logs


def test_friction_and_restitution_of_virtual_drops(drops):
    motion = SETUP.motion.model_copy(update={"skip": 0})
    setup = SETUP.model_copy(update={"motion": motion, "folds": 2, "laws": ["poisson"]})
    found = identify_logs(drops, setup)
    for name, true in (("mu", MU), ("restitution", RESTITUTION)):
        p = found.parameters[name]
        assert abs(p.value - true) < 3.5 * p.std
        assert p.std < 0.02
    assert found.notes["samples"]["used"] > 30
    assert not any("mirrored" in w or "one impulse" in w for w in found.warnings)


def test_logs_without_impacts_are_refused(drops, tmp_path):
    flight = pd.read_csv(drops[0]).head(8)
    flight["z"] += 1.0
    flight.to_csv(tmp_path / "flight.csv", index=False)
    with pytest.raises(InputError, match="must hold impacts between flights"):
        identify_logs([tmp_path / "flight.csv"], SETUP)


def test_pairs_are_listed_or_made_of_motion():
    with pytest.raises(ValueError, match="either `before`"):
        ImpactPairSetup(kind="impact-pairs", mass=1, inertia=1)


def test_impacts_of_the_square_drops(shared_data):
    """Of a real square [Fazeli2017]; its two halves agree, and x is not mirrored."""
    logs = sorted((shared_data / "planar_square_drop").glob("traj_*.csv"))
    found = identify_logs(logs[::2], SETUP)
    other = validate(found, logs[1::2], SETUP)
    assert max(abs(z) for z in other.apart.values()) < 3
    assert found.parameters["mu"].value == pytest.approx(0.093, abs=0.02)
    assert found.parameters["restitution"].value == pytest.approx(0.44, abs=0.05)
    assert not any("mirrored" in w for w in found.warnings)
