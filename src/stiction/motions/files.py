"""The file format of `stiction motions`: a body, its contacts and what is applied, in TOML or YAML.

Fields carry SI units; angles are in radians. Vectors are lists. See docs/motions.md.
"""

import math
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    FiniteFloat,
    PositiveFloat,
    Tag,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from stiction._errors import InputError, unknown
from stiction.motions.planar import motions_of
from stiction.motions.result import Motions
from stiction.motions.spatial import possible_spatial_motions
from stiction.motions.state import VELOCITY_TOLERANCE, ContactState, contact_state

EXAMPLES = Path(__file__).parent / "examples"

Vector2 = tuple[FiniteFloat, FiniteFloat]
Vector3 = tuple[FiniteFloat, FiniteFloat, FiniteFloat]
Finite = Annotated[PositiveFloat, Field(allow_inf_nan=False)]
Friction = Annotated[FiniteFloat, Field(ge=0)]
Curvature = Annotated[float, Field(allow_inf_nan=True)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PlanarContact(_Strict):
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
        """Of the body and of the obstacle."""
        if self.kind == "vertex-on-edge":
            return math.inf, 0.0
        if self.kind == "edge-on-vertex":
            return 0.0, math.inf
        return float(self.body_curvature or 0.0), float(self.obstacle_curvature or 0.0)


class SpatialContact(_Strict):
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


class _Problem(_Strict):
    title: str = ""
    note: str = ""
    mass: Finite  # [kg]
    velocity_tolerance: Annotated[FiniteFloat, Field(ge=0, lt=1)] = VELOCITY_TOLERANCE

    @property
    def names(self) -> list[str]:
        """The contacts' names; their numbers, from 1, where none is given."""
        contacts: tuple = self.contacts  # type: ignore[attr-defined]
        return [c.name or str(i + 1) for i, c in enumerate(contacts)]


class PlanarProblem(_Problem):
    """A planar body in contact and the force applied to it."""

    dimension: Literal[2] = 2
    inertia: Finite | None = None  # about the center of mass [kg·m²], or
    radius_of_gyration: Finite | None = None  # [m]
    center: Vector2 = (0.0, 0.0)
    velocity: Vector3 = (0.0, 0.0, 0.0)  # v_x, v_y [m/s], ω [rad/s]
    force: Vector2 = (0.0, 0.0)  # weight included [N]
    torque: FiniteFloat = 0.0  # about the center of mass [N·m]
    contacts: tuple[PlanarContact, ...] = ()
    outline: tuple[Vector2, ...] = ()  # of the body, for pictures only

    @model_validator(mode="after")
    def _check(self) -> "PlanarProblem":
        if (self.inertia is None) == (self.radius_of_gyration is None):
            raise ValueError("give one of `inertia` and `radius_of_gyration`")
        return self

    def state(self) -> ContactState:
        """The body and its contacts, ready for any applied force."""
        inertia = self.inertia or self.mass * self.radius_of_gyration**2  # type: ignore[operator]
        curvatures = np.array([c.curvatures for c in self.contacts]).reshape(-1, 2)
        return contact_state(
            mass=self.mass,
            inertia=inertia,
            points=[c.point for c in self.contacts],
            normals=[c.normal for c in self.contacts],
            mu=np.array([c.friction for c in self.contacts]),
            velocity=self.velocity,
            center=self.center,
            curvature_body=curvatures[:, 0],
            curvature_obstacle=curvatures[:, 1],
            velocity_tolerance=self.velocity_tolerance,
        )

    def motions(self) -> Motions:
        """Every possible motion."""
        return motions_of(self.state(), force=self.force, torque=self.torque)


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

    def motions(self) -> Motions:
        """Every possible motion."""
        edges = [[c.body_edge or (0, 0, 0), c.obstacle_edge or (0, 0, 0)] for c in self.contacts]
        edges = np.array(edges, float).reshape(-1, 2, 3)
        return possible_spatial_motions(
            mass=self.mass,
            inertia=self.inertia,
            points=[c.point for c in self.contacts],
            normals=[c.normal for c in self.contacts],
            mu=np.array([c.friction for c in self.contacts]),
            velocity=self.velocity,
            angular_velocity=self.angular_velocity,
            force=self.force,
            torque=self.torque,
            center=self.center,
            kinds=[c.kind for c in self.contacts],
            body_edges=edges[:, 0],
            obstacle_edges=edges[:, 1],
            directions=self.directions,
            velocity_tolerance=self.velocity_tolerance,
        )


def _dimension(value: Any) -> str:
    given = value.get("dimension", 2) if isinstance(value, dict) else value.dimension
    return str(given)


_PROBLEM: TypeAdapter[PlanarProblem | SpatialProblem] = TypeAdapter(
    Annotated[
        Annotated[PlanarProblem, Tag("2")] | Annotated[SpatialProblem, Tag("3")],
        Discriminator(
            _dimension,
            custom_error_type="dimension",
            custom_error_message="`dimension` must be 2 (the default) or 3",
        ),
    ]
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
    if not path.is_file():
        if path.suffix in (".toml", ".yaml", ".yml", ".json"):
            raise InputError(f"no file '{source}'; give the path of a TOML or YAML file")
        if str(source) not in examples():
            raise unknown("file or example", source, examples())
        path = EXAMPLES / f"{source}.toml"
    try:
        text = path.read_text(encoding="utf-8")
        content = tomllib.loads(text) if path.suffix == ".toml" else yaml.safe_load(text)
    except (tomllib.TOMLDecodeError, yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"'{source}' is not valid TOML or YAML: {error}") from None
    return parse_problem(content)


def parse_problem(content: Any) -> PlanarProblem | SpatialProblem:
    """A problem from plain values, as they stand in a file."""
    if not isinstance(content, dict):
        raise InputError("a problem must be a table of fields such as `mass` and `contacts`")
    try:
        return _PROBLEM.validate_python(content)
    except ValidationError as error:
        raise InputError(_one_line(error)) from None


def _one_line(error: ValidationError) -> str:
    """The first thing that is wrong: field, what it must be, what it was."""
    first = error.errors()[0]
    # Parts that name a type belong to pydantic's unions, not to the file.
    parts = [p for p in first["loc"] if p not in ("2", "3") and "[" not in str(p)]
    path = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in parts).lstrip(".")
    field = f"`{path}`"
    match first["type"]:
        case "missing":
            return f"{field} is missing"
        case "extra_forbidden":
            return f"{field} is not a field of the format; remove it or correct its name"
        case "value_error" | "dimension":
            message = first["msg"].removeprefix("Value error, ")
            return f"{field}: {message}" if path else message
        case "too_long" | "too_short" | "tuple_type":
            wanted = first.get("ctx", {}).get("max_length") or first.get("ctx", {}).get(
                "min_length"
            )
            list_of = f"a list of {wanted} numbers" if wanted else "a list of numbers"
            return f"{field} must be {list_of}, got {first['input']!r}"
        case _:
            message = first["msg"].replace("Input should be", "must be")
            return f"{field} {message}, got {first['input']!r}"
