"""What one person works on: a scene, its last good run, what it was before, and ghosts."""

import contextlib
import threading
import time as clock
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from stiction._base.errors import InputError, RunError
from stiction.engines import Compliant, Event, Origin, Trajectory, watched
from stiction.engines.given import changed
from stiction.engines.watching import Look
from stiction.report.compare import apart_from
from stiction.report.figures import COLORS
from stiction.report.player.payload import slow_times, slowness
from stiction.report.run_path import RunPath, through_events, world_impulses
from stiction.scenes import Scene, scenario_text
from stiction.scenes.scenario import law_name

Meanwhile = Callable[[], None]
LAWS = ("hybrid", "stepping", "compliant")
MOST_UNDONE = 200
FIRST = 0.1  # s after which a run that goes on is shown as far as it has come
_KEPT = 10  # changes whose runs are kept: to undo them takes no time
_TOGETHER = 0.7  # s between changes that are undone at once
_IDLE = 4.0  # times what showing it took, until a run is shown again


class Superseded(Exception):
    """A run was ended because something else is wanted."""


class Bench:
    """A scene under the hands of one person.

    A change runs the scene at once. While that goes on, `run` is as far as it has come. If it
    fails, `message` says why in one line, and the scene and its run are again what they were.

    Attributes:
        scene: As it is shown.
        aim: As it is wanted: another one while a run goes on or was superseded.
        run: Its run.
        path: The run's way through its events.
        events: The run's events.
        impulses: Of its impacts, as `world_impulses` has them.
        slow: Times around which, for `slowness` [s] each way, the motion is shown slower.
        until: When the run ends, or will end [s].
        version: Counts the runs that were on the bench, and what came of them so far.
        ghosts: Runs to compare with, by their names.
        message: Why the last change failed; empty if it did not.
    """

    def __init__(self, scene: Scene, run: Trajectory | None = None):
        self.ghosts: dict[str, Trajectory] = {}
        self.message = ""
        self.version = 0
        self._before: list[tuple[Scene, Trajectory | None]] = []
        self._last = "", 0.0  # which control made the last change, and when it was done
        self._laws: tuple[str, ...] = ()
        self._lock = threading.Lock()
        scene = _own(scene)
        self._keep(scene, self._simulate(scene) if run is None else run)

    def _simulate(self, scene: Scene, look: Look | None = None) -> Trajectory:
        watching = contextlib.nullcontext() if look is None else watched(look)
        with warnings.catch_warnings(), watching:
            warnings.simplefilter("ignore")  # what is left out is told by the page and the terminal
            run = scene.run()
        if not np.isfinite(np.asarray(run.q)).all(axis=1).any():
            raise RunError(run.message or "the motion is not finite from the start")
        # All motions at suspicious events are looked for when somebody asks, not at every run.
        assert run.origin is not None
        return changed(run, origin=replace(run.origin, notes=None))

    def _keep(self, scene: Scene, run: Trajectory) -> None:
        """Take a run that is whole: what follows goes back to it if it fails."""
        self._good = self.aim, _ = scene, run
        self._take(scene, run)

    def _take(self, scene: Scene, run: Trajectory) -> None:
        self.scene, self.run = scene, run
        self.path: RunPath = through_events(run)
        self.events: list[Event] = run.events()
        self.impulses = world_impulses(run)
        self.slowness = slowness(self.path.time)
        self.slow = slow_times(self.impulses, self.slowness)
        self.message = "" if run.success else run.message
        self.until = float(scene.scenario.until if self.goes_on else self.path.time[-1])
        self.version += 1

    @property
    def goes_on(self) -> bool:
        """Whether the run is not yet whole."""
        return self.run is not self._good[1]

    def change(
        self, fields: dict[str, Any], by: str = "", meanwhile: Meanwhile = lambda: None
    ) -> bool:
        """Run the scene with other fields; say whether that worked.

        Changes by one control in quick succession, as of a slider that is drawn, are undone at
        once.

        Args:
            fields: What changes, as `Scene.change` takes it. Of a run that was superseded, the
                changes count too.
            by: Which control makes the change.
            meanwhile: Called again and again while the scene runs. It may raise `Superseded`.
        """
        begun = clock.monotonic()
        with self._lock:
            try:
                self.aim = self.aim.change(fields)
                run = self._simulate(self.aim, self._shown_by(meanwhile))
            except (InputError, RunError) as error:
                self.aim = self._good[0]
                if self.goes_on:
                    self._take(*self._good)
                self.message = " ".join(str(error).split())
                return False
            if not (by and by == self._last[0] and begun - self._last[1] < _TOGETHER):
                self._remember()
            self._last = by, clock.monotonic()
            self._keep(self.aim, run)
            self._run_ghosts(meanwhile)
            return True

    def _shown_by(self, meanwhile: Meanwhile) -> Look:
        """Look at a run that goes on: show it as far as it has come."""
        due = clock.monotonic() + FIRST

        def look(so_far: Callable[[], Trajectory]) -> None:
            nonlocal due
            begun = clock.monotonic()
            if begun > due and len((part := so_far()).time) > 1:
                scene = self.aim
                found = scene.contacts if part.origin is None else part.origin.contacts
                origin = Origin(scene.mechanism, found, scene.law, scene.control, scene)
                self._take(scene, changed(part, origin=origin))
            meanwhile()
            if begun > due:
                due = clock.monotonic() + max(FIRST, _IDLE * (clock.monotonic() - begun))

        return look

    def _remember(self) -> None:
        """Put what is on the bench on the pile of what was."""
        self._before = [*self._before[1 - MOST_UNDONE :], self._good]
        for i, (scene, _) in list(enumerate(self._before))[:-_KEPT]:
            self._before[i] = scene, None

    def undo(self, meanwhile: Meanwhile = lambda: None) -> bool:
        """Go back to the scene before the last change; say whether there was one.

        A change whose run was superseded is the last one.
        """
        with self._lock:
            self._last = "", 0.0
            if self.aim is not self._good[0]:
                self._keep(*self._good)
                return True
            if not self._before:
                return False
            scene, run = self._before.pop()
            self._keep(scene, self._simulate(scene) if run is None else run)
            self._run_ghosts(meanwhile)
            return True

    def compare(self, laws: tuple[str, ...], meanwhile: Meanwhile = lambda: None) -> None:
        """Show the same start under other laws too, as ghosts."""
        with self._lock:
            self._laws = tuple(law for law in laws if law != law_name(self.scene.scenario.contact))
            self._run_ghosts(meanwhile)

    def _run_ghosts(self, meanwhile: Meanwhile) -> None:
        kept = {name: run for name, run in self.ghosts.items() if name not in LAWS}
        self.ghosts = kept
        for law in self._laws:
            try:
                other = self.scene.change({"contact.law": law})
                self.ghosts[law] = self._simulate(other, lambda _: meanwhile())
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


def _own(scene: Scene) -> Scene:
    """The same scene with contacts of its own: two runs of one scene at once would mix."""
    other = Scene(scene.scenario, scene.folder)
    vars(other)["mechanism"] = scene.mechanism
    return other
