"""`stiction restitution` as a user meets it."""

import json

import pytest
from numpy.testing import assert_allclose

from stiction.cli.app import main


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(["restitution", *map(str, arguments)])
    captured = capsys.readouterr()
    return ended.value.code, captured.out, captured.err


def test_json_has_the_promised_names(capsys):
    status, out, _ = run(capsys, "--alpha", 0.4, "--speed", 1, "--json")
    result = json.loads(out)
    assert status == 0
    assert_allclose(result["restitution"], 0.7119501795778665, rtol=1e-14)
    assert_allclose(result["rebound_speed"], 0.7119501795778665, rtol=1e-14)
    assert_allclose(result["dissipation"], 0.6, rtol=1e-15)
    assert_allclose(result["energy_lost_fraction"], 1 - result["restitution"] ** 2, rtol=1e-14)
    assert_allclose(result["alpha"], 0.4, rtol=1e-15)


def test_wanted_restitution_gives_alpha_and_back(capsys):
    _, out, _ = run(capsys, "--restitution", 0.3, "--speed", 2.5, "--json")
    alpha = json.loads(out)["alpha"]
    _, out, _ = run(capsys, "--alpha", repr(alpha), "--speed", 2.5, "--json")
    assert_allclose(json.loads(out)["restitution"], 0.3, rtol=1e-14)


def test_with_mass_and_stiffness_it_also_gives_the_peaks(capsys):
    _, out, _ = run(capsys, "--alpha", 0.4, "--speed", 1, "--mass", 1, "--stiffness", 1e4, "--json")
    result = json.loads(out)
    assert_allclose(result["peak_depth"], 8.49825e-3, rtol=1e-6)
    assert_allclose(result["peak_force"], 94.871, rtol=1e-5)
    assert_allclose(result["duration"], 31.757e-3, rtol=1e-5)
    assert_allclose(result["energy_lost"], 0.246563, rtol=2e-6)


def test_no_damping_is_allowed(capsys):
    status, out, _ = run(capsys, "--alpha", 0, "--speed", 1, "--json")
    assert status == 0
    assert json.loads(out)["restitution"] == 1.0
    assert json.loads(out)["sticky_speed"] is None


def test_table_over_speeds(capsys):
    _, out, _ = run(capsys, "--alpha", 0.4, "--speed", 1, "--speeds", "0.5:2:4", "--json")
    rows = json.loads(out)["table"]
    assert [r["speed"] for r in rows] == [0.5, 1.0, 1.5, 2.0]
    assert rows[0]["restitution"] > rows[-1]["restitution"]
    _, out, _ = run(capsys, "--alpha", 0.4, "--speed", 1, "--table")
    assert "restitution" in out


def test_plot_writes_figures_and_a_report(capsys, tmp_path):
    status, out, _ = run(
        capsys, "--alpha", 0.4, "--speed", 1, "--mass", 1, "--stiffness", 1e4, "--exponent", 1.5,
        "--table", "--plot", "--out", tmp_path / "o",
    )  # fmt: skip
    assert status == 0
    made = {p.name for p in (tmp_path / "o").iterdir()}
    assert {"restitution.png", "restitution.svg", "loop.png", "loop.svg"} <= made
    assert {"report.html", "table.csv"} <= made
    assert "report.html" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--alpha", -1, "--speed", 1), "`--alpha` must be at least 0 [s/m], got -1"),
        (("--alpha", "nan", "--speed", 1), "`--alpha` must be at least 0 [s/m], got nan"),
        (("--restitution", 1.2, "--speed", 1), "`--restitution` must be in (0, 1], got 1.2"),
        (("--alpha", 1), "`--speed` is needed"),
        (("--alpha", 1, "--speed", 0), "`--speed` must be positive [m/s], got 0"),
        (("--speed", 1), "give exactly one of `--alpha`, `--dissipation` and `--restitution`"),
        (("--alpha", 1, "--speed", 1, "--mass", 1), "`--mass` and `--stiffness` must be given"),
        (("--alpha", 1, "--speed", 1, "--exponent", 0.5), "`--exponent` must be at least 1"),
        (("--alpha", 1, "--speed", 1, "--speeds", "1,x"), "`--speeds` must be positive numbers"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(capsys, tmp_path, arguments, message):
    status, out, err = run(capsys, *arguments, "--plot", "--out", tmp_path / "o")
    assert status == 2
    assert out == ""
    assert err.startswith(f"stiction: {message}")
    assert err.count("\n") == 1
    assert not (tmp_path / "o").exists()
