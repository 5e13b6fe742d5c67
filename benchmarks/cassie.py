r"""Landings of the robot Cassie [Acosta2022]: the impact of its first foot, by every law of impact.

The recordings tell the state of the robot at 2 kHz; forces of the ground were not measured. An
impact law takes the velocity just before a foot lands to the one just after, and the joints'
encoders say what became of it.

The leg is a closed loop: a rod of fixed length from the thigh to the heel spring, which the URDF
leaves out. At an impact it is one more row B v = 0, whose impulse is put in beforehand: impulses
change velocities by

$$ M_B^{-1} = M^{-1} - M^{-1} B^T (B M^{-1} B^T)^{-1} B M^{-1} . $$

Leaf springs give way too slowly to matter during an instant. Rotors count as armature. The toe's
own rods are lumped into the foot, as the URDF has them.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from scipy.spatial.transform import Rotation

from stiction._base.arrays import Array, Float
from stiction._base.errors import InputError
from stiction.impacts import ImpactProblem
from stiction.mechanism import (
    Mechanism,
    kinetic_energy,
    load_mechanism,
    mass_matrix,
    point_jacobian,
    point_position,
)

MODEL = "cassie_v2.urdf"
SIDES = ("left", "right")
# Coordinates of a recorded state after the base, in its order: breadth first, as Drake had it.
JOINTS = (
    "hip_roll_left", "hip_roll_right", "hip_yaw_left", "hip_yaw_right", "hip_pitch_left",
    "hip_pitch_right", "knee_left", "knee_right", "knee_joint_left", "knee_joint_right",
    "ankle_joint_left", "ankle_joint_right", "ankle_spring_joint_left", "toe_left",
    "ankle_spring_joint_right", "toe_right",
)  # fmt: skip
# Of a leg, with an encoder each.
ENCODERS = ("hip_roll", "hip_yaw", "hip_pitch", "knee", "knee_joint", "ankle_joint", "toe")
# Rotor inertia at the joint [kg m²], as MuJoCo's model of the robot has it (mujoco_menagerie).
ARMATURE = {"hip_roll": 0.038125, "hip_yaw": 0.038125, "hip_pitch": 0.09344, "knee": 0.09344,
            "toe": 0.01225}  # fmt: skip
SOLE = ((-0.0457, 0.112, 0.0), (0.088, 0.0, 0.0))  # front and rear, on the toe's link [m]
# The rod's ends on thigh and heel spring [m]; that on the thigh is mirrored on the right.
ROD_ON_THIGH, ROD_ON_HEEL, ROD = (0.0, 0.0, 0.045), (0.11877, -0.01, 0.0), 0.5012
TOUCHES = 3e-3  # a foot whose lowest point is lower than this has landed [m]
TOGETHER = 5e-3  # points no higher than this above the lowest land with it [m]
BEFORE = 2  # samples between the state before the impact and the landing


@dataclass(frozen=True)
class Landing:
    """The first foot's landing in a recording.

    Attributes:
        side: Of the foot.
        q: Configuration just before.
        v: Velocity then, such that the loops of the legs stay closed.
        active: Which of the four points land: left front, left rear, right front, right rear.
        period: Of the samples [s].
        later: Velocities of the encoders of that leg from then on [rad/s]. Shape (n, 7).
    """

    side: str
    q: np.ndarray
    v: np.ndarray
    active: np.ndarray
    period: float
    later: np.ndarray


def load_cassie(folder: str | Path) -> Mechanism:
    """The robot from its URDF, on a free base, with the inertia of its rotors."""
    path = Path(folder) / MODEL
    if not path.is_file():
        raise InputError(f"no file '{path}'; give the folder of the recordings and their URDF")
    # Meshes are not there and nothing of them is needed; lumped masses have no inertia.
    text = re.sub(r"<(visual|collision)>.*?</\1>", "", path.read_text(), flags=re.S)
    zero = '<inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/>'
    text = re.sub(r"(<mass [^>]*/>)(\s*</inertial>)", rf"\1{zero}\2", text)
    mechanism = load_mechanism(text, base="free")
    armature = np.array(mechanism.joints.armature)
    for side in SIDES:
        for name, value in ARMATURE.items():
            armature[mechanism.tree.v_address[mechanism.joint(f"{name}_{side}")]] = value
    return eqx.tree_at(lambda m: m.joints.armature, mechanism, jnp.asarray(armature))


def read_landing(folder: str | Path, number: int, mechanism: Mechanism) -> Landing:
    """The first landing of a foot in recording `number`, 0 to 19."""
    folder = Path(folder)
    x, time = (np.load(folder / f"{letter}_{number:02d}.npy") for letter in "xt")
    q, v = (np.stack(rows) for rows in zip(*(_state(row, mechanism) for row in x), strict=True))
    height = np.asarray(_heights(mechanism, jnp.asarray(q)))
    feet = height.reshape(len(x), 2, 2).min(axis=2)
    landed = np.flatnonzero(feet.min(axis=1) < TOUCHES)
    if not landed.size or landed[0] < BEFORE:
        raise InputError(f"recording {number} must begin in flight and land; it does not")
    at = landed[0]
    before, side = at - BEFORE, SIDES[int(feet[at].argmin())]
    columns = [JOINTS.index(f"{name}_{side}") for name in ENCODERS]
    closed = np.asarray(_close_loops(mechanism, jnp.asarray(q[before]), jnp.asarray(v[before])))
    return Landing(
        side=side,
        q=q[before],
        v=closed,
        active=height[at] <= height[at].min() + TOGETHER,
        period=float(np.median(np.diff(time))),
        later=x[before:, 29:][:, columns],
    )


def landing_problem(
    mechanism: Mechanism,
    q: Float[Array, "nq"],
    v: Float[Array, "nv"],
    active: Array,
    restitution: float,
    mu: float,
) -> tuple[ImpactProblem, Float[Array, "nv m"]]:
    """The impact on level ground, and how impulses change the velocity: v⁺ = v + matrix p."""
    J = jnp.concatenate([point_jacobian(mechanism, q, b, p) for b, p in _soles(mechanism)])
    B = _rods(mechanism, q)
    rows = jnp.concatenate([J, B])
    moved = jnp.linalg.solve(mass_matrix(mechanism, q), rows.T)  # M⁻¹ of both
    m = J.shape[0]
    closed = jnp.linalg.solve(B @ moved[:, m:], B @ moved[:, :m])
    change = moved[:, :m] - moved[:, m:] @ closed
    n = m // 3
    same = jnp.ones(n)
    problem = ImpactProblem(
        W=J @ change,
        velocity=(J @ v).reshape(n, 3),
        active=jnp.asarray(active),
        restitution=restitution * same,
        mu_static=mu * same,
        mu_dynamic=mu * same,
        stribeck_speed=1e-4 * same,
        stribeck_exponent=same,
        kinetic=kinetic_energy(mechanism, q, v),
        energetic=jnp.asarray(1.0),
    )
    return problem, change


def encoder_entries(mechanism: Mechanism, side: str) -> np.ndarray:
    """Where the encoders of a leg are in v."""
    tree = mechanism.tree
    return np.array([tree.v_address[mechanism.joint(f"{name}_{side}")] for name in ENCODERS])


def _state(x: np.ndarray, mechanism: Mechanism) -> tuple[np.ndarray, np.ndarray]:
    """A recorded state in the mechanism's order and frames."""
    q, v = np.zeros(mechanism.nq), np.zeros(mechanism.nv)
    turn = Rotation.from_quat(x[:4], scalar_first=True)
    q[:3], q[3:7] = x[4:7], x[:4]
    v[:3], v[3:6] = x[26:29], turn.inv().apply(x[23:26])  # turning is told in world axes there
    for i, name in enumerate(JOINTS):
        joint = mechanism.joint(name)
        q[mechanism.tree.q_address[joint]] = x[7 + i]
        v[mechanism.tree.v_address[joint]] = x[29 + i]
    return q, v


def _soles(mechanism: Mechanism) -> list[tuple[int, Array]]:
    return [(mechanism.body(f"toe_{side}"), jnp.asarray(p)) for side in SIDES for p in SOLE]


@eqx.filter_jit
def _heights(mechanism: Mechanism, q: Float[Array, "n nq"]) -> Float[Array, "n 4"]:
    def one(q: Array) -> Array:
        return jnp.stack([point_position(mechanism, q, b, p)[2] for b, p in _soles(mechanism)])

    return jax.vmap(one)(q)


def _rods(mechanism: Mechanism, q: Float[Array, "nq"]) -> Float[Array, "2 nv"]:
    """B: how fast the rods would change their lengths."""
    rows = []
    for side in SIDES:
        thigh, heel = mechanism.body(f"thigh_{side}"), mechanism.body(f"heel_spring_{side}")
        mirror = 1.0 if side == "left" else -1.0
        one = jnp.asarray(ROD_ON_THIGH) * jnp.asarray([1.0, 1.0, mirror])
        two = jnp.asarray(ROD_ON_HEEL)
        along = point_position(mechanism, q, thigh, one) - point_position(mechanism, q, heel, two)
        J = point_jacobian(mechanism, q, thigh, one) - point_jacobian(mechanism, q, heel, two)
        rows.append(along @ J / jnp.sqrt(along @ along))
    return jnp.stack(rows)


@eqx.filter_jit
def _close_loops(
    mechanism: Mechanism, q: Float[Array, "nq"], v: Float[Array, "nv"]
) -> Float[Array, "nv"]:
    """v with the speeds of the heel springs (they have no encoders) that keep the rods' lengths."""
    B = _rods(mechanism, q)
    springs = np.array(
        [mechanism.tree.v_address[mechanism.joint(f"ankle_spring_joint_{s}")] for s in SIDES]
    )
    v = v.at[springs].set(0.0)
    return v.at[springs].set(-jnp.linalg.solve(B[:, springs], B @ v))
