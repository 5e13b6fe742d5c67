"""The human model against its table, its own symmetry, and three measured men."""

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from stiction import InputError
from stiction.biped import human
from stiction.biped.anthropometry import FOOT_BREADTH, SegmentInertia, person

SEXES = ["male", "female"]
INCH, POUND = 0.0254, 0.45359237
people = st.tuples(st.floats(1.2, 2.3), st.floats(30.0, 180.0), st.sampled_from(SEXES))


def standing(*args, **options):
    model = mujoco.MjModel.from_xml_string(human(*args, **options))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def inertia_of(model, data, bodies) -> SegmentInertia:
    """The named bodies taken as one, in the world as they stand."""
    parts = []
    for name in bodies:
        body = model.body(name)
        turn = data.ximat[body.id].reshape(3, 3)
        tensor = turn @ np.diag(body.inertia) @ turn.T
        parts.append(SegmentInertia(float(body.mass[0]), data.xipos[body.id].copy(), tensor))
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def all_bodies(model):
    return [model.body(i).name for i in range(1, model.nbody)]


def test_it_has_38_degrees_of_freedom_with_a_motor_on_each_joint():
    model, _ = standing()
    assert (model.nv, model.nq, model.nu) == (38, 39, 32)
    names = [model.joint(i).name for i in range(model.njnt)]
    assert names[0] == "base"
    counts = {"hip": 6, "knee": 2, "ankle": 4, "toe": 2, "waist": 3, "neck": 3}
    counts |= {"shoulder": 6, "elbow": 2, "wrist": 4}
    for where, count in counts.items():
        assert sum(where in n for n in names) == count
    assert [model.actuator(i).name for i in range(model.nu)] == names[1:]


@settings(max_examples=20)
@given(people)
def test_mass_and_stature_are_those_asked_for(who):
    height, mass, _ = who
    model, data = standing(*who)
    assert_allclose(model.body_mass.sum(), mass, rtol=1e-14)
    assert_allclose(data.site("head_top").xpos[2], height, rtol=1e-14)
    head = [g for g in range(model.ngeom) if model.geom_bodyid[g] == model.body("head").id]
    top = max(data.geom_xpos[g, 2] + model.geom_size[g, 2] for g in head[1:])
    assert_allclose(top, height, rtol=1e-14)


@pytest.mark.parametrize("sex", SEXES)
@pytest.mark.parametrize("sole", ["plate", "hinged"])
def test_soles_are_flat_rectangles_on_the_ground(sex, sole):
    model, data = standing(1.8, 75.0, sex, sole=sole)
    for side, outwards in (("left", 1), ("right", -1)):
        at = {
            (end, edge): data.site(f"{side}_{end}_{edge}").xpos
            for end in ("heel", "toe")
            for edge in ("inner", "outer")
        }
        assert_allclose([p[2] for p in at.values()], 0, atol=1e-15)
        length = at["toe", "inner"] - at["heel", "inner"]
        assert_allclose(length, at["toe", "outer"] - at["heel", "outer"], atol=1e-15)
        assert_allclose(length[1:], 0, atol=1e-15)
        breadth = at["heel", "outer"] - at["heel", "inner"]
        assert_allclose(breadth, [0, outwards * FOOT_BREADTH * length[0], 0], atol=1e-15)
        carrier = "foot" if sole == "plate" else "toes"
        assert model.site(f"{side}_toe_inner").bodyid[0] == model.body(f"{side}_{carrier}").id
        assert model.site(f"{side}_heel_inner").bodyid[0] == model.body(f"{side}_foot").id
    # What touches is the soles alone, and their lower face is the ground.
    soles = np.flatnonzero(model.geom_contype)
    assert all("sole" in model.geom(g).name for g in soles)
    assert_allclose(data.geom_xpos[soles, 2], model.geom_size[soles, 2], atol=1e-15)


# Rows of Table 4 of de Leva (1996), typed here a second time: centre and radii about x, y, z as a
# person stands, in per cent of the distance between two joints of the model.
ROWS = {
    "male": {
        "thigh": (40.95, (32.9, 32.9, 14.9)),
        "shank": (43.95, (25.1, 24.6, 10.2)),
        "upper_arm": (57.72, (28.5, 26.9, 15.8)),
        "forearm": (45.74, (27.6, 26.5, 12.1)),
    },
    "female": {
        "thigh": (36.12, (36.9, 36.4, 16.2)),
        "shank": (43.52, (26.7, 26.3, 9.2)),
        "upper_arm": (57.54, (27.8, 26.0, 14.8)),
        "forearm": (45.59, (26.1, 25.7, 9.4)),
    },
}
NEXT = {"thigh": "shank", "shank": "foot", "upper_arm": "forearm", "forearm": "hand"}


@pytest.mark.parametrize("sex", SEXES)
@pytest.mark.parametrize("segment", NEXT)
def test_limbs_have_the_radii_of_gyration_of_the_table(sex, segment):
    model, data = standing(1.83, 71.0, sex)
    cm, radii = ROWS[sex][segment]
    for side in ("left", "right"):
        name = f"{side}_{segment}"
        upper, lower = data.body(name).xpos, data.body(f"{side}_{NEXT[segment]}").xpos
        length = np.linalg.norm(upper - lower)
        part = inertia_of(model, data, [name])
        assert_allclose(part.center, upper + cm / 100 * (lower - upper), atol=1e-12)
        assert_allclose(np.sqrt(np.diag(part.tensor) / part.mass) / length * 100, radii, rtol=1e-12)


@pytest.mark.parametrize(
    ("sex", "cm", "radii"),
    [("male", 50.02, (30.3, 31.5, 26.1)), ("female", 48.41, (27.1, 29.5, 26.1))],
)
def test_the_head_has_its_row(sex, cm, radii):
    model, data = standing(1.83, 71.0, sex)
    head, neck = inertia_of(model, data, ["head"]), data.body("head").xpos[2]
    length = 1.83 - neck
    assert_allclose(head.center[2], 1.83 - cm / 100 * length, rtol=1e-12)
    assert_allclose(np.sqrt(np.diag(head.tensor) / head.mass) / length * 100, radii, rtol=1e-12)


@pytest.mark.parametrize(
    ("sex", "length", "radii"),
    [("male", 86.2 / 1741.0, (62.8, 51.3, 40.1)), ("female", 78.0 / 1735.0, (53.1, 45.4, 33.5))],
)
def test_the_hand_is_hardest_to_turn_about_the_normal_of_its_palm(sex, length, radii):
    """Sagittal in the table, where the palm looks forward; y here, where it looks at the thigh."""
    model, data = standing(1.7, 60.0, sex)
    hand = inertia_of(model, data, ["left_hand"])
    normal, side, along = radii
    found = np.sqrt(np.diag(hand.tensor) / hand.mass) / (length * 1.7) * 100
    assert_allclose(found, [side, normal, along], rtol=1e-12)


@pytest.mark.parametrize(
    ("sex", "length", "percent", "cm", "radii"),
    [
        ("male", 258.1 / 1741.0, 1.37 / 100.0, 44.15, (12.4, 24.5, 25.7)),
        ("female", 228.3 / 1735.0, 1.29 / 99.99, 40.14, (13.9, 27.9, 29.9)),
    ],
)
def test_foot_and_toes_together_are_the_foot_of_the_table(sex, length, percent, cm, radii):
    height, mass = 1.9, 84.0
    model, data = standing(height, mass, sex)
    foot = inertia_of(model, data, ["right_foot", "right_toes"])
    length *= height
    heel, tip = data.site("right_heel_inner").xpos[0], data.site("right_toe_inner").xpos[0]
    assert_allclose(tip - heel, length, rtol=1e-12)
    assert_allclose(foot.mass, percent * mass, rtol=1e-12)
    assert_allclose(foot.center[0] - heel, cm / 100 * length, rtol=1e-12)
    expected = foot.mass * np.diag(np.square(np.array(radii) / 100 * length))
    assert_allclose(foot.tensor, expected, atol=1e-12)  # off the diagonal too: nothing left over


# Lengths [mm] of shank, thigh, lower, middle and upper trunk, head; distance of the shoulders above
# the hips; lengths of upper arm and forearm; stature.
LENGTHS = {
    "male": ((440.3, 422.2, 145.7, 215.5 + 242.1, 242.9), 515.5, (281.7, 268.9), 1741.0),
    "female": ((438.6, 368.5, 181.5, 205.3 + 228.0, 243.7), 497.9, (275.1, 264.3), 1735.0),
}


@pytest.mark.parametrize("sex", SEXES)
def test_lengths_keep_the_proportions_of_the_table(sex):
    stack, shoulders, arm, stature = LENGTHS[sex]
    height = 1.85
    _, data = standing(height, 70.0, sex)
    bodies = ["left_foot", "left_shank", "pelvis", "torso", "head"]
    heights = [data.body(b).xpos[2] for b in bodies] + [height]
    # The ankle has 0.039 of the stature, the six lengths share the rest in their proportions.
    assert_allclose(heights[0], 0.039 * height, rtol=1e-12)
    scale = 0.961 * height / sum(stack)
    assert_allclose(np.diff(heights), np.array(stack) * scale, rtol=1e-12)
    shoulder = data.body("left_upper_arm").xpos[2]
    assert_allclose(shoulder - heights[2], shoulders * scale, rtol=1e-12)
    hanging = [data.body(f"left_{b}").xpos[2] for b in ("upper_arm", "forearm", "hand")]
    assert_allclose(-np.diff(hanging), np.array(arm) * height / stature, rtol=1e-12)
    assert abs(scale * stature / height - 1) < 0.03  # no more than supine bodies stretch


# Mass [%], length [mm], centre [% of it, from above] and radii [% of it] of lower, middle and upper
# trunk.
TRUNK = {
    "male": [
        (11.17, 145.7, 61.15, (61.5, 55.1, 58.7)),
        (16.33, 215.5, 45.02, (48.2, 38.3, 46.8)),
        (15.96, 242.1, 50.66, (50.5, 32.0, 46.5)),
    ],
    "female": [
        (12.47, 181.5, 49.20, (43.3, 40.2, 44.4)),
        (14.65, 205.3, 45.12, (43.3, 35.4, 41.5)),
        (15.45, 228.0, 50.50, (46.6, 31.4, 44.9)),
    ],
}


@pytest.mark.parametrize("sex", SEXES)
def test_pelvis_and_torso_are_made_of_their_rows(sex):
    model, data = standing(1.8, 70.0, sex)
    (m0, l0, c0, r0), (m1, l1, c1, r1), (m2, l2, c2, r2) = TRUNK[sex]
    pelvis, torso = inertia_of(model, data, ["pelvis"]), inertia_of(model, data, ["torso"])
    scale = (data.body("torso").xpos[2] - data.body("pelvis").xpos[2]) / l0
    assert_allclose(np.diag(pelvis.tensor) / pelvis.mass, (np.array(r0) / 100 * l0 * scale) ** 2)
    below = pelvis.center[2] - data.body("pelvis").xpos[2]
    assert_allclose(below, (1 - c0 / 100) * l0 * scale)
    # Two rows in one body: about the common centre, by the parallel-axis theorem.
    assert_allclose(torso.mass / pelvis.mass, (m1 + m2) / m0)
    z1, z2 = (1 - c1 / 100) * l1, l1 + (1 - c2 / 100) * l2
    z = (m1 * z1 + m2 * z2) / (m1 + m2)
    assert_allclose(torso.center[2] - data.body("torso").xpos[2], z * scale)
    sideways = np.array([1, 1, 0])
    squares = m1 * ((np.array(r1) / 100 * l1) ** 2 + sideways * (z1 - z) ** 2)
    squares += m2 * ((np.array(r2) / 100 * l2) ** 2 + sideways * (z2 - z) ** 2)
    assert_allclose(np.diag(torso.tensor) / torso.mass, squares / (m1 + m2) * scale**2)


# Per cent of its length: de Leva's row for the whole trunk, CERV to MIDH.
@pytest.mark.parametrize(
    ("sex", "cm", "radii"),
    [("male", 51.38, (32.8, 30.6, 16.9)), ("female", 49.64, (30.7, 29.2, 14.7))],
)
def test_pelvis_and_torso_together_are_the_whole_trunk_of_the_table(sex, cm, radii):
    """Three rows of the table, put together, give its fourth one: a check on every number."""
    model, data = standing(1.8, 70.0, sex)
    trunk = inertia_of(model, data, ["pelvis", "torso"])
    top, bottom = data.body("head").xpos[2], data.body("pelvis").xpos[2]
    length = top - bottom
    # The men's rows disagree with each other by 3 mm in the centre; radii agree to their digits.
    assert_allclose((top - trunk.center[2]) / length * 100, cm, atol=0.6)
    assert_allclose(np.sqrt(np.diag(trunk.tensor) / trunk.mass) / length * 100, radii, atol=0.05)


# Three men measured standing: [Santschi1963]. Stature [in], weight [lb], centre of
# gravity below the top of the head [in], moments about x, y, z [lb in s^2].
MEASURED = [
    (72.2, 173.5, 32.2, (132, 119, 13.1)),
    (67.4, 147.3, 29.8, (95.6, 81.9, 10.3)),
    (73.3, 203.0, 31.8, (144, 129, 14.2)),
]


@pytest.mark.parametrize(("stature", "weight", "below", "moments"), MEASURED)
def test_the_whole_body_is_near_that_of_measured_men(stature, weight, below, moments):
    """People differ in build: 1 % of stature, and 12 % in the large moments (their method has
    2 to 8 %); about the vertical axis the model, feet together and arms close, has a quarter less.
    """
    height = stature * INCH
    model, data = standing(height, weight * POUND)
    body = inertia_of(model, data, all_bodies(model))
    assert_allclose(body.center[2] / height, 1 - below / stature, atol=0.01)
    unit = POUND * 9.80665 * INCH  # lb in s^2 in kg m^2
    ratio = np.diag(body.tensor) / (np.array(moments) * unit)
    assert_allclose(ratio[:2], 1, atol=0.12)
    assert 0.7 < ratio[2] < 1.0


def test_centre_of_mass_stands_at_the_published_part_of_stature():
    """0.56 to 0.58 of a man's stature, lower in women, over the feet."""
    for sex, low, high in (("male", 0.56, 0.58), ("female", 0.54, 0.56)):
        _, data = standing(1.75, 70.0, sex)
        x, y, z = data.subtree_com[0]
        assert low < z / 1.75 < high
        assert abs(y) < 1e-15
        assert data.site("left_heel_inner").xpos[0] < x < data.site("left_toe_inner").xpos[0]


@settings(max_examples=15)
@given(people, st.floats(0.6, 1.6), st.floats(0.5, 2.0))
def test_masses_scale_with_mass_and_inertias_with_mass_times_height_squared(who, a, b):
    height, mass, sex = who
    one = person(height=height, mass=mass, sex=sex)
    other = person(height=a * height, mass=b * mass, sex=sex)
    for name, part in one.inertias.items():
        scaled = other.inertias[name]
        assert_allclose(scaled.mass, b * part.mass, rtol=1e-12)
        assert_allclose(scaled.center, a * part.center, rtol=1e-12, atol=1e-15)
        size = np.abs(part.tensor).max()
        assert_allclose(scaled.tensor, b * a**2 * part.tensor, rtol=1e-11, atol=1e-12 * size)


MIRRORED = ("waist_bending", "waist_rotation", "neck_bending", "neck_rotation")


def test_a_mirrored_posture_is_the_mirror_image(rng):
    """Swap left and right, turn the trunk's bends round: every point goes to its mirror image."""
    model, _ = standing()
    one, other = mujoco.MjData(model), mujoco.MjData(model)
    for i in range(1, model.njnt):
        name = model.joint(i).name
        angle = rng.uniform(*model.joint(name).range)
        twin = {"left": "right", "right": "left"}.get(name.split("_")[0])
        image = name if twin is None else f"{twin}_{name.split('_', 1)[1]}"
        one.joint(name).qpos[0] = angle
        other.joint(image).qpos[0] = -angle if name in MIRRORED else angle
    mujoco.mj_forward(model, one)
    mujoco.mj_forward(model, other)
    for name in all_bodies(model):
        side, _, rest = name.partition("_")
        twin = {"left": f"right_{rest}", "right": f"left_{rest}"}.get(side, name)
        mirror = np.array([1, -1, 1])
        assert_allclose(other.body(twin).xipos, mirror * one.body(name).xipos, atol=1e-12)


# joint, a body to watch, the direction in which its centre must go when the angle grows from zero.
FORWARD, LEFT, UP = np.eye(3)
SENSES = [
    ("hip_flexion", "right_shank", FORWARD),
    ("hip_adduction", "right_shank", LEFT),
    ("hip_rotation", "right_toes", LEFT),
    ("knee_flexion", "right_shank", -FORWARD),
    ("ankle_flexion", "right_toes", UP),
    ("toe_extension", "right_toes", UP),
    ("shoulder_flexion", "right_forearm", FORWARD),
    ("shoulder_adduction", "right_forearm", LEFT),
    ("elbow_flexion", "right_hand", FORWARD),
    ("wrist_flexion", "right_hand", LEFT),  # the palm looks to the left, at the thigh
    ("wrist_deviation", "right_hand", FORWARD),  # the thumb is in front
    ("waist_flexion", "head", FORWARD),
    ("waist_bending", "head", -LEFT),
    ("neck_flexion", "head", FORWARD),
    ("neck_bending", "head", -LEFT),
]


@pytest.mark.parametrize(("joint", "body", "direction"), SENSES)
def test_positive_angles_turn_as_documented(joint, body, direction):
    model, data = standing()
    before = data.body(body).xipos.copy()
    name = joint if body == "head" else f"right_{joint}"
    data.joint(name).qpos[0] = 0.05
    mujoco.mj_forward(model, data)
    moved = data.body(body).xipos - before
    assert moved @ direction > 0.9 * np.linalg.norm(moved)


def test_turns_about_the_length_of_a_segment_turn_as_documented():
    model, data = standing()
    data.joint("right_ankle_inversion").qpos[0] = 0.1
    data.joint("waist_rotation").qpos[0] = 0.1
    data.joint("right_shoulder_rotation").qpos[0] = 0.1
    mujoco.mj_forward(model, data)
    assert data.site("right_toe_inner").xpos[2] > data.site("right_toe_outer").xpos[2]
    assert data.body("torso").xmat.reshape(3, 3)[1, 0] > 0  # its front is to the left
    data.joint("waist_rotation").qpos[0] = 0.0
    data.joint("neck_rotation").qpos[0] = 0.1
    mujoco.mj_forward(model, data)
    assert data.body("head").xmat.reshape(3, 3)[1, 0] > 0
    turned = data.body("torso").xmat.reshape(3, 3).T @ data.body("right_upper_arm").xmat.reshape(
        3, 3
    )
    assert turned[1, 0] > 0  # the front of the right arm turns inwards


def test_standing_upright_is_within_every_range():
    model, _ = standing()
    limited = model.jnt_limited.astype(bool)
    assert limited.sum() == 32
    assert (model.jnt_range[limited, 0] <= 0).all()
    assert (model.jnt_range[limited, 1] > 0).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"height": -1.8}, "`height` must be a positive number [m], got -1.8"),
        ({"height": float("nan")}, "`height` must be a positive number [m], got nan"),
        ({"mass": 0.0}, "`mass` must be a positive number [kg], got 0.0"),
        ({"mass": float("inf")}, "`mass` must be a positive number [kg], got inf"),
        ({"sex": "mal"}, "no sex 'mal'; did you mean 'male'?"),
        ({"sole": "flat"}, "no sole 'flat'; did you mean 'plate'?"),
    ],
)
def test_bad_input_is_one_clear_line(options, words):
    with pytest.raises(InputError) as error:
        human(**options)
    assert words in str(error.value)
    assert "\n" not in str(error.value)
