"""Checks can fail: of another subject, or with one number changed, an item no longer agrees.

Each case names the check that must notice; what else fails with it does not matter.
"""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from stiction.reproduce import Entry, Reproduction, entries, erdmann, ma, marhefka, rodic
from stiction.reproduce.flickinger_agility import posture
from stiction.reproduce.flickinger_jumps import GUESS, OPTIMIZED
from stiction.reproduce.flickinger_oblique import friction_curves, rolling_bicycle
from stiction.reproduce.flickinger_runs import (
    NO_CONTROL,
    RUNS,
    bicycle,
    flat_bicycle,
    pendulum,
)
from stiction.reproduce.rodic_walk import forward_walk
from stiction.scenes import scene


def of_item(document: str, item: str) -> Entry:
    return entries(document, only=item)[0]


def notices(made: Reproduction, claim: str) -> bool:
    named = [c for c in made.checks if claim in c.claim]
    assert named, f"no check says '{claim}'"
    return made.verdict == "differs" and not all(c.passed for c in named)


SOFTER = {"mechanism.edits.joint.tibia.stiffness": [4.0, 0.0, 0.0]}
# Item of flickinger, another run, the check that must fail.
OTHER_RUNS = [
    ("Figure 3.1", partial(pendulum, 0.0, 0.5, "contact.mu_dynamic=0.6"), "on the dynamic cone"),
    ("Figure 3.2", "3.6.1", "several rebounds"),
    ("Figure 3.4", "5.2.1", "energy rises at least twice"),
    ("Figure 3.5", "5.3.3", "bounces: flights"),
    ("Figure 3.7", partial(flat_bicycle, 1.0, NO_CONTROL), "energy rises at impacts"),
    ("Figure 3.8", "5.2.2", "no rebound"),
    ("Figure 3.10", "3.7.2", "travels much further"),
    ("Figure 3.11", partial(bicycle, 0.75, 0.5), "forces chatter"),
    ("Figure 3.14", partial(bicycle, 0.25, 0.5), "at rest at the end"),
    ("Figure 5.3", "5.2.2", "never in lasting contact"),
    ("Figure 5.4", "5.2.1", "at rest"),
    ("Figure 5.6", partial(pendulum, 0.1, 0.5, "contact.rest_speed=0.001"), "two rebounds"),
    ("Figure 5.8", "3.4.2", "every impact leaves 0.95"),
    ("Figure 5.10", "5.3.1", "then it rolls"),
    ("Figure 5.11", "5.3.1", "each wheel bears half the weight"),
    ("Figure 5.12", "5.3.2", "hits once"),
    ("Table 2.1", partial(pendulum, 1.0, NO_CONTROL, "contact.mu_static=0.75"), "μ_s"),
    ("Table 2.2", partial(bicycle, 1.0, NO_CONTROL), "and upright"),
    ("Table 2.3", partial(scene, "jumping-leg", SOFTER), "tibia: spring"),
    ("Table 3.1", "5.5, free", "q1"),
    ("Table 3.2", partial(bicycle, 0.75, 0.5), "q̇1"),
    ("Table 3.4", "5.3.1", "d2"),
    ("Table 4.1", partial(rolling_bicycle, 0), "q̇1"),
    ("Table 5.1", "5.5, scaled", "q2"),
    ("Table 5.3", "5.5, free", "e*"),
    ("Table 6.1", partial(scene, "jumping-leg", {"contact.mu_static": 0.6}), "μ_s"),
    ("Figure 4.2", partial(friction_curves, 45), "the largest μ_f"),
    ("Figure 4.5", partial(friction_curves, 30), "no slip cannot be had"),
    ("Figure 4.6", partial(rolling_bicycle, 15), "settles down"),
    ("Figure 4.7", partial(rolling_bicycle, 0), "gains energy as it bounces"),
    ("Figure 4.8", partial(rolling_bicycle, 0), "wheels bounce by turns"),
    ("Figure 4.9", partial(rolling_bicycle, 45), "the first impact sticks"),
    ("Figure 4.10", partial(rolling_bicycle, 45), "part of the impacts that stick"),
    ("Figure 4.11", partial(rolling_bicycle, 15), "the first impact slips"),
    ("Figure 6.6", lambda: posture("guess") + np.eye(10)[8], "about along the jump"),
    ("Figure 6.8", OPTIMIZED, "touches several times"),
    ("Figure 6.9", lambda: OPTIMIZED()._replace(name="guess"), "rise of the body"),
    ("Figure 6.10", OPTIMIZED, "hardly rises"),
    ("Figure 6.11", GUESS, "all three motors push"),
    ("Figure 6.12", GUESS, "stays in the air"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("item", "run", "claim"), OTHER_RUNS, ids=[case[0] for case in OTHER_RUNS])
def test_another_run_is_noticed(item, run, claim):
    subject = RUNS[run] if isinstance(run, str) else run
    assert notices(of_item("flickinger", item).make(subject()), claim)


# Of marhefka: what is scaled, by how much, and the check that must fail.
SCALED = [
    ("Figure 2", "depth_at_velocity", "an integrated impact follows (19)"),
    ("Figure 2", "rebound_speed", "tends to 2/(3α)"),
    ("Figure 3", "restitution", "e(0.1, 1)"),
    ("Figure 3", "restitution", "the same for every m, k and n"),
    ("Figure 4", "energy_lost", "loop area by integration"),
    ("Figure 5", "energy_lost", "loop area by integration"),
    ("Figure 6", "rebound_speed", "the impulse is m (v_i + v_o)"),
    ("Figure 7", "energy_lost", "loop area by integration"),
]


@pytest.mark.parametrize(("item", "name", "claim"), SCALED)
def test_an_exact_relation_that_is_one_percent_off_is_noticed(item, name, claim, monkeypatch):
    exact = getattr(marhefka.impact, name)
    monkeypatch.setattr(marhefka.impact, name, lambda *args, **at: 1.01 * exact(*args, **at))
    assert notices(of_item("marhefka", item).make(), claim)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "claim"),
    [
        ({"contact.stiffness": 51e3}, "depth in lasting support"),
        ({"contact.alpha": 0.02}, "the oscillation is damped"),
        ({"until": 0.5}, "the foot lifts off once"),
    ],
)
def test_another_foot_is_noticed(change, claim):
    assert notices(of_item("marhefka", "Figure 8").make(scene("foot").run(change)), claim)


def test_other_friction_and_swapped_intervals_are_noticed_by_erdmann(monkeypatch):
    state, load, intervals = erdmann.contact_state, erdmann.load_problem, erdmann.validity_intervals
    monkeypatch.setattr(erdmann, "contact_state", lambda *a, mu, **k: state(*a, mu=1.1 * mu, **k))
    assert notices(of_item("erdmann", "Figure 6").make(), "the six edges")
    plain = load("three-points")
    contacts = tuple(c.model_copy(update={"friction": 0.05}) for c in plain.contacts)
    slick = plain.model_copy(update={"contacts": contacts})
    monkeypatch.setattr(erdmann, "load_problem", lambda name: slick)
    made = of_item("erdmann", "Figure 5").make()
    assert notices(made, "turns it about the left point")
    assert notices(made, "slides with F_x/m - μ g")
    monkeypatch.setattr(erdmann, "validity_intervals", lambda *a: intervals(*a)[::-1])
    assert notices(of_item("erdmann", "Table 1").make(), "row 3")


# Of ma: what is known of the virtual tests, changed, and the check that must fail.
CASES = [
    ("Figure 2", {"truth": 1.01}, "the parts add up"),
    ("Figure 3", {"point": 1.01}, "to its moment"),
    ("Figure 9", {"noise": 1.3}, "what is left is the sensor's noise"),
    ("Figure 11", {"depth": 1.01}, "depth, error rms"),
    ("Figure 12", {"truth": 1.2}, "work of the measured force"),
    ("Figure 18", {"depth_rate": 1.3}, "rate, error rms"),
    ("Figure 22", {"truth": 1.1}, "gives its parameters"),
]


def scaled(value, factor: float):
    if isinstance(value, dict):
        return {name: factor * number for name, number in value.items()}
    if isinstance(value, np.ndarray):
        return factor * value
    return value.model_copy(update={"force": factor * value.force})


@pytest.mark.slow
@pytest.mark.parametrize(("item", "change", "claim"), CASES)
def test_other_tests_are_noticed_by_ma(item, change, claim):
    number = int(item.split()[1])
    case = (ma.TWO if number in (3, 6) or 13 <= number <= 21 else ma.SINGLE)()
    wrong = replace(case, **{k: scaled(getattr(case, k), by) for k, by in change.items()})
    assert notices(of_item("ma", item).make(wrong), claim)


def test_other_recordings_are_noticed_by_rodic():
    walk = rodic.recorded_walk()
    measured, reactions = walk.measured, walk.reactions
    for feet, claim in (
        (measured.feet * np.array([-1.0, 1.0, 1.0]), "brakes first"),
        (np.minimum(measured.feet, 500.0), "M-shaped"),
    ):
        wrong = replace(walk, measured=replace(measured, feet=feet))
        assert notices(of_item("rodic", "Figure 6").make(wrong), claim)
    touch = reactions.touch
    higher = replace(reactions, touch=replace(touch, gap=touch.gap + 0.05))
    assert notices(of_item("rodic", "Figure 9").make(replace(walk, reactions=higher)),
                   "bears load only where a point is within the tolerance")  # fmt: skip
    faster = replace(reactions, touch=replace(touch, rate=touch.rate + 0.3))
    assert notices(of_item("rodic", "Figure 10").make(replace(walk, reactions=faster)),
                   "move with the support")  # fmt: skip
    subject = rodic.person(1.9, 84.0728)
    *others, last = subject.coordinates
    renamed = replace(subject, coordinates=(*others, replace(last, name="base.more")))
    assert notices(of_item("rodic", "Figure 7").make(renamed), "38 degrees of freedom")


@pytest.mark.slow
def test_other_walks_are_noticed_by_rodic():
    walk = forward_walk()
    slower = replace(walk, reactions=replace(walk.reactions, time=1.15 * walk.reactions.time))
    figure_8, figure_11 = (of_item("rodic", f"Figure {n}") for n in (8, 11))
    assert notices(figure_8.make(slower), "speed of walking")
    pushed = replace(walk, steady=walk.steady * [9.0, 1.0, 1.0])
    assert notices(figure_11.make(pushed), "inside the friction cone")
    lifted = replace(walk, steady=walk.steady - [0.0, 0.0, 1.0])
    assert notices(figure_11.make(lifted), "never pulls")
