"""`stiction run` with compliant contact: the foot of marhefka, fields, and what is refused."""

import csv

import numpy as np
import pytest
import xarray as xr

from stiction import InputError, scene
from stiction.laws import AsymmetricHuntCrossley, Bristle, Flores, HuntCrossley, Stribeck, impact
from stiction.scenes import parse_settings


def test_the_foot_does_what_the_document_says(cli, tmp_path):
    """marhefka Sec. 5: continuous and never negative force, damped oscillation, static depth."""
    # Support lasts long enough to settle: the static depth to 1e-6.
    phases = (
        "[{until=0.1, gain=20e3, desired=[0.0, -2.0, 10.0]}, {until=4.0, offset=-500.0},"
        " {gain=20e3, desired=[0.0, 2.0], relative=true}]"
    )
    outcome = cli(
        "run", "foot", "--set", f"control.leg.phases={phases}", "--set", "until=4.2",
        "--out", "foot", "--json",
    )  # fmt: skip
    assert outcome.status == 0
    answer = outcome.json
    with xr.open_dataset(tmp_path / "foot" / "trajectory.nc") as data:
        t, z, v = data.time.values, data.q.values[:, 0], data.v.values[:, 0]
        effort = data.effort.values[:, 0]
        force = data.contact_force.sel(direction="n").values[:, 0]
        depth = data.contact_depth.values[:, 0]
        assert data.contact_normal_loss.attrs["units"] == "J"
    # The control is the scene's: a parabola, a constant force, a line from where the foot is.
    placing, lifting = t < 0.1, t > 4.0
    follow = [(-2 * t + 10 * t**2 - z)[placing], (-500 / 50e3 + 2 * (t - 4.0) - z)[lifting]]
    np.testing.assert_allclose(effort[placing], 20e3 * follow[0], atol=1e-6)
    np.testing.assert_allclose(effort[lifting], 20e3 * follow[1], atol=1e-3)
    np.testing.assert_allclose(effort[(t > 0.1) & (t < 4.0)], -500.0)
    assert force.min() >= 0
    pressed = depth > 0
    # Hunt-Crossley with n = 1: the force follows depth and rate, so it begins and ends at zero.
    expected = 50e3 * depth[pressed] * np.maximum(1 + 0.75 * -v[pressed], 0)
    np.testing.assert_allclose(force[pressed], expected, rtol=1e-9)
    assert force[0] == 0
    support = [np.abs(v[(t > a) & (t < b)]).max() for a, b in ((0.1, 1.0), (1.0, 2.0), (3.0, 3.9))]
    assert support[1] < 0.1 * support[0]
    assert support[2] < 1e-3 * support[1]
    settled = np.interp(3.99, t, depth)
    assert settled == pytest.approx(500 / 50e3, rel=1e-6)
    assert [e["kind"] for e in answer["events"]] == ["touch", "switch", "switch", "lift-off"]
    assert answer["energy"]["ledger_error"] < 1e-8 * 50
    (sole,) = answer["compliance"]
    assert sole["contact"] == "sole"
    assert sole["normal_loss"] == pytest.approx(answer["energy"]["booked"]["impact_loss"])
    folder = tmp_path / "foot"
    with (folder / "events.csv").open() as file:
        assert next(csv.DictReader(file))["kind"] == "touch"
    assert (folder / "depth.svg").stat().st_size > 500
    assert "greatest depth" in (folder / "report.html").read_text()


def law_of(*overrides: str):
    return scene("box", parse_settings(["contact.law=compliant", *overrides])).law


def test_fields_become_laws():
    law = law_of("contact.stiffness=2e4", "contact.alpha=0.4", "contact.exponent=1.5")
    assert isinstance(law.normal, HuntCrossley)
    assert isinstance(law.tangential, Bristle)
    np.testing.assert_allclose(law.normal.dissipation, 0.6)
    np.testing.assert_allclose(law.normal.exponent, 1.5)
    np.testing.assert_allclose(law.tangential.mu_static, 0.5)  # of the scene

    # The scene's restitution, at 2 m/s.
    wanted = law_of("contact.impact_speed=2.0").normal
    assert float(impact.restitution(2.0, wanted.dissipation[0])) == pytest.approx(0.3, rel=1e-12)

    some = law_of("contact.alpha=1", "contact.stiffness={'box[3]'=7e4}")
    np.testing.assert_allclose(some.normal.stiffness, [1e5] * 3 + [7e4] + [1e5] * 4)

    literature = law_of("contact.normal=flores", "contact.tangential=stribeck")
    assert isinstance(literature.normal, Flores)
    assert isinstance(literature.tangential, Stribeck)
    parting = law_of("contact.normal=asymmetric", "contact.alpha=1", "contact.alpha_parting=0.2")
    assert isinstance(parting.normal, AsymmetricHuntCrossley)
    np.testing.assert_allclose(parting.normal.restitution_dissipation, 0.3)


@pytest.mark.parametrize(
    ("override", "says"),
    [
        ("contact.stiffness=-1", "`contact.stiffness` must be positive"),
        ("contact.exponent=0.5", "`contact.exponent` must be at least 1"),
        ("contact.restitution=1.2", "`contact.restitution` must be in (0, 1]"),
        ("contact.restitution=0.0", "`contact.restitution` must be in (0, 1]"),
        ("contact.alpha=-0.1", "`contact.alpha` must be at least 0"),
        ("contact.mu_dynamic=0.9", "`contact.mu_dynamic` must not exceed"),
        ("contact.bristle_damping=0.0", "`contact.bristle_damping` must be positive"),
        ("contact.stiffness=[1e5, 1e5]", "one number or 8"),
        ("contact.stiffness={knee=1e5}", "knee"),
        ("contact.alpha=nan", "`contact.alpha`"),
        ("contact.normal=hertz", "`contact.normal`"),
        ("control.motor.phases=[{gain=1}, {gain=2}]", "'until'"),
    ],
)
def test_wrong_numbers_are_refused_by_the_name_of_their_field(override, says):
    with pytest.raises(InputError) as error:
        law_of(override)
    assert says in str(error.value)
    assert "\n" not in str(error.value)
