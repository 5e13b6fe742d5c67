"""A log replayed by MuJoCo: the contact forces of its poses and velocities, all in one call."""

# MuJoCo's binary module has no stubs.
# pyright: reportAttributeAccessIssue=false
import mujoco
import numpy as np
from mujoco import rollout
from scipy.spatial.transform import Rotation

from stiction.identify.contacts import Motion
from stiction.identify.export.replay import POINT, Stage, Wrenches, axes_of
from stiction.identify.shapes import Cylinder, Sphere

NAME = f"MuJoCo {mujoco.__version__}"


def wrenches_in_mujoco(stage: Stage, motion: Motion) -> Wrenches:
    """What holds the plates against the body: the wrench that they exert on it."""
    model = _model(stage)
    R = np.asarray(motion.rotation)
    spin = np.einsum("nji,nj->ni", R, np.asarray(motion.angular_velocity))  # in the body's axes
    states = np.concatenate(
        [
            np.zeros((len(R), 1)),
            np.asarray(motion.position),
            Rotation.from_matrix(R).as_quat(scalar_first=True),
            np.asarray(motion.velocity),
            spin,
        ],
        axis=1,
    )
    # The sensors of a step belong to the state that it starts from.
    _, read = rollout.rollout(model, mujoco.MjData(model), states, nstep=1)
    return np.asarray(read)[:, 0]


def _model(stage: Stage) -> mujoco.MjModel:
    spec = mujoco.MjSpec()
    option = spec.option
    option.gravity = np.zeros(3)
    option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    option.impratio = max(s.parameters["impratio"] for s in stage.surfaces)
    under = spec.worldbody.add_body(name="plates")
    _add_plates(stage, under)
    _add_body(stage, spec)
    for g, piece in enumerate(stage.pieces):
        for p in piece.plates:
            made = stage.surfaces[p].parameters
            pair = spec.add_pair(geomname1=f"plate{p}", geomname2=f"piece{g}", condim=3)
            pair.solref, pair.solimp = made["solref"], made["solimp"]
            pair.solreffriction, pair.friction = made["solreffriction"], made["friction"]
    under.add_site(name="sensor")
    for kind in (mujoco.mjtSensor.mjSENS_FORCE, mujoco.mjtSensor.mjSENS_TORQUE):
        spec.add_sensor(type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, objname="sensor")
    return spec.compile()


def _add_plates(stage: Stage, under) -> None:
    plates = stage.model.plates
    for p, (origin, axes, half, ends) in enumerate(
        zip(
            *map(np.asarray, (plates.origin, plates.axes, plates.half_size)),
            stage.edges,
            strict=True,
        )
    ):
        place = {"quat": Rotation.from_matrix(axes).as_quat(scalar_first=True)}
        if ends:
            thick = float(half.max())
            place |= {"pos": origin - thick * axes[:, 2], "size": [*half, thick]}
            kind = mujoco.mjtGeom.mjGEOM_BOX
        else:  # an unbounded plane has no edges to meet
            place |= {"pos": origin, "size": [1.0, 1.0, 1.0]}
            kind = mujoco.mjtGeom.mjGEOM_PLANE
        under.add_geom(name=f"plate{p}", type=kind, contype=0, conaffinity=0, **place)


def _add_body(stage: Stage, spec) -> None:
    body = spec.worldbody.add_body(name="body")
    body.add_freejoint()
    body.mass, body.inertia, body.explicitinertial = stage.mass, np.full(3, stage.mass), True
    for g, piece in enumerate(stage.pieces):
        shape = piece.shape
        if isinstance(shape, Sphere):
            made = {"pos": shape.center, "size": [shape.radius, 0, 0]}
        elif isinstance(shape, Cylinder):
            made = {
                "type": mujoco.mjtGeom.mjGEOM_CYLINDER,
                "pos": shape.center,
                "size": [shape.radius, shape.half_length, 0],
                "quat": Rotation.from_matrix(axes_of(shape)).as_quat(scalar_first=True),
            }
        else:
            made = {"pos": piece.corner, "size": [POINT, 0, 0]}
        body.add_geom(name=f"piece{g}", contype=0, conaffinity=0, **made)
