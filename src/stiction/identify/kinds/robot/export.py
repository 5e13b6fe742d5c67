"""An identified robot as edits of its model, and the log replayed with them."""

from pathlib import Path

import mujoco
import numpy as np

from stiction._base.arrays import Float
from stiction._base.errors import InputError
from stiction.identify.exporting import Export, Replay
from stiction.identify.kinds.robot.identify import RobotProblem, spec_of
from stiction.identify.kinds.robot.inertia import pseudo_inertia
from stiction.identify.kinds.robot.regressor import PER_BODY
from stiction.identify.kinds.robot.setup import RobotSetup
from stiction.identify.result import Identification

# Terms of a joint as models have them; an offset and Stribeck's part no model has.
_MJCF = {"armature": "armature", "viscous": "damping", "coulomb": "frictionloss",
         "spring": "stiffness"}  # fmt: skip
_URDF = {"viscous": "damping", "coulomb": "friction"}


def export_robot(
    found: Identification,
    setup: RobotSetup,
    engine: str,
    *,
    mass: float | None = None,
    folder: Path = Path(),
) -> Export:
    """The whole model with the identified numbers (`mujoco`), or its elements (`urdf`).

    Arguments are those of `stiction.identify.export`.
    """
    if mass is not None:
        raise InputError(f"`--mass` is of one body in contact, not of a robot; got {mass:g}")
    problem: RobotProblem = found.fitted_to
    own = _terms(problem, setup)
    if engine == "mujoco":
        spec = _edited(problem, setup, folder, own)
        text, known = spec.to_xml(), _MJCF
    elif engine == "urdf":
        text, known = _elements(problem, own), _URDF
    else:
        raise InputError(f"a robot is exported as mujoco or urdf, got '{engine}'")
    left = [t for t in setup.terms if t not in known]
    limits = [f"the model has no {t.replace('_', ' ')}: add it in the controller" for t in left]
    return Export(engine, {}, text, _replay(found, setup, folder, own), tuple(limits))


def _terms(problem: RobotProblem, setup: RobotSetup) -> dict[str, Float[np.ndarray, " j"]]:
    n, joints = len(problem.chain.bodies) * PER_BODY, len(problem.chain.joints)
    return dict(zip(setup.terms, problem.phi[n:].reshape(-1, joints), strict=True))


def _about_centre(pi: Float[np.ndarray, "10"]) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre and inertia about the centre, body axes."""
    J = pseudo_inertia(pi)
    m, c = J[3, 3], J[:3, 3] / J[3, 3]
    S = J[:3, :3] - m * np.outer(c, c)
    return float(m), c, np.trace(S) * np.eye(3) - S


def _bodies(problem: RobotProblem):
    for i, name in enumerate(problem.chain.body_names):
        yield name, *_about_centre(problem.phi[i * PER_BODY : (i + 1) * PER_BODY])


def _edited(problem: RobotProblem, setup: RobotSetup, folder: Path, own) -> mujoco.MjSpec:
    """The model with other inertias and joints."""
    spec = spec_of(setup, folder)
    by_name = {b.name or f"body{i}": b for i, b in enumerate(spec.bodies)}
    for name, m, c, I in _bodies(problem):
        body = by_name[name]
        body.explicitinertial, body.mass, body.ipos = True, m, c
        body.iquat, body.inertia = [1, 0, 0, 0], [0, 0, 0]
        body.fullinertia = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
    for joint, j in zip(spec.joints, range(len(problem.chain.joints)), strict=True):
        for term, word in _MJCF.items():
            if term not in own:
                continue
            value = float(own[term][j])
            # Damping and stiffness are polynomials, of which this is the linear part.
            old = getattr(joint, word)
            setattr(
                joint, word, value if np.ndim(old) == 0 else [value, *np.zeros(np.size(old) - 1)]
            )
    return spec


def _elements(problem: RobotProblem, own) -> str:
    lines = []
    for name, m, c, I in _bodies(problem):
        xyz = " ".join(f"{x:.9g}" for x in c)
        six = zip(("ixx", "iyy", "izz", "ixy", "ixz", "iyz"),
                  (I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]), strict=True)  # fmt: skip
        lines += [
            f'<link name="{name}">',
            "  <inertial>",
            f'    <origin xyz="{xyz}" rpy="0 0 0"/>',
            f'    <mass value="{m:.9g}"/>',
            f"    <inertia {' '.join(f'{k}={chr(34)}{v:.9g}{chr(34)}' for k, v in six)}/>",
            "  </inertial>",
            "</link>",
        ]
    for j, joint in enumerate(problem.chain.joints):
        words = " ".join(f'{w}="{own[t][j]:.9g}"' for t, w in _URDF.items() if t in own)
        lines.append(f'<joint name="{joint}"> <dynamics {words}/> </joint>')
    return "\n".join(lines) + "\n"


def _replay(found: Identification, setup: RobotSetup, folder: Path, own) -> Replay:
    """Torques of the log by MuJoCo's inverse dynamics of the edited model.

    Dry friction is a constraint there, which inverse dynamics softens; it is added as it is, with
    what a model does not have.
    """
    problem: RobotProblem = found.fitted_to
    model = _edited(problem, setup, folder, own).compile()
    model.dof_frictionloss[:] = 0
    data, square, count = mujoco.MjData(model), 0.0, 0
    inertial = {"armature", "viscous", "spring"}
    joints = len(problem.chain.joints)
    first = len(problem.chain.bodies) * PER_BODY
    outside = [first + k * joints + j for k, t in enumerate(setup.terms) if t not in inertial
               for j in range(joints)]  # fmt: skip
    for log in problem.logs:
        by_hand = log.Y[:, :, outside] @ problem.phi[outside]
        for i in range(len(log.time)):
            data.qpos[:], data.qvel[:] = log.position[i], log.velocity[i]
            data.qacc[:] = log.acceleration[i]
            mujoco.mj_inverse(model, data)
            missed = log.use[i] * (log.torque[i] - data.qfrc_inverse - by_hand[i])
            square, count = square + float(missed @ missed), count + joints
    rms = {"torque_rms": float(np.sqrt(square / count))}
    return Replay(f"MuJoCo {mujoco.__version__}", rms, {"torque_rms": found.residual_rms})
