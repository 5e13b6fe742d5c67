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

from stiction.identify import shapes
from stiction.identify.contacts import Motion
from stiction.identify.export.replay import POINT, Piece, Stage, Wrenches, axes_of

NAME = f"Drake {importlib.metadata.version('drake')}"


def wrenches_in_drake(stage: Stage, motion: Motion) -> Wrenches:
    """Contact forces on the body, and their moments about the world's origin."""
    diagram, plant, body = _build(stage)
    root = diagram.CreateDefaultContext()
    context = plant.GetMyMutableContextFromRoot(root)
    port = plant.get_contact_results_output_port()
    quaternions = Rotation.from_matrix(np.asarray(motion.rotation)).as_quat(scalar_first=True)
    q = np.concatenate([quaternions, np.asarray(motion.position)], axis=1)
    v = np.concatenate([np.asarray(motion.angular_velocity), np.asarray(motion.velocity)], axis=1)
    out = np.zeros((len(q), 6))
    for row, x in zip(out, np.concatenate([q, v], axis=1), strict=True):  # Drake has no batches
        plant.SetPositionsAndVelocities(context, x)
        results = port.Eval(context)
        for i in range(results.num_point_pair_contacts()):
            contact = results.point_pair_contact_info(i)
            sign = 1.0 if contact.bodyB_index() == body.index() else -1.0
            force = sign * contact.contact_force()
            row[:3] += force
            row[3:] += np.cross(contact.contact_point(), force)
    return out


def _build(stage: Stage):
    builder = DiagramBuilder()
    config = MultibodyPlantConfig(time_step=0.0, contact_model="point")
    plant, scene = AddMultibodyPlant(config, builder)
    inertia = SpatialInertia(stage.mass, np.zeros(3), UnitInertia(1.0, 1.0, 1.0))
    body = plant.AddRigidBody("body", inertia)
    plates = [_add_plate(stage, plant, p) for p in range(len(stage.surfaces))]
    filters = scene.collision_filter_manager()
    for g, piece in enumerate(stage.pieces):
        # Equal surfaces make the pair that was asked for; a piece that meets several plates has
        # one copy for each, in that plate's material.
        for p in piece.plates:
            pose, shape = _shape(piece)
            geometry = plant.RegisterCollisionGeometry(
                body, pose, shape, f"piece{g}-{p}", _material(stage.surfaces[p].parameters)
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


def _add_plate(stage: Stage, plant, p: int):
    plates = stage.model.plates
    origin, axes, half = (np.asarray(a)[p] for a in (plates.origin, plates.axes, plates.half_size))
    turn = RotationMatrix(axes)
    if stage.edges[p]:
        thick = float(half.max())
        pose, shape = RigidTransform(turn, origin - thick * axes[:, 2]), Box(*2 * half, 2 * thick)
    else:  # a half space has no edges to meet
        pose, shape = RigidTransform(turn, origin), HalfSpace()
    material = _material(stage.surfaces[p].parameters)
    return plant.RegisterCollisionGeometry(plant.world_body(), pose, shape, f"plate{p}", material)


def _shape(piece: Piece):
    shape = piece.shape
    if isinstance(shape, shapes.Sphere):
        return RigidTransform(np.asarray(shape.center)), Sphere(float(shape.radius))
    if isinstance(shape, shapes.Cylinder):
        pose = RigidTransform(RotationMatrix(axes_of(shape)), np.asarray(shape.center))
        return pose, Cylinder(float(shape.radius), 2 * float(shape.half_length))
    return RigidTransform(np.asarray(piece.corner)), Sphere(POINT)


def _material(parameters) -> ProximityProperties:
    material = ProximityProperties()
    AddContactMaterial(
        dissipation=parameters["hunt_crossley_dissipation"],
        point_stiffness=parameters["point_contact_stiffness"],
        friction=CoulombFriction(parameters["mu_static"], parameters["mu_dynamic"]),
        properties=material,
    )
    return material
