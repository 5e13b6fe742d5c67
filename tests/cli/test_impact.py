"""`stiction impact`."""

import pytest
from helpers_cli import assert_envelope


@pytest.fixture
def by_law(cli):
    def resolve(*arguments):
        result = cli("impact", "double-pendulum", *arguments, "--json").json
        return result, {row["law"]: row for row in result["laws"]}

    return resolve


@pytest.mark.slow
def test_the_double_pendulum_gains_energy_without_control_only(by_law):
    """Numbers computed from the equations, apart from this project, to the digits shown."""
    result, laws = by_law("--set", "contact.restitution=1", "--set", "contact.energetic=1")
    assert_envelope(result, "impact")
    assert result["t"] == pytest.approx(0.515353, abs=1e-6)
    assert result["kinetic_before"] == pytest.approx(66.0307, abs=1e-4)
    assert result["velocity_before"]["tip"] == pytest.approx([-5.79523, -6.13513], abs=1e-5)
    assert laws["no-slip"]["kinetic_after"] == pytest.approx(80.340, abs=1e-3)
    guilty = {name for name, row in laws.items() if row["creates_energy"]}
    assert guilty == {"no-slip", "dissipation", "lcp (square)", "lcp (cone)"}
    assert laws["no-slip, scaled"]["kinetic_after"] == pytest.approx(66.0307, abs=1e-4)
    assert laws["newton"]["contacts"][0]["velocity_after"][-1] == pytest.approx(6.13513, abs=1e-5)


def test_a_state_must_be_whole_and_collide(cli):
    half = cli("impact", "double-pendulum", "--q", "0,0")
    assert half.status == 2
    assert "`--q` and `--v`" in half.err
    apart = cli("impact", "double-pendulum", "--q", "0,0", "--v", "0,0")
    assert apart.status == 2
    assert "gap of 'tip'" in apart.err
    assert cli("impact", "double-pendulum", "--q", "x", "--v", "0,0").status == 2


@pytest.mark.slow
def test_a_given_tangential_restitution_comes_back(by_law):
    """flickinger (3.15) in, (4.11) out."""
    _, laws = by_law("--tangential", "-0.3")
    row = laws["given, e_t = -0.3"]["contacts"][0]
    assert row["tangential_restitution"] == pytest.approx([-0.3])
    assert row["velocity_after"] == pytest.approx([0.3 * 5.79523, 6.13513], abs=1e-4)
