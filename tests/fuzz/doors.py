# ruff: noqa: E501  (files as they are written)
"""Every kind of file that a user may hand over: seeds of it, and the door that reads it."""

import io
import re
import struct
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import stiction
from stiction.biped import read_markers, read_osim, read_plates
from stiction.identify.setups import read_setup
from stiction.motions import load_problem
from stiction.scenes import parse_settings, scene
from stiction.studies.ask import Question
from stiction.studies.store import Schema, Variable
from stiction.tables import make_even, read_table

SOURCE = Path(stiction.__file__).parent
TESTS = Path(__file__).parents[1]


@dataclass
class Door:
    """A kind of file.

    Attributes:
        suffix: Of its name.
        read: What a command does with it before it computes.
        seeds: Whole files.
        text: Whether it is text.
    """

    suffix: str
    read: Callable[[Path], Any]
    seeds: list[bytes] = field(repr=False)
    text: bool = True


SCHEMA = Schema(
    {"final_q": Variable(("q",), (3,)), "at_rest": Variable(dtype="bool")},
    {"q": ("x", "y", "z")},
)


def _files(*patterns: str, root: Path = SOURCE) -> list[bytes]:
    found = [p for pattern in patterns for p in sorted(root.glob(pattern))]
    assert found, patterns
    return [p.read_bytes() for p in found if p.stat().st_size < 60_000]


def _scene(path: Path) -> None:
    made = scene(path)
    _ = made.mechanism, made.contacts, made.law, made.touching, made.solver
    if made.scenario.jump is None and made.scenario.track is None:
        _ = made.q, made.v, made.control


def _setting(path: Path) -> None:
    text = path.read_bytes().decode("utf-8", "replace")
    scene("box", parse_settings([line for line in text.splitlines() if line]))


def _motions(path: Path) -> None:
    problem = load_problem(path)
    if len(problem.contacts) <= 4:  # more take their time
        problem.motions()


def _ask(path: Path) -> None:
    text = path.read_bytes().decode("utf-8", "replace")
    Question(text).check(SCHEMA, ["start.v.wx"])


def _table(path: Path) -> None:
    make_even(read_table(path).by_time())


URDF = b"""<robot name="r"><link name="a"><inertial><mass value="1"/><origin xyz="0 0 .1" rpy="0 0 0"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry>
<sphere radius=".1"/></geometry></collision></link><link name="b"><inertial><mass value="2"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><origin xyz="1 0 0"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics damping=".1"/></joint></robot>"""

ROBOT = b"""<mujoco model="m"><option gravity="0 0 -9.81" timestep=".002"/><default><geom friction="1"/>
<default class="c"><joint damping="1" range="-1 1"/></default></default>
<asset><mesh name="t" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset><worldbody>
<geom name="floor" type="plane" size="1 1 .1"/><body name="b" pos="0 0 1" quat="1 0 0 0"><freejoint/>
<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><geom type="box" size=".1 .1 .1"/>
<geom type="mesh" mesh="t" contype="0"/><site name="s" pos="0 0 -.1"/><body pos=".1 0 0" euler="0 30 0">
<joint name="h" class="c" axis="0 1 0" stiffness="2" armature=".1" frictionloss=".1"/>
<geom type="capsule" fromto="0 0 0 .2 0 0" size=".02" mass=".1"/><body pos=".2 0 0">
<joint name="k" type="slide" limited="true" range="0 .1"/><geom type="ellipsoid" size=".1 .2 .3"/>
</body></body></body></worldbody><contact><exclude body1="b" body2="world"/></contact>
<actuator><motor name="m" joint="h" gear="2" ctrlrange="-1 1"/><position joint="k" kp="10"/></actuator>
<keyframe><key name="home" qpos="0 0 1 1 0 0 0 0 0" ctrl="0 0"/></keyframe></mujoco>"""

BALL = (
    b'<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 1"><freejoint name="f"/>'
    b'<geom name="b" size=".1"/></body></worldbody></mujoco>'
)
SETTINGS = [
    b"until=2\n", b"start.q=[0,0,0.3,1,0,0,0]\ncontact.restitution=0.5\n", b"contact.law=stepping\n",
    b"contact.law=compliant\ncontact.stiffness={box=1e4}\n", b"ground.slope_deg=10\nsamples=11\n",
    b"solver.rtol=1e-6\nsolver.method=tsit5\ntitle=x\n", b"mechanism.edits.geom.box.size=[0.1,0.1,0.1]\n",
]  # fmt: skip
QUESTIONS = [
    b"final.z > 0.09", b"at_rest and final.x + 2 * final.y < 1", b"not (start.v.wx < 0.5)",
    b"abs(final.z - 0.1) <= 1e-3 or hypot(final.x, final.y) > 1",
]  # fmt: skip


def _tables() -> Iterable[bytes]:
    t = np.arange(12) / 10
    rows = np.column_stack([t, np.sin(t), np.cos(t), 9.81 + t])
    for sep in (",", ";", "\t", " "):
        head = sep.join(("time", "x[mm]", "y", "fz(N)")) + "\n"
        yield (head + "".join(sep.join(f"{v:.6g}" for v in r) + "\n" for r in rows)).encode()
    yield b"# made by hand\nt,x\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(9))


def _storage() -> Iterable[bytes]:
    body = "time\tpelvis_tx\tknee_r\n" + "".join(
        f"{k / 10}\t{k}\t{k * 0.1:.3f}\n" for k in range(9)
    )
    yield f"motion\nversion=1\nnRows=9\nnColumns=3\ninDegrees=yes\nendheader\n{body}".encode()


def _markers() -> Iterable[bytes]:
    head = (
        "PathFileType\t4\t(X/Y/Z)\ta.trc\nDataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\t"
        "OrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n100\t100\t4\t2\tmm\t100\t1\t4\n"
        "Frame#\tTime\tA\t\t\tB\t\t\n\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n\n"
    )
    rows = "".join(f"{k + 1}\t{k / 100}\t{k}\t2\t3\t4\t5\t{k}\n" for k in range(4))
    yield (head + rows).encode()


def _plates() -> Iterable[bytes]:
    names = ["time", *(f"ground_force_{k}" for k in ("vx", "vy", "vz", "px", "py", "pz"))]
    names += [f"ground_torque_{k}" for k in "xyz"]
    rows = ["\t".join([f"{k / 100}", *["1.0"] * 9]) for k in range(9)]
    text = "forces\nnRows=9\nnColumns=10\nendheader\n" + "\t".join(names) + "\n" + "\n".join(rows)
    yield text.encode() + b"\n"


def _archives() -> Iterable[bytes]:
    made = io.BytesIO()
    np.savez(made, time=np.arange(9.0), x=np.arange(9.0))
    yield made.getvalue()


def _c3d() -> Iterable[bytes]:
    """A file of two markers and one plate, as ezc3d writes it."""
    try:
        import tempfile

        import ezc3d
    except ImportError:
        return
    c = ezc3d.c3d()
    c["parameters"]["POINT"]["RATE"]["value"] = [100]
    c["parameters"]["POINT"]["LABELS"]["value"] = ("A", "B")
    c["parameters"]["POINT"]["UNITS"]["value"] = ["mm"]
    points = np.ones((4, 2, 5))
    points[:3] += np.arange(5)
    c["data"]["points"] = points
    c["parameters"]["ANALOG"]["RATE"]["value"] = [200]
    c["parameters"]["ANALOG"]["LABELS"]["value"] = ("Fx", "Fy")
    c["data"]["analogs"] = np.ones((1, 2, 10))
    with tempfile.TemporaryDirectory() as folder:
        c.write(f"{folder}/a.c3d")
        yield Path(folder, "a.c3d").read_bytes()


def _stl() -> Iterable[bytes]:
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    faces = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]
    body = b"".join(
        struct.pack("<12fH", 0, 0, 1, *corners[list(f)].ravel().tolist(), 0) for f in faces
    )
    yield b"\0" * 80 + struct.pack("<I", len(faces)) + body


def _mesh(path: Path) -> None:
    stiction.load(
        f'<mujoco><asset><mesh name="m" file="{path}"/></asset><worldbody><body><freejoint/>'
        '<geom type="mesh" mesh="m"/></body></worldbody></mujoco>'
    )


@cache
def doors() -> dict[str, Door]:
    """All kinds, by name."""
    beside = str(SOURCE / "scenes" / "library").encode() + b"/"
    toml = [re.sub(rb'file = "', b'file = "' + beside, t) for t in _files("scenes/library/*.toml")]
    yaml = [b"mechanism:\n  human:\n    height: 1.8\n    sex: female\nuntil: 1\n"]
    yaml += [
        b"mechanism:\n  file: '" + BALL + b"'\ncontact: {law: stepping, sides: 8}\nsamples: 11\n"
    ]
    kinds = {
        "mjcf": Door(".xml", stiction.load, [ROBOT, *_files("scenes/library/*.xml")]),
        "urdf": Door(".urdf", stiction.load, [URDF]),
        "mesh": Door(".stl", _mesh, list(_stl()), text=False),
        "scenario": Door(".toml", _scene, toml),
        "scenario-yaml": Door(".yaml", _scene, yaml),
        "setting": Door(".txt", _setting, SETTINGS),
        "question": Door(".txt", _ask, QUESTIONS),
        "problem": Door(".toml", _motions, _files("motions/examples/*.toml")),
        "setup": Door(".toml", read_setup, _files("identify/library/*.toml")),
        "table": Door(".csv", _table, list(_tables())),
        "storage": Door(".mot", _table, list(_storage())),
        "markers": Door(".trc", read_markers, list(_markers())),
        "plates": Door(".mot", read_plates, list(_plates())),
        "archive": Door(".npz", _table, list(_archives()), text=False),
        "c3d": Door(".c3d", read_markers, list(_c3d()), text=False),
        "opensim": Door(".osim", read_osim, _files("biped/opensim/*.osim", root=TESTS)),
    }
    return {name: door for name, door in kinds.items() if door.seeds}


def quietly(door: Door, path: Path) -> Exception | None:
    """Read a file; what was raised, if anything. NumPy's notes count as errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        try:
            door.read(path)
        except Exception as error:
            return error
    return None
