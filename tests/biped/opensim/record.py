"""Record what OpenSim says of the models in this folder and of the recordings' models.

    pip install opensim numpy
    python record.py RECORDINGS > answers.json

For random coordinates q, speeds u and accelerations: positions and rotations of all bodies, and the
generalised forces of inverse dynamics along the coordinates of the floating base. Of three
translations that force is the whole reaction of the ground. OpenSim rewrites files of version 3 on
reading and rounds lengths to six digits, so those agree to 1e-6 only.
"""

import json
import sys
from pathlib import Path

import numpy as np
import opensim

HERE = Path(__file__).parent
MODELS = {
    "every_joint": HERE / "every_joint.osim",
    "every_joint_3": HERE / "every_joint_3.osim",
    "walk23": Path("gait_subject01_walk23/subject01.osim"),
    "walk10": Path("gait_subject01_walk10/gait10dof18musc_subject01.osim"),
    "rajagopal": Path("gait_rajagopal_walk/subject_walk_scaled.osim"),
}
# coordinate -> the one it follows, the factor and the offset
COUPLED = {
    "follower": ("knee", 0.5, 0.1),
    "knee_angle_r_beta": ("knee_angle_r", 1.0, 0.0),
    "knee_angle_l_beta": ("knee_angle_l", 1.0, 0.0),
}


def places(coordinates, names, state) -> tuple[dict[str, int], dict[str, int]]:
    """Where each coordinate sits in Simbody's q and u."""
    found = {}, {}
    for name in names:
        c = coordinates.get(name)
        before = state.getQ().to_numpy().copy(), state.getU().to_numpy().copy()
        c.setValue(state, c.getValue(state) + 0.123, False)
        c.setSpeedValue(state, 0.123)
        for place, old, new in zip(found, before, (state.getQ(), state.getU()), strict=True):
            place[name] = int(np.argmax(np.abs(new.to_numpy() - old)))
        c.setSpeedValue(state, 0.0)
    return found


def record(path: Path, coupled: bool) -> dict:
    model = opensim.Model(str(path))
    coordinates = model.updCoordinateSet()
    for c in coordinates:
        c.setDefaultClamped(False)
        c.setDefaultLocked(False)
    state = model.initSystem()
    names = [c.getName() for c in coordinates]
    matter = model.getMatterSubsystem()
    q_at, u_at = places(coordinates, names, state)
    rng = np.random.default_rng(1)
    samples = []
    for _ in range(2):
        q, u, a = (
            dict(zip(names, 0.6 * rng.standard_normal(len(names)), strict=True)) for _ in range(3)
        )
        for name, (leader, factor, offset) in COUPLED.items():
            if coupled and name in q:
                q[name] = factor * q[leader] + offset
                u[name], a[name] = factor * u[leader], factor * a[leader]
        for name in names:
            coordinates.get(name).setValue(state, q[name], False)
            coordinates.get(name).setSpeedValue(state, u[name])
        model.realizeVelocity(state)
        poses = {}
        for body in model.getBodySet():
            pose = body.getTransformInGround(state)
            poses[body.getName()] = [
                [pose.p()[i] for i in range(3)],
                [[pose.R().get(i, j) for j in range(3)] for i in range(3)],
            ]
        # Speeds of ball and free joints are angular velocities, not derivatives of coordinates.
        u_dot = opensim.Vector(state.getNU(), 0.0)
        for name in names:
            u_dot.set(u_at[name], a[name])
        rate, acceleration = (opensim.Vector(state.getNQ(), 0.0) for _ in range(2))
        matter.calcQDot(state, state.getU(), rate)
        matter.calcQDotDot(state, u_dot, acceleration)
        for force in model.updForceSet():
            force.setAppliesForce(state, False)
        force = opensim.InverseDynamicsSolver(model).solve(state, u_dot)
        samples.append(
            {
                "q": q,
                "rate": {n: rate.get(q_at[n]) for n in names},
                "acceleration": {n: acceleration.get(q_at[n]) for n in names},
                "poses": poses,
                "base": {n: force.get(u_at[n]) for n in names[:6]},
            }
        )
    return {"mass": model.getTotalMass(state), "samples": samples}


def rounded(value):
    """Twelve digits are enough."""
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    if isinstance(value, list):
        return [rounded(v) for v in value]
    return float(f"{value:.12g}") if isinstance(value, float) else value


if __name__ == "__main__":
    opensim.Logger.setLevelString("error")
    recordings = Path(sys.argv[1])
    answers = {"opensim": opensim.GetVersion()}
    for name, path in MODELS.items():
        file = path if path.is_absolute() else recordings / path
        answers[name] = record(file, coupled=name != "every_joint_3")
    print(json.dumps(rounded(answers)))
