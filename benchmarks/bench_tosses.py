"""Cube tosses: rollouts with identified numbers, by stiction and by MuJoCo.

All start from the same states and go as far as the recording does. MuJoCo has the numbers that
stiction exports, and then the stiffness, damping and friction that [Acosta2022] identified for it
on this recording, in ten steps a frame.
"""

import os
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import mujoco
import numpy as np
from mujoco import rollout

from benchmarks.timing import machine, table
from stiction.identify import export, read_setup
from stiction.identify.kinds.rollouts.engine import make_lanes
from stiction.identify.kinds.rollouts.errors import rollout_errors
from stiction.identify.kinds.rollouts.identify import RolloutProblem, identify, prepare
from stiction.interop.rollout_mujoco import roll_out_in_mujoco
from stiction.scenes import Scene
from stiction.tables import read_table

DATA = Path(os.environ.get("STICTION_DATA", Path(__file__).parents[2] / "shared" / "data"))
WIDTH = 0.1048  # m
STIFFNESS, DAMPING, FRICTION, SUBSTEPS = 3851.911388, 63.195065, 0.230735, 10


def main() -> None:
    log = DATA / "cube_toss" / "cube_toss_dev.npz"
    if not log.exists():
        print(f"without the recording: not found at {log} (set STICTION_DATA)")
        return
    print(machine("mujoco"), "\n")
    setup, folder = read_setup("cube-rollouts")
    tosses = read_table(log, setup.units)
    start = time.perf_counter()
    found = identify([tosses], setup, folder)
    seconds = time.perf_counter() - start
    prepared = found.fitted_to
    rounds = found.notes["rounds"]
    values = ", ".join(f"{n} {p.value:.4f} ± {p.std:.4f}" for n, p in found.parameters.items())
    print(f"{values}; {rounds} rounds, {seconds:.0f} s with compilation\n")
    theta = np.array([p.value for p in found.parameters.values()])
    raw = prepare([tosses], setup.model_copy(update={"scale": 1.0}), folder)
    exported = export(found, setup, "mujoco", folder=folder)

    def with_exported(q: np.ndarray, v: np.ndarray, rows: int) -> np.ndarray:
        return roll_out_in_mujoco(
            Scene(setup.scenario, folder).spec(),
            prepared.engine.contacts,
            prepared.engine.mechanism.tree.body_names,
            exported.surfaces["contact"].parameters,
            q,
            v,
            rows=rows,
            rate=prepared.rollouts.rate,
        )

    peers = {"MuJoCo, exported": with_exported, "MuJoCo, as published": mujoco_rollouts}
    flown = "fitted to the flight, lengths scaled"
    rows = rows_of(flown, prepared, theta, peers, *_fitted(prepared))
    rows += rows_of("first row as recorded", raw, theta, peers, *_recorded(raw, tosses))
    table(rows)


def _fitted(prepared: RolloutProblem) -> tuple[np.ndarray, np.ndarray]:
    return prepared.start.q, prepared.start.v


def _recorded(prepared: RolloutProblem, tosses) -> tuple[np.ndarray, np.ndarray]:
    """Poses and velocities of the first rows; angular ones are in the body's axes, as ours."""
    number = [int(n.partition("[")[2][:-1]) for n in prepared.rollouts.names]
    first = tosses.column("start").astype(int)[number]
    state = tosses.plain([f"data[{i}]" for i in range(13)])[first]
    return state[:, :7], state[:, 7:]


def rows_of(
    starts: str,
    prepared: RolloutProblem,
    theta: np.ndarray,
    peers: Mapping[str, Callable],
    q: np.ndarray,
    v: np.ndarray,
) -> list[dict]:
    """Errors of the tosses kept aside, from one set of starts, by all programs."""
    aside = prepared.aside
    tosses = prepared.rollouts.part(aside)
    lanes = make_lanes(tosses, prepared.engine.mechanism, q[aside], v[aside])
    calls = {"stiction, stepping": lambda: prepared.engine.simulate(theta, lanes)} | {
        name: partial(call, q[aside], v[aside], tosses.q.shape[1]) for name, call in peers.items()
    }
    rows = []
    for name, call in calls.items():
        call()
        start = time.perf_counter()
        simulated = call()
        seconds = time.perf_counter() - start
        errors = rollout_errors(prepared.engine.mechanism, simulated, tosses.q, tosses.seen)
        s = errors.summary()
        rows.append(
            {
                "start": starts,
                "program": name,
                "position, mean [% of width]": 100 * s["position_mean_m"] / WIDTH,
                "median": 100 * s["position_median_m"] / WIDTH,
                "rotation, mean [deg]": s["rotation_mean_deg"],
                "median [deg]": s["rotation_median_deg"],
                "time a toss [ms]": 1e3 * seconds / len(simulated),
            }
        )
    return rows


def mujoco_rollouts(q: np.ndarray, v: np.ndarray, rows: int) -> np.ndarray:
    """The same tosses by MuJoCo, on a table that has the published numbers."""
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="{1 / 148 / SUBSTEPS}"><flag refsafe="disable"/></option>
        <worldbody>
          <geom type="box" pos="0 0 -0.2" size="5 5 0.2" friction="{FRICTION} 0.005 0.0001"
            solref="-{STIFFNESS} -{DAMPING}"/>
          <body><freejoint/>
            <inertial pos="0 0 0" mass="0.37" diaginertia="8.1e-4 8.1e-4 8.1e-4"/>
            <geom type="box" size="0.0524 0.0524 0.0524" friction="{FRICTION} 0.005 0.0001"/>
          </body>
        </worldbody></mujoco>"""
    )
    states = np.concatenate([np.zeros((len(q), 1)), q, v], axis=1)
    steps = (rows - 1) * SUBSTEPS
    path, _ = rollout.rollout(model, mujoco.MjData(model), states, nstep=steps)
    return np.concatenate([q[:, None], path[:, SUBSTEPS - 1 :: SUBSTEPS, 1:8]], axis=1)


if __name__ == "__main__":
    main()
