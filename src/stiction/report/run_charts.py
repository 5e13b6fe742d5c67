"""The charts of a run: coordinates, speeds, energy, contacts, reactions, effort."""

import numpy as np

from stiction.engines import Event, Reactions, Trajectory
from stiction.engines.events import pushed
from stiction.engines.forces import MODE_NAMES, OPEN, SLIP, STICK
from stiction.engines.reactions import APPROACH
from stiction.mechanism import BALL, FREE, HINGE, SLIDE
from stiction.report.charts import INK, SOFT, Chart, Line, Panel, Timeline
from stiction.report.charts.chart import spans_of, spans_where
from stiction.report.run_path import RunPath, event_count, has_place

BOOKED = {
    "friction_loss": "lost to friction",
    "impact_loss": "lost in impacts",  # and along the normals of compliant contacts
    "damping_loss": "lost in dampers",
    "actuator_work": "work of actuators",
    "support_work": "work of moving ground",
}
MAX_CONTACTS = 8  # more lines than this in one panel tell nothing
MAX_BODIES = 4  # more panels of reactions than this tell nothing
IMPULSIVE = ("impact", "zeno", "jam")  # kinds of events with an impulse
_LOST = ("friction_loss", "impact_loss", "damping_loss")
_HIT = 9  # in a time line, beside the modes: an impact, which takes no time
_STATES = {mode: (MODE_NAMES[mode], color) for mode, color in ((OPEN, SOFT), (STICK, 0), (SLIP, 1))}
_MAX_CURVES = 8  # in one panel: there are no more colours
_MAX_PANELS = 8  # of one quantity: a page with hundreds of curves is read by nobody


def coordinate_chart(run: Trajectory, path: RunPath) -> Chart:
    """Joint angles, displacements and positions."""
    tree = run.mechanism.tree
    kinds = {"angle [rad]": HINGE, "displacement [m]": SLIDE}
    panels = _by_kind(run, kinds, tree.q_address, tree.coordinate_names, path.q)
    free = [i for i, n in enumerate(tree.coordinate_names) if n.endswith((".x", ".y", ".z"))]
    names = [tree.coordinate_names[i] for i in free]
    panels += _panels("position [m]", names, path.q[:, free])
    balls = [
        at + k
        for at, kind in zip(tree.q_address, tree.joint_types, strict=True)
        for k in range(4 * (kind == BALL))
    ]
    panels += _panels("quaternion", [tree.coordinate_names[i] for i in balls], path.q[:, balls])
    return Chart(path.time, panels)


def speed_chart(run: Trajectory, path: RunPath) -> Chart:
    """Speeds, with their jumps at impacts."""
    tree = run.mechanism.tree
    kinds = {"turning [rad/s]": HINGE, "sliding [m/s]": SLIDE}
    panels = _by_kind(run, kinds, tree.v_address, tree.freedom_names, path.v)
    moving, turning = [], []
    for kind, at in zip(tree.joint_types, tree.v_address, strict=True):
        moving += range(at, at + 3) if kind == FREE else ()
        turning += range(at + 3, at + 6) if kind == FREE else range(at, at + 3 * (kind == BALL))
    for label, entries in (("velocity [m/s]", moving), ("spin [rad/s]", turning)):
        names = [tree.freedom_names[i] for i in entries]
        panels += _panels(label, names, path.v[:, entries])
    return Chart(path.time, panels)


def _by_kind(run, kinds, address, names, values) -> list[Panel]:
    tree, panels = run.mechanism.tree, []
    for label, wanted in kinds.items():
        here = [a for a, kind in zip(address, tree.joint_types, strict=True) if kind == wanted]
        panels += _panels(label, [names[a] for a in here], values[:, here])
    return panels


def _panels(label: str, names, values: np.ndarray) -> list[Panel]:
    """Curves in as many panels as their number takes."""
    lines = [Line(name, y) for name, y in zip(names, values.T, strict=True)]
    most = _MAX_CURVES * _MAX_PANELS
    title = "" if len(lines) <= most else f"the first {most} of {len(lines)}"
    parts = [lines[i : i + _MAX_CURVES] for i in range(0, len(lines[:most]), _MAX_CURVES)]
    return [Panel(label, part, title) for part in parts]


def energy_chart(run: Trajectory) -> Chart:
    """Energies and what was booked, where all of it went, and what nobody accounts for."""
    t = run
    energy = np.asarray(t.energy)
    parts = [Line("kinetic", t.kinetic), Line("potential", t.potential)]
    if t.compliance is not None:
        parts.append(Line("in contacts", np.sum(t.compliance.stored, axis=-1)))
    booked = [
        Line(text, getattr(t, name), "dashed")
        for name, text in BOOKED.items()
        if np.any(np.asarray(getattr(t, name)) != 0)
    ]
    scale = float(np.nanmax(np.abs(energy), initial=0.0))
    lowest = float(np.nanmin(np.asarray(t.potential), initial=np.inf))
    whole = [
        Line(p.name, np.asarray(p.y) - (lowest if p.name == "potential" else 0)) for p in parts
    ]
    whole += [Line(b.name, b.y) for b in booked if b.name in [BOOKED[n] for n in _LOST]]
    return Chart(
        np.asarray(t.time),
        [
            Panel("energy [J]", [*parts, Line("total", energy, color=INK), *booked]),
            Panel("share [J]", whole, "where it went", stacked=True),
            Panel(
                "error [J]",
                [Line("unaccounted for", t.ledger_error, color=INK)],
                least=1e-8 * max(scale, 1e-6),
                height=0.6,
            ),
        ],
    )


def touched(run: Trajectory) -> list[int]:
    """The contacts that touch at some time, all if none does; those without a place come last."""
    n, placed = event_count(run), has_place(run)
    ever = (np.asarray(run.modes) != OPEN).any(axis=0)
    if n:
        ever |= (np.asarray(run.log.modes_after)[:n] != OPEN).any(axis=0) | _hits(run).any(axis=0)
    found = np.flatnonzero(ever) if ever.any() else np.arange(len(ever))
    return [int(i) for i in sorted(found, key=lambda i: not placed[i])]


def _hits(run: Trajectory) -> np.ndarray:
    """Which events were impacts of which contacts."""
    return pushed(np.asarray(run.log.impulse)[: event_count(run)])


def contact_chart(run: Trajectory, contacts: list[int] | None = None) -> Chart:
    """Normal and tangential force of each contact, the friction they use, and their modes.

    Of those that touch the first, if none are named. Limits and dry friction of joints press with
    other units: of them there are the modes alone.
    """
    chosen = touched(run)[:MAX_CONTACTS] if contacts is None else contacts
    rows = {run.contact_names[i]: _modes(run, i) for i in chosen}
    hit = any((states == _HIT).any() for _, _, states in rows.values())
    modes = Timeline(rows, _STATES | ({_HIT: ("impact", 3)} if hit else {}))
    placed = [i for i in chosen if has_place(run)[i]]
    if not placed:
        return Chart(np.asarray(run.time), [modes])
    names = [run.contact_names[i] for i in placed]
    force = np.asarray(run.force)[:, placed]
    normal, across = force[:, :, -1], force[:, :, :-1]
    rubbing = across[:, :, 0] if across.shape[2] == 1 else np.linalg.norm(across, axis=2)
    pressed = normal > 1e-9 * np.nanmax(normal, initial=1e-300)
    used = np.where(pressed, np.abs(rubbing) / np.where(pressed, normal, 1.0), np.nan)
    return Chart(
        np.asarray(run.time),
        [
            Panel("normal [N]", _lines(names, normal), bulk=True),
            Panel("tangential [N]", _lines(names, rubbing), bulk=True),
            Panel("friction used", _lines(names, used), levels=_friction(run), height=0.8),
            modes,
        ],
    )


def _lines(names, values: np.ndarray) -> list[Line]:
    return [Line(name, y) for name, y in zip(names, values.T, strict=True)]


def _friction(run: Trajectory) -> dict[str, float]:
    """The coefficients of friction, where all contacts have the same."""
    law = run.scene.scenario.contact if run.scene is not None else None
    values = {
        "static": getattr(law, "mu_static", None),
        "dynamic": getattr(law, "mu_dynamic", None),
    }
    return {name: value for name, value in values.items() if isinstance(value, float)}


def _modes(run: Trajectory, contact: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """When a contact was in which mode: from event to event, or sample by sample without events.

    Impacts come after the modes, which they lie on.
    """
    time, modes = np.asarray(run.time), np.asarray(run.modes)[:, contact]
    n = event_count(run)
    if n == 0:
        return spans_of(time, modes)
    at = np.concatenate([[time[0]], np.asarray(run.log.time)[:n], [time[-1]]])
    after = np.asarray(run.log.modes_after)[:n, contact]
    first = np.asarray(run.log.modes_before)[0, contact]
    starts, ends, states = spans_of(at, np.concatenate([[first], after, after[-1:]]))
    hits = at[1:-1][_hits(run)[:, contact]]
    impacts = np.full(len(hits), _HIT)
    starts, ends = (np.concatenate([x, hits]) for x in (starts, ends))
    return starts, ends, np.concatenate([states, impacts])


def impact_chart(run: Trajectory, events: list[Event]) -> Chart:
    """Friction coefficient used and kinetic energy before and after, impact by impact."""
    hits = [e for e in events if e.kind in IMPULSIVE]
    time = np.array([e.time for e in hits])
    by_contact = {name: [e for e in hits if e.contact == name] for name in run.contact_names}
    used = [
        Line(name, np.array([e.mu for e in these]), "dots", x=np.array([e.time for e in these]))
        for name, these in by_contact.items()
        if these
    ]
    before, after = (
        np.array([getattr(e, f"kinetic_{w}") for e in hits]) for w in ("before", "after")
    )
    kinetic = [Line("before", before, "dots"), Line("after", after, "dots")]
    return Chart(
        time,
        [
            Panel("friction used", used[:MAX_CONTACTS], levels=_friction(run)),
            Panel("kinetic [J]", kinetic),
        ],
    )


def depth_chart(run: Trajectory) -> Chart:
    """Depth of each contact; what it holds, and what it has lost along and across the normal."""
    c = run.compliance
    assert c is not None
    names = run.contact_names[:MAX_CONTACTS]
    panels = [Panel("depth [mm]", _lines(names, 1e3 * np.maximum(c.depth, 0.0)[:, : len(names)]))]
    for label, values in (
        ("held [J]", c.stored),
        ("lost along the normal [J]", c.normal_loss),
        ("lost by friction [J]", c.friction_loss),
    ):
        panels.append(Panel(label, _lines(names, np.asarray(values)[:, : len(names)]), height=0.7))
    return Chart(np.asarray(run.time), panels)


def reaction_chart(r: Reactions) -> Chart:
    """Vertical and horizontal force of each body against time, its phases and its impacts."""
    across = [i for i in range(3) if abs(r.up[i]) < 0.5]
    panels = []
    for i, name in enumerate(r.bodies[:MAX_BODIES]):
        lines = [
            Line("up, mean over 10 ms", r.mean[:, i] @ r.up, color=SOFT),
            Line("up", r.force[:, i] @ r.up, color=0),
            *(Line("xyz"[k], r.force[:, i, k], color=2 + j) for j, k in enumerate(across)),
        ]
        spans = spans_where(r.time, r.phase[:, i] != APPROACH)
        marks = r.impact_time[np.linalg.norm(r.impulse[:, i], axis=1) > 0]
        panels.append(
            Panel("force [N]", lines, name.replace("_", " "), spans, marks.tolist(), bulk=True)
        )
    return Chart(r.time, panels)


def effort_chart(run: Trajectory) -> Chart:
    """What the actuators do."""
    names = run.mechanism.actuators.names
    return Chart(np.asarray(run.time), _panels("effort [N or N·m]", names, np.asarray(run.effort)))
