"""Virtual tosses of an elbow: two links in a vertical plane, thrown at the ground.

As cameras record them: with noise, angles wrapped at half a turn, and some starts that are not
free: held for a while, carried, or on the ground already.
"""

from pathlib import Path

import jax.numpy as jnp
import numpy as np

from stiction.engines import simulate
from stiction.identify.kinds.rollouts import RolloutSetup
from stiction.identify.kinds.rollouts.parameters import with_values
from stiction.scenes import Scene
from stiction.tables import Table

ELBOW = """<mujoco model="elbow"><option gravity="0 0 -9.81"/><worldbody>
  <geom name="ground" type="plane" size="5 5 1"/>
  <body name="upper">
    <joint name="x" type="slide" axis="1 0 0"/>
    <joint name="z" type="slide" axis="0 0 1"/>
    <joint name="tilt" type="hinge" axis="0 1 0"/>
    <geom type="box" size="0.05 0.025 0.02" pos="-0.05 0 0" mass="0.18"/>
    <site name="a" pos="-0.1 0 0.02"/><site name="b" pos="-0.1 0 -0.02"/>
    <body name="lower">
      <joint name="elbow" type="hinge" axis="0 1 0"/>
      <geom type="box" size="0.05 0.025 0.02" pos="0.05 0 0" mass="0.18"/>
      <site name="c" pos="0.1 0 0.02"/><site name="d" pos="0.1 0 -0.02"/>
      <site name="e" pos="0 0 0.02"/><site name="f" pos="0 0 -0.02"/>
    </body>
  </body></worldbody></mujoco>"""
TRUTH = {"mu": 0.3, "restitution": 0.25}
RATE, ROWS = 148.0, 90  # Hz
NOISE = np.array([3e-4, 3e-4, 3e-3, 3e-3])  # m, rad
COORDINATES = ["x", "z", "tilt", "elbow"]


def elbow_setup(folder: Path, **more) -> RolloutSetup:
    (folder / "elbow.xml").write_text(ELBOW)
    contact = {"law": "hybrid", "points": list("abcdef"), "restitution": 0.1}
    fields = {
        "kind": "rollouts",
        "mechanism": {"file": "elbow.xml"},
        "contact": {**contact, "mu_static": 0.2, "mu_dynamic": 0.2},
        "solver": {"rtol": 1e-7, "max_steps": 4000},
        "wanted": list(TRUTH),
        "coordinates": COORDINATES,
        "rate": RATE,
        "horizon": 0.1,
    }
    return RolloutSetup.model_validate(fields | more)


def tosses(folder: Path, count: int, *, seed=0, not_free=0.15, lift=0.0) -> list[Table]:
    """Logs; `lift` is by how much all is recorded too high [m]."""
    setup = elbow_setup(folder)
    scene, random = Scene(setup.scenario, folder), np.random.default_rng(seed)
    assert scene.law is not None
    u = random.uniform(-1, 1, (8, count))
    q = np.stack([0.2 * u[0], 0.275 + 0.075 * u[1], np.pi * u[2], 2 * u[3]], axis=1)
    v = np.stack([2 * u[4], u[5], 8 * u[6], 6 * u[7]], axis=1)
    paths = np.array(
        simulate(
            scene.mechanism,
            q,
            v,
            until=(ROWS - 1) / RATE,
            contacts=scene.contacts,
            law=with_values(scene.law, list(TRUTH), jnp.asarray(list(TRUTH.values()))),
            samples=ROWS,
            solver=scene.solver,
            max_events=400,
            keep_events=False,
            throw=False,
        ).q
    )
    logs = []
    for i, path in enumerate(paths):
        path = path[np.isfinite(path).all(axis=1)]
        if random.random() < not_free:
            path = _not_free(path, random)
        path = path + NOISE * random.standard_normal(path.shape) + [0, lift, 0, 0]
        path[:, 2:] = (path[:, 2:] + np.pi) % (2 * np.pi) - np.pi
        columns = dict(zip(COORDINATES, path.T, strict=True))
        logs.append(Table(folder / f"toss-{i}.csv", columns))
    return logs


def _not_free(path: np.ndarray, random) -> np.ndarray:
    how = random.integers(3)
    if how == 0:  # held, then let go
        return np.concatenate([np.repeat(path[:1], 6, axis=0), path])
    if how == 1:  # carried
        before = np.arange(-8, 0)[:, None] / RATE
        return np.concatenate([path[0] + np.array([0.3, 0.1, 1.0, 2.0]) * before, path])
    return path[np.argmax(path[:, 1] < 0.1) :]  # on the ground already
