"""The file format of `stiction motions`: a body, its contacts and what is applied, in TOML or YAML.

Fields carry SI units; angles are in radians. Vectors are lists. See docs/motions.md.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import (
    AfterValidator,
    Field,
    FiniteFloat,
    PositiveFloat,
    ValidationError,
    model_validator,
)

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
from stiction.motions.vertices import (
    TipWay,
    choices,
    merged,
    middle_normal,
    referred,
    ways_of_vertices,
)

EXAMPLES = Path(__file__).parent / "examples"
SUFFIXES = (".toml", ".yaml", ".yml", ".json")

# Of which squares and products are numbers too.
Moderate = Annotated[float, Field(ge=-1e15, le=1e15)]
Vector2 = tuple[Moderate, Moderate]
Vector3 = tuple[Moderate, Moderate, Moderate]
Finite = Annotated[PositiveFloat, Field(le=1e15)]
Friction = Annotated[float, Field(ge=0, le=1e15)]


def _is_curvature(x: float) -> float:
    if not (abs(x) <= 1e15 or math.isinf(x)):
        raise ValueError("must be inf (a vertex) or at most 1e15 1/m")
    return x


Curvature = Annotated[float, Field(allow_inf_nan=True), AfterValidator(_is_curvature)]


class PlanarContact(Fields):
    """A point where the body touches an obstacle."""

    point: Vector2  # [m]
    normal: Vector2 | None = None  # from the obstacle into the body, any length
    friction: Friction
    kind: Literal["vertex-on-edge", "edge-on-vertex", "vertex-on-vertex", "curved"] = (
        "vertex-on-edge"
    )
    body_edges: tuple[Vector2, Vector2] | None = None  # from the vertex, for "vertex-on-vertex"
    obstacle_edges: tuple[Vector2, Vector2] | None = None
    body_curvature: Curvature | None = None  # [1/m], > 0 where convex; for kind "curved"
    obstacle_curvature: Curvature | None = None
    name: str | None = None

    @model_validator(mode="after")
    def _check(self) -> "PlanarContact":
        edges = (self.body_edges is not None, self.obstacle_edges is not None)
        if self.kind == "vertex-on-vertex":
            if not all(edges):
                raise ValueError(
                    "`body_edges` and `obstacle_edges` are needed for kind 'vertex-on-vertex'"
                )
            if self.normal is not None:
                raise ValueError("`normal` must be left out: a vertex on a vertex has none")
            try:
                self.ways  # noqa: B018 (the corners are checked)
            except InputError as error:
                raise ValueError(str(error)) from None
            return self
        if any(edges):
            raise ValueError(f"edges belong to kind 'vertex-on-vertex', not '{self.kind}'")
        given = (self.body_curvature is not None, self.obstacle_curvature is not None)
        if self.kind == "curved" and not all(given):
            raise ValueError(
                "`body_curvature` and `obstacle_curvature` are needed for kind 'curved'"
            )
        if self.kind != "curved" and any(given):
            raise ValueError(f"curvatures belong to kind 'curved', not '{self.kind}'")
        kb, ko = self.curvatures
        if math.isinf(kb) and math.isinf(ko):
            raise ValueError(
                "curvatures of a vertex on a vertex are both infinite: use kind 'vertex-on-vertex'"
            )
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

    @property
    def ways(self) -> tuple[TipWay, TipWay] | None:
        """The generic contacts beside a vertex on a vertex."""
        if self.body_edges is None or self.obstacle_edges is None:
            return None
        return ways_of_vertices(np.array(self.body_edges), np.array(self.obstacle_edges))

    def in_way(self, way: TipWay) -> "PlanarContact":
        """The vertex on a vertex, kept in one way."""
        kind = "vertex-on-edge" if way.on_obstacle_edge else "edge-on-vertex"
        normal = (float(way.normal[0]), float(way.normal[1]))
        return PlanarContact(
            point=self.point, normal=normal, friction=self.friction, kind=kind, name=self.name
        )


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
    if contact.normal is None or not any(contact.normal):
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
        """The body and its contacts, ready for any applied force; made once, asked for often.

        A vertex on a vertex is two contacts here, one for each of its ways.
        """
        if self.has_vertices:
            return self.generic([c.ways or () for c in self.contacts]).state()
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

    @property
    def has_vertices(self) -> bool:
        """Whether some contact is a vertex on a vertex."""
        return any(c.kind == "vertex-on-vertex" for c in self.contacts)

    def generic(self, choice: Sequence[tuple[TipWay, ...]]) -> "PlanarProblem":
        """The problem with each vertex on a vertex kept in given ways."""
        contacts = [
            one
            for c, ways in zip(self.contacts, choice, strict=True)
            for one in ([c.in_way(way) for way in ways] if ways else [c])
        ]
        return self.model_copy(update={"contacts": tuple(contacts)})

    def drawn(self) -> "PlanarProblem":
        """The problem for pictures: a vertex on a vertex has the normal that forces refer to."""
        middle = [
            (TipWay(middle_normal(c.ways), np.zeros(2), True),) if c.ways else ()
            for c in self.contacts
        ]
        return self.generic(middle)

    def motions(self) -> Motions:
        """Every possible motion."""
        if not self.has_vertices:
            return possible_motions(self.state(), force=self.force, torque=self.torque)
        pairs = [c.ways for c in self.contacts]
        answers = [(choice, self.generic(choice).motions()) for choice in choices(pairs)]
        normals = [None if pair is None else middle_normal(pair) for pair in pairs]
        return referred(merged(answers), normals)


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
