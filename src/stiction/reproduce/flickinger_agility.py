"""Flickinger 2011, chapter 6: capability, the posture that jumps best, and the jump itself."""

import functools
import itertools
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from scipy import ndimage

from stiction.agility import (
    Correlation,
    JumpStudy,
    PostureLimits,
    PostureSearch,
    Stance,
    best_posture,
    capability,
    capability_field,
    correlation,
    hold,
    jump_study,
    make_stance,
    place,
    posture_limits,
    unit_vector,
)
from stiction.report.agility import (
    duration_figure,
    field_figure,
    partial_figure,
    sampling_figure,
)
from stiction.report.progress import progress
from stiction.reproduce.flickinger_runs import item
from stiction.reproduce.registry import Check, Reproduction, stated
from stiction.scenes import rigid_law, scene
from stiction.scenes.library import load

DIRECTION = (-1.0, 0.0, 1.0)  # (6.12)
JOINTS = ("femur", "tibia")
JUMPS = 500  # of the study; `stiction posture --study 2000` makes more
TORQUE, MU = 2.5, 0.5  # [N·m], and of static friction, Table 6.1
POSTURES = ("guess", "optimized")  # keyframes of the leg, as printed in Table 6.2
HEIGHTS = {"guess": 0.17, "optimized": 0.18}  # of the body, printed there [m]
CEILINGS = (200.0, 250.0, 300.0, np.inf)  # up to which the relation is looked for [m/s²]
LINEAR = 200.0  # up to here the document sees stance duration rise with capability [m/s²]


@functools.cache
def leg() -> tuple[Stance, PostureLimits]:
    """The jumping leg on its foot, with the friction of Table 6.1."""
    stance = make_stance(load("jumping-leg"), contacts=["foot"], mu=MU, point="body")
    return stance, posture_limits(stance)


@functools.cache
def unsprung() -> Stance:
    """The leg without its springs: (6.1) has inertia, velocities and gravity, and no springs."""
    stance, _ = leg()
    joints = stance.mechanism.joints
    return eqx.tree_at(
        lambda s: s.mechanism.joints.stiffness, stance, jnp.zeros_like(joints.stiffness)
    )


def direction():
    """(6.12)."""
    return unit_vector("direction", DIRECTION)


@functools.cache
def posture(name: str) -> np.ndarray:
    """A keyframe of the leg, on the ground."""
    stance, _ = leg()
    frames = {key.name: np.array(key.q) for key in stance.mechanism.keyframes}
    return np.asarray(place(stance, jnp.asarray(frames[name]))[0])


@functools.cache
def optimum() -> PostureSearch:
    """The search for the best posture, from the document's among others."""
    _, limits = leg()
    return best_posture(unsprung(), limits, direction(), guess=jnp.asarray(posture("optimized")))


@functools.cache
def study() -> tuple[JumpStudy, Correlation]:
    """Jumps from random postures of the femur and the tibia, coxa and body straight.

    The correlation is that of stance duration and capability up to `LINEAR`.
    """
    stance, limits = leg()
    law = rigid_law(scene("jumping-leg").scenario.contact, stance.contacts)
    narrow = hold(stance, limits, jnp.asarray(posture("guess")), JOINTS)
    done = jump_study(stance, narrow, direction(), JUMPS, law=law,
                      each=lambda batches: progress(batches, "jumping"))  # fmt: skip
    motors, exact = capabilities(unsprung(), jnp.asarray(done.q))
    done = replace(done, motors=motors, exact=exact)
    kept = done.stood & (done.motors > 0) & (done.motors < LINEAR)
    return done, correlation(done.motors[kept], done.outcome.stance_duration[kept])


def capabilities(stance: Stance, q: jax.Array) -> list[np.ndarray]:
    """By the motors alone and with the contacts, of several postures."""

    def one(q, contact_limits):
        return capability(stance, q, direction(), contact_limits=contact_limits).value

    return [np.asarray(jax.jit(jax.vmap(partial(one, contact_limits=c)))(q)) for c in (False, True)]


# ------------------------------------------------------------------- capability over postures


@item("Figure 6.1")
def figure_6_1() -> Reproduction:
    _, limits = leg()
    guess = posture("guess")
    field = capability_field(unsprung(), limits, jnp.asarray(guess), direction(), JOINTS)
    values = {"motors": field.motors, "contacts too": field.exact}
    islands = [_islands(x > 0.5 * np.nanmax(x)) for x in values.values()]
    taken = bool(np.nanmax(field.exact - field.motors, initial=-1.0) < 1e-6)
    return Reproduction(
        field_figure(field, marks={"guess": tuple(guess[-2:])}),
        table=[
            {
                "limits": name,
                "share with capability > 0": float(np.mean(x > 0)),
                "largest [m/s²]": float(np.nanmax(x)),
                "regions above half of it": count,
            }
            for (name, x), count in zip(values.items(), islands, strict=True)
        ],
        checks=[
            *stated(Check.more("regions of high capability, not contiguous", islands[0], 1)),
            Check("contacts only take capability away", taken),
        ],
        arrays={"femur [rad]": field.first, "tibia [rad]": field.second}
        | {f"capability by {name} [m/s²]": x for name, x in values.items()},
    )


def _islands(mask: np.ndarray) -> int:
    """Connected regions of a grid, without those of less than four points."""
    labels = np.zeros(mask.shape, int)
    ndimage.label(np.nan_to_num(mask), output=labels)
    return int(np.sum(np.bincount(labels.ravel())[1:] >= 4))


def _in_joints(draw: Callable[..., Any]) -> Callable[[Any], Any]:
    """A figure of the study over the angles of the two joints."""
    return lambda found: draw(found[0], found[0].q[:, -2], found[0].q[:, -1], JOINTS)


def _counts(found: tuple[JumpStudy, Correlation]) -> list[dict[str, int]]:
    done, _ = found
    names = {
        "left the ground": done.outcome.left,
        "after a stance": done.stood,
        "timeouts": done.timeout,
        "slipped before": done.outcome.slips > 0,
        "still on the ground after 30 ms": ~done.outcome.left & ~done.timeout,
    }
    return [{"postures": len(done.q)} | {name: int(x.sum()) for name, x in names.items()}]


@item("Figure 6.2", of=study, draw=_in_joints(sampling_figure), table=_counts)
def figure_6_2(found: tuple[JumpStudy, Correlation]) -> list[Check]:
    done, _ = found
    kinds = [int(x.sum()) for x in (done.timeout, done.jumped, done.stood)]
    words = "timeouts, jumps at once and jumps after a stance all occur"
    return [
        *stated(Check(words, min(kinds) > 0, kinds)),
        Check.below("share of timeouts", kinds[0] / len(done.q), 0.2),
    ]


@item("Figure 6.3", of=study)
def figure_6_3(found: tuple[JumpStudy, Correlation]) -> Reproduction:
    done, r = found
    figure = duration_figure(done, r)
    axis = figure.axes[0]
    axis.axvline(LINEAR, color="0.5", ls="--", lw=1)
    axis.set_title(f"up to {LINEAR:g} m/s²: {axis.get_title()}", fontsize=10)
    sprung, held = capabilities(leg()[0], jnp.asarray(done.q))
    kinds = {
        "by (6.6)": done.motors,
        "with the contact": done.exact,
        "against the springs": sprung,
        "against the springs, with the contact": held,
    }
    rows = []
    for (name, value), top in itertools.product(kinds.items(), CEILINGS):
        kept = done.stood & (value > 0) & (value < top)
        row = vars(correlation(value[kept], done.outcome.stance_duration[kept]))
        shown = "all" if np.isinf(top) else top
        rows.append({"capability": name, "up to [m/s²]": shown} | row)
    rises = f"stance duration rises with capability below {LINEAR:g} m/s²: least r of the interval"
    return Reproduction(figure, rows, stated(Check.more(rises, r.low, 0.0)))


@item("Figure 6.4", of=study)
def figure_6_4(found: tuple[JumpStudy, Correlation]) -> Reproduction:
    done, r = found
    rank = "small dots are dark: rank correlation of duration and capability up to 200 m/s²"
    return Reproduction(
        _in_joints(partial_figure)(found),
        checks=stated(Check.more(rank, r.spearman, 0.0)),
        arrays={
            "femur [rad]": done.q[:, -2], "tibia [rad]": done.q[:, -1],
            "left the ground": done.outcome.left, "stance [s]": done.outcome.stance_duration,
            "capability [m/s²]": done.motors,
        },
    )  # fmt: skip


# ---------------------------------------------------------------------------- the best posture


@item("Table 6.2", of=optimum)
def table_6_2(found: PostureSearch) -> Reproduction:
    stance, _ = leg()
    names, best = stance.mechanism.tree.coordinate_names, found.optima[0]
    q = np.stack([posture(name) for name in POSTURES] + [best.q])
    motors, exact = capabilities(unsprung(), jnp.asarray(q))
    rows = zip(
        ("guess, printed", "optimized, printed", "best found here"), q, motors, exact, strict=True
    )
    bare = unsprung()
    effort = [
        np.abs(
            np.asarray(capability(bare, jnp.asarray(x), direction(), contact_limits=False).effort)
        )
        for x in q[:2]
    ]
    return Reproduction(
        table=[
            {"posture": name, **dict(zip(names, x.tolist(), strict=True)),
             "by motors alone [m/s²]": float(m), "with the contact [m/s²]": float(e)}
            for name, x, m, e in rows
        ],
        checks=[
            *stated(
                *(Check.close(f"height of the body, {name} [m]", float(posture(name)[2]), h, 0.005)
                  for name, h in HEIGHTS.items()),
                Check.more("the optimised posture can accelerate more by (6.6), times",
                           float(motors[1] / motors[0]), 1.0),
                Check.below("the coxa's motor does not help the guess [N·m]", effort[0][0], 1e-6),
                Check.more("and helps the optimised posture [N·m]", effort[1][0], 0.1 * TORQUE),
                Check.below("it is the best: (6.6) of the best found here, times",
                            float(motors[2] / motors[1]), 1.01),
                Check("its foot holds at that acceleration", bool(np.isfinite(exact[1]))),
            ),
            Check.below("KKT conditions at the best found here", best.residual, 1e-6),
        ],
    )  # fmt: skip
