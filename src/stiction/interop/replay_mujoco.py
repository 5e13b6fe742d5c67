"""A log replayed by MuJoCo: the contact forces of its poses and velocities, all in one call."""

# MuJoCo's binary module has no stubs.
# pyright: reportAttributeAccessIssue=false
import mujoco
import numpy as np
from mujoco import rollout
from scipy.spatial.transform import Rotation

from stiction._base.arrays import Float
from stiction.interop.replay import ReplayMotion, ReplayScene

NAME = f"MuJoCo {mujoco.__version__}"


def wrenches_in_mujoco(scene: ReplayScene, motion: ReplayMotion) -> Float[np.ndarray, "n 6"]:
    """What holds the plates against the body: the wrench that they exert on it."""
    model, R = _model(scene), motion.rotation
    spin = np.einsum("nji,nj->ni", R, motion.angular_velocity)  # in the body's axes
    states = np.concatenate(
        [np.zeros((len(R), 1)), motion.position, quat_of(R), motion.velocity, spin], axis=1
    )
    # The sensors of a step belong to the state that it starts from.
    _, read = rollout.rollout(model, mujoco.MjData(model), states, nstep=1)
    return np.asarray(read)[:, 0]


def _model(scene: ReplayScene) -> mujoco.MjModel:
    spec = mujoco.MjSpec()
    option = spec.option
    option.gravity = np.zeros(3)
    option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    option.impratio = max(plate.parameters["impratio"] for plate in scene.plates)
    under = spec.worldbody.add_body(name="plates")
    for p, plate in enumerate(scene.plates):
        # An unbounded plane has no edges to meet.
        kind, pos, size = mujoco.mjtGeom.mjGEOM_PLANE, plate.origin, [1.0, 1.0, 1.0]
        if plate.ends:
            thick = float(plate.half_size.max())
            kind, size = mujoco.mjtGeom.mjGEOM_BOX, [*plate.half_size, thick]
            pos = plate.origin - thick * plate.axes[:, 2]
        _add(under, f"plate{p}", type=kind, pos=pos, size=size, quat=quat_of(plate.axes))
    body = spec.worldbody.add_body(name="body")
    body.add_freejoint()
    body.mass, body.inertia, body.explicitinertial = scene.mass, np.full(3, scene.mass), True
    for g, piece in enumerate(scene.pieces):
        if piece.half_length is None or piece.axes is None:
            _add(body, f"piece{g}", pos=piece.center, size=[piece.radius, 0, 0])
        else:
            kind, size = mujoco.mjtGeom.mjGEOM_CYLINDER, [piece.radius, piece.half_length, 0]
            quat = quat_of(piece.axes)
            _add(body, f"piece{g}", type=kind, pos=piece.center, size=size, quat=quat)
        for p in piece.plates:
            made = scene.plates[p].parameters
            pair = spec.add_pair(geomname1=f"plate{p}", geomname2=f"piece{g}", condim=3)
            pair.solref, pair.solimp = made["solref"], made["solimp"]
            pair.solreffriction, pair.friction = made["solreffriction"], made["friction"]
    under.add_site(name="sensor")
    for kind in (mujoco.mjtSensor.mjSENS_FORCE, mujoco.mjtSensor.mjSENS_TORQUE):
        spec.add_sensor(type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, objname="sensor")
    return spec.compile()


def _add(body, name: str, **shape) -> None:
    """A geom that touches only what a pair says."""
    body.add_geom(name=name, contype=0, conaffinity=0, **shape)


def quat_of(R: np.ndarray) -> np.ndarray:
    """As MuJoCo has rotations: w, x, y, z."""
    return Rotation.from_matrix(R).as_quat(scalar_first=True)
