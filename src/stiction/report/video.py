"""A run as a video: drawn by MuJoCo without a screen, encoded by ffmpeg, or by Pillow as a GIF."""

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import mujoco
import numpy as np

from stiction._base.errors import InputError, RunError
from stiction.engines import Trajectory
from stiction.report.animate import animation
from stiction.report.player.payload import payload, slow_times, slowness
from stiction.report.progress import progress
from stiction.report.run_path import sampled_forces, through_events, world_impulses
from stiction.surfaces import model_planes

SUFFIXES = (".mp4", ".gif")
SIZE = (960, 544)  # px; both divide by 16, as encoders like it
RATE = 30.0  # frames a second
GIF_RATE = 15.0
SLOWEST = 1 / 12  # of the speed, at an impact
_AWAY = 2.6  # distance of the camera over the radius of the motion
_FORCE, _IMPULSE = (0.85, 0.25, 0.1, 1.0), (0.55, 0.1, 0.6, 1.0)


def check_video(path: Path) -> None:
    """Refuse a file that cannot become a video, before anything is computed."""
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"`--video` must end in .mp4 or .gif, got '{path}'")
    if path.suffix.lower() == ".mp4":
        _ffmpeg()
    if not path.absolute().parent.is_dir():
        raise InputError(f"`--video` must lie in a directory that exists, got '{path}'")


def write_video(run: Trajectory, path: Path) -> Path:
    """Render a run into an .mp4 or a .gif, slower near its impacts."""
    check_video(path)
    gif = path.suffix.lower() == ".gif"
    times = frame_times(run, GIF_RATE if gif else RATE)
    pictures = _render(run, times)
    # Written aside first: a film that is torn is none.
    with tempfile.TemporaryDirectory(dir=path.absolute().parent, prefix=".stiction-") as folder:
        aside = Path(folder) / path.name
        (_write_gif if gif else _write_mp4)(aside, progress(pictures, "rendering", total=len(times),
                                                            label=lambda _: ""))  # fmt: skip
        os.replace(aside, path)
    return path


def video_bytes(run: Trajectory, kind: str) -> bytes:
    """The video as the content of a file, "mp4" or "gif"."""
    with tempfile.TemporaryDirectory() as folder:
        return write_video(run, Path(folder) / f"video.{kind}").read_bytes()


def frame_times(run: Trajectory, rate: float) -> np.ndarray:
    """Times of the run that are shown, `rate` a second of the viewer's time."""
    time = through_events(run).time
    width = slowness(time)
    slow = np.array(slow_times(world_impulses(run), width))
    t, end, found = float(time[0]), float(time[-1]), []
    while t < end:
        found.append(t)
        away = float(np.abs(slow - t).min()) / width if slow.size else 1.0
        t += np.clip(away, SLOWEST, 1.0) / rate
    return np.array([*found, end])


def _render(run: Trajectory, times: np.ndarray) -> Iterator[np.ndarray]:
    shown = payload(animation(run, {}))
    middle, follows = np.array(shown["center"]), shown["follow"]
    model = _studio_model(run, middle, shown["radius"])
    data, path = mujoco.MjData(model), through_events(run)
    renderer = _renderer(model)
    camera = mujoco.MjvCamera()
    camera.azimuth = np.degrees(shown["azimuth"]) + 180
    camera.elevation = -np.degrees(shown["elevation"])
    camera.distance = _AWAY * shown["radius"]
    forces, impulses = sampled_forces(run, path), world_impulses(run)
    lengths = shown.get("metresPerNewton", 0.0), shown.get("metresPerImpulse", 0.0)
    width, longest = slowness(path.time), 0.9 * shown["radius"]
    with renderer:
        for t in times:
            k, data.qpos[:] = path.index(t), path.configuration(model, t)
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            mujoco.mj_camlight(model, data)
            camera.lookat = data.subtree_com[0] if follows else middle
            renderer.update_scene(data, camera)
            for row in () if forces is None else forces[k]:
                _arrow(renderer.scene, row[:3], row[3:] * lengths[0], _FORCE, longest)
            for row in impulses[(impulses[:, 0] <= t) & (impulses[:, 0] > t - width)]:
                _arrow(renderer.scene, row[1:4], row[4:] * lengths[1], _IMPULSE, longest)
            yield renderer.render()


def _renderer(model: mujoco.MjModel) -> mujoco.Renderer:
    """One that needs no screen, if there is none: MuJoCo looks for one unless told otherwise."""
    try:
        told = os.environ.get("MUJOCO_GL") or os.environ.get("DISPLAY")
        if sys.platform == "linux" and not told:
            from mujoco.egl import GLContext
            from mujoco.rendering.classic import gl_context

            gl_context.GLContext = GLContext
        return mujoco.Renderer(model, height=SIZE[1], width=SIZE[0])
    except Exception as error:
        raise RunError(
            f"MuJoCo cannot draw without a screen here ({' '.join(str(error).split())}); install"
            " EGL (libegl1) or set MUJOCO_GL=osmesa, or play the report instead"
        ) from None


def _studio_model(run: Trajectory, middle: np.ndarray, radius: float) -> mujoco.MjModel:
    """The model with a sky, light and the ground of the run; what moves is as it was."""
    spec = run.scene.spec()
    spec.visual.global_.offwidth, spec.visual.global_.offheight = SIZE
    texture = {"builtin": mujoco.mjtBuiltin.mjBUILTIN_GRADIENT, "width": 256, "height": 256}
    spec.add_texture(name="stiction sky", type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
                     rgb1=(0.89, 0.92, 0.95), rgb2=(1, 1, 1), **texture)  # fmt: skip
    spec.add_texture(name="stiction ground", type=mujoco.mjtTexture.mjTEXTURE_2D, width=256,
                     height=256, builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
                     rgb1=(0.90, 0.92, 0.94), rgb2=(0.85, 0.87, 0.90))  # fmt: skip
    ground = spec.add_material(name="stiction ground", texrepeat=(2, 2), texuniform=True)
    ground.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "stiction ground"
    # A lamp above what moves: shadows of a light from everywhere are torn on an endless ground.
    high = 4 * radius
    spec.worldbody.add_light(pos=middle + high * np.array([-0.3, -0.5, 1.0]), dir=(0.3, 0.5, -1),
                             type=mujoco.mjtLightType.mjLIGHT_SPOT, cutoff=89, exponent=0,
                             attenuation=(1, 0, 0), diffuse=(0.5, 0.5, 0.5))  # fmt: skip
    spec.visual.headlight.ambient, spec.visual.headlight.diffuse = (0.4,) * 3, (0.6,) * 3
    spec.visual.quality.shadowsize, spec.visual.map.shadowscale = 4096, 0.4
    for geom in spec.geoms:
        if geom.type == mujoco.mjtGeom.mjGEOM_PLANE:
            geom.group = 5  # hidden: two planes at one place would flicker
    planes = model_planes(run.mechanism) if run.contacts is None else run.contacts.planes
    for i, (point, R) in enumerate(zip(planes.position, planes.rotation, strict=True)):
        turn = np.zeros(4)
        mujoco.mju_mat2Quat(turn, np.ascontiguousarray(R, float).ravel())
        spec.worldbody.add_geom(
            name=f"stiction ground {i}", type=mujoco.mjtGeom.mjGEOM_PLANE, size=(0, 0, 0.1),
            pos=np.asarray(point, float), quat=turn, material="stiction ground",
            contype=0, conaffinity=0,
        )  # fmt: skip
    return spec.compile()


def _arrow(scene: mujoco.MjvScene, point, vector, rgba, longest: float) -> None:
    size = float(np.linalg.norm(vector))
    if size < 1e-3 * longest or scene.ngeom >= scene.maxgeom:
        return
    tip = point + vector * min(1.0, longest / size)
    geom = scene.geoms[scene.ngeom]
    mujoco.mjv_initGeom(
        geom, mujoco.mjtGeom.mjGEOM_ARROW, np.zeros(3), np.zeros(3), np.eye(3).ravel(),
        np.array(rgba, np.float32),
    )  # fmt: skip
    width = 0.012 * longest
    mujoco.mjv_connector(geom, mujoco.mjtGeom.mjGEOM_ARROW, width, np.asarray(point), tip)
    scene.ngeom += 1


def _ffmpeg():
    try:
        import imageio_ffmpeg
    except ImportError:
        raise InputError(
            "`--video` needs imageio-ffmpeg for .mp4; install it: pip install 'stiction[video]',"
            " or ask for a .gif"
        ) from None
    return imageio_ffmpeg


def _write_mp4(path: Path, pictures: Iterator[np.ndarray]) -> None:
    # Otherwise it runs Python between fork and exec, which must not be where JAX has threads.
    os.environ.setdefault("IMAGEIO_FFMPEG_NO_PREVENT_SIGINT", "1")
    writer = _ffmpeg().write_frames(str(path), SIZE, fps=round(RATE), macro_block_size=16)
    writer.send(None)
    for picture in pictures:
        writer.send(np.ascontiguousarray(picture))
    writer.close()


def _write_gif(path: Path, pictures: Iterator[np.ndarray]) -> None:
    from PIL import Image

    # By coverage: a small body in its own colour counts as much as a wide sky.
    method = Image.Quantize.MAXCOVERAGE
    first, *others = (Image.fromarray(p).quantize(256, method) for p in pictures)
    first.save(
        path, save_all=True, append_images=others, duration=1000 / GIF_RATE, loop=0, optimize=False
    )
