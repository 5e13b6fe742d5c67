"""`stiction restitution`: what comes out of an impact, exactly."""

import math
from typing import Any

from stiction._base.errors import InputError
from stiction.cli.command import Answer, Output, command
from stiction.cli.options import ALPHA, DISSIPATION, EXPONENT, STIFFNESS, Number, Text, flag, option
from stiction.cli.terminal import say, show_table

# Shares of the given speed for which a table is made if no speeds are named.
TABLE_SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
# Names short enough for eight columns on a terminal.
SHORT = {
    "rebound_speed": "rebound",
    "energy_lost_fraction": "lost",
    "energy_lost": "lost",
    "peak_depth": "depth",
    "peak_force": "force",
    "duration": "time",
}


@command("Contact parameters")
def restitution(
    output: Output,
    speed: Number = option(None, "V", "Speed of approach of the impact [m/s]."),
    alpha: Number = ALPHA,
    dissipation: Number = DISSIPATION,
    restitution: Number = option(None, "E", "Find the damping that has this restitution."),
    mass: Number = option(None, "M", "Effective mass of the two bodies [kg]."),
    stiffness: Number = STIFFNESS,
    exponent: float = EXPONENT,
    table: bool = flag("Print a table over speeds."),
    speeds: Text = option(None, "LIST", "Speeds of the table [m/s]: 0.1,1,10 or START:STOP:COUNT."),
) -> Answer:
    """Restitution, rebound and energy lost of a Hunt-Crossley impact, exactly (no integration).

    Give --alpha or --dissipation to get the restitution at a speed, or --restitution to get the
    damping that has it there. With --mass and --stiffness also peak depth, peak force and duration.

    Examples:
      stiction restitution --restitution 0.5 --speed 2
      stiction restitution --alpha 0.4 --speed 1 --mass 2 --stiffness 1e5 --plot
      stiction restitution --alpha 0.4 --speed 1 --speeds 0.1:10:20
    """
    from stiction._base.checks import require_at_least, require_positive, require_restitution
    from stiction.laws import alpha_from_dissipation, impact

    named = require_one_damping(alpha, dissipation, restitution)
    if speed is None:
        raise InputError("`--speed` is needed: the speed of approach in m/s")
    require_positive("--speed", speed, "m/s")
    require_at_least("--exponent", exponent, 1.0)
    body = None
    if mass is not None and stiffness is not None:
        require_positive("--mass", mass, "kg")
        require_positive("--stiffness", stiffness, "N/m^n")
        body = {"mass": mass, "stiffness": stiffness, "exponent": exponent}
    elif mass is not None or stiffness is not None:
        raise InputError("`--mass` and `--stiffness` must be given together")
    if restitution is not None:
        require_restitution("--restitution", restitution, zero=False)
        d = float(impact.dissipation_for_restitution(restitution, speed))
    else:
        value = 1.5 * alpha if alpha is not None else dissipation
        d = 0.0 if value is None else value
        require_at_least(named, d if alpha is None else alpha, 0.0, "s/m")
    rows = _speeds(speeds, speed) if table or speeds else None
    output.open("restitution")

    result: dict[str, Any] = {
        "alpha": float(alpha_from_dissipation(d)),
        "dissipation": d,
        "sticky_speed": float(impact.sticky_speed(d)) if d else None,
        **impact.impact_summary(speed, d, body),
    }
    if rows:
        result["table"] = [impact.impact_summary(v, d, body) for v in rows]

    def write(directory):
        from stiction.report.restitution import write_restitution

        return write_restitution(directory, result, body)

    return Answer(result, lambda: _show(result), write)


def require_one_damping(
    alpha: float | None, dissipation: float | None, restitution: float | None
) -> str:
    """The option that says how a contact is damped; an error unless there is exactly one."""
    given = {"--alpha": alpha, "--dissipation": dissipation, "--restitution": restitution}
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        raise InputError(
            "give exactly one of `--alpha`, `--dissipation` and `--restitution`, got"
            f" {' and '.join(named) or 'none'}"
        )
    return named[0]


def _speeds(text: str | None, speed: float) -> list[float]:
    """Speeds from '0.1,1,10' or '0.1:10:20', or shares of the given one."""
    if text is None:
        return [speed * share for share in TABLE_SHARES]
    try:
        if ":" in text:
            start, stop, count = text.split(":")
            low, high, n = float(start), float(stop), int(count)
            values = [low + (high - low) * i / max(n - 1, 1) for i in range(n)]
        else:
            values = [float(word) for word in text.split(",")]
    except ValueError:
        values = []
    if not values or not all(math.isfinite(v) and v > 0 for v in values):
        raise InputError(
            f"`--speeds` must be positive numbers as 0.1,1,10 or START:STOP:COUNT, got '{text}'"
        )
    return values


def _show(result: dict[str, Any]) -> None:
    from stiction.report.restitution import UNITS, label

    if "table" not in result:
        shown = {label(k): f"{v:.10g}" for k, v in result.items() if v is not None}
        show_table([{"quantity": name, "value": value} for name, value in shown.items()])
        return
    say(f"alpha {result['alpha']:.10g} s/m, dissipation {result['dissipation']:.10g} s/m")
    show_table(
        [
            {f"{SHORT.get(k, k)}\n[{UNITS.get(k, '-')}]": f"{v:.4g}" for k, v in row.items()}
            for row in result["table"]
        ]
    )
