"""Ground reactions from recorded motion: one trial end to end, and its two costly parts.

The recording is looked for in `STICTION_DATA`; without it the parts alone are timed. Peers:
MuJoCo's `mj_inverse`, frame by frame, for the total force; SciPy's SLSQP, frame by frame, for the
split.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.timing import best_time, machine, table
from stiction.biped import (
    compare,
    ground_reactions,
    human,
    measured_on_frames,
    read_motion,
    read_osim,
    read_plates,
    subject_of_mechanism,
    with_soles,
)
from stiction.biped.grf.momentum import total_reaction
from stiction.biped.grf.split import SLACK, split_reaction
from stiction.mechanism import load_mechanism

FOLDER = Path(os.environ.get("STICTION_DATA", "data")) / "gait_subject01_walk23"
MODEL, MOTION, PLATES = "subject01.osim", "subject01_walk1_ik.mot", "subject01_walk1_grf.mot"


def main() -> None:
    print(machine("mujoco", "scipy"), "\n")
    table([total_force(), split()])
    if not (FOLDER / MODEL).is_file():
        print(f"\nno recordings at '{FOLDER}' (set STICTION_DATA): no trial end to end")
        return
    error = f"error of the vertical force {trial_error():.2f} % of body weight"
    print(f"\n`stiction grf` on walk23 (3.5 s, 60 Hz, 23 coordinates), {error}\n")
    table([in_process(), *command_line()])


def trial():
    """A walk of 3.5 s at 60 Hz, 23 coordinates: files to comparison with the plates."""
    subject = with_soles(read_osim(FOLDER / MODEL))
    reactions = ground_reactions(read_motion(FOLDER / MOTION, subject), subject)
    return compare(reactions, measured_on_frames(read_plates(FOLDER / PLATES), reactions))


def trial_error() -> float:
    """Root mean square error of the total vertical force [% of body weight]."""
    return next(r["RMSE [% BW]"] for r in trial().components if r["direction"] == "vertical")


def in_process() -> dict:
    row = {"what": "files to comparison, same process", "wall [s]": best_time(trial)}
    return row | {"processor [s]": ""}


def command_line() -> list[dict]:
    """The command in a new process: with nothing compiled, again, and with a report."""
    code = "from stiction.cli.app import main; main()"
    files = [FOLDER / MOTION, "--model", FOLDER / MODEL, "--plates", FOLDER / PLATES, "--json"]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for what, more in (
            ("command line, nothing compiled", []),
            ("command line, programs cached on disk", []),
            ("the same with data, figures and report", ["--out", f"{folder}/out"]),
        ):
            before, start = os.times(), time.perf_counter()
            subprocess.run(
                [sys.executable, "-c", code, "grf", *map(str, [*files, *more])],
                check=True,
                capture_output=True,
                env=os.environ | {"STICTION_CACHE": f"{folder}/cache"},
            )
            after, wall = os.times(), time.perf_counter() - start
            used = sum(after[k] - before[k] for k in (2, 3))  # user and system time of children
            rows.append({"what": what, "wall [s]": wall, "processor [s]": used})
    return rows


def total_force(n: int = 256) -> dict:
    """Force and moment of the 38-DOF human in n frames."""
    import mujoco

    mechanism = load_mechanism(human())
    subject = subject_of_mechanism(mechanism)
    rng = np.random.default_rng(0)
    q = np.tile(subject.defaults, (n, 1))
    q[:, 7:] += 0.3 * rng.standard_normal((n, 32))
    v, a = 0 * q, 0 * q
    v[:, 7:], a[:, 7:] = rng.standard_normal((2, n, 32))  # the base rests: q̇ is v

    def reaction():
        return total_reaction(subject.bodies, subject.motion(q, v, a))

    ours = best_time(reaction)

    model = mujoco.MjModel.from_xml_string(human())
    data = mujoco.MjData(model)
    force = np.zeros((n, 3))

    def theirs():
        for k in range(n):
            data.qpos[:] = q[k]
            data.qvel[6:], data.qacc[6:] = v[k, 7:], a[k, 7:]
            mujoco.mj_inverse(model, data)
            force[k] = data.qfrc_inverse[:3]

    seconds = best_time(theirs)
    error = np.abs(reaction().force - force).max()
    return {
        "what": f"total force, 38 DOF, {n} frames",
        "stiction [ms]": 1e3 * ours,
        "peer [ms]": 1e3 * seconds,
        "ratio": ours / seconds,
        "error": f"{error:.1e} N",
    }


def split(n: int = 256, n_points: int = 12, n_peer: int = 8) -> dict:
    """The least-norm split of n frames; the peer solves a few and is scaled up."""
    from scipy.optimize import minimize

    rng = np.random.default_rng(0)
    r = np.concatenate([rng.uniform(-0.3, 0.3, (n, n_points, 2)), np.zeros((n, n_points, 1))], -1)
    near = rng.uniform(0.1, 1, (n, n_points))
    F = np.concatenate([0.1 * rng.standard_normal((n, 2)), np.ones((n, 1))], axis=1)
    N, mu = 0.05 * rng.standard_normal((n, 3)), np.full(n, 0.8)
    problem = (F, N, r, near, mu)
    ours = best_time(lambda: split_reaction(*problem).force)
    found = split_reaction(*problem).force

    def quadratic(k):
        turn = np.concatenate([np.cross(p, np.eye(3)).T for p in r[k]], axis=1)
        H = np.diag(np.repeat(1 / near[k], 3)) + turn.T @ turn / SLACK
        return H, turn.T @ N[k] / SLACK

    def room(f):
        f = f.reshape(-1, 3)
        return (0.8 * f[:, 2]) ** 2 - (f[:, :2] ** 2).sum(1)

    def room_jacobian(f):
        own = f.reshape(-1, 3) * [-2, -2, 2 * 0.8**2]
        return (np.eye(n_points)[:, :, None] * own[:, None]).reshape(n_points, -1)

    total, normal = np.tile(np.eye(3), n_points), np.kron(np.eye(n_points), [0, 0, 1])
    start, gains = time.perf_counter(), []
    for k in range(n_peer):
        H, c = quadratic(k)
        answer = minimize(
            lambda f, H=H, c=c: f @ H @ f / 2 - c @ f,
            np.tile(F[k] / n_points, n_points),
            jac=lambda f, H=H, c=c: H @ f - c,
            method="SLSQP",
            constraints=[
                {"type": "eq", "fun": lambda f, k=k: total @ f - F[k], "jac": lambda f: total},
                {"type": "ineq", "fun": lambda f: normal @ f, "jac": lambda f: normal},
                {"type": "ineq", "fun": room, "jac": room_jacobian},
            ],
            options={"maxiter": 300, "ftol": 1e-12},
        )
        f = found[k].ravel()
        gains.append((f @ H @ f / 2 - c @ f - answer.fun) / abs(answer.fun))
    seconds = (time.perf_counter() - start) / n_peer * n
    return {
        "what": f"split among {n_points} points, {n} frames",
        "stiction [ms]": 1e3 * ours,
        "peer [ms]": 1e3 * seconds,
        "ratio": ours / seconds,
        "error": f"{max(gains):.1e} of the peer's objective",
    }


if __name__ == "__main__":
    main()
