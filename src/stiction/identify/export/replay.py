"""The wrenches that an engine's contact makes of the motion in a log."""

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import equinox as eqx
import numpy as np

from stiction._arrays import Float
from stiction.identify.build import build_model, model_values
from stiction.identify.contacts import Motion
from stiction.identify.export.engine_contact import value_of
from stiction.identify.export.formats import ExportedSurface
from stiction.identify.model import BIAS, ContactModel
from stiction.identify.plates import plates
from stiction.identify.prune import prune
from stiction.identify.regression import contacts_of
from stiction.identify.result import Identification
from stiction.identify.setup import ContactSetup
from stiction.identify.shapes import AbstractShape, Corners, Cylinder
from stiction.identify.testbed import wrench_along


@dataclass(frozen=True)
class Piece:
    """What of the body an engine collides: a shape or a corner of it, and the plates it may meet.

    Engines that look for one point of a pair of shapes would miss the others: so corners touch
    each for itself, as they did when the contact was identified.
    """

    shape: AbstractShape
    corner: Float[np.ndarray, "3"] | None
    plates: tuple[int, ...]


@dataclass(frozen=True)
class Stage:
    """What an engine needs to know to replay a log.

    Attributes:
        model: Shapes and plates, the plates where they were found to be.
        pieces: Of the body.
        surfaces: Of each plate, its numbers in the engine.
        edges: Of each plate, whether something passes beyond its edge, behind its surface.
        mass: Of the body [kg].
    """

    model: ContactModel
    pieces: tuple[Piece, ...]
    surfaces: tuple[ExportedSurface, ...]
    edges: tuple[bool, ...]
    mass: float


POINT = 1e-9  # m: radius of a corner in an engine that knows no points

# Force and moment about the world's origin that the plates exert on the body, sample by sample.
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
    if (asked := _ask(engine)) is None:
        return f"stiction, with {engine}'s law", [wrench_along(model, theta, m) for m in motions]
    by, wrenches = asked
    surfaces = tuple(exported[s.material or s.name] for s in setup.surfaces)
    stage = _stage(model, theta, motions, surfaces, mass)
    bias = np.array([value_of(found, n) for n in BIAS])
    return by, [bias + _as_read(model, m, wrenches(stage, m)) for m in motions]


def _ask(engine: str) -> tuple[str, Callable[[Stage, Motion], Wrenches]] | None:
    """An engine that is here and tells the force of a given motion."""
    if engine == "mujoco":
        from stiction.identify.export.in_mujoco import NAME, wrenches_in_mujoco

        return NAME, wrenches_in_mujoco
    if engine == "drake" and importlib.util.find_spec("pydrake") is not None:
        from stiction.identify.export.in_drake import NAME, wrenches_in_drake

        return NAME, wrenches_in_drake
    return None


def _stage(model: ContactModel, theta, motions, surfaces, mass: float) -> Stage:
    allowed, pieces, first = np.asarray(model.allowed), [], 0
    for shape in model.body:
        own = allowed[:, first : first + shape.n_points]
        first += shape.n_points
        if isinstance(shape, Corners):
            pieces += [
                Piece(shape, corner, tuple(np.flatnonzero(may).tolist()))
                for corner, may in zip(np.asarray(shape.points), own.T, strict=True)
            ]
        else:
            pieces.append(Piece(shape, None, tuple(np.flatnonzero(own.any(axis=1)).tolist())))
    beyond = np.zeros(len(allowed), dtype=bool)
    for m in motions:
        c = contacts_of(model, theta, m)
        behind = (np.asarray(c.depth) > 0) & ~np.asarray(c.near) & allowed
        beyond |= behind.any(axis=(0, 2))
    offset = model.plate_values("offset", theta)
    moved = model.plates.origin + offset[:, None] * model.plates.normal
    model = eqx.tree_at(lambda m: m.plates.origin, model, moved)
    return Stage(model, tuple(pieces), surfaces, tuple(beyond.tolist()), mass)


def axes_of(cylinder: Cylinder) -> Float[np.ndarray, "3 3"]:
    """Axes whose third is the cylinder's."""
    return np.asarray(plates(np.zeros((1, 3)), np.asarray(cylinder.axis)[None]).axes)[0]


def _as_read(model: ContactModel, motion: Motion, world: Wrenches) -> Wrenches:
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
    surfaces, values = [], {n: value_of(found, n) for n in found.parameters if n in BIAS}
    for s in setup.surfaces:
        name = s.material or s.name
        law = dict(exported[name].law)
        if "offset" in s.wanted:
            law["offset"] = value_of(found, f"{name}.offset")
        values |= {f"{name}.{letter}": v for letter, v in law.items()}
        new = {"wanted": list(law), "exponent": 1.0, "friction_of": "normal"}
        surfaces.append(s.model_copy(update=new))
    model = build_model(setup.model_copy(update={"surfaces": surfaces}), folder)
    model = prune(model, [t.motion for t in found.traces])
    return model, model_values(model, values)
