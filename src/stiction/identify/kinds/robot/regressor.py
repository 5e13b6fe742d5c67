r"""Joint torques as a linear function of inertial parameters [AtkesonAnHollerbach1986].

With body i's $\pi_i = (m, m c, I_o)$ about its own origin, spatial velocity and acceleration of its
origin $(\omega, v)$, $(\alpha, a)$ in body axes and gravity taken as $a_0 = -g$,

$$ f = m a + ([\alpha]_\times + [\omega]_\times^2)\, m c, \qquad
   n = I_o \alpha + \omega \times I_o \omega + m c \times a, $$

and joint j before it carries $\tau_j = z_j \cdot n + (z_j \times (o - r_j)) \cdot f$ (hinge) or
$z_j \cdot f$ (slide). Motion is followed in Plücker coordinates at the world's origin
[Featherstone2008], all samples at once.
"""

from dataclasses import dataclass

import mujoco
import numpy as np

from stiction._base.arrays import Float
from stiction._base.errors import InputError
from stiction.identify.contact.geometry import skew

PER_BODY = 10  # m, m c (3), I_xx, I_yy, I_zz, I_xy, I_xz, I_yz about the body's origin
_HINGE, _SLIDE = int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)


@dataclass(frozen=True)
class Chain:
    """The joints of a fixed-base robot and the bodies that they move."""

    model: mujoco.MjModel  # as MuJoCo compiled it
    joints: tuple[str, ...]  # names, in the order of q
    bodies: tuple[int, ...]  # numbers of the bodies that move

    @property
    def body_names(self) -> list[str]:
        """Names of the bodies that move."""
        return [self.model.body(b).name or f"body{b}" for b in self.bodies]


def chain_of(model: mujoco.MjModel) -> Chain:
    """The chain of a model whose joints are all hinges and slides."""
    bad = [j for j in range(model.njnt) if int(model.jnt_type[j]) not in (_HINGE, _SLIDE)]
    if bad or model.njnt == 0:
        what = f"joint '{model.joint(bad[0]).name}' is another" if bad else "it has no joint"
        raise InputError(f"`mechanism` of kind 'robot' must have hinges and slides alone; {what}")
    if model.neq or model.ntendon:
        raise InputError(
            "`mechanism` of kind 'robot' must be a tree without loops and tendons, got"
            f" {model.neq} equality constraints and {model.ntendon} tendons; take them out"
        )
    moved = tuple(b for b in range(1, model.nbody) if model.body_weldid[b] != 0)
    names = tuple(model.joint(j).name or f"joint{j}" for j in range(model.njnt))
    return Chain(model, names, moved)


def parameters_of(chain: Chain) -> Float[np.ndarray, "bodies 10"]:
    """π of each body as the model has it."""
    m = chain.model
    out = np.zeros((len(chain.bodies), PER_BODY))
    for row, b in zip(out, chain.bodies, strict=True):
        R = np.zeros(9)
        mujoco.mju_quat2Mat(R, m.body_iquat[b])
        R, mass, c = R.reshape(3, 3), m.body_mass[b], m.body_ipos[b]
        I = R @ np.diag(m.body_inertia[b]) @ R.T + mass * (c @ c * np.eye(3) - np.outer(c, c))
        row[:] = [mass, *(mass * c), I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
    return out


def regressor(
    chain: Chain,
    q: Float[np.ndarray, "n j"],
    v: Float[np.ndarray, "n j"],
    a: Float[np.ndarray, "n j"],
) -> Float[np.ndarray, "n j p"]:
    """Y with τ = Y π: torques of inertia and gravity alone."""
    m, n = chain.model, len(q)
    frames, joints = _follow(m, q, v, a)
    Y = np.zeros((n, m.njnt, len(chain.bodies) * PER_BODY))
    for i, b in enumerate(chain.bodies):
        R, o, V, A = frames[b]
        force, moment = _body_rows(R, o, V, A)
        place = slice(i * PER_BODY, (i + 1) * PER_BODY)
        for j in _joints_before(m, b):
            z, anchor, hinge = joints[j]
            z_b = _into(R, z)
            if hinge:
                u_b = _into(R, np.cross(z, o - anchor))
                Y[:, j, place] = _dot(z_b, moment) + _dot(u_b, force)
            else:
                Y[:, j, place] = _dot(z_b, force)
    return Y


def _dot(direction: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return np.einsum("nk,nkp->np", direction, rows)


def _into(R: np.ndarray, x: np.ndarray) -> np.ndarray:
    """World vectors in body axes."""
    return np.einsum("nji,nj->ni", R, x)


def _joints_before(m: mujoco.MjModel, body: int) -> list[int]:
    out = []
    while body > 0:
        start, count = int(m.body_jntadr[body]), int(m.body_jntnum[body])
        out += range(start, start + count) if count else []
        body = int(m.body_parentid[body])
    return out


def _follow(m: mujoco.MjModel, q, v, a):
    """Frames, spatial velocities and accelerations of all bodies; axes and anchors of joints."""
    n = len(q)
    still = np.zeros((n, 6))
    fall = np.tile(np.concatenate([np.zeros(3), -m.opt.gravity]), (n, 1))
    frames = {0: (np.tile(np.eye(3), (n, 1, 1)), np.zeros((n, 3)), still, fall)}
    joints = {}
    for b in range(1, m.nbody):
        R, o, V, A = frames[int(m.body_parentid[b])]
        fixed = np.zeros(9)
        mujoco.mju_quat2Mat(fixed, m.body_quat[b])
        o, R = o + R @ m.body_pos[b], R @ fixed.reshape(3, 3)
        first = int(m.body_jntadr[b])
        for j in range(first, first + int(m.body_jntnum[b])):
            hinge = int(m.jnt_type[j]) == _HINGE
            z, anchor = R @ m.jnt_axis[j], o + R @ m.jnt_pos[j]
            angle = q[:, j] - m.qpos0[j]
            if hinge:
                S = np.concatenate([z, np.cross(anchor, z)], axis=1)
                R = R @ _turns(m.jnt_axis[j], angle)
                o = anchor - R @ m.jnt_pos[j]
            else:
                S = np.concatenate([np.zeros((n, 3)), z], axis=1)
                o = o + z * angle[:, None]
            moved = S * v[:, j, None]
            A = A + S * a[:, j, None] + _cross(V, moved)
            V = V + moved
            joints[j] = (z, anchor, hinge)
        frames[b] = (R, o, V, A)
    return frames, joints


def _turns(axis: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Rotations about one axis, by Rodrigues' formula."""
    K = np.cross(np.eye(3), axis)
    s, c = np.sin(angle)[:, None, None], np.cos(angle)[:, None, None]
    return np.eye(3) + s * K + (1 - c) * (K @ K)


def _cross(V: np.ndarray, S: np.ndarray) -> np.ndarray:
    """V × S of motions."""
    w, v = V[:, :3], V[:, 3:]
    return np.concatenate([np.cross(w, S[:, :3]), np.cross(w, S[:, 3:]) + np.cross(v, S[:, :3])], 1)


def _times_inertia(x: np.ndarray) -> np.ndarray:
    """L with I x = L (I_xx, I_yy, I_zz, I_xy, I_xz, I_yz)."""
    L = np.zeros((len(x), 3, 6))
    for i in range(3):
        L[:, i, i] = x[:, i]
    for column, (i, k) in enumerate(((0, 1), (0, 2), (1, 2)), start=3):
        L[:, i, column], L[:, k, column] = x[:, k], x[:, i]
    return L


def _body_rows(R, o, V, A) -> tuple[np.ndarray, np.ndarray]:
    """Force and moment about the body's origin, body axes, over its ten parameters."""
    w, alpha = _into(R, V[:, :3]), _into(R, A[:, :3])
    velocity = V[:, 3:] + np.cross(V[:, :3], o)
    # Of the point of the body at its origin: the spatial one has no centripetal part.
    a = A[:, 3:] + np.cross(A[:, :3], o) + np.cross(V[:, :3], velocity)
    a = _into(R, a)
    W = skew(w)
    force, moment = np.zeros((2, len(w), 3, PER_BODY))
    force[:, :, 0] = a
    force[:, :, 1:4] = skew(alpha) + W @ W
    moment[:, :, 1:4] = -skew(a)
    moment[:, :, 4:] = _times_inertia(alpha) + W @ _times_inertia(w)
    return force, moment
