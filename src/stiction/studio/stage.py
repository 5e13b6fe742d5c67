"""What is seen: bodies, ghosts, forces, friction cones, trails, centre of mass, at a time.

Everything goes into the scene of one browser, under names that begin with what it is. Shapes are
MuJoCo's, made into meshes by mjviser; they are placed by MuJoCo's kinematics.
"""

import copy
from typing import Any

import mujoco
import numpy as np
import trimesh
from mjviser import conversions
from scipy.spatial import ConvexHull, QhullError

from stiction.engines import places_along
from stiction.mechanism import GREY
from stiction.report.figures import COLORS
from stiction.report.meshes import drawn, field_mesh
from stiction.report.player.payload import BODY_COLORS
from stiction.report.run_path import has_place, through_events
from stiction.studio.bench import Bench

Array = np.ndarray
FORCE, IMPULSE, INSIDE, SLIPS, SLIP, TRAIL, COM, SUPPORT = (
    (214, 64, 26), (150, 40, 165), (40, 160, 110), (230, 120, 30), (30, 110, 200), (120, 130, 145),
    (20, 20, 20), (0, 114, 178),
)  # fmt: skip
SHOWN = {
    "forces": True, "impulses": True, "friction cones": False, "slip velocities": False,
    "trail": True, "centre of mass": False, "support polygon": False, "ghosts": True,
}  # fmt: skip
_GHOST = 0.3  # opacity of ghosts
_SOLID = 0.8  # and of bodies: forces on them begin at their surface and point inside
_GLASS = 0.35  # of bodies in which friction cones are to be seen
_SKY = ((227, 234, 242), (247, 249, 251))  # above and below, those of the page
_FLOOR, _CELLS, _SECTIONS = (236, 240, 245), (214, 221, 229), (184, 194, 206)
_TRAIL = 400  # points of a trail at most
_CONE = 24  # sides


class Stage:
    """The picture of one bench in one browser.

    Args:
        scene: The browser's own scene (`client.scene`).
        bench: What is shown.
    """

    def __init__(self, scene: Any, bench: Bench):
        self.scene, self.bench = scene, bench
        self.show = dict(SHOWN)
        self._handles: dict[str, Any] = {}
        self.rebuild()

    def rebuild(self) -> None:
        """Draw all anew: another model, or another ground."""
        for handle in self._handles.values():
            handle.remove()
        self._handles = {}
        self.model = copy.copy(self.bench.scene.mechanism.compiled.model)
        self.data = mujoco.MjData(self.model)
        _paint(self.model)
        self.scene.set_background_image(_sky(), format="png")
        self._bodies("bodies", None)
        self.refresh()
        self._ground()

    def refresh(self) -> None:
        """Take over another run of the same model, and its ghosts."""
        bench = self.bench
        self.size = self._extent()
        path = bench.path
        for name in [n for n in self._handles if n.startswith(("ghost", "trail"))]:
            self._handles.pop(name).remove()
        self._reach()
        self._length = max(0.6 * self.size, 0.3 * self.reach)  # of a usual arrow
        if bench.run.contacts is not None:
            self._points, self._frames, _ = places_along(bench.run, path.sample, path.event)
            self._force = np.asarray(bench.run.force)[path.sample] * has_place(bench.run)[:, None]
            self._mu = bench.friction()
            strength = np.abs(self._force[..., -1])
            usual = float(np.median(strength[strength > 0])) if (strength > 0).any() else 1.0
            self._scale = self._length / usual
        hits = np.linalg.norm(bench.impulses[:, 4:], axis=1)
        self._impulse_scale = self._length / max(float(hits.max(initial=0.0)), 1e-12)
        self._others = {name: through_events(run) for name, run in bench.ghosts.items()}
        for name, other in self._others.items():
            color = COLORS[bench.color(name)]
            self._bodies(f"ghost {name}", color)
            self._trail(f"trail {name}", other.q, _rgb(color))

    def _bodies(self, group: str, color: str | None) -> None:
        model, seen = self.model, drawn(self.bench.scene.mechanism)
        for body in range(model.nbody):
            geoms = [
                int(g)
                for g in np.flatnonzero(model.geom_bodyid == body)
                if seen[g] and model.geom_type[g] != mujoco.mjtGeom.mjGEOM_PLANE
            ]
            if not geoms or (color is not None and body == 0):
                continue
            mesh = conversions.merge_geoms(model, geoms)
            name = f"{group}/{body}"
            tint = _plain_color(mesh) if color is None else _rgb(color)
            if tint is None:
                self._handles[name] = self.scene.add_mesh_trimesh(f"/{name}", mesh)
                continue
            assert isinstance(mesh, trimesh.Trimesh)
            mesh = mesh.smooth_shaded  # which keeps sharp edges sharp
            self._handles[name] = self.scene.add_mesh_simple(
                f"/{name}",
                mesh.vertices,
                mesh.faces,
                color=tint,
                opacity=_SOLID if color is None else _GHOST,
            )

    def _ground(self) -> None:
        contacts = self.bench.run.contacts
        planes = self.bench.scene.ground if contacts is None else contacts.planes
        cell = 10.0 ** np.round(np.log10(self.reach / 4))
        for i in range(len(planes.position)):
            self._handles[f"ground/{i}"] = self.scene.add_grid(
                f"/ground/{i}", infinite_grid=True, fade_distance=12 * self.reach, cell_size=cell,
                section_size=10 * cell, cell_color=_CELLS, section_color=_SECTIONS,
                plane_color=_FLOOR, plane_opacity=0.6, shadow_opacity=0.25,
            )  # fmt: skip
        self.tilt()
        if contacts is not None and contacts.field is not None:
            shape = field_mesh(contacts.field)
            self._handles["ground/field"] = self.scene.add_mesh_simple(
                "/ground/field", np.asarray(shape.vertices), np.asarray(shape.faces)
            )

    def tilt(self) -> None:
        """Bring the planes of the ground to where they are in the last run."""
        contacts = self.bench.run.contacts
        planes = self.bench.scene.ground if contacts is None else contacts.planes
        for i, (point, R) in enumerate(zip(planes.position, planes.rotation, strict=True)):
            handle = self._handles[f"ground/{i}"]
            handle.position, handle.wxyz = np.asarray(point), _quaternion(np.asarray(R))

    def _extent(self) -> float:
        """How large what moves is, over the first posture [m]."""
        self.place(self.data, self.bench.path.q[0])
        apart = float(np.ptp(self.data.xpos[1:], axis=0).max(initial=0.0))
        moving = self.model.geom_bodyid > 0
        return max(apart, 2 * float(self.model.geom_rbound[moving].max(initial=0.0)), 0.05)

    def place(self, data: mujoco.MjData, q: Array) -> None:
        """Bring a model into a configuration."""
        data.qpos[:] = q
        mujoco.mj_kinematics(self.model, data)
        mujoco.mj_comPos(self.model, data)

    def _reach(self) -> None:
        """The way of the centre of mass, and how far all that moves reaches around it."""
        way = self._trail("trail", self.bench.path.q, TRAIL)
        self.middle = 0.5 * (np.min(way, axis=0) + np.max(way, axis=0))
        self.reach = float(np.linalg.norm(np.ptp(way, axis=0)) / 2 + self.size)

    def _trail(self, name: str, q: Array, color: tuple[int, int, int]) -> list[Array]:
        """Draw the way of the centre of mass."""
        way = []
        for k in np.unique(np.linspace(0, len(q) - 1, min(len(q), _TRAIL)).astype(int)):
            self.place(self.data, q[k])
            way.append(self.data.subtree_com[0].copy())
        line = np.stack([way[:-1], way[1:]], axis=1) if len(way) > 1 else np.zeros((1, 2, 3))
        self._handles[name] = self.scene.add_line_segments(
            f"/{name}", line, color, visible=self.show["trail"], thickness_units="screen",
            thickness=2.5 if name == "trail" else 1.5,
        )  # fmt: skip
        return way

    def at(self, t: float) -> None:
        """Show the time t [s]."""
        path = self.bench.path
        self.place(self.data, path.configuration(self.model, t))
        self._move("bodies")
        self._clear(_GLASS if self.show["friction cones"] else _SOLID)
        center = self.data.subtree_com[0].copy()
        for name, other in self._others.items():
            if self.show["ghosts"]:
                self.place(self.data, other.configuration(self.model, t))
                self._move(f"ghost {name}")
        for name, handle in self._handles.items():
            if name.startswith("ghost"):
                handle.visible = self.show["ghosts"] and self._is_apart(name)
            elif name.startswith("trail"):
                handle.visible = self.show["trail"] and (name == "trail" or self.show["ghosts"])
        self._contacts(t, center)

    def _move(self, group: str) -> None:
        for body in range(self.model.nbody):
            handle = self._handles.get(f"{group}/{body}")
            if handle is not None and body:
                handle.position, handle.wxyz = self.data.xpos[body], self.data.xquat[body]

    def _is_apart(self, ghost: str) -> bool:
        """Whether a ghost's body is seen beside the run's own; two in one place look muddy."""
        mine, other = self._handles[f"bodies/{ghost.rpartition('/')[2]}"], self._handles[ghost]
        moved = float(np.abs(np.subtract(mine.position, other.position)).max())
        turned = 1.0 - abs(float(np.dot(mine.wxyz, other.wxyz)))
        return moved > 0.005 * self.size or turned > 1e-4

    def _clear(self, opacity: float) -> None:
        """Let one see through the bodies."""
        for name, handle in self._handles.items():
            if name.startswith("bodies") and getattr(handle, "opacity", None) not in (
                None,
                opacity,
            ):
                handle.opacity = opacity

    def _contacts(self, t: float, center: Array) -> None:
        path, longest = self.bench.path, 1.7 * self._length
        k = path.index(t)
        arrows: dict[str, list[tuple[Array, Array, tuple[int, int, int]]]] = {
            name: [] for name in ("forces", "impulses", "slip velocities")
        }
        touching = []
        if self.bench.run.contacts is not None:
            pressing = np.flatnonzero(self._force[k, :, -1] > 0)
            touching = [self._points[k, c] for c in pressing]
            for c in pressing:
                f = self._force[k, c] @ self._frames[k, c]
                arrows["forces"].append(
                    (self._points[k, c], _short(f * self._scale, longest), FORCE)
                )
                if (u := self._slip(k, int(c))) is not None:
                    arrows["slip velocities"].append(
                        (self._points[k, c], 0.5 * self._length * u, SLIP)
                    )
        width = self.bench.slowness
        for row in self.bench.impulses:
            if t - width <= row[0] <= t + 1e-9:
                arrows["impulses"].append((row[1:4], row[4:] * self._impulse_scale, IMPULSE))
        for name, found in arrows.items():
            self._arrows(name, found if self.show[name] else [])
        self._cones(k)
        self._balance(center, touching)

    def _slip(self, k: int, c: int) -> Array | None:
        """Direction and, up to 1 m/s, speed of a contact point that moves along what it touches."""
        path, n = self.bench.path, len(self.bench.path.time)
        a, b = max(k - 1, 0), min(k + 1, n - 1)
        if path.time[b] <= path.time[a]:
            return None
        u = (self._points[b, c] - self._points[a, c]) / (path.time[b] - path.time[a])
        speed = float(np.linalg.norm(u))
        return u / max(speed, 1.0) if speed > 1e-4 else None

    def _arrows(self, name: str, found: list[tuple[Array, Array, tuple[int, int, int]]]) -> None:
        if (old := self._handles.pop(name, None)) is not None:
            old.remove()
        if not found:
            return
        points = np.array([[p, p + v] for p, v, _ in found])
        r = 0.025 * self._length
        self._handles[name] = self.scene.add_arrows(
            f"/{name}", points, np.array([color for _, _, color in found], np.uint8),
            shaft_radius=r, head_radius=2.4 * r, head_length=5 * r,
        )  # fmt: skip

    def _cones(self, k: int) -> None:
        """A cone at each touching contact: green inside, orange where all friction is used."""
        for name in [n for n in self._handles if n.startswith("cone")]:
            self._handles.pop(name).remove()
        if not self.show["friction cones"] or self.bench.run.contacts is None:
            return
        for c, used in self.friction_used(k).items():
            frame = self._frames[k, c]
            normal, tangent = frame[-1], frame[0]
            axes = np.stack([tangent, np.cross(normal, tangent), normal], axis=1)
            height = 0.6 * self.size
            turn = np.linspace(0, 2 * np.pi, _CONE, endpoint=False)
            ring = np.stack([np.cos(turn), np.sin(turn), np.full(_CONE, 1 / self._mu[c])], axis=1)
            ring *= height * self._mu[c]
            vertices = np.concatenate([np.zeros((1, 3)), ring]) @ axes.T + self._points[k, c]
            i = np.arange(_CONE)
            faces = np.stack([0 * i, 1 + i, 1 + (i + 1) % _CONE], axis=1)
            self._handles[f"cone {c}"] = self.scene.add_mesh_simple(
                f"/cones/{c}", vertices, faces, opacity=0.4, side="double",
                color=INSIDE if used < 0.999 else SLIPS,
            )  # fmt: skip

    def friction_used(self, k: int) -> dict[int, float]:
        """For each contact that presses at a state: |f_t| over μ_s f_n, 1 at the cone's edge."""
        if self.bench.run.contacts is None:
            return {}
        force = self._force[k]
        return {
            int(c): float(np.linalg.norm(force[c, :-1]) / (self._mu[c] * force[c, -1]))
            for c in np.flatnonzero(force[:, -1] > 0)
            if self._mu[c] > 0
        }

    def _balance(self, center: Array, touching: list[Array]) -> None:
        for name in ("centre of mass", "support polygon"):
            if (old := self._handles.pop(name, None)) is not None:
                old.remove()
        if self.show["centre of mass"]:
            self._handles["centre of mass"] = self.scene.add_icosphere(
                "/com", radius=0.03 * self.size, color=COM, position=center
            )
        if self.show["support polygon"] and len(touching) > 1:
            points = np.array(touching)
            try:
                ring = points[ConvexHull(points[:, :2]).vertices]
            except QhullError:  # two points, or all on a line
                ring = points
            line = np.stack([ring, np.roll(ring, -1, axis=0)], axis=1)
            self._handles["support polygon"] = self.scene.add_line_segments(
                "/support", line, SUPPORT, thickness=3.0, thickness_units="screen"
            )

    def solid(self, name: str, points: Array | None, color: tuple[int, int, int]) -> None:
        """Show the convex hull of points, or take it away."""
        if (old := self._handles.pop(name, None)) is not None:
            old.remove()
        if points is None:
            return
        hull = trimesh.convex.convex_hull(points)
        self._handles[name] = self.scene.add_mesh_simple(
            f"/{name}", hull.vertices, hull.faces, color=color, opacity=0.4, side="double"
        )


def _paint(model: mujoco.MjModel) -> None:
    """Give shapes without a colour that of their body, as the page has it."""
    plain = np.all(np.abs(model.geom_rgba - np.asarray(GREY)) < 1e-6, axis=1)
    for g in np.flatnonzero(plain & (model.geom_matid < 0)):
        text = BODY_COLORS[(model.geom_bodyid[g] - 1) % len(BODY_COLORS)]
        model.geom_rgba[g, :3] = [x / 255 for x in _rgb(text)]


def _sky() -> Array:
    """The page's sky: one colour above, going over into another."""
    share = np.linspace(0, 1, 256)[:, None, None]
    above, below = (np.array(color, float) for color in _SKY)
    rows = above + share * (below - above)
    return np.repeat(rows, 8, axis=1).astype(np.uint8)


def _rgb(text: str) -> tuple[int, int, int]:
    red, green, blue = (int(text[i : i + 2], 16) for i in (1, 3, 5))
    return red, green, blue


def _plain_color(mesh: Any) -> tuple[int, int, int] | None:
    """The colour of a body that has only one; none of painted ones."""
    if mesh.visual.kind != "vertex":
        return None
    colors = np.unique(np.asarray(mesh.visual.vertex_colors), axis=0)
    red, green, blue = (int(x) for x in colors[0, :3])
    return (red, green, blue) if len(colors) == 1 else None


def _short(vector: Array, longest: float) -> Array:
    """A vector, cut to a length: a peak must not fill the picture."""
    return vector * min(1.0, longest / max(float(np.linalg.norm(vector)), 1e-12))


def _quaternion(R: Array) -> Array:
    q = np.zeros(4)
    mujoco.mju_mat2Quat(q, np.ascontiguousarray(R, float).ravel())
    return q
