"""What choices do to one mechanism: a double pendulum that strikes the floor, measured.

`python -m manual choose` measures and writes `choose.json`; the page is made of it.
"""

import json
import time
from pathlib import Path
from typing import Any

from manual import head

MEASURED = Path(__file__).parent / "choose.json"
# Let go from the horizontal the tip strikes the floor at 0.515 s, rebounds and strikes again;
# in the end it lies there and should not move.
SOFT = {
    "until": 4.0,
    "samples": 801,
    "contact.restitution": 0.5,
    "contact.law": "compliant",
    "contact.impact_speed": 6.135,  # of the first impact, along the normal [m/s]
}
START = {"until": 4.0, "samples": 801, "contact.restitution": 0.5, "contact.energetic": "off"}
# Fixed steps resolve impacts so: on equal terms the hybrid engine does, too.
RIGID = START | {"contact.impact": "lcp-cone"}
ENGINES: dict[str, dict[str, Any]] = {
    "hybrid": RIGID,
    "stepping, 1 ms": START | {"contact.law": "stepping", "solver.dt": 1e-3},
    "stepping, 0.1 ms": START | {"contact.law": "stepping", "solver.dt": 1e-4},
    "compliant, 10 kN/m": SOFT | {"contact.stiffness": 1e4},
    "compliant, 1 MN/m": SOFT | {"contact.stiffness": 1e6},
}
FRICTION = ("bristle", "stribeck", "coulomb", "none")
LAWS = ("no-slip", "dissipation", "newton", "poisson", "stronge", "lcp", "lcp-cone-poisson")
TOLERANCES = (1e-3, 1e-5, 1e-7, 1e-9, 1e-11)
REBOUND, LATER, RESTING = 0.6, 1.5, 3.0  # times at which runs are compared [s]


def main() -> None:
    """Measure, and write the numbers."""
    import numpy as np

    import stiction

    scene = stiction.scene("double-pendulum")
    exact = scene.run(RIGID | {"solver.rtol": 1e-13, "solver.atol": 1e-14})

    def measured(settings: dict[str, Any]) -> dict[str, Any]:
        scene.run(settings)  # fills caches
        began = time.process_time()
        run = scene.run(settings)
        spent = time.process_time() - began
        at = {
            t: int(np.argmin(np.abs(np.asarray(run.time) - t))) for t in (REBOUND, LATER, RESTING)
        }
        off = np.abs(np.asarray(run.q) - np.asarray(exact.q)).max(axis=1)
        depth = run.drift if run.compliance is None else np.nanmax(run.compliance.depth)
        first = next(e for e in run.events() if e.kind == "impact" or run.compliance is not None)
        return {
            "rebound": float(off[at[REBOUND]]),
            "later": float(off[at[LATER]]),
            "overlap": max(0.0, float(depth)),
            "unaccounted": float(np.abs(run.ledger_error).max()),
            "creep": float(np.abs(np.asarray(run.q[-1] - run.q[at[RESTING]])).max()),
            "kinetic": [float(first.kinetic_before), float(first.kinetic_after)],
            "steps": int(run.steps),
            "seconds": spent,
        }

    found = {
        "engines": {name: measured(settings) for name, settings in ENGINES.items()},
        "laws": {
            law: measured(START | {"contact.impact": law, "contact.restitution": 1.0})
            for law in LAWS
        },
        "tolerances": {
            f"{rtol:.0e}": measured(RIGID | {"solver.rtol": rtol, "solver.atol": rtol / 10})
            for rtol in TOLERANCES
        },
        "friction": {law: measured(SOFT | {"contact.tangential": law}) for law in FRICTION},
    }
    MEASURED.write_text(json.dumps(found, indent=1) + "\n")


def page() -> str:
    """The page, with the tables of what was measured."""
    found = json.loads(MEASURED.read_text())
    tables = {
        "ENGINES": _table(
            "engine",
            found["engines"],
            {
                "off by after the first impact [rad]": "rebound",
                "at 1.5 s [rad]": "later",
                "deepest overlap [m]": "overlap",
                "energy unaccounted for [J]": "unaccounted",
                "moves at rest, in 1 s [rad]": "creep",
                "steps": "steps",
            },
        ),
        "LAWS": _laws(found["laws"]),
        "TOLERANCES": _table(
            "`solver.rtol`",
            found["tolerances"],
            {
                "off by after the first impact [rad]": "rebound",
                "at 1.5 s [rad]": "later",
                "energy unaccounted for [J]": "unaccounted",
                "steps": "steps",
            },
        ),
        "FRICTION": _table(
            "`contact.tangential`", found["friction"], {"moves at rest, in 1 s [rad]": "creep"}
        ),
    }
    text = head("choose")
    for name, table in tables.items():
        text = text.replace(f"<!-- {name} -->", table)
    return text


def _laws(rows: dict[str, Any]) -> str:
    lines = [
        "| `contact.impact` | kinetic energy after the first impact | |",
        "| --- | --- | --- |",
    ]
    for name, row in rows.items():
        before, after = row["kinetic"]
        note = "**creates energy**" if after > before * (1 + 1e-9) else ""
        lines.append(f"| `{name}` | {after:.3f} J of {before:.3f} J | {note} |")
    return "\n".join(lines)


def _table(what: str, rows: dict[str, Any], columns: dict[str, str]) -> str:
    lines = [f"| {what} | {' | '.join(columns)} |", f"| {'--- | ' * (len(columns) + 1)}".rstrip()]
    for name, row in rows.items():
        cells = [_number(row[key]) for key in columns.values()]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def _number(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    return "0" if abs(value) < 1e-15 else f"{value:.1e}"
