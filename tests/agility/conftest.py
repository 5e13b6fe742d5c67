"""Legs to stand on."""

import re
from xml.etree import ElementTree

import jax.numpy as jnp
import pytest

import stiction
from helpers import quiet_load
from stiction.agility import make_stance, unit_vector

PLANAR_LEG = """
<mujoco model="planar-leg">
  <compiler angle="radian"/>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <geom name="ground" type="plane" size="1 1 .1"/>
    <body name="body" pos="0 0 .5">
      <joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
      <joint name="pitch" axis="0 1 0" range="-.6 .6"/>
      <geom type="capsule" fromto="-.1 0 0 .1 0 0" size=".03" mass="2"/>
      <body name="thigh">
        <joint name="hip" axis="0 1 0" range="-1.2 1.2" stiffness="3" springref=".2"/>
        <geom type="capsule" fromto="0 0 0 0 0 -.25" size=".02" mass=".4"/>
        <body name="shank" pos="0 0 -.25">
          <joint name="knee" axis="0 1 0" range=".1 2.2"/>
          <geom type="capsule" fromto="0 0 0 0 0 -.25" size=".02" mass=".2"/>
          <site name="foot" pos="0 0 -.25"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="hip" joint="hip" ctrlrange="-12 12"/>
    <motor name="knee" joint="knee" gear="2" ctrlrange="-5 7"/>
  </actuator>
</mujoco>
"""


@pytest.fixture(scope="session")
def jumping_leg():
    return make_stance(stiction.load("jumping-leg"), contacts=["foot"], mu=0.5)


@pytest.fixture(scope="session")
def planar_leg():
    return make_stance(stiction.load(PLANAR_LEG), contacts=["foot"], mu=0.6)


@pytest.fixture(scope="session")
def quadruped_leg(shared_data):
    """Solo's trunk on its left front leg alone."""
    text = (shared_data / "robot_models" / "solo12.urdf").read_text()
    root = ElementTree.fromstring(re.sub(r"<\?xml.*?\?>", "", text))
    for part in list(root):
        if re.match(r"(FR|HL|HR)_", part.get("name", "")):
            root.remove(part)
    mechanism = quiet_load(ElementTree.tostring(root, encoding="unicode"), "free")
    return make_stance(mechanism, contacts=["FL_FOOT"], mu=0.7)


@pytest.fixture(scope="session")
def forward():
    return unit_vector("direction", [-1, 0, 1])


@pytest.fixture(scope="session")
def upright(jumping_leg):
    return jnp.asarray(jumping_leg.mechanism.q_reference)
