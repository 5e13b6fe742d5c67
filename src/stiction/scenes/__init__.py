"""Scenes: files that say which mechanism moves, from where, for how long and under which law."""

from stiction.scenes.library import load, scene_names
from stiction.scenes.read import read_scenario
from stiction.scenes.scenario import Scenario

# `stiction.scenes.run` carries a scenario out; it needs JAX and is imported when it is used.
__all__ = ["Scenario", "load", "read_scenario", "scene_names"]
