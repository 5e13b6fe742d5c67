"""Files that a reader has and the manual only names: small ones that stand in their place.

Each is made when a block of a page first asks for it. What cannot be made here is in `ABSENT`, with
the reason; the commands that need it are only parsed.
"""

import shutil
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

import stiction
from stiction.cli.app import main

# What the manual names and nobody here has: command lines that need it are parsed, not run.
ABSENT = {
    "trial.c3d": "a trial of motion capture",
    "static.c3d": "a static trial of the same subject",
    "generic.osim": "a generic model with markers",
    "subjects/": "a folder of trials",
}

HOPPER = """
<mujoco model="robot"><worldbody>
  <geom name="floor" type="plane" size="5 5 .1"/>
  <body name="top" pos="0 0 .4"><joint name="z" type="slide" axis="0 0 1"/>
    <geom type="sphere" size=".05" mass="3" contype="0" conaffinity="0"/>
    <body name="shank" pos="0 0 -.2"><joint name="leg" type="slide" axis="0 0 1" stiffness="500"/>
      <geom name="foot" type="sphere" size=".02" pos="0 0 -.1" mass="1"/></body>
  </body></worldbody></mujoco>
"""

# In contact at q = (0.3, -0.2).
CART = """
<mujoco model="my-robot"><worldbody>
  <geom name="floor" type="plane" size="5 5 .1"/>
  <body name="body" pos="0 0 .25">
    <joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
    <geom name="foot" type="sphere" size=".05" mass="1"/></body></worldbody></mujoco>
"""

SCENARIO = """
title = "My scene"
until = 0.5
[mechanism]
file = "robot.xml"
"""


def quadruped() -> str:
    """A URDF with a body, four legs of two joints, and feet."""
    ball = (
        '<inertial><mass value="{m}"/>'
        '<inertia ixx="{i}" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial>'
    )
    parts = [f'<link name="base">{ball.format(m=6, i=0.05)}</link>']
    for name, x, y in (("FL", 1, 1), ("FR", 1, -1), ("HL", -1, 1), ("HR", -1, -1)):
        for above, below, kind, z in (("base", "HAA", "hip", 0.0), ("HAA", "SHANK", "knee", -0.2)):
            parent = above if above == "base" else f"{name}_{above}"
            place = f"{0.2 * x} {0.1 * y} {z}" if above == "base" else f"0 0 {z}"
            parts.append(
                f'<link name="{name}_{below}">{ball.format(m=0.4, i=0.002)}</link>'
                f'<joint name="{name}_{kind}" type="revolute"><parent link="{parent}"/>'
                f'<child link="{name}_{below}"/><origin xyz="{place}"/><axis xyz="0 1 0"/>'
                '<limit lower="-1.5" upper="1.5" effort="40" velocity="20"/></joint>'
            )
        parts.append(
            f'<link name="{name}_FOOT">{ball.format(m=0.05, i=1e-5)}<collision>'
            '<geometry><sphere radius="0.02"/></geometry></collision></link>'
            f'<joint name="{name}_foot" type="fixed"><parent link="{name}_SHANK"/>'
            f'<child link="{name}_FOOT"/><origin xyz="0 0 -0.2"/></joint>'
        )
    return f'<robot name="quadruped">{"".join(parts)}</robot>'


def jump_record(rate: float, path: Path, header: str) -> None:
    """A man of 72 kg stands, crouches, jumps for half a second and lands."""
    time = np.arange(0, 4, 1 / rate)
    force = np.full(time.size, 72 * 9.81)
    push = (time > 1.0) & (time < 1.3)
    flight = 72 * 9.81 * 0.5 / 2 / 0.3  # the impulse that a flight of half a second needs
    force[push] += flight * np.pi / 2 * np.sin(np.pi * (time[push] - 1.0) / 0.3)
    force[(time >= 1.3) & (time < 1.8)] = 0
    land = (time >= 1.8) & (time < 2.1)
    force[land] += flight * np.pi / 2 * np.sin(np.pi * (time[land] - 1.8) / 0.3)
    rows = np.column_stack([time, force]) if "," in header else force
    with path.open("w") as file:
        file.write(f"{header}\n" if header else "")
        np.savetxt(file, rows, delimiter=",")


def _call(*arguments: str) -> None:
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    assert not end.value.code, arguments


def _text(text: str) -> Callable[[Path], None]:
    return lambda path: path.write_text(text) and None


def _copy(source: Path | str) -> Callable[[Path], None]:
    return lambda path: shutil.copy(str(source), path) and None


def _logs(folder: str, name: str = "bottom") -> Callable[[Path], None]:
    """Virtual logs of one contact; the surface has a name."""

    def make(path: Path) -> None:
        library = Path(stiction.__file__).parent / "identify" / "library"
        text = (library / "single-point.toml").read_text().replace("bottom", name)
        Path("stand-in.toml").write_text(text)
        _call("identify", "--setup", "stand-in.toml", "--simulate", "3", "--out", folder)

    return make


def _log(path: Path) -> None:
    _logs("some-logs")(path)
    shutil.copy("some-logs/test-01.csv", "log.csv")
    shutil.copy("some-logs/setup.toml", "test.toml")


def _other_logs(path: Path) -> None:
    for folder, number in (("fit", 1), ("other", 2)):
        Path(folder).mkdir(exist_ok=True)
        if not Path("some-logs").exists():
            _log(Path("log.csv"))
        shutil.copy(f"some-logs/test-0{number}.csv", f"{folder}/a.csv")


def _scene(path: Path) -> None:
    need("robot.xml")
    path.write_text(SCENARIO)


def _run(*settings: str) -> Callable[[Path], None]:
    return lambda path: _call("run", "box", *settings, "--out", str(path))


_WALK = files("stiction.reproduce") / "walk"

# file or folder -> how it is made
MADE: dict[str, Callable[[Path], None]] = {
    "robot.xml": _text(HOPPER),
    "my-robot.xml": _text(CART),
    "robot.urdf": _text(quadruped()),
    "my-robot.urdf": _text(quadruped()),
    "my-scene.toml": _scene,
    "part.toml": lambda path: _copy(
        Path(stiction.__file__).parent / "motions" / "examples" / "peg-jamming.toml"
    )(path),
    "walk.mot": _copy(str(_WALK / "motion.mot")),
    "forces.mot": _copy(str(_WALK / "plates.mot")),
    "motion.mot": _copy(str(_WALK / "motion.mot")),
    "plates.mot": _copy(str(_WALK / "plates.mot")),
    "plate.txt": lambda path: jump_record(600, path, "Fz"),
    "force.txt": lambda path: jump_record(1000, path, ""),
    "plate.csv": lambda path: jump_record(1000, path, "time,Fz"),
    "log.csv": _log,
    "test.toml": _log,
    "fit": _other_logs,
    "other": _other_logs,
    "logs": _logs("logs"),
    "bench": _logs("bench", "plate"),
    "out/box": _run(),
    "out/box-soft": _run("--set", "contact.law=compliant"),
}

# file -> where it is among the recordings that are kept beside the project
_ANGLES = {
    "subject.osim": "gait_subject01_walk23/subject01.osim",
    "loads.xml": "gait_subject01_walk23/subject01_walk1_grf.xml",
    "subject01_walk1_grf.mot": "gait_subject01_walk23/subject01_walk1_grf.mot",
    "unitree_g1.xml": "robot_models/unitree_g1.mjcf.xml",
    "anymal.urdf": "robot_models/anymal.urdf",
    "cube_toss_dev.npz": "cube_toss/cube_toss_dev.npz",
}
_MARKERS = {
    "subject.osim": "gait_rajagopal_walk/subject_walk_scaled.osim",
    "loads.xml": "gait_rajagopal_walk/grf_walk.xml",
    "grf_walk.mot": "gait_rajagopal_walk/grf_walk.mot",
    "markers.trc": "gait_rajagopal_walk/markers_walk.trc",
    "run.trc": "gait_rajagopal_walk/markers_walk.trc",
}


def prepare(words: list[str], shared: Path | None) -> str:
    """Put in place what a command line names; why that cannot be done, or nothing."""
    for word in words:
        if word in ABSENT:
            return f"no {word} here: {ABSENT[word]}"
    recordings = _MARKERS if {"markers.trc", "run.trc"} & set(words) else _ANGLES
    for word in words:
        name = next((n for n in MADE if word == n or word.startswith(f"{n}/")), None)
        if name is not None:
            need(name)
        elif word in recordings:
            if shared is None:
                return f"no {word} here: the recordings are not beside the project"
            for file, source in recordings.items():
                if file == word or file.endswith(".mot"):  # the table that the loads name
                    shutil.copy(shared / source, file)
    return ""


def need(name: str) -> None:
    """Make a stand-in, unless it is there already."""
    path = Path(name)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        MADE[name](path)
