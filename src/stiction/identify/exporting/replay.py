"""The wrenches that an engine's contact makes of the motion in a log."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from stiction._base.arrays import Float
from stiction.identify.contact.along import contacts_along, wrenches_along
from stiction.identify.contact.from_setup import contact_model
from stiction.identify.contact.geometry import BodyState
from stiction.identify.contact.model import BIAS, ContactModel
from stiction.identify.contact.parameters import model_values
from stiction.identify.contact.plates import plates
from stiction.identify.contact.prune import prune
from stiction.identify.contact.shapes import Corners, Cylinder, Sphere
from stiction.identify.kinds.contact_setup import ContactSetup
from stiction.identify.result import Identification
from stiction.interop import (
    POINT,
    ExportedSurface,
    ReplayMotion,
    ReplayPiece,
    ReplayPlate,
    ReplayScene,
    replayer,
)

# Force and moment, sample by sample.
Wrenches = Float[np.ndarray, "n 6"]


def replay(
    found: Identification,
    setup: ContactSetup,
    folder: Path,
    engine: str,
    exported: Mapping[str, ExportedSurface],
    mass: float,
) -> tuple[str, list[Wrenches]]:
    """Who replayed the log, and the wrenches of each test as its sensor would have read them."""
    model, theta = _engine_law(found, setup, folder, exported)
    motions = [t.motion for t in found.traces]
    if (asked := replayer(engine)) is None:
        read = [np.asarray(wrenches_along(model, theta, m)) for m in motions]
        return f"stiction, with {engine}'s law", read
    by, wrenches = asked
    surfaces = [exported[s.material or s.name] for s in setup.surfaces]
    scene = _scene(model, theta, motions, surfaces, mass)
    bias = np.array([found.value_of(n) for n in BIAS])
    names = ("position", "rotation", "velocity", "angular_velocity")
    plain = [ReplayMotion(*(np.asarray(getattr(m, n)) for n in names)) for m in motions]
    return by, [
        bias + _as_read(model, m, wrenches(scene, p)) for m, p in zip(motions, plain, strict=True)
    ]


def _scene(
    model: ContactModel, theta, motions, surfaces: list[ExportedSurface], mass: float
) -> ReplayScene:
    """Body and plates as engines know them, the plates where they were found to be."""
    beyond = np.zeros(len(surfaces), dtype=bool)
    for m in motions:
        c = contacts_along(model, theta, m)
        behind = (np.asarray(c.depth) > 0) & ~np.asarray(c.near) & np.asarray(model.allowed)
        beyond |= behind.any(axis=(0, 2))
    flat = model.plates
    origin = flat.origin + model.plate_values("offset", theta)[:, None] * flat.normal
    places = map(np.asarray, (origin, flat.axes, flat.half_size))
    return ReplayScene(
        plates=tuple(
            ReplayPlate(origin, axes, half, ends, s.parameters)
            for origin, axes, half, ends, s in zip(*places, beyond.tolist(), surfaces, strict=True)
        ),
        pieces=tuple(_pieces(model)),
        mass=mass,
    )


def _pieces(model: ContactModel) -> list[ReplayPiece]:
    """What of the body collides.

    Engines that look for one point of a pair of shapes would miss the others: so corners touch
    each for itself, as they did when the contact was identified.
    """
    pieces = []
    for shape, own in model.shapes():
        may = tuple(np.flatnonzero(own.any(axis=1)).tolist())
        if isinstance(shape, Corners):
            pieces += [
                ReplayPiece(tuple(np.flatnonzero(meets).tolist()), corner, POINT)
                for corner, meets in zip(np.asarray(shape.points), own.T, strict=True)
            ]
        elif isinstance(shape, Cylinder):
            axes = np.asarray(plates([np.zeros(3)], np.asarray(shape.axis)[None]).axes)[0]
            size = float(shape.radius), float(shape.half_length)
            pieces.append(ReplayPiece(may, np.asarray(shape.center), *size, axes))
        else:
            assert isinstance(shape, Sphere)
            pieces.append(ReplayPiece(may, np.asarray(shape.center), float(shape.radius)))
    return pieces


def _as_read(model: ContactModel, motion: BodyState, world: Wrenches) -> Wrenches:
    """Wrenches about the world's origin, in the axes and about the point of the sensor."""
    force, moment = world[:, :3], world[:, 3:]
    R, point = np.asarray(motion.rotation), np.asarray(model.reference)
    if model.axes == "body":
        point = np.asarray(motion.position) + R @ point
    moment = moment - np.cross(point, force)
    if model.axes == "body":
        force, moment = (np.einsum("nji,nj->ni", R, a) for a in (force, moment))
    return np.concatenate([force, moment], axis=1)


def _engine_law(found, setup: ContactSetup, folder: Path, exported):
    """The model with the engines' laws in it, and their numbers."""
    surfaces, values = [], {n: found.value_of(n) for n in found.parameters if n in BIAS}
    for s in setup.surfaces:
        name = s.material or s.name
        law = dict(exported[name].law)
        if "offset" in s.wanted:
            law["offset"] = found.value_of(f"{name}.offset")
        values |= {f"{name}.{letter}": v for letter, v in law.items()}
        new = {"wanted": list(law), "exponent": 1.0, "friction_of": "normal"}
        surfaces.append(s.model_copy(update=new))
    model = contact_model(setup.model_copy(update={"surfaces": surfaces}), folder)
    model = prune(model, [t.motion for t in found.traces])
    return model, model_values(model, values)
