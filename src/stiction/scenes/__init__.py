"""Scenes: files that say which mechanism moves, from where, for how long and under which law."""

from stiction.scenes.library import load, scene_names
from stiction.scenes.read import read_scenario
from stiction.scenes.run import Run, run_scenario
from stiction.scenes.scenario import Scenario

__all__ = ["Run", "Scenario", "load", "read_scenario", "run_scenario", "scene_names"]
