"""The fields of a setup file: what was recorded, what moved, what it touched, what is wanted.

A setup is TOML or YAML. Unknown fields are errors. Lengths, angles, forces and times *in the setup*
are SI (angles in radians unless the field says `_deg`); those *in the log* are in `units`.
"""

from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field, model_validator

from stiction._base.files import Fields
from stiction.identify.fields import (
    Columns3,
    Columns4,
    Fraction,
    NotNegative,
    Positive,
    RobustLoss,
    Setup,
    Vector3,
)

_ZERO = [0.0, 0.0, 0.0]


class PoseNoise(Fields):
    """Standard deviation of the motion sensor, per axis; of rates where these are measured."""

    position: Annotated[NotNegative, Field(description="[m]")]
    rotation: Annotated[NotNegative, Field(description="[rad]")] = 0.0
    velocity: Annotated[NotNegative, Field(description="[m/s]")] = 0.0
    angular_velocity: Annotated[NotNegative, Field(description="[rad/s]")] = 0.0


class PoseColumns(Fields):
    """Columns of the moving body's pose in the world, and of its rates where measured."""

    time: str
    file: Annotated[str | None, Field(description="inside LOG, if that is a directory")] = None
    position: Columns3
    quaternion: Annotated[Columns4 | None, Field(description="body to world")] = None
    quaternion_order: Literal["wxyz", "xyzw"] = "wxyz"
    rotation_vector: Columns3 | None = None
    euler: Columns3 | None = None
    euler_axes: Annotated[
        str, Field(pattern="^([xyz]{3}|[XYZ]{3})$", description="lower case: about fixed axes")
    ] = "xyz"
    velocity: Columns3 | None = None
    angular_velocity: Columns3 | None = None
    acceleration: Columns3 | None = None
    angular_acceleration: Columns3 | None = None
    rates_in: Literal["world", "body"] = "world"
    # Where the tracked frame sits on the body.
    body_position: Annotated[Vector3, Field(description="of the body in the tracked frame [m]")] = (
        _ZERO
    )
    body_rotation: Annotated[
        Vector3, Field(description="rotation vector of the body there [rad]")
    ] = _ZERO
    noise: Annotated[PoseNoise | None, Field(description="estimated when left out")] = None

    @model_validator(mode="after")
    def _one_orientation(self):
        given = [self.quaternion, self.rotation_vector, self.euler]
        if sum(g is not None for g in given) > 1:
            raise ValueError("must have one of 'quaternion', 'rotation_vector' and 'euler'")
        if (self.velocity is None) != (self.angular_velocity is None):
            raise ValueError("must have both or neither of 'velocity' and 'angular_velocity'")
        if (self.acceleration is None) != (self.angular_acceleration is None):
            raise ValueError(
                "must have both or neither of 'acceleration' and 'angular_acceleration'"
            )
        return self


class WrenchNoise(Fields):
    """Standard deviation of the force-torque sensor, per axis."""

    force: Annotated[float, Field(ge=0, description="[N]")]
    moment: Annotated[float, Field(ge=0, description="[N·m]")]


class WrenchRange(Fields):
    """What the sensor can measure, per axis."""

    force: Annotated[float, Field(gt=0, description="[N]")]
    moment: Annotated[float, Field(gt=0, description="[N·m]")]


class WrenchColumns(Fields):
    """Columns of the measured wrench, where and in which axes it is taken, and its clock."""

    time: str
    file: Annotated[str | None, Field(description="inside LOG, if that is a directory")] = None
    force: Columns3
    moment: Columns3
    acts_on: Annotated[
        Literal["moving", "fixed"],
        Field(description="the body whose contact wrench the columns hold"),
    ] = "moving"
    frame: Literal["world", "body"] = "world"
    point: Annotated[Vector3, Field(description="reference point in that frame [m]")] = _ZERO
    rotation: Annotated[
        Vector3, Field(description="rotation vector of the sensor's axes in that frame [rad]")
    ] = _ZERO
    noise: Annotated[WrenchNoise | None, Field(description="estimated when left out")] = None
    range: Annotated[WrenchRange | None, Field(description="to recognise saturation")] = None
    delay: Annotated[
        float | Literal["estimate"],
        Field(description="how late the wrench's clock is against the pose's [s]"),
    ] = 0.0
    bias: Annotated[bool, Field(description="estimate a constant offset of the sensor")] = False


class CarriedMass(Fields):
    """Mass properties of what hangs on a sensor that moves along (ma 24)."""

    mass: Positive
    center: Vector3 = _ZERO
    matrix: Annotated[
        list[list[float]], Field(description="3 by 3, about the centre of mass [kg·m²]")
    ]
    gravity: Annotated[Vector3, Field(description="[m/s²]; zero if the sensor was tared")] = _ZERO

    @model_validator(mode="after")
    def _three_by_three(self):
        if len(self.matrix) != 3 or any(len(row) != 3 for row in self.matrix):
            raise ValueError("must have a 'matrix' of 3 by 3")
        return self


class Tolerances(Fields):
    """How far the setup's own numbers may be off, one standard deviation.

    One that is given is a prior of the fit, and zero holds it. One that is left out is suspected
    with its usual size, and counts as far as the data demand it.
    """

    force: Annotated[NotNegative | None, Field(description="sensor offset [N]")] = None
    moment: Annotated[NotNegative | None, Field(description="sensor offset [N·m]")] = None
    drift: Annotated[NotNegative | None, Field(description="of the sensor over a test [N]")] = None
    wander: Annotated[
        NotNegative | None, Field(description="of the sensor's offset beyond a drift [N]")
    ] = None
    cable: Annotated[
        NotNegative | None, Field(description="stiffness of a cable on the tool [N/m]")
    ] = None
    sensor_turn: Annotated[NotNegative | None, Field(description="of its axes [rad]")] = None
    sensor_point: Annotated[NotNegative | None, Field(description="`wrench.point` [m]")] = None
    frame_turn: Annotated[
        NotNegative | None, Field(description="of the motion sensor's world [rad]")
    ] = None
    tool_turn: Annotated[NotNegative | None, Field(description="`pose.body_rotation` [rad]")] = None
    tool_offset: Annotated[NotNegative | None, Field(description="`pose.body_position` [m]")] = None
    plates: Annotated[NotNegative | None, Field(description="along their normals [m]")] = None
    size: Annotated[NotNegative | None, Field(description="of the shapes, relative")] = None
    bending: Annotated[
        NotNegative | None, Field(description="of tool and sensor under load [m/N]")
    ] = None
    play: Annotated[
        NotNegative | None, Field(description="of the tool on the tracked frame, half of it [m]")
    ] = None
    delay: Annotated[NotNegative | None, Field(description="of the wrench's clock [s]")] = None
    rate: Annotated[NotNegative | None, Field(description="of the wrench's clock, relative")] = None


class BoxShape(Fields):
    """A box."""

    shape: Literal["box"]
    half_size: Annotated[list[Positive], Field(min_length=3, max_length=3)]
    center: Vector3 = _ZERO


class SphereShape(Fields):
    """A ball, or a rod's round tip."""

    shape: Literal["sphere"]
    radius: Positive
    center: Vector3 = _ZERO


class CylinderShape(Fields):
    """A cylinder."""

    shape: Literal["cylinder"]
    radius: Positive
    half_length: Positive
    center: Vector3 = _ZERO
    axis: Vector3 = [0.0, 0.0, 1.0]


class MeshShape(Fields):
    """A convex mesh: vertices, or a file that MuJoCo reads (.stl, .obj) beside the setup."""

    shape: Literal["mesh"]
    vertices: list[Vector3] | None = None
    file: str | None = None
    scale: Positive = 1.0

    @model_validator(mode="after")
    def _one_source(self):
        if (self.vertices is None) == (self.file is None):
            raise ValueError("must have exactly one of 'vertices' and 'file'")
        if self.vertices is not None and len(self.vertices) < 4:
            raise ValueError("must have at least 4 'vertices'")
        return self


class HPegShape(Fields):
    """ma's H-shaped peg: two legs joined by a bar; the origin is between the legs' lower ends."""

    shape: Literal["h-peg"]
    width: Positive = 0.08
    height: Positive = 0.12
    depth: Positive = 0.03
    leg: Positive = 0.02


Shape = Annotated[
    BoxShape | SphereShape | CylinderShape | MeshShape | HPegShape, Field(discriminator="shape")
]


class Surface(Fields):
    """A flat plate, and what is wanted of it."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z][\w-]*$")]
    point: Annotated[Vector3, Field(description="the plate's middle [m]")]
    normal: Annotated[Vector3, Field(description="out of the plate")]
    half_size: Annotated[
        list[Positive] | None, Field(min_length=2, max_length=2, description="[m]")
    ] = None
    contacts: Annotated[
        list[int] | None, Field(description="which of the body's points may touch it; all")
    ] = None
    material: Annotated[
        str | None, Field(description="surfaces of one material share parameters; the name")
    ] = None
    wanted: Annotated[
        list[Literal["k", "c", "mu", "lambda", "alpha", "k_f", "mu_s", "offset"]],
        Field(min_length=1),
    ] = ["k", "c", "mu"]
    exponent: Annotated[float, Field(ge=0.5, le=3, description="λ, or where it starts")] = 1.0
    friction_of: Annotated[
        Literal["spring", "normal"],
        Field(description="friction follows the elastic part (ma 6) or the normal force (ma 4)"),
    ] = "spring"
    springs: Annotated[
        list[Positive] | None,
        Field(min_length=4, max_length=4, description="of a spring plate [N/m], for (16)"),
    ] = None
    spring_positions: Annotated[
        list[list[float]] | None,
        Field(min_length=4, max_length=4, description="in the plate's axes, from its middle [m]"),
    ] = None

    @model_validator(mode="after")
    def _sound(self):
        if not any(self.normal):
            raise ValueError("must have a 'normal' that is not zero")
        if "k" not in self.wanted:
            raise ValueError("must want 'k': all other terms are found beside it")
        if "c" in self.wanted and "alpha" in self.wanted:
            raise ValueError("must want one of 'c' (linear) and 'alpha' (Hunt-Crossley)")
        bristle = {"k_f", "mu_s"} & set(self.wanted)
        if bristle and ("mu" not in self.wanted or self.friction_of == "normal"):
            raise ValueError("must want 'mu' of the spring beside 'k_f' and 'mu_s'")
        return self


class Method(Fields):
    """How the parameters are found."""

    name: Annotated[
        Literal["auto", "least-squares", "errors-in-variables"],
        Field(description="auto: errors in variables wherever the motion is noisy"),
    ] = "auto"
    loss: RobustLoss = "squares"
    positive: bool = True
    may_pull: Annotated[bool, Field(description="contacts may pull, as ma's law may")] = False
    confidence: Fraction = 0.95
    knot_spacing: Annotated[float | None, Field(gt=0, description="of the path's spline [s]")] = (
        None
    )
    slip_floor: Annotated[
        float | None, Field(gt=0, description="slip speed below which friction fades [m/s]")
    ] = None
    forgetting: Annotated[float, Field(gt=0, le=1, description="of --online, per sample")] = 1.0
    window: Annotated[int, Field(ge=5, le=201, description="samples of a rate, of --online")] = 9


class Testbed(Fields):
    """A virtual test: the robot's path, the sensors, the truth."""

    waypoints: Annotated[
        list[list[float]],
        Field(min_length=3, description="t [s], x, y, z [m], rotation vector [deg] each"),
    ]
    truth: Annotated[dict[str, float], Field(description="`surface.k`, … as in the output")]
    motion_rate: Annotated[float, Field(gt=0, description="[Hz]")] = 450.0
    wrench_rate: Annotated[float, Field(gt=0, description="[Hz]")] = 1000.0
    keep_every: Annotated[
        list[int], Field(min_length=2, max_length=2, description="sample kept: motion, wrench")
    ] = [1, 1]
    position_noise: NotNegative = 1e-4
    rotation_noise: NotNegative = 5e-4
    force_noise: NotNegative = 0.25
    moment_noise: NotNegative = 0.025
    repeatability: Annotated[float, Field(ge=0, description="of the robot's waypoints [m]")] = 0.0
    delay: Annotated[float, Field(description="of the wrench's clock [s]")] = 0.0
    bearing_friction: Annotated[
        dict[str, NotNegative], Field(description="of a plate's bearings [N], by surface")
    ] = {}
    backlash: Annotated[
        dict[str, NotNegative], Field(description="between peg and springs [m], by surface")
    ] = {}
    tilting_plates: Annotated[
        bool, Field(description="plates with `springs` yield more off their middle, (16)")
    ] = False
    seed: int = 0

    @model_validator(mode="after")
    def _rising(self):
        if any(len(w) != 7 for w in self.waypoints):
            raise ValueError("must have 'waypoints' of 7 numbers each")
        times = [w[0] for w in self.waypoints]
        if any(b <= a for a, b in pairwise(times)):
            raise ValueError("must have 'waypoints' in the order of time")
        if min(self.keep_every) < 1:
            raise ValueError("must have 'keep_every' of 1 or more")
        return self


class Design(Fields):
    """Limits of a test that is to be designed, and what is believed of the parameters."""

    guess: Annotated[dict[str, float], Field(description="`surface.k`, …")]
    duration: Annotated[float, Field(gt=0, description="of one cycle [s]")] = 4.0
    max_depth: Annotated[float, Field(gt=0, description="[m]")] = 0.008
    max_travel: Annotated[float, Field(gt=0, description="along each plate [m]")] = 0.03
    max_speed: Annotated[float, Field(gt=0, description="[m/s]")] = 0.05
    max_acceleration: Annotated[float, Field(gt=0, description="[m/s²]")] = 0.5
    max_force: Annotated[float, Field(gt=0, description="[N]")] = 200.0
    motion_rate: Annotated[float, Field(gt=0, description="[Hz]")] = 450.0
    wrench_rate: Annotated[float, Field(gt=0, description="[Hz]")] = 1000.0
    harmonics: Annotated[int, Field(ge=1, le=8)] = 3
    orientation_deg: Annotated[Vector3, Field(description="rotation vector of the body")] = _ZERO
    wanted_error: Annotated[
        float, Field(gt=0, lt=1, description="relative standard error of every parameter")
    ] = 0.01


class ContactSetup(Setup):
    """A body with a measured pose, plates, and a measured wrench (ma)."""

    kind: Literal["contact"] = "contact"
    pose: PoseColumns
    wrench: WrenchColumns
    inertia: CarriedMass | None = None
    body: Annotated[list[Shape], Field(min_length=1)]
    surfaces: Annotated[list[Surface], Field(min_length=1)]
    tolerances: Tolerances = Tolerances()
    method: Method = Method()
    testbed: Testbed | None = None
    design: Design | None = None

    @model_validator(mode="after")
    def _names(self):
        names = [s.name for s in self.surfaces]
        if len(set(names)) != len(names):
            raise ValueError("must have 'surfaces' of different names")
        by_material: dict[str, Surface] = {}
        for s in self.surfaces:
            first = by_material.setdefault(s.material or s.name, s)
            for field in ("wanted", "exponent", "friction_of"):
                if getattr(first, field) != getattr(s, field):
                    raise ValueError(
                        f"must have the same '{field}' for surfaces of one material"
                        f" ('{first.name}', '{s.name}')"
                    )
        if self.inertia is not None and self.wrench.frame != "body":
            raise ValueError("must have wrench.frame = 'body' beside 'inertia': it moves along")
        return self
