"""What a setup has slightly wrong: averaged as the data demand, found by its signature, named."""

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from fault_rig import FAULTS, judge, try_log, verdict_on

from stiction._base.errors import InputError
from stiction.identify import identify, read_setup, virtual_test
from stiction.identify.detective import investigate, noise_warnings, suspicions
from stiction.identify.faults import _plateau, clean
from stiction.identify.fit.averaging import HINT, PRICE, SUSPICION, average, mixture_quantile
from stiction.identify.fit.nuisances import WORDS, Nuisance, Nuisances
from stiction.identify.fit.residuals import judge_residuals, outliers
from stiction.identify.kinds.contact import _check_carried
from stiction.identify.kinds.contact_setup import Tolerances
from stiction.identify.path.noise import sensor_noise
from stiction.identify.path.readings import shifts_of


def line(offset, *, tolerance=1.0, declared=False, n=200, noise=0.1, seed=0, ends=(0.5, 1.5)):
    """A straight line y = slope x + z, z the nuisance, as the rows that a fit hands on."""
    random = np.random.default_rng(seed)
    x = np.linspace(*ends, n)
    y = 2.0 * x + offset + noise * random.standard_normal(n)
    rows = np.stack([x, np.ones(n)], axis=1) / noise
    start = np.array([np.sum(x * y) / np.sum(x * x), 0.0])  # the fit without z
    R = np.linalg.qr(np.column_stack([rows, rows @ start - y / noise]), mode="r")
    group = Nuisance("offset", slice(0, 1), np.array([tolerance]), declared)
    only = Nuisances((group,), np.zeros((1, 1), dtype=int))
    told = average(R[:2, :2], R[:2, 2], np.zeros(1), only, np.array([True]), 1.0, np.eye(1))
    return start[0] + told.change[0], np.sqrt(told.covariance[0, 0]), told, (rows, y / noise)


def test_a_declared_tolerance_is_a_prior():
    """Against ridge regression written out: one more row, z = 0 ± τ."""
    slope, std, _, (rows, y) = line(0.3, tolerance=0.05, declared=True)
    A = np.concatenate([rows, [[0.0, 1 / 0.05]]])
    H = np.linalg.inv(A.T @ A)
    assert slope == pytest.approx((H @ A.T @ np.append(y, 0.0))[0], rel=1e-9)
    assert std == pytest.approx(np.sqrt(H[0, 0]), rel=1e-9)


def test_what_the_data_do_not_demand_costs_next_to_nothing():
    """The price of a suspicion is bounded, whatever it would cost if it were true."""
    widths = []
    for seed in range(20):
        _, std, told, (rows, _) = line(0.0, seed=seed)
        widths.append(std * np.linalg.norm(rows[:, 0]))
        assert told.probability["offset"] < 0.5
    assert 1.0 <= np.median(widths) < 1 + 2 * PRICE
    # In truth the slope is known far less well without the suspicion's being false.
    assert np.sqrt(told.alone["offset"][0, 0]) * np.linalg.norm(rows[:, 0]) > 3


def test_what_the_data_demand_is_estimated_and_marginalised():
    slope, std, told, (rows, y) = line(0.5)
    assert told.probability["offset"] > 0.99
    both, *_ = np.linalg.lstsq(rows, y, rcond=None)
    assert slope == pytest.approx(both[0], rel=1e-3)
    assert std == pytest.approx(np.sqrt(np.linalg.inv(rows.T @ rows)[0, 0]), rel=0.02)


def test_the_average_is_bayes_theorem():
    """Two hypotheses, their evidence by brute force over a grid of slope and offset."""
    slope, std, told, (rows, y) = line(0.06, n=30, seed=3)
    s, z = np.meshgrid(np.linspace(1.5, 2.5, 1201), np.linspace(-1, 1, 1201), indexing="ij")
    r = np.sum((rows @ np.stack([s.ravel(), z.ravel()]) - y[:, None]) ** 2, axis=0)
    likelihood = np.exp(-0.5 * (r - r.min())).reshape(s.shape)
    step = z[0, 1] - z[0, 0]
    prior = np.exp(-0.5 * z[0] ** 2) / np.sqrt(2 * np.pi) * step
    odds = _odds(told, rows)
    off = (likelihood * prior).sum() * odds
    right = likelihood[:, 600].sum()
    assert told.probability["offset"] == pytest.approx(off / (off + right), rel=1e-2)
    weights = likelihood * prior * odds
    weights[:, 600] += likelihood[:, 600]
    by_slope = weights.sum(axis=1) / weights.sum()
    assert slope == pytest.approx(by_slope @ s[:, 0], abs=2e-3 * std)
    spread = np.sqrt(by_slope @ (s[:, 0] - by_slope @ s[:, 0]) ** 2)
    assert std == pytest.approx(spread, rel=1e-2)


def test_a_hint_widens_and_is_said():
    """A slope that can hardly be told from the offset: 1.64 standard errors of that are a hint."""
    ends = 1.4, 1.6
    _, _, _, (rows, _) = line(0.0, ends=ends)
    error = np.sqrt(np.linalg.inv(rows.T @ rows)[1, 1])
    held = hinted = sound = 0
    for seed in range(100):
        slope, std, told, _ = line(3 * error, seed=seed, ends=ends)
        held += abs(slope - 2.0) < 1.96 * std
        hinted += bool(told.hinted or told.best)
        sound += bool(line(0.0, seed=seed, ends=ends)[2].hinted)
    # Three standard errors off, less what the tolerance draws in: some 9 in 10 are beyond.
    assert hinted >= 80
    assert held >= 80
    assert sound / 100 == pytest.approx(HINT, abs=0.08)
    assert line(3 * error, declared=True, ends=ends)[2].hinted == {}


def _odds(told, rows) -> float:
    """The prior odds by their definition: at most SUSPICION, and priced."""
    A = rows - np.outer(rows[:, 0], rows[:, 0] @ rows) / (rows[:, 0] @ rows[:, 0])
    occam = 1 / np.sqrt(1 + A[:, 1] @ A[:, 1])
    dearer = told.alone["offset"][0, 0] * (rows[:, 0] @ rows[:, 0])
    return min(SUSPICION, 2 * PRICE / (occam * dearer))


def test_lone_outliers_are_found_and_structure_is_not():
    random = np.random.default_rng(0)
    r = random.standard_normal((200, 6))
    used = np.ones(200, dtype=bool)
    assert not outliers(r, used).any()
    r[[20, 77, 150], 2] += 15
    assert set(np.flatnonzero(outliers(r, used))) == {20, 77, 150}
    r[100:140, 1] += 15  # a run is a model that is wrong
    assert not outliers(r, used).any()


def test_correlated_residuals_widen_as_their_number_shrinks():
    """Of an AR(1) process the mean's variance is (1 + ρ) / (1 - ρ) times that of white noise."""
    random = np.random.default_rng(1)
    white, rho = random.standard_normal((4000, 6)), 0.6
    r = white.copy()
    for i in range(1, len(r)):
        r[i] = rho * r[i - 1] + np.sqrt(1 - rho**2) * white[i]
    used = [np.ones(4000, dtype=bool)]
    none = [np.zeros(4000, dtype=bool)]
    told = judge_residuals([r], used, none)
    assert told.inflation == pytest.approx(4.0, rel=0.25)
    assert "keeps its sign" in told.warnings[0]
    quiet = judge_residuals([white], used, none)
    assert quiet.warnings == []
    assert quiet.inflation < 1.15


def test_force_in_free_air_is_named():
    random = np.random.default_rng(2)
    r = random.standard_normal((40, 6))
    r[:, 2] += 2.0  # 0.5 N of 0.25 N noise: no rms sees it
    told = judge_residuals([r], [np.zeros(40, bool)], [np.ones(40, bool)])
    assert any(w.startswith("force z is not zero in free air") for w in told.warnings)


@pytest.fixture(scope="module")
def log():
    setup, folder = read_setup("single-point")
    return virtual_test(setup, folder).recording, setup


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("frames repeated", "repeat the one before"),
        ("10 % outliers in pose", "poses of 'test-01' stand out alone"),
        ("10 % outliers in force", "wrenches of 'test-01' stand out alone"),
        ("an axis clipped at 60 %, then noise", "force z of 'test-01' is saturated"),
        ("an axis clipped at 90 %, then noise", "force z of 'test-01' is saturated"),
    ],
)
def test_bad_rows_are_found_by_their_signature(log, fault, said):
    recording, setup = log
    noise = sensor_noise([recording], setup)
    kept, sentences = clean(recording, noise)
    assert sentences == []
    assert kept is recording
    faulty, _ = FAULTS[fault](recording, setup, np.random.default_rng(0))
    _, sentences = clean(faulty, noise)
    assert any(said in s for s in sentences)


def test_what_is_left_beside_a_limit_was_not_chosen_by_its_noise():
    """Slow waves, cut off: the noise of the readings that are kept has no mean."""
    kept = []
    for number in range(200):
        random = np.random.default_rng(number)
        noise = random.standard_normal(300)
        wave = 60 * np.sin(np.linspace(0, 6 * np.pi, 300))
        read = np.minimum(wave + noise, 36.0) + 0.2 * random.standard_normal(300)
        keep = ~_plateau(read, 1.0)
        assert not keep[wave > 37].any()
        kept.append(noise[keep & (wave > 30)])
    kept = np.concatenate(kept)
    assert len(kept) > 1500
    assert abs(kept.mean()) < 3 / np.sqrt(len(kept))


def test_angles_that_went_round_are_turned_back():
    """30° read as 30 rad: nearly five turns, which the rotations themselves do not show."""
    setup, folder = read_setup("two-point")
    recording = virtual_test(setup, folder, quiet=True).recording
    faulty, stated = FAULTS["degrees read as radians"](recording, setup, np.random.default_rng(0))
    undone = [r for what, r in suspicions(faulty, stated) if "look like degrees" in what]
    off = [np.abs(r.rotation - recording.rotation).max() for r in undone]
    assert min(off) < 1e-9


@pytest.mark.parametrize(("left", "refused"), [(1.0, True), (1.4, False), (None, False)])
def test_a_full_fit_decides_where_a_regression_hardly_does(log, left, refused):
    """As read 5 noise levels, undone 3.5: noise of the path in both."""
    recording, _ = log
    suspected = [("axes look swapped", recording), ("sign looks wrong", recording)]
    scores = iter([5.0, 3.5, 4.8])
    again = None if left is None else lambda r: left
    expected = nullcontext()
    if refused:
        expected = pytest.raises(InputError, match=r"axes look swapped \(a full fit leaves 1\)")
    with expected:
        investigate(recording, suspected, lambda *_: next(scores), again)


def test_forces_that_no_surface_carries_are_refused(log):
    recording, setup = log
    noise = sensor_noise([recording], setup)
    (trace,) = identify([recording], setup).traces
    _check_carried([trace], noise)
    with pytest.raises(InputError, match="no surface carries any force in 'test-01', yet"):
        _check_carried([replace(trace, touched=0 * trace.touched)], noise)


def test_a_force_that_is_held_for_a_while_is_not_saturated():
    """Six channels held at their extremes for a dozen samples: at most 1 % of false alarms.

    Of 500 logs more than 12 would be taken for saturated with a probability of less than 0.5 %;
    four in ten have readings that lie within a noise level for long enough to be looked at.
    """
    ramp = np.linspace(0, 40, 60)
    held = np.concatenate([ramp, np.full(12, 50.0), ramp[::-1]])
    alarms = 0
    for number in range(500):
        random = np.random.default_rng(number)
        noisy = held + random.standard_normal((6, len(held)))
        alarms += any(_plateau(channel, 1.0).any() for channel in noisy)
    assert alarms <= 12


def test_other_units_are_seen_in_the_noise(log):
    recording, setup = log
    assert noise_warnings([recording], setup) == []
    pounds, _ = FAULTS["force in pounds, moment in pound-inches"](
        recording, setup, np.random.default_rng(0)
    )
    with pytest.raises(InputError, match=r"force looks like lbf, factor 4\.448"):
        noise_warnings([pounds], setup)


def test_a_wrong_sign_is_proposed(log):
    recording, setup = log
    faulty, _ = FAULTS["wrench sign wrong"](recording, setup, np.random.default_rng(0))
    with pytest.raises(InputError, match=r"opposite sign: set wrench\.acts_on = 'moving'"):
        identify([faulty], setup)


@pytest.mark.parametrize(
    "fault", ["none", "force offset 0.5 N", "wrench 20 ms late", "pose frame turned 0.5°"]
)
def test_intervals_cover_with_one_fault(fault):
    """A sample of the table in docs/identify.md; `python -m benchmarks faults` makes all of it.

    Of 36 intervals that cover in 95 %, fewer than 31 do with a probability of 1 %.
    """
    outcomes = [try_log("single-point", fault, i) for i in range(12)]
    found = verdict_on(outcomes)
    assert sum(found.coverage.values()) * 12 >= 31
    if fault == "none":
        # One in ten has a hint; more than four of twelve by chance: 0.4 %.
        said = [o.said for o in outcomes if o.said]
        assert len(said) <= 4
        assert all(s.startswith("the data hint") for s in said)
        surely = Tolerances(**dict.fromkeys(Tolerances.model_fields, 0.0))
        for name, width in judge("single-point", fault, 12, tolerances=surely).width.items():
            assert found.width[name] < 1.2 * width


@pytest.mark.parametrize(
    ("fault", "group", "number", "truth"),
    [("tool bends 10 µm/N", "bending", 0, 1e-5), ("backlash 0.4 mm", "play", 0, 2e-4)],
)
def test_what_is_between_tool_and_tracked_frame_is_found(fault, group, number, truth):
    """The side plate is pressed along x: what yields or plays there is told, and allowed for."""
    setup, folder = read_setup("two-point")
    clean_log = virtual_test(setup, folder).recording
    faulty, _ = FAULTS[fault](clean_log, setup, np.random.default_rng(0))
    found = identify([faulty], setup, folder)
    note = found.notes["nuisances"][group]
    # On the way through the play it is on neither side, so that less of it is found.
    near = 3 * note["std"][number] if group == "bending" else 0.3 * truth
    assert abs(note["value"][number] - truth) < near < 0.75 * truth
    assert any(s.startswith(WORDS[group][0]) for s in found.corrections)
    for name in ("side.k", "side.c", "side.mu", "bottom.k"):
        assert abs(found.parameters[name].value - setup.testbed.truth[name]) < (
            3 * found.parameters[name].std
        )


@pytest.mark.parametrize("fault", ["tool bends 10 µm/N", "backlash 0.4 mm"])
def test_readings_are_shifted_as_the_rig_shifts_them(log, fault):
    """The residual of a faulty reading vanishes for the true numbers, where play is taken up."""
    recording, setup = log
    noise = sensor_noise([recording], setup)
    shifts = shifts_of(recording, noise, 0.18, in_body=False)
    faulty, _ = FAULTS[fault](recording, setup, np.random.default_rng(0))
    z = np.array([1e-5, 0, 0, 0]) if "bends" in fault else np.array([0, 2e-4, 0, 0])
    left = recording.position + shifts @ z - faulty.position
    rms = np.sqrt(np.mean(left**2, axis=0))
    assert np.all(rms < (1e-12 if "bends" in fault else 1e-4))  # noise, in the way through play
    assert np.abs(faulty.position - recording.position).max() > 1.5e-4


def test_a_log_with_lost_frames_is_refused():
    """Which of them were lost is not known, so that no fit can allow for it."""
    setup, folder = read_setup("two-point")
    recording = virtual_test(setup, folder).recording
    fault = FAULTS["5 % of pose frames lost"]
    faulty, _ = fault(recording, setup, np.random.default_rng(0))
    with pytest.raises(InputError, match="of the poses were lost while `time` went on"):
        identify([faulty], setup, folder)
    # Poses that just end early are no loss.
    n = len(recording.pose_time) * 19 // 20
    short = replace(
        recording,
        pose_time=recording.pose_time[:n],
        position=recording.position[:n],
        rotation=recording.rotation[:n],
    )
    identify([short], setup, folder)


def test_quantiles_of_a_mixture():
    """Of one normal density in closed form; of several against many draws; far apart, of one."""
    one = mixture_quantile(0.975, np.ones(1), np.array([2.0]), np.array([0.5]))
    assert one == pytest.approx(2 + 0.5 * 1.959964, rel=1e-6)
    weight, mean, std = np.array([0.3, 0.7]), np.array([0.0, 2.0]), np.array([1.0, 0.3])
    random = np.random.default_rng(0)
    which = random.choice(2, 400_000, p=weight)
    draws = mean[which] + std[which] * random.standard_normal(len(which))
    for part in (0.025, 0.3, 0.975):
        found = mixture_quantile(part, weight, mean, std)
        assert np.mean(draws < found) == pytest.approx(part, abs=0.003)
    far = mixture_quantile(0.975, np.array([0.5, 0.5]), np.array([0.0, 100.0]), np.ones(2))
    assert far == pytest.approx(100 + 1.644854, abs=1e-4)


def test_every_log_has_its_own_offset_and_delay():
    """Two logs, shifted each the other way, tell as much as two that are not."""
    setup, folder = read_setup("single-point")
    sound = [virtual_test(setup, folder, number=i).recording for i in range(2)]
    up = np.array([0, 0, 0.5, 0, 0, 0])
    shifted = [
        replace(r, wrench=r.wrench + sign * up, wrench_time=r.wrench_time + sign / 50)
        for r, sign in zip(sound, (1, -1), strict=True)
    ]
    plain, found = identify(sound, setup, folder), identify(shifted, setup, folder)
    assert plain.corrections == []
    notes = found.notes["nuisances"]
    for name, places, truth in (("bias", [2, 8], [0.5, -0.5]), ("delay", [0, 1], [0.02, -0.02])):
        value, std = (np.array(notes[name][what])[places] for what in ("value", "std"))
        assert np.all(np.abs(value - truth) < 3.5 * std)
        assert np.all(std < 0.2 * np.abs(truth))
    for name in ("bottom.k", "bottom.c"):
        p = found.parameters[name]
        assert abs(p.value - setup.testbed.truth[name]) < 3 * p.std
        assert p.std < 1.5 * plain.parameters[name].std
    assert [set(t) for t in found.tests] == [{"test", "bottom.k", "bottom.c", "bottom.mu"}] * 2
