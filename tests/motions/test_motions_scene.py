"""Motions at a state of a scene, and what the hybrid engine says of instants that allow several."""

import numpy as np
import pytest

from stiction.motions import Verdict, parse_problem
from stiction.scenes import motions_at, parse_settings, scene

STEEP = np.arctan(2.0)


def rod(mu, speed=-1.0, spin=0.0, *more):
    """The rod with its end on the ground, sliding."""
    c, s = 0.5 * np.cos(STEEP), 0.5 * np.sin(STEEP)
    fields = [
        f"start.q=[{c}, {s}, {STEEP}]",
        f"start.v=[{speed - s * spin}, {c * spin}, {spin}]",
        f"contact.mu_static={mu}",
        f"contact.mu_dynamic={mu}",
        "until=0.01",
    ]
    return scene("rod", parse_settings([*fields, *more]))


@pytest.mark.parametrize(
    ("mu", "spin", "verdict"),
    [
        (4 / 3 - 1e-6, 0.0, Verdict.UNIQUE),
        (4 / 3 + 1e-6, 0.0, Verdict.INCONSISTENT),
        # Spinning fast enough, the end would leave the ground by itself: it may, or may stay.
        (4 / 3 - 1e-6, 6.0, Verdict.UNIQUE),
        (4 / 3 + 1e-6, 6.0, Verdict.AMBIGUOUS),
    ],
)
def test_a_sliding_rod_has_the_verdict_of_painleve(mu, spin, verdict):
    found = motions_at(rod(mu, spin=spin), 0.0)
    assert found.answer.verdict == verdict
    assert found.names[0] == "end_a"


def test_a_mechanism_of_one_body_moves_as_the_planar_method_says():
    found = motions_at(rod(0.5, spin=1.0), 0.0)
    c, s = 0.5 * np.cos(STEEP), 0.5 * np.sin(STEEP)
    m = found.mechanism
    mass = float(np.sum(m.bodies.mass))
    inertia = mass / 12
    problem = dict(
        mass=mass, inertia=inertia, center=[c, s],
        velocity=[-1.0 - s, c, 1.0], force=[0.0, -9.81 * mass],
        contacts=[dict(point=[0.0, 0.0], normal=[0.0, 1.0], friction=0.5)],
    )  # fmt: skip
    same = parse_problem(problem).motions()
    ours, theirs = found.answer.motions[0], same.motions[0]
    assert len(found.answer.motions) == len(same.motions) == 1
    acceleration = np.array(ours.acceleration)
    np.testing.assert_allclose(np.abs(acceleration), np.abs(theirs.acceleration), atol=1e-9)
    np.testing.assert_allclose(ours.forces[0, 1], theirs.forces[0, 1], atol=1e-9)


def test_a_box_at_rest_has_one_motion_and_many_forces():
    flat = ["start.q=[0, 0, 0.05, 1, 0, 0, 0]", "start.v=[0, 0, 0, 0, 0, 0]"]
    found = motions_at(scene("box", parse_settings(flat)), 0.0)
    assert found.answer.verdict == Verdict.UNIQUE
    assert not found.answer.motions[0].forces_unique
    np.testing.assert_allclose(found.answer.motions[0].acceleration, 0.0, atol=1e-8)


@pytest.mark.parametrize(
    ("spin", "kind", "word"), [(0.0, "jam", "no motion"), (6.0, "ambiguous", "break")]
)
def test_the_engine_tells_which_motions_there_were(spin, kind, word):
    run = rod(1.6, spin=spin).run()
    event = run.events()[0]
    assert event.kind == kind
    assert word in event.note
