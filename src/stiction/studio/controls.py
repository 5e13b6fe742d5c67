"""The controls of the studio: the transport, what is shown, sliders, laws, files."""

import html
import threading
import time as clock
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from stiction._base.errors import InputError, RunError
from stiction.report.figures import COLORS
from stiction.report.page import number
from stiction.report.video import SLOWEST, video_bytes
from stiction.scenes import scene as read_scene
from stiction.scenes import scene_names
from stiction.scenes.scenario import law_name
from stiction.studio.bench import LAWS, Bench, Superseded
from stiction.studio.gizmos import Gizmos
from stiction.studio.instant import capability_hull, tell_motions
from stiction.studio.knobs import Knob, knobs_of
from stiction.studio.plots import Plots
from stiction.studio.stage import Stage

if TYPE_CHECKING:
    import viser

TICK = 1 / 30  # s between two pictures
HANDS = 0.2  # s between two moves of the charts' hands
SPEEDS = ("0.05", "0.1", "0.25", "0.5", "1", "2", "4")
MOST_EVENTS = 400  # in the list
_AT_ONCE = ("seek", "event", "jump", "play", "show", "gizmos")  # wishes that need no run
_OTHERS = {"knob", "start", "law", "undo", "scene"}  # and those that need another one
_VIEW = 0.75  # rad, from top to bottom of the picture


class Controls:
    """One browser's studio. A thread of its own runs what is asked for, and plays.

    Args:
        client: The browser.
        bench: What it works on; of this browser alone.
    """

    def __init__(self, client: "viser.ClientHandle", bench: Bench):
        self.client, self.bench = client, bench
        self.t, self.playing = float(bench.path.time[0]), False
        self._wanted: dict[str, Any] = {}  # what to do next, by what it is: the last wish counts
        self._wake = threading.Event()
        self._open = True
        self._shown = 0  # which version of the bench
        self._moved = self._hands = 0.0
        self._build()
        threading.Thread(target=self._work, daemon=True, name="studio").start()

    def close(self) -> None:
        """The browser is gone."""
        self._open = False
        self._wake.set()

    def _ask(self, what: str, wish: Any) -> None:
        self._wanted[what] = wish
        self._wake.set()

    def _build(self) -> None:
        """All controls, for the scene that is on the bench."""
        gui, bench = self.client.gui, self.bench
        gui.reset()
        self.client.scene.reset()
        gui.set_panel_label("stiction studio")
        gui.main_panel.dock_right()  # beside the scene, not over it
        self.stage = Stage(self.client.scene, bench)
        self.gizmos = Gizmos(self.client.scene, bench, self._ask)
        self._title = gui.add_markdown("")
        self._transport(gui)
        self._knobs: dict[str, tuple[Knob, Any]] = {}
        self._numbers(gui)
        self._laws(gui)
        self._looks(gui)
        self._instants(gui)
        self._files(gui)
        self.plots = Plots(gui, bench)
        self._shown = bench.version
        self._look_at()
        self._tell()
        self._paint()

    def _look_at(self) -> None:
        """The first view: from the side, the whole motion in the picture."""
        middle, reach = self.stage.middle, max(self.stage.reach, 0.2)
        self.client.camera.up_direction = (0.0, 0.0, 1.0)
        self.client.camera.fov = _VIEW
        self.client.camera.position = middle + np.array([0.6, -2.4, 0.7]) * 1.25 * reach
        self.client.camera.look_at = middle

    def _transport(self, gui: Any) -> None:
        time = self.bench.path.time
        first, last = float(time[0]), float(time[-1])
        self._play = gui.add_button("Play")
        self._play.on_click(lambda _: self._ask("play", not self.playing))
        step = max((last - first) / 2000, 1e-6)
        self._slider = gui.add_slider("time [s]", first, last, step, first)
        self._slider.on_update(lambda e: self._by_hand(e, "seek", e.target.value))
        steps = gui.add_button_group("event", ("before", "next"))
        steps.on_click(lambda e: self._ask("jump", 1 if e.target.value == "next" else -1))
        self._events = gui.add_dropdown("go to", self._event_names())
        self._events.on_update(lambda e: self._by_hand(e, "event", e.target.value))
        self._speed = gui.add_dropdown("speed", SPEEDS, initial_value="1")
        self._slow = gui.add_checkbox("slow near impacts", True)

    def _event_names(self) -> tuple[str, ...]:
        events = self.bench.events[:MOST_EVENTS]
        return (
            "start",
            *(
                f"{i + 1}: {e.time:.6f} s {e.kind} {e.contact}".strip()
                for i, e in enumerate(events)
            ),
        )

    def _by_hand(self, event: Any, what: str, wish: Any) -> None:
        """A wish of the person; what the program sets itself calls back too, without a client."""
        if event.client is not None:
            self._ask(what, wish)

    def _numbers(self, gui: Any) -> None:
        folders: dict[str, Any] = {}
        for knob in knobs_of(self.bench.scene):
            if knob.group not in folders:
                shut = knob.group in ("Start", "Motors")
                folders[knob.group] = gui.add_folder(knob.group, expand_by_default=not shut)
            value, low, high = (
                float(np.log10(x)) if knob.power else x for x in (knob.value, knob.low, knob.high)
            )
            step = 10.0 ** np.floor(np.log10((high - low) / 200))
            with folders[knob.group]:
                slider = gui.add_slider(knob.label, low, high, step, value)
            key = f"{knob.path}[{knob.index}]"
            self._knobs[key] = (knob, slider)
            slider.on_update(lambda e, key=key: self._by_hand(e, f"knob {key}", e.target.value))

    def _laws(self, gui: Any) -> None:
        with gui.add_folder("Law"):
            now = law_name(self.bench.scene.scenario.contact)
            self._law = gui.add_dropdown("contact law", (*LAWS, "none"), initial_value=now)
            self._law.on_update(lambda e: self._by_hand(e, "law", e.target.value))
            self._ghosts = {law: gui.add_checkbox(f"ghost: {law}", False) for law in LAWS}
            for box in self._ghosts.values():
                box.on_update(lambda e: self._by_hand(e, "ghosts", None))
            self._differences = gui.add_html("")

    def _looks(self, gui: Any) -> None:
        with gui.add_folder("Show", expand_by_default=False):
            for name, on in self.stage.show.items():
                box = gui.add_checkbox(name, on)
                box.on_update(
                    lambda e, name=name: self._by_hand(e, f"show {name}", (name, e.target.value))
                )
            drag = gui.add_checkbox("drag the start", False)
            drag.on_update(lambda e: self._by_hand(e, "gizmos", e.target.value))

    def _instants(self, gui: Any) -> None:
        with gui.add_folder("At this instant", expand_by_default=False):
            self._friction = gui.add_markdown("")
            gui.add_button("Possible motions").on_click(lambda _: self._ask("motions", None))
            gui.add_button("Capability").on_click(lambda _: self._ask("capability", None))
            self._found = gui.add_markdown("")

    def _files(self, gui: Any) -> None:
        gui.add_button("Undo").on_click(lambda _: self._ask("undo", None))
        with gui.add_folder("File", expand_by_default=False):
            names = tuple(scene_names())
            other = gui.add_dropdown("scene", ("(this one)", *names))
            other.on_update(lambda e: self._by_hand(e, "scene", e.target.value))
            for label, what in (
                ("Save scenario", "save"),
                ("Share as a page", "share"),
                ("Record video", "video"),
            ):
                gui.add_button(label).on_click(lambda _, what=what: self._ask(what, None))

    def _work(self) -> None:
        """Do what is asked for, in order; play in between."""
        while self._open:
            self._wake.wait(TICK if self.playing else None)
            self._wake.clear()
            try:
                while self._wanted and self._open:
                    what = next(iter(self._wanted))
                    self._do(what, self._wanted.pop(what))
                self._advance()
            except Superseded:
                continue
            except Exception as error:  # a session must not end by what it was asked
                if self._open:
                    self.bench.message = " ".join(f"{type(error).__name__}: {error}".split())
                    self._tell()

    def _do(self, what: str, wish: Any) -> None:
        kind, _, key = what.partition(" ")
        if kind in _AT_ONCE:
            getattr(self, f"_on_{kind}")(wish)
        elif kind == "knob":
            knob = self._knobs[key][0]
            value = 10.0**wish if knob.power else float(wish)
            self._change(knob.change(self.bench.aim, value), key)
        elif kind == "start":
            self._change({"start.q": wish}, what)
        elif kind == "law":
            self._change({"contact.law": wish})
        elif kind == "ghosts":
            laws = tuple(law for law, box in self._ghosts.items() if box.value)
            self.bench.compare(laws, self._meanwhile())
            self._refresh()
        elif kind == "undo":
            if self.bench.undo(self._meanwhile()):
                self._renew()
        elif kind == "scene" and wish != "(this one)":
            self._title.content = f"**{wish}** is being run for the first time …"
            self.bench = Bench(read_scene(wish))
            self.t = 0.0
            self._renew()
        else:
            self._instant(kind)

    def _change(self, fields: dict[str, Any], by: str = "") -> None:
        """Run the scene with other fields, and show what comes of it or why nothing does."""
        self.bench.change(fields, by, self._meanwhile())
        self._refresh()

    def _meanwhile(self) -> Callable[[], None]:
        """What is done while a scene runs: show how far it is, and what can be done at once.

        A newer wish of another run ends it, but not before it was seen: a slider that is drawn
        would show nothing.
        """
        begun = self.bench.version

        def look() -> None:
            wanted = {what: what.partition(" ")[0] for what in list(self._wanted)}
            ends = _OTHERS if self.bench.version != begun else {"undo", "scene"}
            if not self._open or ends & set(wanted.values()):
                raise Superseded
            if self._shown != self.bench.version:
                self._refresh()
            for what in [w for w, kind in wanted.items() if kind in _AT_ONCE]:
                self._do(what, self._wanted.pop(what))
            self._advance()

        return look

    def _renew(self) -> None:
        """Build everything for another scene, or another law."""
        self.playing = False
        self.plots.remove()
        self._build()

    def _refresh(self) -> None:
        """Show another run of the scene, if there is one, and what is to be told."""
        bench = self.bench
        if self._law.value != law_name(bench.scene.scenario.contact):
            self._renew()
        if self._shown != bench.version:
            self._shown = bench.version
            self._slider.max = bench.until
            self._events.options = self._event_names()
            self.t = min(self.t, float(bench.path.time[-1]))
            self.stage.refresh()
            self.stage.tilt()
            self.gizmos.follow()
            self.plots.refresh()
            self._hands = 0.0
            self._paint()
        self._tell()

    def _tell(self) -> None:
        """The state of things in a few words."""
        bench = self.bench
        title = bench.scene.scenario.title or bench.scene.mechanism.name
        end = ", ".join(
            f"{name} {number(x, 5)}"
            for name, x in zip(
                bench.scene.mechanism.tree.coordinate_names[:4], bench.path.q[-1], strict=False
            )
        )
        so_far = f"{number(bench.path.time[-1], 3)} of {number(bench.until, 3)} s so far: "
        text = f"**{title}**  \n" + (so_far if bench.goes_on else "")
        text += f"{len(bench.events)} events; {'is' if bench.goes_on else 'ends'} at {end}"
        if bench.message:
            text += f"\n\n**Not run:** {bench.message}"
        self._title.content = text
        rows = [
            f'<div><span style="color:{COLORS[bench.color(name)]}">■</span>'
            f" {html.escape(name)}: ends {number(d, 3)} away</div>"
            for name, d in bench.differences().items()
        ]
        self._differences.content = (
            f'<div style="font-size:12px;padding:0 1em">{"".join(rows)}</div>'
        )

    def _on_play(self, wish: bool) -> None:
        self.playing, self._moved = wish, clock.monotonic()
        if wish and self.t >= self.bench.path.time[-1]:
            self.t = float(self.bench.path.time[0])
        self._play.label = "Pause" if wish else "Play"

    def _on_seek(self, t: float) -> None:
        self.t = float(t)
        self._paint(slider=False)

    def _on_event(self, name: str) -> None:
        self._on_play(False)
        i = 0 if name == "start" else int(name.partition(":")[0])
        self.t = self.bench.events[i - 1].time if i else float(self.bench.path.time[0])
        self._paint()

    def _on_jump(self, way: int) -> None:
        self._on_play(False)
        times = np.array([e.time for e in self.bench.events])
        ahead = times[times > self.t + 1e-9] if way > 0 else times[times < self.t - 1e-9]
        if ahead.size:
            self.t = float(ahead[0] if way > 0 else ahead[-1])
            self._paint()

    def _on_show(self, wish: tuple[str, bool]) -> None:
        self.stage.show[wish[0]] = wish[1]
        self._paint()

    def _on_gizmos(self, wish: bool) -> None:
        self.gizmos.show(wish)
        self.t = float(self.bench.path.time[0])
        self._paint()

    def _advance(self) -> None:
        """Go on, if it plays, by the time that has gone by."""
        dt = clock.monotonic() - self._moved
        if not self.playing or dt < TICK / 2:
            return
        self._moved += dt
        bench = self.bench
        pace = float(self._speed.value)
        if self._slow.value and bench.slow:
            away = float(np.abs(np.array(bench.slow) - self.t).min())
            pace *= float(np.clip(away / bench.slowness, SLOWEST, 1.0))
        end = float(bench.path.time[-1])
        self.t = min(self.t + min(dt, 0.1) * pace, end)
        if self.t >= end and not bench.goes_on:
            self._on_play(False)
        self._paint()

    def _paint(self, *, slider: bool = True) -> None:
        with self.client.atomic():
            self.stage.at(self.t)
            if slider:
                self._slider.value = self.t
            now = clock.monotonic()
            if not self.playing or now - self._hands > HANDS:
                self._hands = now
                self.plots.at(self.t)
                self._tell_friction()

    def _tell_friction(self) -> None:
        used = self.stage.friction_used(self.bench.path.index(self.t))
        names = self.bench.run.contact_names
        self._friction.content = "\n".join(
            f"- {names[c]}: {100 * share:.0f} % of the friction cone" for c, share in used.items()
        )

    def _instant(self, kind: str) -> None:
        """What takes its time: the set of motions, the capability, files."""
        bench, client = self.bench, self.client
        try:
            if kind in ("motions", "capability"):
                self._found.content = "Looking …"
            if kind == "motions":
                self._found.content = tell_motions(bench, self.t)
            elif kind == "capability":
                hull, words = capability_hull(bench, self.t, self.stage.size)
                self.stage.solid("capability", hull, (0, 114, 178))
                self._found.content = words
            elif kind == "save":
                self._download("scenario.yaml", lambda: bench.scenario().encode())
            elif kind == "share":
                self._download("report.html", lambda: bench.page().encode())
            elif kind == "video":
                self._download("motion.mp4", lambda: video_bytes(bench.run, "mp4"))
        except (InputError, RunError) as error:
            self._found.content = str(error)
            client.add_notification("Not done", str(error), auto_close_seconds=8.0, color="red")

    def _download(self, name: str, make: Callable[[], bytes]) -> None:
        """Make a file, saying so meanwhile, and hand it to the browser."""
        note = self.client.add_notification(name, "is being made …", loading=True)
        try:
            self.client.send_file_download(name, make(), save_immediately=True)
        finally:
            note.remove()
