"""Studies of impacts, postures and identifications: each case is what its command gives."""

import json
import subprocess
import sys

import jax.numpy as jnp
import numpy as np
import pytest

import stiction
from stiction import InputError
from stiction.agility import best_posture, posture_limits
from stiction.scenes import find_impact, resolve_by_all
from stiction.scenes.stance import build_stance
from stiction.studies import bootstrap, make_design, study, subject_of


@pytest.mark.slow
def test_impacts_are_those_of_the_command():
    scene = stiction.scene("double-pendulum")
    subject = subject_of(scene, "double-pendulum", "impact")
    made = study(subject, {"contact.restitution": "0.3,0.9"}, workers=1, block=2)
    found = made.dataset()
    assert found["kinetic_after"].attrs["units"] == "J"
    for e in (0.3, 0.9):
        rows = resolve_by_all(find_impact(scene.change({"contact.restitution": e}), at_start=False))
        for row in rows:
            case = found.sel(restitution=e, law=row["law"])
            assert float(case["kinetic_after"]) == row["kinetic_after"]
            assert bool(case["creates_energy"]) == row["creates_energy"]
    assert subject.command({"contact.restitution": 0.9}) == (
        "stiction impact double-pendulum --set contact.restitution=0.9"
    )


@pytest.mark.slow
def test_postures_are_those_of_the_command():
    scene = stiction.scene("jumping-leg")
    subject = subject_of(scene, "jumping-leg", "posture", direction=(0.0, 0.0, 1.0))
    found = study(subject, {"contact.mu_static": "0.3,0.9"}, workers=1, block=2).dataset()
    for mu in (0.3, 0.9):
        stance, q = build_stance(scene.change({"contact.mu_static": mu}))
        best = best_posture(stance, posture_limits(stance), jnp.array([0.0, 0.0, 1.0]), guess=q)
        case = found.sel(mu_static=mu)
        assert float(case["capability"]) == best.optima[0].capability
        assert np.array_equal(case["posture"], best.optima[0].q)


@pytest.mark.slow
def test_the_spread_of_a_bootstrap_is_that_of_the_tests(tmp_path):
    """Estimates from tests drawn with replacement scatter as the mean of so many tests does."""
    make = ["identify", "--setup", "single-point", "--simulate", "6", "--out", str(tmp_path)]
    command = [sys.executable, "-m", "stiction"]
    subprocess.run([*command, *make], check=True, capture_output=True)
    logs, setup = sorted(tmp_path.glob("test-*.csv")), str(tmp_path / "setup.toml")
    subject = bootstrap(logs, setup)
    found = study(subject, make_design(replicates=12), workers=1, block=12).dataset()
    assert np.all(found["status"] == 1)
    answer = subprocess.run(
        [*command, "identify", *map(str, logs), "--setup", setup, "--json"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    for name, parameter in json.loads(answer.stdout)["parameters"].items():
        spread = found[name].values
        assert spread.std() > 0
        assert abs(spread.mean() - parameter["value"]) < 3 * max(spread.std(), parameter["std"])


def test_a_bootstrap_needs_several_tests():
    with pytest.raises(InputError, match="at least 3"):
        bootstrap(["one.csv"], "single-point")


def test_what_is_not_known_is_refused():
    scene = stiction.scene("rod")
    with pytest.raises(InputError, match="--of"):
        subject_of(scene, "rod", "walk")
    with pytest.raises(InputError, match="--direction"):
        subject_of(scene, "rod", "posture")
