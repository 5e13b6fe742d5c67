"""`stiction posture`: the posture from which a mechanism accelerates best."""

from pathlib import Path
from typing import Any

from stiction._base.errors import InputError
from stiction.cli.command import Answer, Output, command
from stiction.cli.options import Text, option
from stiction.cli.stances import StanceOptions, read_direction, read_stance
from stiction.cli.terminal import say, show_table
from stiction.report import progress, working


@command("Agility")
def posture(
    output: Output,
    options: StanceOptions,
    max_tilt: float = option(
        0.5235987755982988,
        "A",
        "How far a free body may lean [rad]; by default 30 degrees.",
        show_default=False,
    ),
    samples: int = option(10_000, "N", "Number of random postures to begin with."),
    starts: int = option(32, "N", "How many of the best of them are improved."),
    seed: int = option(0, "N", "Seed of the random postures."),
    study: int = option(0, "N", "Also jump from N random postures."),
    vary: Text = option(None, "JOINT,JOINT", "The two joints that the study varies and maps."),
) -> Answer:
    """Find the posture with the largest capability, and the other local optima.

    Examples:
      stiction posture jumping-leg --direction 0,0,1
      stiction posture jumping-leg --direction 0,0,1 --study 1000 --vary femur,tibia
    """
    for name, value in (("samples", samples), ("starts", starts)):
        if value < 1:
            raise InputError(f"`--{name}` must be at least 1, got {value}")
    for name, least in (("study", study), ("max-tilt", max_tilt)):
        if least < 0:
            raise InputError(f"`--{name}` must not be negative, got {least}")
    d = read_direction(options.direction)
    stance, q, scenario = read_stance(options)
    from stiction.agility import best_posture, posture_limits
    from stiction.agility.summary import summarize_search

    if study and not stance.mechanism.nu:
        raise InputError("`--study` needs actuators, and the mechanism has none; add motors to it")
    limits = posture_limits(stance, max_tilt=max_tilt)
    joints = _joints(stance, vary) if study else ("", "")
    output.open(f"posture-{Path(options.model).stem}", always=bool(study))
    with working("looking for postures"):
        found = best_posture(stance, limits, d, seed=seed, samples=samples, starts=starts, guess=q)
    answer = summarize_search(stance, d, found)
    studied = None
    if study:
        studied = _study(stance, limits, q, d, scenario, joints, study, seed)
        answer["study"] = studied.summary()

    def write(directory):
        from stiction.report.posture import write_posture

        return write_posture(directory, stance, d, found, answer, studied)

    return Answer(answer, lambda: _show(answer), write)


def _study(stance, limits, q, d, scenario, joints: tuple[str, str], count: int, seed: int):
    """Map the capability over two joints, and jump from random postures of these."""
    from stiction.agility.study import capability_field, hold, jump_study
    from stiction.agility.summary import relate_capability_to_jumps
    from stiction.scenes import rigid_law

    with working("mapping the capability"):
        field = capability_field(stance, limits, q, d, joints)
    law = rigid_law(scenario.contact, stance.contacts)
    jumps = jump_study(
        stance, hold(stance, limits, q, joints), d, count, law=law, seed=seed,
        each=lambda batches: progress(batches, "jumping"),
    )  # fmt: skip
    return relate_capability_to_jumps(stance, field, jumps)


def _joints(stance, vary: str | None) -> tuple[str, str]:
    """The two joints of the map: as asked, or the last two."""
    tree = stance.mechanism.tree
    names = vary.split(",") if vary else [n for n in tree.joint_names if n][-2:]
    if len(names) != 2:
        raise InputError(f"`--vary` must name two joints, got '{vary}'")
    for name in names:
        stance.mechanism.joint(name)
    return names[0], names[1]


def _show(answer: dict[str, Any]) -> None:
    show_table(
        [
            {
                "acceleration [m/s²]": f"{o['capability']:.6g}",
                "limited by": ", ".join(o["limits"]),
                "posture": ", ".join(f"{k} {v:.4g}" for k, v in list(o["posture"].items())[:12]),
                "starts": o["starts"],
            }
            for o in answer["optima"][:8]
        ]
    )
    say(
        f"{answer['converged']} of {answer['starts']} starts came to an optimum; the best of"
        f" {answer['feasible']} feasible among {answer['sampled']} random postures has"
        f" {answer['best_sample']:.6g} m/s²"
    )
    if "study" in answer:
        s, c = answer["study"], answer["study"]["correlation"]
        say(
            f"{s['postures']} jumps: {s['left']} left the ground, {s['stood']} after a stance,"
            f" {s['timeouts']} timeouts; stance duration against capability: r = {c['pearson']:.3f}"
            f" ({100 * c['level']:.0f} % interval {c['low']:.3f} to {c['high']:.3f})"
        )
