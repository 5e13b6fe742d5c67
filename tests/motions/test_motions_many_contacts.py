"""More than six contacts in space (erdmann 5.4.4): the search ends with the known motions."""

import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from stiction.engines import Hybrid
from stiction.mechanism import load_mechanism
from stiction.motions import (
    SpatialBody,
    enumeration,
    motions_of_mechanism,
    possible_spatial_motions,
    spatial_state,
)
from stiction.surfaces import find_contacts

HEIGHT, MU = 0.3, 0.5


def ring(count):
    angle = 2 * np.pi * np.arange(count) / count
    points = np.stack([np.cos(angle), np.sin(angle), np.full(count, -HEIGHT)], axis=1)
    return spatial_state(
        SpatialBody(1.0, (0.3, 0.3, 0.5)), points=points, normals=[[0, 0, 1.0]] * count, mu=MU,
        kinds=["vertex-on-face"] * count,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("force", "acceleration"),
    [((1.0, 0.0, -10.0), 0.0), ((7.0, 0.0, -10.0), 7.0 - MU * 10.0)],
    ids=["rests", "slides"],
)
def test_eight_points_on_a_table_rest_or_slide_as_coulomb_says(force, acceleration):
    found = possible_spatial_motions(ring(8), force=force, directions=4)
    assert str(found.verdict) == "unique"
    expected = np.array([acceleration, 0, 0, 0, 0, 0])
    assert_allclose(found.motions[0].acceleration, expected, atol=1e-8)
    # Eight points share the weight in many ways.
    assert found.motions[0].forces_unique is False
    assert_allclose(found.motions[0].forces[:, 2].sum(), 10.0, atol=1e-8)


def test_eight_points_tip_about_the_outermost():
    found = possible_spatial_motions(
        ring(8), force=(0.0, 0.0, -10.0), torque=(0.0, 12.0, 0.0), directions=4
    )
    assert str(found.verdict) == "unique"
    kept = [i for i, mode in enumerate(found.motions[0].modes) if mode != "break"]
    assert kept == [0]  # the torque about y presses on +x


def test_the_search_prunes(monkeypatch):
    """18 modes of each of eight contacts are 1e10 assignments; 10,000 programs tell them apart."""
    asked = []
    feasible = enumeration._Program.feasible

    def counted(program):
        asked.append(program)
        return feasible(program)

    monkeypatch.setattr(enumeration._Program, "feasible", counted)
    possible_spatial_motions(ring(8), force=(7.0, 0.0, -10.0), directions=8)
    assert len(asked) < 3000


CORNERS = [(x, y) for x in (-0.19, 0.19) for y in (-0.1, 0.1)]
BOX = '<geom type="box" size=".2 .1 .05" mass="{}" contype="0" conaffinity="0"/>'
HINGED = f"""<mujoco><worldbody><geom name="ground" type="plane" size="1 1 .1"/>
<body name="a" pos="0 0 .05"><freejoint/>{BOX.format(2)}%s
<body name="b" pos=".4 0 0"><joint type="hinge" axis="0 1 0" pos="-.2 0 .05"/>{BOX.format(1)}%s
</body></body></worldbody></mujoco>"""


@pytest.fixture(scope="module")
def hinged_boxes():
    """Two boxes with a hinge between their upper edges, four corners of each on the ground."""

    def corners(name):
        return "".join(
            f'<site name="{name}{i}" pos="{x} {y} -.05" size=".005"/>'
            for i, (x, y) in enumerate(CORNERS)
        )

    mechanism = load_mechanism(HINGED % (corners("a"), corners("b")))
    points = [f"{name}{i}" for name in "ab" for i in range(4)]
    return mechanism, find_contacts(mechanism, points=points)


@pytest.mark.parametrize(
    ("speed", "acceleration", "mode"), [(0.0, 0.0, "stick"), (1.0, -MU * 9.81, "slip")]
)
def test_a_mechanism_on_eight_corners_rests_or_brakes_as_coulomb_says(
    hinged_boxes, speed, acceleration, mode
):
    mechanism, contacts = hinged_boxes
    q = jnp.asarray([0, 0, 0.05, 1, 0, 0, 0, 0.0])
    v = jnp.zeros(7).at[0].set(speed)
    law = Hybrid(mu_static=MU, mu_dynamic=MU)
    found = motions_of_mechanism(mechanism, contacts, q, v, law=law, directions=4)
    assert str(found.verdict) == "unique"
    motion = found.motions[0]
    assert set(motion.modes) == {mode}
    expected = np.zeros(7)
    expected[0] = acceleration
    assert_allclose(motion.acceleration, expected, atol=1e-8)
    assert_allclose(motion.forces[:, 2].sum(), 3 * 9.81, atol=1e-8)
