"""What an animation is: shapes on bodies, and where the bodies are at each time."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from stiction._base.errors import InputError, unknown

Numbers = Sequence[float | int] | np.ndarray

# kind -> how many numbers its size has, as in MuJoCo's `geom_size`.
SIZES = {
    "plane": 2, "sphere": 1, "ellipsoid": 3, "capsule": 2, "cylinder": 2, "box": 3, "line": 1,
    "mesh": 0,
}  # fmt: skip
VIEWS = ("auto", "side", "front", "top", "iso")
SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)  # as in the player's list
WORLD = -1  # the body of what does not move


@dataclass
class Shape:
    """A shape fixed to a body."""

    kind: str  # plane, sphere, ellipsoid, capsule, cylinder, box, line or mesh
    # as MuJoCo's `geom_size` [m]: sphere (radius), ellipsoid (three semi-axes), capsule and
    # cylinder (radius, half length along z), box (three half sides), plane (half sides along x and
    # y, 0 for endless; seen from +z), line (half length along z). More numbers than the kind needs
    # are ignored, as MuJoCo pads its sizes with zeros
    size: Numbers = ()
    # colour and opacity in [0, 1]; none takes the body's colour from a palette
    rgba: Numbers | None = None
    body: int = WORLD  # index of the body that carries it, `WORLD` for none
    position: Numbers = (0.0, 0.0, 0.0)  # of the shape's origin in the body's frame [m]
    quaternion: Numbers = (1.0, 0.0, 0.0, 0.0)  # of the shape's axes in the body's frame, wxyz
    vertices: np.ndarray | None = None  # of a mesh [m]. Shape (n, 3)
    # of a mesh: three vertices each, counter-clockwise from outside. Shape (m, 3)
    faces: np.ndarray | None = None

    def __post_init__(self):
        if self.kind not in SIZES:
            raise unknown("kind of shape", self.kind, SIZES)
        if (self.kind == "mesh") != (self.vertices is not None and self.faces is not None):
            raise InputError(f"a mesh must have `vertices` and `faces`, got a {self.kind}")
        self.size = _numbers(f"size of {self.kind}", self.size)[: SIZES[self.kind]]
        if len(self.size) < SIZES[self.kind] or not (
            (self.size > 0).all() or (self.kind == "plane" and (self.size >= 0).all())
        ):
            raise InputError(
                f"`size` of a {self.kind} must be {SIZES[self.kind]} positive numbers,"
                f" got {self.size.tolist()}"
            )
        if self.rgba is not None:
            self.rgba = _numbers("rgba", self.rgba, 4)
        self.position = _numbers("position", self.position, 3)
        self.quaternion = _unit("quaternion", self.quaternion, 4)


@dataclass
class Plane:
    """A ground: a plane through `point` with upward `normal` [m], endless or a rectangle."""

    point: Numbers = (0.0, 0.0, 0.0)  # a point of it [m]; the origin of its grid
    normal: Numbers = (0.0, 0.0, 1.0)  # its normal, out of the ground; any length
    # half sides [m] along its own x (the world's x as seen on the plane) and y, 0 endless
    size: Numbers = (0.0, 0.0)
    rgba: Numbers | None = None  # colour; none is the page's ground colour

    def as_shape(self) -> Shape:
        """The same as a shape of the world."""
        from scipy.spatial.transform import Rotation

        z = _unit("normal", self.normal, 3)
        # The plane's x is the world's x as nearly as may be, so that the grid runs down a slope.
        x = np.array([1.0, 0.0, 0.0]) if abs(z[0]) < 0.999 else np.array([0.0, 1.0, 0.0])
        x = x - z * (x @ z)
        x /= np.linalg.norm(x)
        axes = np.stack([x, np.cross(z, x), z], axis=1)
        quaternion = Rotation.from_matrix(axes).as_quat(scalar_first=True)
        return Shape("plane", self.size, self.rgba, WORLD, self.point, quaternion)


@dataclass(frozen=True)
class Mark:
    """Something that happened: a mark on the time line."""

    time: float  # when [s]
    kind: str  # one word or two; events of one kind have one colour
    text: str = ""  # what more there is to say, shown when the mark is pointed at
    color: str = ""  # of its kind, "#rrggbb"; by default the next of a palette


@dataclass
class Trail:
    """The path of a point fixed to a body, drawn as far as it has come."""

    body: int  # index of the body
    point: Numbers = (0.0, 0.0, 0.0)  # in the body's frame [m]
    rgba: Numbers | None = None  # colour; none takes the body's


@dataclass
class Animation:
    """A motion to look at: a picture in three dimensions that plays in a page, from disk."""

    time: np.ndarray  # times [s], not decreasing. Shape (n,)
    shapes: Sequence[Shape]  # what is seen
    positions: np.ndarray  # of the bodies' origins in the world [m]. Shape (n, n_bodies, 3)
    quaternions: np.ndarray  # of the bodies' axes in the world, wxyz. Shape (n, n_bodies, 4)
    # planes to stand on (several make a slope or a wedge); planes may also be shapes
    ground: Sequence[Plane] = field(default_factory=lambda: [Plane()])
    events: Sequence[Mark] = ()  # marks on the time line
    # contact points and the forces on the bodies there, in the world [m, N]; zero or nan where
    # there is no contact. Shape (n, n_contacts, 6)
    forces: np.ndarray | None = None
    # of impacts: time, point and impulse in the world [s, m, N s], in order of time. They are drawn
    # for a moment, in which the player goes slower. Shape (n_impulses, 7)
    impulses: np.ndarray | None = None
    trails: Sequence[Trail] = ()  # points whose paths are drawn
    # when everything came to rest [s]: what follows is folded away at first
    rest: float | None = None
    up: str = "z"  # the axis that points up, "z" or "y"
    # "side" (x to the right), "front", "top", "iso", or "auto": the side for a motion in the
    # vertical plane of x, a corner view otherwise
    view: str = "auto"
    # whether the camera goes with the bodies; none lets the length of the way decide
    follow: bool | None = None
    start: float = 0.0  # the time shown before playing [s]
    speed: float = 1.0  # speed of playing at first: 0.1, 0.25, 0.5, 1, 2 or 4
    caption: str = ""  # a line below the picture

    def __post_init__(self):
        self.time = _numbers("time", self.time)
        n = len(self.time)
        if n == 0 or (np.diff(self.time) < 0).any():
            raise InputError("`time` must hold at least one time and never decrease")
        self.positions = _table("positions", self.positions, n, 3)
        self.quaternions = _table("quaternions", self.quaternions, n, 4)
        n_bodies = self.positions.shape[1]
        if self.quaternions.shape[1] != n_bodies:
            raise InputError(
                f"`quaternions` has {self.quaternions.shape[1]} bodies, `positions` has {n_bodies};"
                " they must be the same"
            )
        size = np.linalg.norm(self.quaternions, axis=-1, keepdims=True)
        if (size < 1e-9).any():
            raise InputError("`quaternions` must not be zero; no rotation is (1, 0, 0, 0)")
        self.quaternions = self.quaternions / size
        if self.forces is not None:
            self.forces = np.nan_to_num(np.asarray(self.forces, float))
            self.forces = _table("forces", self.forces, n, 6)
        if self.impulses is not None:
            self.impulses = _table("impulses", np.asarray(self.impulses)[:, None], None, 7)[:, 0]
        for name, items in (("shapes", self.shapes), ("trails", self.trails)):
            for item in items:
                if not WORLD <= item.body < n_bodies:
                    raise InputError(
                        f"`{name}` names body {item.body}; bodies are 0 to {n_bodies - 1},"
                        f" the world is {WORLD}"
                    )
        if self.view not in VIEWS:
            raise unknown("view", self.view, VIEWS)
        if self.up not in ("y", "z"):
            raise InputError(f"`up` must be 'z' or 'y', got {self.up!r}")
        if self.speed not in SPEEDS:
            raise InputError(f"`speed` must be one of {SPEEDS}, got {self.speed}")

    def to_html(self, *, with_player: bool = True) -> str:
        """A fragment of HTML that shows the animation, for `Report.raw` or any other page.

        Args:
            with_player: Include the player's program and style. A page with several animations
                needs them once; `Report.animation` sees to that.
        """
        from stiction.report.player.markup import fragment

        return fragment(self, with_player=with_player)


def _numbers(name: str, values: Numbers, count: int | None = None) -> np.ndarray:
    """The values as a vector of finite floats."""
    array = np.array(values, float)  # a copy: SciPy does not take read-only views
    if array.ndim != 1 or (count is not None and len(array) != count):
        wanted = "a list of numbers" if count is None else f"{count} numbers"
        raise InputError(f"`{name}` must be {wanted}, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise InputError(f"`{name}` must be finite, got {array.tolist()}")
    return array


def _unit(name: str, values: Numbers, count: int) -> np.ndarray:
    """The values as a vector of length one."""
    array = _numbers(name, values, count)
    size = np.linalg.norm(array)
    if size < 1e-9:
        raise InputError(f"`{name}` must not be zero")
    return array / size


def _table(name: str, values: np.ndarray, n: int | None, width: int) -> np.ndarray:
    """The values as finite floats of shape (n, anything, width); no n is any number."""
    array = np.array(values, float)
    n = array.shape[0] if n is None else n
    if array.ndim != 3 or array.shape[0] != n or array.shape[2] != width:
        raise InputError(f"`{name}` must have shape ({n}, n, {width}), got {array.shape}")
    if not np.isfinite(array).all():
        row = int(np.argwhere(~np.isfinite(array))[0, 0])
        raise InputError(f"`{name}` must be finite, but is not at row {row}")
    return array
