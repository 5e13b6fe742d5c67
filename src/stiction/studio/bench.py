"""What one person works on: a scene, its last good run, what it was before, and ghosts."""

import copy
import threading
import time as clock
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from stiction._base.errors import InputError, RunError
from stiction.engines import Compliant, Event, Trajectory
from stiction.report.compare import apart_from
from stiction.report.figures import COLORS
from stiction.report.player.payload import slow_times, slowness
from stiction.report.run_path import RunPath, through_events, world_impulses
from stiction.scenes import Scene, scenario_text
from stiction.scenes.scenario import law_name

LAWS = ("hybrid", "stepping", "compliant")
MOST_UNDONE = 200
_TOGETHER = 0.7  # s between changes that are undone at once


class Bench:
    """A scene under the hands of one person.

    A change runs the scene at once. If that fails, `message` says why in one line, and the scene
    and its run stay as they were.

    Attributes:
        scene: As it is now.
        run: Its run.
        path: The run's way through its events.
        events: The run's events.
        impulses: Of its impacts, as `world_impulses` has them.
        slow: Times around which, for `slowness` [s] each way, the motion is shown slower.
        ghosts: Runs to compare with, by their names.
        message: Why the last change failed; empty if it did not.
    """

    def __init__(self, scene: Scene, run: Trajectory | None = None):
        self.scene = scene
        self.ghosts: dict[str, Trajectory] = {}
        self.message = ""
        self._before: list[Scene] = []
        self._last = "", 0.0  # which control made the last change, and when it was done
        self._laws: tuple[str, ...] = ()
        self._lock = threading.Lock()
        self._take(scene, self._simulate(scene) if run is None else run)

    def _simulate(self, scene: Scene) -> Trajectory:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is left out is told by the page and the terminal
            run = scene.run()
        if not np.isfinite(np.asarray(run.q)).all(axis=1).any():
            raise RunError(run.message or "the motion is not finite from the start")
        # All motions at suspicious events are looked for when somebody asks, not at every run.
        assert run.origin is not None
        quick = copy.copy(run)
        object.__setattr__(quick, "origin", replace(run.origin, notes=None))
        return quick

    def _take(self, scene: Scene, run: Trajectory) -> None:
        self.scene, self.run = scene, run
        self.path: RunPath = through_events(run)
        self.events: list[Event] = run.events()
        self.impulses = world_impulses(run)
        self.slowness = slowness(self.path.time)
        self.slow = slow_times(self.impulses, self.slowness)
        self.message = "" if run.success else run.message

    def change(self, fields: dict[str, Any], by: str = "") -> bool:
        """Run the scene with other fields; say whether that worked.

        Changes by one control in quick succession, as of a slider that is drawn, are undone at
        once.
        """
        begun = clock.monotonic()
        with self._lock:
            try:
                scene = self.scene.change(fields)
                run = self._simulate(scene)
            except (InputError, RunError) as error:
                self.message = " ".join(str(error).split())
                return False
            if not (by and by == self._last[0] and begun - self._last[1] < _TOGETHER):
                self._before = [*self._before[1 - MOST_UNDONE :], self.scene]
            self._last = by, clock.monotonic()
            self._take(scene, run)
            self._run_ghosts()
            return True

    def undo(self) -> bool:
        """Go back to the scene before the last change; say whether there was one."""
        with self._lock:
            if not self._before:
                return False
            scene, self._last = self._before.pop(), ("", 0.0)
            self._take(scene, self._simulate(scene))
            self._run_ghosts()
            return True

    def compare(self, laws: tuple[str, ...]) -> None:
        """Show the same start under other laws too, as ghosts."""
        with self._lock:
            self._laws = tuple(law for law in laws if law != law_name(self.scene.scenario.contact))
            self._run_ghosts()

    def _run_ghosts(self) -> None:
        kept = {name: run for name, run in self.ghosts.items() if name not in LAWS}
        self.ghosts = kept
        for law in self._laws:
            try:
                self.ghosts[law] = self._simulate(self.scene.change({"contact.law": law}))
            except (InputError, RunError) as error:
                self.message = f"{law}: {' '.join(str(error).split())}"

    def apart(self) -> dict[str, np.ndarray]:
        """How far each ghost is from the run at its samples: the largest of all coordinates."""
        return {
            name: np.abs(apart_from(self.run, ghost)).max(axis=1)
            for name, ghost in self.ghosts.items()
            if np.shape(ghost.q)[1] == np.shape(self.run.q)[1]
        }

    def differences(self) -> dict[str, float]:
        """How far each ghost ends from the run: the largest difference of a coordinate."""
        end = self.path.q[-1]
        return {
            name: float(np.abs(through_events(run).q[-1] - end).max())
            for name, run in self.ghosts.items()
        }

    def color(self, ghost: str) -> int:
        """Of the palette, in which a ghost is drawn and its curves are."""
        return 1 + list(self.ghosts).index(ghost) % (len(COLORS) - 1)

    def friction(self) -> np.ndarray:
        """The static coefficient of each contact."""
        law: Any = self.run.law
        law = law.tangential.friction_law() if isinstance(law, Compliant) else law
        mu = np.asarray(getattr(law, "mu_static", 0.0), float)
        return np.broadcast_to(mu, (len(self.run.contact_names),))

    def scenario(self) -> str:
        """The scenario as a file."""
        return scenario_text(self.scene)

    def page(self) -> str:
        """The run as the page that can be mailed."""
        from stiction.report.run import run_page

        return run_page(self.run).to_html()
