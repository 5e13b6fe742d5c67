"""A hundred ways to ask wrongly: each ends with status 2, one line, no traceback, no files."""

import json
from pathlib import Path

import pytest

BODY = '<body name="b"><joint name="j"/><geom size=".1"/></body>'


def mjcf(world: str = BODY, more: str = "") -> str:
    return f'<mujoco model="m"><worldbody>{world}</worldbody>{more}</mujoco>'


def urdf(links: str, joints: str = "") -> str:
    return f'<robot name="r">{links}{joints}</robot>'


INERTIAL = (
    '<inertial><mass value="1"/>'
    '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
)
TWO_LINKS = f'<link name="a">{INERTIAL}</link><link name="b">{INERTIAL}</link>'


def urdf_joint(parent="a", child="b", kind="revolute", name="j", more=""):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/>{more}</joint>'
    )


# name of the file -> content; each is handed to `stiction info` and `stiction run`.
MODELS = {
    "empty.xml": "",
    "spaces.xml": "   \n ",
    "words.xml": "this is not XML",
    "unclosed.xml": "<mujoco><worldbody>",
    "mismatched.xml": "<mujoco><worldbody></mujoco></worldbody>",
    "wrong-root.xml": "<model></model>",
    "html.xml": "<!doctype html><html><body>hello</body></html>",
    "attribute.xml": '<mujoco><worldbody><body nmae="b"/></worldbody></mujoco>',
    "element.xml": "<mujoco><worldbody><boddy/></worldbody></mujoco>",
    "bad-number.xml": mjcf('<body pos="a b c"><joint/><geom size=".1"/></body>'),
    "short-vector.xml": mjcf('<body><joint axis="0 1"/><geom size=".1"/></body>'),
    "nan-pos.xml": mjcf('<body pos="nan 0 0"><joint/><geom size=".1"/></body>'),
    "inf-pos.xml": mjcf('<body pos="inf 0 0"><joint/><geom size=".1"/></body>'),
    "negative-mass.xml": mjcf('<body><joint/><geom size=".1" mass="-1"/></body>'),
    "negative-inertial.xml": mjcf(
        '<body><joint/><inertial pos="0 0 0" mass="-1" diaginertia="1 1 1"/></body>'
    ),
    "nan-mass.xml": mjcf(
        '<body><joint/><inertial pos="0 0 0" mass="nan" diaginertia="1 1 1"/></body>'
    ),
    "nan-inertia.xml": mjcf(
        '<body><joint/><inertial pos="0 0 0" mass="1" diaginertia="nan 1 1"/></body>'
    ),
    "negative-size.xml": mjcf('<body><joint/><geom size="-.1"/></body>'),
    "zero-size.xml": mjcf('<body><joint/><geom type="box" size="0 0 0"/></body>'),
    "massless-leaf.xml": mjcf('<body name="leaf"><joint name="j"/></body>'),
    "massless-chain.xml": mjcf("<body><joint/><body><joint/></body></body>"),
    "duplicate-body.xml": mjcf(BODY + BODY),
    "duplicate-joint.xml": mjcf(BODY + BODY.replace('name="b"', 'name="c"')),
    "free-inside.xml": mjcf(
        '<body><geom size=".1"/><body><freejoint/><geom size=".1"/></body></body>'
    ),
    "zero-axis.xml": mjcf('<body><joint axis="0 0 0"/><geom size=".1"/></body>'),
    "bad-joint-type.xml": mjcf('<body><joint type="helix"/><geom size=".1"/></body>'),
    "bad-geom-type.xml": mjcf('<body><joint/><geom type="torus" size=".1"/></body>'),
    "no-bodies.xml": "<mujoco><worldbody/></mujoco>",
    "nothing-moves.xml": mjcf('<body><geom size=".1"/></body>'),
    "missing-mesh-inertia.xml": mjcf(
        '<body><joint/><geom type="mesh" mesh="m"/></body>',
        '<asset><mesh name="m" file="absent.stl"/></asset>',
    ),
    "missing-mesh-asset.xml": mjcf('<body><joint/><geom type="mesh" mesh="nowhere"/></body>'),
    "missing-include.xml": '<mujoco><include file="absent.xml"/></mujoco>',
    "missing-class.xml": mjcf('<body><joint class="none"/><geom size=".1"/></body>'),
    "actuator-unknown-joint.xml": mjcf(more='<actuator><motor joint="none"/></actuator>'),
    "muscle.xml": mjcf(more='<actuator><muscle joint="j"/></actuator>'),
    "adhesion.xml": mjcf(more='<actuator><adhesion body="b" ctrlrange="0 1"/></actuator>'),
    "nan-gravity.xml": mjcf(more='<option gravity="0 0 nan"/>'),
    "huge-gravity.xml": mjcf(more='<option gravity="0 0 -1e300"/>'),
    "plugin.xml": '<mujoco><extension><plugin plugin="none.such"/></extension></mujoco>',
    "unclosed.urdf": '<robot name="r"><link name="a">',
    "no-links.urdf": '<robot name="r"/>',
    "mujoco-in.urdf": "<mujoco><worldbody></mujoco>",
    "cycle.urdf": urdf(TWO_LINKS, urdf_joint() + urdf_joint("b", "a", name="k")),
    "self-parent.urdf": urdf(TWO_LINKS, urdf_joint("b", "b")),
    "missing-parent.urdf": urdf(TWO_LINKS, urdf_joint("none", "b")),
    "missing-child.urdf": urdf(TWO_LINKS, urdf_joint("a", "none")),
    "two-parents.urdf": urdf(
        TWO_LINKS + f'<link name="c">{INERTIAL}</link>',
        urdf_joint() + urdf_joint("c", "b", name="k"),
    ),
    "bad-type.urdf": urdf(TWO_LINKS, urdf_joint(kind="screw")),
    "massless-leaf.urdf": urdf(f'<link name="a">{INERTIAL}</link><link name="b"/>', urdf_joint()),
    "negative-mass.urdf": urdf(TWO_LINKS.replace('value="1"', 'value="-1"'), urdf_joint()),
    "nan-mass.urdf": urdf(TWO_LINKS.replace('value="1"', 'value="nan"'), urdf_joint()),
    "nan-inertia.urdf": urdf(TWO_LINKS.replace('ixx="1"', 'ixx="nan"'), urdf_joint()),
    "duplicate-link.urdf": urdf(TWO_LINKS.replace('name="b"', 'name="a"')),
    "nothing-moves.urdf": urdf(TWO_LINKS, urdf_joint(kind="fixed")),
    "binary.xml": b"\x00\xff\xfe\x80 binary",
}

# Other requests that cannot be carried out.
REQUESTS = [
    ("run",),
    ("run", "no-such-scene"),
    ("run", "doble-pendulum"),
    ("run", "absent.xml"),
    ("run", "absent.toml"),
    ("run", "model.docx"),
    ("run", "double-pendulum", "extra"),
    ("run", "double-pendulum", "--no-such-option"),
    ("run", "double-pendulum", "--set", "until"),
    ("run", "double-pendulum", "--set", "=3"),
    ("run", "double-pendulum", "--set", "until=-1"),
    ("run", "double-pendulum", "--set", "until=0"),
    ("run", "double-pendulum", "--set", "until=nan"),
    ("run", "double-pendulum", "--set", "until=inf"),
    ("run", "double-pendulum", "--set", "until=soon"),
    ("run", "double-pendulum", "--set", "untl=1"),
    ("run", "double-pendulum", "--set", "start.q=[0]"),
    ("run", "double-pendulum", "--set", "start.q=[0,0,0]"),
    ("run", "double-pendulum", "--set", "start.q=[0,nan]"),
    ("run", "double-pendulum", "--set", "start.q=[0,"),
    ("run", "double-pendulum", "--set", "start.q=horizontal"),
    ("run", "double-pendulum", "--set", "start.q.q9=1"),
    ("run", "double-pendulum", "--set", "start.v=[1]"),
    ("run", "double-pendulum", "--set", "start.v=[0,-1e300]"),
    ("run", "double-pendulum", "--set", "start.q=[1e300,0]"),
    ("run", "double-pendulum", "--set", "start.keyframe=home"),
    ("run", "double-pendulum", "--set", "solver.rtol=0"),
    ("run", "double-pendulum", "--set", "solver.rtol=-1e-8"),
    ("run", "double-pendulum", "--set", "solver.method=rk4"),
    ("run", "double-pendulum", "--set", "solver.steps=5"),
    ("run", "double-pendulum", "--set", "samples=1"),
    ("run", "double-pendulum", "--set", "samples=2.5"),
    ("run", "double-pendulum", "--set", "control.motor.offset=1"),
    ("run", "double-pendulum", "--set", "mechanism.base=free"),
    ("run", "double-pendulum", "--set", "mechanism.file=absent.xml"),
    ("run", "double-pendulum", "--set", "mechanism.edits.geom.none.size=[1]"),
    ("run", "double-pendulum", "--set", "mechanism.edits.geom.bar_a.girth=1"),
    ("run", "double-pendulum", "--set", "mechanism.edits.bar_a=1"),
    ("run", "double-pendulum", "--set", "title.text=a"),
    ("run", "human", "--set", "mechanism.human.height=-1"),
    ("run", "human", "--set", "mechanism.human.sex=robot"),
    ("info",),
    ("info", "no-such-scene"),
    ("info", "notes.txt"),
    ("info", "double-pendulum", "--base", "free"),
    ("reproduce", "newton"),
    ("frobnicate",),
]


def files_below(folder: Path) -> set[Path]:
    return {p for p in folder.rglob("*") if p.is_file()}


def assert_refused(outcome):
    assert outcome.status == 2, outcome.err
    assert outcome.out == ""
    lines = outcome.err.strip().splitlines()
    assert len(lines) == 1, outcome.err
    assert lines[0].startswith("stiction: ")
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize("name", MODELS)
def test_broken_models_are_refused_in_one_line(cli, tmp_path, name):
    content = MODELS[name]
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    before = files_below(tmp_path)
    assert_refused(cli("info", path))
    assert_refused(cli("run", path, "--out", "out"))
    assert files_below(tmp_path) == before


# Not bad at all: what a tree of joints does not have, and MuJoCo's own functions treat.
BEYOND = {
    "equality-connect.xml": mjcf(
        more='<equality><connect name="loop" body1="b" anchor="0 0 0"/></equality>'
    ),
    "equality-weld.xml": mjcf(more='<equality><weld body1="b"/></equality>'),
    "equality-joint.xml": mjcf(more='<equality><joint joint1="j"/></equality>'),
    "tendon.xml": mjcf(more='<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>'),
    "cylinder-actuator.xml": mjcf(more='<actuator><cylinder joint="j"/></actuator>'),
    "integrated-velocity.xml": mjcf(
        more='<actuator><intvelocity joint="j" actrange="-1 1"/></actuator>'
    ),
    "site-actuator.xml": mjcf(
        '<body name="b"><joint/><geom size=".1"/><site name="s"/></body>',
        '<actuator><motor site="s" gear="1 0 0 0 0 0"/></actuator>',
    ),
    "gravcomp.xml": mjcf('<body gravcomp="1"><joint/><geom size=".1"/></body>'),
    "fluid.xml": mjcf(more='<option density="1000"/>'),
    "viscosity.xml": mjcf(more='<option viscosity="1"/>'),
    "wind.xml": mjcf(more='<option wind="1 0 0"/>'),
    "free-spring.xml": mjcf('<body><joint type="ball" stiffness="1"/><geom size=".1"/></body>'),
    "ball-servo.xml": mjcf(
        '<body><joint name="j" type="ball"/><geom size=".1"/></body>',
        '<actuator><position joint="j"/></actuator>',
    ),
    "spring-off.xml": mjcf(more='<option><flag spring="disable"/></option>'),
}


@pytest.mark.parametrize("name", BEYOND)
def test_what_is_beyond_a_tree_is_named_and_run(cli, tmp_path, name):
    path = tmp_path / name
    path.write_text(BEYOND[name])
    told = json.loads(cli("info", path, "--json").out)
    assert len(told["beyond"]) == 1
    ran = json.loads(cli("run", path, "--set", "until=0.02", "--json").out)
    assert ran["success"], ran["message"]


@pytest.mark.parametrize("arguments", REQUESTS, ids=" ".join)
def test_impossible_requests_are_refused_in_one_line(cli, tmp_path, arguments):
    assert_refused(cli(*arguments))
    assert not files_below(tmp_path)


SCENARIOS = {
    "not.toml": "until = [1",
    "list.yaml": "- 1\n- 2",
    "tabs.yaml": "a:\n\t- b",
    "no-mechanism.toml": "until = 1.0",
    "two-mechanisms.toml": "[mechanism]\nfile = 'a.xml'\nhuman = {}",
    "extra.toml": "[mechanism]\nfile = 'a.xml'\ncolour = 'red'",
    "absent-model.toml": "[mechanism]\nfile = 'absent.xml'",
    "wrong-type.toml": "mechanism = 3",
    "bad-sex.yaml": "mechanism:\n  human:\n    sex: 3",
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_broken_scenarios_are_refused_in_one_line(cli, tmp_path, name):
    (tmp_path / name).write_text(SCENARIOS[name])
    before = files_below(tmp_path)
    assert_refused(cli("run", name))
    assert files_below(tmp_path) == before


def test_there_are_at_least_a_hundred():
    assert len(MODELS) + len(REQUESTS) + len(SCENARIOS) >= 100
