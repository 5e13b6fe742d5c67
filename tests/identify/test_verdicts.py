"""What a test could not excite is said plainly, and only that."""

import pytest
from rigs import NOISE, record, star_setup

from stiction._base.errors import InputError
from stiction.identify import identify
from stiction.identify.kinds.contact_setup import Tolerances

SENSORS = {"motion_rate": 150.0, "wrench_rate": 200.0}
# Presses to 7 mm once and holds there: a long slide at constant depth.
HOLDING = [
    [0.0, -0.008, 0.0, 0.0020, 0, 0, 0],
    [0.5, -0.007, 0.0, -0.0010, 0, 0, 0],
    [1.0, -0.003, 0.0, -0.0010, 0, 0, 0],
    [1.5, 0.003, 0.0, -0.0010, 0, 0, 0],
    [2.0, 0.008, 0.0, -0.0010, 0, 0, 0],
]
# Goes up and down on one spot.
PRESSING = [[t, 0.0, 0.0, z, 0, 0, 0] for t, z in
            ((0.0, 0.008), (0.4, -0.002), (0.8, 0.0), (1.2, -0.003), (1.6, 0.008))]  # fmt: skip


def found_in(materials, waypoints, **options):
    options |= {"noise": NOISE, "bed": SENSORS, "method__knot_spacing": 0.1}
    setup = star_setup(materials, waypoints=waypoints, **options)
    return identify([record(setup)], setup)


def test_damping_of_a_plate_that_was_only_slid_on():
    """Damping 3 N·s/m: far below what the held depth can tell."""
    truth = {"steel.k": 8389.6, "steel.c": 3.0, "steel.mu": 0.0652}
    found = found_in({"bottom": "steel"}, HOLDING, truth=truth)
    (said,) = found.warnings
    assert said.startswith("damping of 'steel': ")
    assert "the depth rate never exceeded 0.0" in said
    bound = found.parameters["steel.c"].interval[1]
    assert bound > 3.0  # the interval is honest all the same
    assert found.parameters["steel.k"].std < 0.01 * truth["steel.k"]


def test_friction_of_a_plate_that_was_only_pressed():
    found = found_in({"bottom": "steel"}, PRESSING)
    assert any(
        w.startswith("friction of 'steel': ") and "the slip speed never exceeded" in w
        for w in found.warnings
    )
    assert not any("damping" in w or "stiffness" in w for w in found.warnings)


def test_a_plate_that_was_never_touched():
    away = [[t, -0.01, *rest] for t, _, *rest in PRESSING]
    found = found_in({"bottom": "steel", "right": "brass"}, away)
    said = [w for w in found.warnings if "never touched" in w]
    assert said == [
        f"{what} of 'brass': not identifiable, the surface was never touched"
        for what in ("stiffness", "damping", "friction")
    ]
    for name in ("k", "c", "mu"):
        p = found.parameters[f"brass.{name}"]
        assert p.value is None
        assert p.std is None
    assert found.parameters["steel.k"].value == pytest.approx(8389.6, rel=0.02)


def unhinted(found):
    """Warnings without hints, which one sound log in ten gets: see `HINT`."""
    return [w for w in found.warnings if not w.startswith("the data hint")]


def test_a_good_test_draws_no_remark():
    setup = star_setup({"bottom": "steel"}, noise=NOISE, bed=SENSORS, method__knot_spacing=0.1)
    assert unhinted(identify([record(setup)], setup)) == []


def test_a_misplaced_plate_is_found_and_errors_grow():
    """A plate 1 mm off: held where the setup puts it, the misfit is said; else it is found."""
    setup = star_setup({"bottom": "steel"}, noise=NOISE, bed=SENSORS, method__knot_spacing=0.1)
    recording = record(setup)
    surface = setup.surfaces[0]
    point = [*surface.point[:2], surface.point[2] - 1e-3]
    moved = setup.model_copy(update={"surfaces": [surface.model_copy(update={"point": point})]})
    held = {"tolerances": Tolerances(**dict.fromkeys(Tolerances.model_fields, 0.0))}
    right = identify([recording], setup.model_copy(update=held))
    assert right.warnings == []
    stiff = moved.model_copy(update=held)
    found = identify([recording], stiff)
    (said,) = (w for w in found.warnings if "times what the sensor noise explains" in w)
    assert "plate positions" in said
    assert found.residuals["in_noise"] > 1.1 > right.residuals["in_noise"]
    assert found.parameters["steel.k"].std > 1.1 * right.parameters["steel.k"].std
    # Not held, the fit finds where the plate stands, and k's interval holds the truth.
    found = identify([recording], moved)
    low, high = found.parameters["steel.k"].interval
    assert low < 8389.6 < high
    assert found.parameters["steel.k"].std > 1.1 * right.parameters["steel.k"].std


def test_hovering_at_the_brink_is_refused():
    """Within the noise of touching all the time: whether a damper acts cannot be known."""
    hovering = [[t, 0.0, 0.0, -1e-4 * (z < 0), 0, 0, 0] for t, _, _, z, *_ in PRESSING]
    with pytest.raises(InputError, match="at the brink of touching"):
        found_in({"bottom": "steel"}, hovering, squeeze=0.0)
