r"""The motion of the whole body over a plan of footsteps: joints by inverse kinematics, the centre
of mass so that the ground can give what it needs.

The pelvis turns and rises as recorded, the trunk bends as recorded, and six joints of each leg
bring its foot where the plan says. Forward and sideways the pelvis is moved until the point of
pressure p that the motion needs,

$$ p = c - \frac{(c_z) \ddot c + \dot L \times \hat z / m}{g + \ddot c_z} , $$

is where people have it: from heel to toes under the foot that stands, and from one foot to the
other while both do. What is missing, Δp, is brought in as by [Kajita2003]: the pendulum upside down

$$ \Delta \ddot c = \frac{g}{c_z} (\Delta c - \Delta p) $$

is solved between both ends of the walk, the pelvis moves by Δc, and legs follow; a few rounds.
"""

from dataclasses import dataclass

import mujoco
import numpy as np
from scipy.linalg import solve_banded
from scipy.ndimage import gaussian_filter1d, maximum_filter1d
from scipy.spatial.transform import Rotation

from stiction._base.errors import InputError
from stiction.biped.walk.footsteps import FootMotion, Sole, WalkPlan, foot_motion, smooth
from stiction.biped.walk.stride import SIDES, TRUNK
from stiction.tables import intervals

GRAVITY = 9.81  # m/s²
RATE = 100.0  # of the motion [Hz]
_ROUNDS, _STEPS = 6, 40
_REACH = 0.998  # of a stretched leg
_LEG = ("hip_flexion", "hip_adduction", "hip_rotation", "knee_flexion", "ankle_flexion",
        "ankle_inversion")  # fmt: skip
# Where the pressure is under a foot: part of its length from the heel, by progress of the stance.
_PRESSURE = ((0.0, 0.19, 0.58, 0.68, 1.0), (0.02, 0.22, 0.62, 0.79, 0.84))
_SMOOTH = 0.03  # s, of the pressure that a motion needs


@dataclass(frozen=True)
class WalkMotion:
    """A motion to follow."""

    time: np.ndarray  # [s]
    q: np.ndarray  # coordinates of the human
    pressure: np.ndarray  # where the ground pushes, as planned [m]. Shape (n, 2)
    needed: np.ndarray  # where it has to, by the motion. Shape (n, 2)


def sole_of(model: mujoco.MjModel) -> Sole:
    """The foot of a human with soles that bend."""
    if mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, "right_bend_inner") < 0:
        raise InputError('a walk needs soles that bend; give the human `sole = "hinged"`')
    heel, joint = model.site("right_heel_inner").pos, model.body("right_toes").pos
    tip = joint[0] + model.site("right_toe_inner").pos[0]
    return Sole(heel[0], joint[0], tip, -heel[2], -float(model.site("right_bend_inner").pos[2]))


def walk_motion(model: mujoco.MjModel, plan: WalkPlan) -> WalkMotion:
    """All coordinates over the plan."""
    sole = sole_of(model)
    t = np.arange(0.0, plan.duration + 0.5 / RATE, 1 / RATE)
    feet = [foot_motion(plan, side, sole, t) for side in (0, 1)]
    pressure = planned_pressure(plan, feet, sole)
    pelvis, turn, trunk = _carried(plan, feet, t)
    pelvis[:, :2] = gaussian_filter1d(pressure, 0.3 * RATE, axis=0, mode="nearest")
    solver = _Legs(model, feet, turn, trunk)
    q = needed = None
    for _ in range(_ROUNDS):
        q = solver.solve(pelvis)
        needed, height = point_of_pressure(model, t, q)
        missing = pressure - needed
        pelvis[:, :2] += _pendulum(missing, GRAVITY / height, 1 / RATE)
    q = solver.solve(pelvis)
    needed, _ = point_of_pressure(model, t, q)
    return WalkMotion(t, q, pressure, needed)


def planned_pressure(plan: WalkPlan, feet: list[FootMotion], sole: Sole) -> np.ndarray:
    """Where the ground pushes. Shape (n, 2)."""
    load = loads(feet)
    under = []
    for side, foot in enumerate(feet):
        at = np.array([s.at for s in plan.stances[side]])[foot.stance]
        still = np.array([not np.isfinite(s.strike) for s in plan.stances[side]])[foot.stance]
        final = np.array([not np.isfinite(s.off) for s in plan.stances[side]])[foot.stance]
        part = np.interp(foot.progress, *_PRESSURE)
        middle = np.interp(_progress_at_rest(plan), *_PRESSURE)
        part = np.where(
            still & (part < middle), middle, np.where(final & (part > middle), middle, part)
        )
        under.append(at[:, :2] + np.stack([sole.heel + part * (sole.tip - sole.heel), 0 * part], 1))
    return load[:, :1] * under[0] + load[:, 1:] * under[1]


def _progress_at_rest(plan: WalkPlan) -> float:
    return 0.3 / plan.stride.toe_off


def loads(feet: list[FootMotion]) -> np.ndarray:
    """The share of each foot: it goes over smoothly while both stand. Shape (n, 2)."""
    both = feet[0].stands & feet[1].stands
    left = np.where(feet[0].stands, 1.0, 0.0)
    for first, after in intervals(both):
        before = 0.5 if first == 0 else left[first - 1]
        later = 0.5 if after == len(left) else left[after]
        u = (np.arange(first, after) - first + 1) / (after - first + 1)
        if first == 0:  # the weight is shifted in the last part of the rest
            u = np.clip((u - 0.3) / 0.7, 0, 1)
        if after == len(left):
            u = np.clip(u / 0.7, 0, 1)
        left[first:after] = before + (later - before) * (u + smooth(u)) / 2
    return np.stack([left, 1 - left], axis=1)


def _carried(plan: WalkPlan, feet: list[FootMotion], t: np.ndarray):
    """Pelvis, its turns and the trunk: as recorded, from rest and to rest."""
    body = plan.stride.body_at(plan.phase(t))
    middle = plan.stride.body[0]
    begin = plan.first - (1 - plan.stride.toe_off) * plan.stride.period
    last = max(s.strike for stances in plan.stances for s in stances)
    moving = smooth((t - begin + 0.3) / 0.6) * (1 - smooth((t - last + 0.2) / 0.6))
    body = middle + moving[:, None] * (body - middle)
    shares = loads(feet)
    ground = sum((shares[:, k] * foot_level(plan, k, feet[k]) for k in (0, 1)), np.zeros(len(t)))
    pelvis = np.concatenate([np.zeros((len(t), 2)), body[:, 2:3]], axis=1)
    pelvis[:, 2] += gaussian_filter1d(ground, 0.1 * RATE, mode="nearest")
    return pelvis, body[:, 3:6], body[:, 6:9]


def foot_level(plan: WalkPlan, side: int, foot: FootMotion) -> np.ndarray:
    """The height on which a foot stands, or stood last."""
    return np.array([s.at[2] for s in plan.stances[side]])[foot.stance]


def _pendulum(missing: np.ndarray, w2: float, dt: float) -> np.ndarray:
    """Δc from Δp, with Δc = Δp at both ends."""
    n = len(missing)
    bands = np.zeros((3, n))
    bands[1] = 2 / dt**2 + w2
    bands[0, 2:], bands[2, :-2] = -1 / dt**2, -1 / dt**2
    bands[1, [0, -1]] = 1.0
    right = w2 * missing
    right[[0, -1]] = missing[[0, -1]]
    return solve_banded((1, 1), bands, right)


def point_of_pressure(
    model: mujoco.MjModel, t: np.ndarray, q: np.ndarray
) -> tuple[np.ndarray, float]:
    """p of every frame, and the mean height of the centre of mass above the feet."""
    data, dt = mujoco.MjData(model), t[1] - t[0]
    n, mass = len(q), model.body_mass.sum()
    center, momentum, spin, low = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros(n)
    toes = [model.site(f"{s}_toe_inner").id for s in SIDES]
    v = np.zeros(model.nv)
    for i in range(n):
        a, b = max(i - 1, 0), min(i + 1, n - 1)
        mujoco.mj_differentiatePos(model, v, (b - a) * dt, q[a], q[b])
        data.qpos[:], data.qvel[:] = q[i], v
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        mujoco.mj_subtreeVel(model, data)
        center[i], momentum[i] = data.subtree_com[0], mass * data.subtree_linvel[0]
        spin[i] = data.subtree_angmom[0]
        low[i] = data.site_xpos[toes, 2].min()
    smoothed = [gaussian_filter1d(np.gradient(x, dt, axis=0), _SMOOTH / dt, axis=0, mode="nearest")
                for x in (momentum, spin)]  # fmt: skip
    force, moment = smoothed[0] + [0, 0, mass * GRAVITY], smoothed[1]
    height = center[:, 2] - gaussian_filter1d(low, 0.2 / dt, mode="nearest")
    x = center[:, 0] - (height * force[:, 0] + moment[:, 1]) / force[:, 2]
    y = center[:, 1] - (height * force[:, 1] - moment[:, 0]) / force[:, 2]
    return np.stack([x, y], axis=1), float(height.mean())


class _Legs:
    """Inverse kinematics of both legs under a pelvis that is given."""

    def __init__(self, model: mujoco.MjModel, feet: list[FootMotion], turn, trunk):
        self.model, self.data, self.feet = model, mujoco.MjData(model), feet
        self.base = Rotation.from_euler("ZYX", turn[:, ::-1]).as_quat(scalar_first=True)
        self.trunk = trunk
        address = lambda name: model.joint(name).qposadr[0]  # noqa: E731
        self.at_trunk = [address(name) for name in TRUNK]
        self.legs = [[address(f"{side}_{j}") for j in _LEG] for side in SIDES]
        self.dofs = [[model.joint(f"{side}_{j}").dofadr[0] for j in _LEG] for side in SIDES]
        self.toes = [address(f"{side}_toe_extension") for side in SIDES]
        self.body = [model.body(f"{side}_foot").id for side in SIDES]
        self.hips = [model.body(f"{side}_thigh").id for side in SIDES]
        self.long = _REACH * (
            abs(model.body("left_shank").pos[2]) + abs(model.body("left_foot").pos[2])
        )
        self.q: np.ndarray | None = None

    def solve(self, pelvis: np.ndarray) -> np.ndarray:
        """All coordinates for a way of the pelvis; it is lowered where legs do not reach."""
        pelvis = pelvis - self._too_far(pelvis)[:, None] * [0, 0, 1]
        q = np.tile(self.model.qpos0, (len(pelvis), 1)) if self.q is None else self.q.copy()
        q[:, :3], q[:, 3:7], q[:, self.at_trunk] = pelvis, self.base, self.trunk
        for side, foot in enumerate(self.feet):
            q[:, self.toes[side]] = foot.toes
            if self.q is None:
                q[:, self.legs[side]] = [0.2, 0, 0, 0.4, 0.2, 0]
        for i in range(len(q)):
            for side in (0, 1):
                if self.q is None and i:
                    q[i, self.legs[side]] = q[i - 1, self.legs[side]]
                self._leg(q[i], side, i)
        self.q = q
        return q

    def _too_far(self, pelvis: np.ndarray) -> np.ndarray:
        drop = np.zeros(len(pelvis))
        for i in range(len(pelvis)):
            R = Rotation.from_quat(self.base[i], scalar_first=True)
            for side, foot in enumerate(self.feet):
                hip = pelvis[i] + R.apply(self.model.body_pos[self.hips[side]])
                away = hip - foot.ankle[i]
                flat = self.long**2 - away[0] ** 2 - away[1] ** 2
                if flat <= 0:
                    raise InputError("steps are too long for these legs; walk with shorter ones")
                drop[i] = max(drop[i], away[2] - np.sqrt(flat))
        wide = maximum_filter1d(drop, int(0.4 * RATE))
        return gaussian_filter1d(wide, 0.12 * RATE, mode="nearest")

    def _leg(self, q: np.ndarray, side: int, i: int) -> None:
        """Newton's method for six joints: place and direction of the foot."""
        model, data, foot = self.model, self.data, self.feet[side]
        want = Rotation.from_euler("y", foot.pitch[i]).as_matrix()
        J = np.zeros((6, model.nv))
        for _ in range(_STEPS):
            data.qpos[:] = q
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            R = data.xmat[self.body[side]].reshape(3, 3)
            error = np.concatenate([foot.ankle[i] - data.xpos[self.body[side]],
                                    Rotation.from_matrix(want @ R.T).as_rotvec()])  # fmt: skip
            if np.abs(error).max() < 1e-9:
                return
            mujoco.mj_jacBody(model, data, J[:3], J[3:], self.body[side])
            A = J[:, self.dofs[side]]
            step = np.linalg.solve(A.T @ A + 1e-10 * np.eye(6), A.T @ error)
            q[self.legs[side]] += np.clip(step, -0.2, 0.2)
        raise InputError(f"a leg cannot reach its footstep at {i / RATE:.2f} s")
