"""A log replayed by Drake: the point contacts of a continuous plant, pose after pose."""

# Drake is optional.
# pyright: reportMissingImports=false
import importlib.metadata

import numpy as np
from pydrake.geometry import (
    AddContactMaterial,
    Box,
    CollisionFilterDeclaration,
    Cylinder,
    GeometrySet,
    HalfSpace,
    ProximityProperties,
    Sphere,
)
from pydrake.math import RigidTransform, RotationMatrix
from pydrake.multibody.plant import AddMultibodyPlant, CoulombFriction, MultibodyPlantConfig
from pydrake.multibody.tree import SpatialInertia, UnitInertia
from pydrake.systems.framework import DiagramBuilder
from scipy.spatial.transform import Rotation

from stiction._base.arrays import Float
from stiction.interop.replay import ReplayMotion, ReplayPiece, ReplayPlate, ReplayScene

NAME = f"Drake {importlib.metadata.version('drake')}"


def wrenches_in_drake(scene: ReplayScene, motion: ReplayMotion) -> Float[np.ndarray, "n 6"]:
    """Contact forces on the body, and their moments about the world's origin."""
    diagram, plant, body = _build(scene)
    root = diagram.CreateDefaultContext()
    context = plant.GetMyMutableContextFromRoot(root)
    port = plant.get_contact_results_output_port()
    quaternions = Rotation.from_matrix(motion.rotation).as_quat(scalar_first=True)
    states = np.concatenate(
        [quaternions, motion.position, motion.angular_velocity, motion.velocity], axis=1
    )
    out = np.zeros((len(states), 6))
    for row, x in zip(out, states, strict=True):  # Drake has no batches
        plant.SetPositionsAndVelocities(context, x)
        results = port.Eval(context)
        for i in range(results.num_point_pair_contacts()):
            contact = results.point_pair_contact_info(i)
            sign = 1.0 if contact.bodyB_index() == body.index() else -1.0
            force = sign * contact.contact_force()
            row[:3] += force
            row[3:] += np.cross(contact.contact_point(), force)
    return out


def _build(scene: ReplayScene):
    builder = DiagramBuilder()
    config = MultibodyPlantConfig(time_step=0.0, contact_model="point")
    plant, graph = AddMultibodyPlant(config, builder)
    inertia = SpatialInertia(scene.mass, np.zeros(3), UnitInertia(1.0, 1.0, 1.0))
    body = plant.AddRigidBody("body", inertia)
    world = plant.world_body()
    plates = [
        plant.RegisterCollisionGeometry(
            world, *_plate_shape(plate), f"plate{p}", _material(plate.parameters)
        )
        for p, plate in enumerate(scene.plates)
    ]
    filters = graph.collision_filter_manager()
    for g, piece in enumerate(scene.pieces):
        # Equal surfaces make the pair that was asked for; a piece that meets several plates has
        # one copy for each, in that plate's material.
        for p in piece.plates:
            material = _material(scene.plates[p].parameters)
            geometry = plant.RegisterCollisionGeometry(
                body, *_piece_shape(piece), f"piece{g}-{p}", material
            )
            others = [other for i, other in enumerate(plates) if i != p]
            filters.Apply(
                CollisionFilterDeclaration().ExcludeBetween(
                    GeometrySet(geometry), GeometrySet(others)
                )
            )
    plant.mutable_gravity_field().set_gravity_vector(np.zeros(3))
    plant.Finalize()
    return builder.Build(), plant, body


def _plate_shape(plate: ReplayPlate):
    turn = RotationMatrix(plate.axes)
    if not plate.ends:  # a half space has no edges to meet
        return RigidTransform(turn, plate.origin), HalfSpace()
    thick = float(plate.half_size.max())
    middle = plate.origin - thick * plate.axes[:, 2]
    return RigidTransform(turn, middle), Box(*2 * plate.half_size, 2 * thick)


def _piece_shape(piece: ReplayPiece):
    if piece.half_length is None:
        return RigidTransform(piece.center), Sphere(piece.radius)
    pose = RigidTransform(RotationMatrix(piece.axes), piece.center)
    return pose, Cylinder(piece.radius, 2 * piece.half_length)


def _material(parameters) -> ProximityProperties:
    material = ProximityProperties()
    AddContactMaterial(
        dissipation=parameters["hunt_crossley_dissipation"],
        point_stiffness=parameters["point_contact_stiffness"],
        friction=CoulombFriction(parameters["mu_static"], parameters["mu_dynamic"]),
        properties=material,
    )
    return material
