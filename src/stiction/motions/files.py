"""The file format of `stiction motions`: a body, its contacts and what is applied, in TOML or YAML.

Fields carry SI units; angles are in radians. Vectors are lists. See docs/motions.md.
"""

import math
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, FiniteFloat, PositiveFloat, ValidationError, model_validator

from stiction._base.errors import InputError, unknown
from stiction._base.files import Fields, explain, read_fields
from stiction.motions.planar import possible_motions
from stiction.motions.result import Motions
from stiction.motions.spatial import (
    SpatialBody,
    SpatialState,
    possible_spatial_motions,
    spatial_state,
)
from stiction.motions.state import VELOCITY_TOLERANCE, ContactState, PlanarBody, contact_state

EXAMPLES = Path(__file__).parent / "examples"
SUFFIXES = (".toml", ".yaml", ".yml", ".json")

# Of which squares and products are numbers too.
Moderate = Annotated[float, Field(ge=-1e15, le=1e15)]
Vector2 = tuple[Moderate, Moderate]
Vector3 = tuple[Moderate, Moderate, Moderate]
Finite = Annotated[PositiveFloat, Field(le=1e15)]
Friction = Annotated[float, Field(ge=0, le=1e15)]
Curvature = Annotated[float, Field(allow_inf_nan=True)]


class PlanarContact(Fields):
    """A point where the body touches an obstacle."""

    point: Vector2  # [m]
    normal: Vector2  # from the obstacle into the body, any length
    friction: Friction
    kind: Literal["vertex-on-edge", "edge-on-vertex", "curved"] = "vertex-on-edge"
    body_curvature: Curvature | None = None  # [1/m], > 0 where convex; for kind "curved"
    obstacle_curvature: Curvature | None = None
    name: str | None = None

    @model_validator(mode="after")
    def _check(self) -> "PlanarContact":
        given = (self.body_curvature is not None, self.obstacle_curvature is not None)
        if self.kind == "curved" and not all(given):
            raise ValueError(
                "`body_curvature` and `obstacle_curvature` are needed for kind 'curved'"
            )
        if self.kind != "curved" and any(given):
            raise ValueError(f"curvatures belong to kind 'curved', not '{self.kind}'")
        kb, ko = self.curvatures
        if math.isinf(kb) and math.isinf(ko):
            raise ValueError("a vertex on a vertex has no normal: make one curvature finite")
        if not kb + ko > 0:
            raise ValueError(
                f"`body_curvature` + `obstacle_curvature` must be > 0, got {kb + ko}; describe"
                " contact along a line by the vertices at its ends"
            )
        return _with_direction(self)

    @property
    def curvatures(self) -> tuple[float, float]:
        """Curvature of the body and of the obstacle [1/m]."""
        if self.kind == "vertex-on-edge":
            return math.inf, 0.0
        if self.kind == "edge-on-vertex":
            return 0.0, math.inf
        return float(self.body_curvature or 0.0), float(self.obstacle_curvature or 0.0)


class SpatialContact(Fields):
    """A point where a spatial body touches an obstacle."""

    point: Vector3
    normal: Vector3
    friction: Friction
    kind: Literal["vertex-on-face", "face-on-vertex", "edge-on-edge"] = "vertex-on-face"
    body_edge: Vector3 | None = None  # direction, for kind "edge-on-edge"
    obstacle_edge: Vector3 | None = None
    name: str | None = None

    @model_validator(mode="after")
    def _check(self) -> "SpatialContact":
        if self.kind == "edge-on-edge" and (self.body_edge is None or self.obstacle_edge is None):
            raise ValueError("`body_edge` and `obstacle_edge` are needed for kind 'edge-on-edge'")
        return _with_direction(self)


def _with_direction(contact):
    if not any(contact.normal):
        raise ValueError("`normal` must not be zero: give the direction from obstacle into body")
    return contact


class _Problem(Fields):
    title: str = ""
    note: str = ""
    mass: Finite  # [kg]
    velocity_tolerance: Annotated[FiniteFloat, Field(ge=0, lt=1)] = VELOCITY_TOLERANCE

    @property
    def names(self) -> list[str]:
        """The contacts' names; their numbers, from 1, where none is given."""
        contacts: tuple = self.contacts  # type: ignore[attr-defined]
        return [c.name or str(i + 1) for i, c in enumerate(contacts)]

    def _of_contacts(self, field: str) -> np.ndarray:
        """One field of all contacts."""
        contacts: tuple = self.contacts  # type: ignore[attr-defined]
        return np.array([getattr(c, field) for c in contacts], float)


class PlanarProblem(_Problem):
    """A planar body in contact and the force applied to it."""

    dimension: Literal[2] = 2
    inertia: Finite | None = None  # about the center of mass [kg·m²], or
    radius_of_gyration: Finite | None = None  # [m]
    center: Vector2 = (0.0, 0.0)
    velocity: Vector3 = (0.0, 0.0, 0.0)  # v_x, v_y [m/s], ω [rad/s]
    force: Vector2 = (0.0, 0.0)  # weight included [N]
    torque: Moderate = 0.0  # about the center of mass [N·m]
    contacts: tuple[PlanarContact, ...] = ()
    outline: tuple[Vector2, ...] = ()  # of the body, for pictures only

    @model_validator(mode="after")
    def _check(self) -> "PlanarProblem":
        if (self.inertia is None) == (self.radius_of_gyration is None):
            raise ValueError("give one of `inertia` and `radius_of_gyration`")
        return self

    @lru_cache(maxsize=4)  # noqa: B019 (a problem cannot change, and few are kept)
    def state(self) -> ContactState:
        """The body and its contacts, ready for any applied force; made once, asked for often."""
        inertia = self.inertia or self.mass * self.radius_of_gyration**2  # type: ignore[operator]
        curvatures = self._of_contacts("curvatures").reshape(-1, 2)
        return contact_state(
            PlanarBody(self.mass, inertia, self.center, self.velocity),
            points=self._of_contacts("point"),
            normals=self._of_contacts("normal"),
            mu=self._of_contacts("friction"),
            curvature_body=curvatures[:, 0],
            curvature_obstacle=curvatures[:, 1],
            velocity_tolerance=self.velocity_tolerance,
        )

    def motions(self) -> Motions:
        """Every possible motion."""
        return possible_motions(self.state(), force=self.force, torque=self.torque)


class SpatialProblem(_Problem):
    """A spatial body in contact and the force applied to it."""

    dimension: Literal[3]
    inertia: Vector3 | tuple[Vector3, Vector3, Vector3]  # in world axes [kg·m²]
    center: Vector3 = (0.0, 0.0, 0.0)
    velocity: Vector3 = (0.0, 0.0, 0.0)  # [m/s]
    angular_velocity: Vector3 = (0.0, 0.0, 0.0)  # [rad/s]
    force: Vector3 = (0.0, 0.0, 0.0)
    torque: Vector3 = (0.0, 0.0, 0.0)
    contacts: tuple[SpatialContact, ...] = ()
    directions: Annotated[int, Field(ge=3, le=64)] = 8  # edges of the friction pyramid at rest

    def state(self) -> SpatialState:
        """The body and its contacts, ready for any applied force."""
        none = (0.0, 0.0, 0.0)
        edges = [(c.body_edge or none, c.obstacle_edge or none) for c in self.contacts]
        both = np.array(edges, float).reshape(-1, 2, 3)
        return spatial_state(
            SpatialBody(self.mass, self.inertia, self.center, self.velocity, self.angular_velocity),
            points=self._of_contacts("point"),
            normals=self._of_contacts("normal"),
            mu=self._of_contacts("friction"),
            kinds=[c.kind for c in self.contacts],
            body_edges=both[:, 0],
            obstacle_edges=both[:, 1],
            velocity_tolerance=self.velocity_tolerance,
        )

    def motions(self) -> Motions:
        """Every possible motion."""
        return possible_spatial_motions(
            self.state(), force=self.force, torque=self.torque, directions=self.directions
        )


def examples() -> list[str]:
    """The names of the ready examples."""
    return sorted(path.stem for path in EXAMPLES.glob("*.toml"))


def load_problem(source: str | Path) -> PlanarProblem | SpatialProblem:
    """Read a problem from a TOML or YAML file, or an example by its name.

    Raises:
        InputError: If there is no such file or example, or a field in it cannot be.
    """
    path = Path(source)
    if not path.is_file() and path.suffix not in SUFFIXES:
        if str(source) not in examples():
            raise unknown("file or example", source, examples())
        path = EXAMPLES / f"{source}.toml"
    return parse_problem(read_fields(path))


def parse_problem(content: dict[str, Any]) -> PlanarProblem | SpatialProblem:
    """A problem from plain values, as they stand in a file."""
    model = {2: PlanarProblem, 3: SpatialProblem}.get(content.get("dimension", 2))
    if model is None:
        got = content["dimension"]
        raise InputError(f"`dimension` must be 2 (the default) or 3, got {got!r}")
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise InputError(explain(error, model)) from None
