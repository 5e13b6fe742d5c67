"""`stiction translate`: a contact in another engine's words, and back."""

from typing import Any

from stiction._base.errors import InputError, unknown
from stiction.cli.command import Answer, Output, command
from stiction.cli.options import (
    ALPHA,
    DISSIPATION,
    EXPONENT,
    STIFFNESS,
    Number,
    Text,
    Texts,
    option,
)
from stiction.cli.restitution import require_one_damping
from stiction.cli.terminal import say, show_table


@command("Contact parameters")
def translate(
    output: Output,
    to: Text = option(None, "ENGINE", "mujoco, drake, simbody, chrono or exudyn."),
    from_: Text = option(None, "ENGINE", "Start from the parameters of this engine."),
    set_: Texts = option(None, "FIELD=VALUE", "One of those parameters (with --from)."),
    stiffness: Number = STIFFNESS,
    alpha: Number = ALPHA,
    dissipation: Number = DISSIPATION,
    restitution: Number = option(None, "E", "Restitution at --speed, instead of a damping."),
    exponent: float = EXPONENT,
    mass: float = option(1.0, "M", "Effective mass of the two bodies [kg]."),
    speed: float = option(1.0, "V", "Speed of approach of the impact [m/s]."),
    mu: float = option(0.0, "MU", "Coefficient of static friction."),
    mu_dynamic: Number = option(None, "MU", "Coefficient of dynamic friction, if another."),
    radius: Number = option(None, "R", "Relative radius of curvature [m] (for simbody)."),
    time_step: Number = option(None, "H", "Time step of the engine [s]."),
    impedance: Number = option(None, "D", "Constant impedance (for mujoco)."),
    check: Text = option(
        None, "ENGINE", "Check by dropping a ball in the engine: mujoco or drake."
    ),
) -> Answer:
    """Contact parameters for MuJoCo, Drake, Simbody, Chrono or EXUDYN, and back.

    From a stiffness and one of alpha, dissipation and restitution at a speed; or, with --from and
    --set, from an engine's own parameters. Says what the engine cannot express; --check drops a
    ball in the engine and compares the restitution that was asked for with the one it has there.

    Examples:
      stiction translate --to mujoco --stiffness 1e5 --restitution 0.6 --check mujoco
      stiction translate --to drake --stiffness 1e5 --alpha 0.2 --mass 2 --speed 1.5 --mu 0.6
      stiction translate --from mujoco --set 'solref=0.02 1' --to drake
    """
    from stiction.interop import ENGINES
    from stiction.interop.summary import translation_summary

    for name, engine in (("--to", to), ("--from", from_), ("--check", check)):
        if engine is not None and engine not in ENGINES:
            raise unknown(f"engine for {name}", engine, ENGINES)
    target = to or check
    if target is None and from_ is None:
        raise InputError(f"give `--to` or `--from`, one of: {', '.join(ENGINES)}")
    if check is not None and check != target:
        raise InputError(f"`--check {check}` must name the engine of `--to`, got {target}")
    if check is not None and ENGINES[check].check is None:
        able = ", ".join(n for n, e in ENGINES.items() if e.check)
        raise InputError(f"`--check` can drop a ball in: {able}; got {check}")
    output.open("translate")
    lost: tuple[str, ...] = ()
    if from_ is not None:
        contact, lost = _read(from_, set_ or [], mass, speed)
    elif set_:
        raise InputError("`--set` names an engine's parameters and needs `--from`")
    else:
        contact = _contact(
            (alpha, dissipation, restitution),
            stiffness=stiffness,
            exponent=exponent,
            mass=mass,
            speed=speed,
            mu_static=mu,
            mu_dynamic=mu if mu_dynamic is None else mu_dynamic,
            radius=radius,
        )
    result: dict[str, Any] = {"contact": contact.to_json(), "lost": list(lost)}
    if target is not None:
        options = _options(target, time_step=time_step, impedance=impedance)
        result |= translation_summary(target, contact, drop=check is not None, **options)

    def write(directory):
        from stiction.report.translate import write_translation

        return write_translation(directory, result)

    return Answer(result, lambda: _show(result), write)


def _contact(damping: tuple[Number, Number, Number], *, stiffness: Number, **fields):
    """The contact that the options describe, its damping by the one option that was given."""
    from stiction._base.checks import require_at_least
    from stiction.interop import CompliantContact

    alpha, dissipation, restitution = damping
    if stiffness is None:
        raise InputError("`--stiffness` is needed, of the pair in N/m^n")
    require_one_damping(alpha, dissipation, restitution)
    if alpha is not None:
        require_at_least("--alpha", alpha, 0.0, "s/m")
        dissipation = 1.5 * alpha
    contact = CompliantContact(stiffness=stiffness, dissipation=dissipation or 0.0, **fields)
    return contact if restitution is None else contact.with_restitution(restitution)


def _read(source: str, settings: list[str], mass: float, speed: float):
    """The contact that an engine's own parameters amount to."""
    from stiction._base.checks import require_positive
    from stiction.interop import ENGINES

    require_positive("--mass", mass, "kg")
    require_positive("--speed", speed, "m/s")
    engine = ENGINES[source]
    parameters = {}
    for text in settings:
        name, sign, value = text.partition("=")
        if not sign:
            raise InputError(f"`--set` must be FIELD=VALUE, got '{text}'")
        if name not in engine.parameters:
            raise unknown(f"parameter of {source}", name, engine.parameters)
        parameters[name] = value
    if not parameters:
        raise InputError(
            f"`--from {source}` needs `--set FIELD=VALUE` of: {', '.join(engine.parameters)}"
        )
    return engine.back(parameters, mass=mass, speed=speed)


def _options(engine: str, *, time_step: float | None, impedance: float | None) -> dict[str, float]:
    """The options that this engine's translation takes; others are refused."""
    from stiction._base.checks import require_positive
    from stiction.interop import ENGINES

    options = {}
    if time_step is not None:
        if "time_step" not in ENGINES[engine].options:
            raise InputError(
                f"`--time-step` has no part in the translation to {engine}; leave it out"
            )
        require_positive("--time-step", time_step, "s")
        options["time_step"] = time_step
    if impedance is not None:
        if "impedance" not in ENGINES[engine].options:
            raise InputError(f"`--impedance` is MuJoCo's; leave it out for {engine}")
        options["impedance"] = impedance
    return options


def _show(result: dict[str, Any]) -> None:
    from stiction.report.translate import drop_rows, value_text

    contact = result["contact"].items()
    show_table([{"contact": k.replace("_", " "), "value": f"{v:.8g}"} for k, v in contact])
    for line in result["lost"]:
        say(f"  lost: {line}")
    if "engine" not in result:
        return
    name = result["engine"]
    show_table([{name: k, "value": value_text(v)} for k, v in result["parameters"].items()])
    say(result["snippet"])
    say(f"\nwhat {name} cannot express or needs care:")
    for line in result["limits"]:
        say(f"  - {line}")
    if "check" in result:
        title = f"a ball dropped in {name} {result['check']['version']}"
        show_table(drop_rows(result["check"]), title=title)
