"""Equipment shared by tests: mechanisms to run over, states, comparisons."""

import functools
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

import stiction
from stiction._base.compile import quick_options
from stiction._base.errors import IgnoredWarning

# Every type of joint, several on one body, welded bodies, offsets, references, two trees.
EVERY_JOINT = """
<mujoco model="every-joint">
  <option gravity="1 -2 -9.81"/>
  <worldbody>
    <body name="ball" pos="1 2 3" euler="10 20 30">
      <joint name="ball" type="ball" pos=".1 .2 .3"/>
      <geom type="box" size=".1 .2 .3" pos=".1 0 .2" euler="40 0 10"/>
      <body name="screw" pos=".1 .2 .5" euler="0 30 20">
        <joint name="slide" type="slide" axis="1 1 0" ref=".2" pos="0 0 .1" stiffness="3"
               springref=".5"/>
        <joint name="hinge" axis="1 0 2" pos=".3 0 .1" ref="20" armature=".2" damping=".7"/>
        <geom size=".1"/>
        <body name="welded" pos=".3 0 0" euler="1 50 3">
          <geom type="capsule" size=".1 .2"/>
          <body name="leaf" pos=".3 0 0" euler="1 50 3">
            <joint name="leaf" axis="0 1 0" stiffness="2"/>
            <geom type="capsule" size=".1 .2"/>
          </body>
        </body>
      </body>
    </body>
    <body name="free" pos="40 0 0">
      <freejoint name="free"/>
      <geom type="ellipsoid" size=".1 .2 .3" pos=".1 0 0"/>
      <body name="cardan" pos="0 1 0">
        <joint name="one" axis="0 1 0" pos="0 0 1"/>
        <joint name="two" axis="1 0 0"/>
        <joint name="three" type="slide" axis="0 1 0"/>
        <geom size=".2"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor joint="leaf" gear="3" ctrlrange="-1 1"/>
    <position joint="hinge" kp="20" kv="2" forcerange="-4 4" gear="0.5"/>
    <motor joint="ball" gear="1 2 3 0 0 0"/>
  </actuator>
</mujoco>
"""

URDFS = ("human", "simple_humanoid", "talos_reduced", "icub", "anymal", "solo12", "bolt")


@functools.cache
def quiet_load(source: str | Path, base: str | None = None):
    """`stiction.load` without its warnings about absent meshes; loaded once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IgnoredWarning)
        return stiction.load(source, base=base)


def jit_once(f: Callable) -> Callable:
    """`jax.jit` for a program with little to do: LLVM takes least pains, in a third of the time.

    It runs up to eight times as long; `quick_jit` is for programs that search, many times over.
    """
    return jax.jit(f, compiler_options=_least_pains())


@functools.cache
def _least_pains() -> dict[str, Any]:
    options = quick_options()
    return options | {"xla_backend_optimization_level": 0} if options else {}


def relative_error(value, expected) -> float:
    """Largest difference over the largest expected value."""
    value, expected = np.asarray(value), np.asarray(expected)
    return float(np.max(np.abs(value - expected)) / max(np.max(np.abs(expected)), 1e-300))
