"""Ma, Kim and Martinez 2007: Tables 1 and 2, Figures 8 to 12 and 15 to 21.

The tables' statistics are recomputed from the printed tests. The recordings themselves were never
published, so beside them stand tests of the same kind on the virtual testbed, whose truth is the
document's averages: the setups `single-point` and `two-point`, identified as any log would be.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from stiction.identify import Identification, VirtualTest, identify, read_setup, virtual_test
from stiction.identify.build import build_model, model_values
from stiction.identify.regression import contacts_of
from stiction.identify.result import Trace
from stiction.identify.setup import ContactSetup, WrenchNoise
from stiction.identify.testbed import testbed_of
from stiction.report.figures import COLORS, new_figure
from stiction.reproduce.registry import Check, Reproduction, check_below, check_close, reproduces

DOCUMENT = "ma"

TABLE_1 = np.array(
    [
        [8456.2, 5461.6, 0.0620],
        [8426.7, 5871.2, 0.0652],
        [8316.2, 5537.1, 0.0649],
        [8635.9, 4838.9, 0.0623],
        [7889.5, 5252.6, 0.0711],
        [8391.5, 5048.2, 0.0658],
        [8611.3, 5087.5, 0.0649],
    ]
)
TABLE_2 = np.array(
    [
        [15394.0, 5691.3, 0.2012, 7385.2, 238.09, 0.2408],
        [15406.0, 5370.2, 0.1826, 7408.2, 332.17, 0.2995],
        [15557.0, 4084.1, 0.2242, 7872.2, 452.85, 0.2709],
        [15374.0, 4244.6, 0.2074, 7238.6, 311.61, 0.2383],
        [15248.0, 6106.0, 0.2115, 7475.4, 242.24, 0.2626],
        [15295.0, 5960.0, 0.2080, 7470.5, 456.10, 0.2437],
        [14334.0, 6453.8, 0.2130, 7654.9, 382.48, 0.2638],
        [14266.0, 6421.2, 0.2206, 7569.8, 220.00, 0.2710],
    ]
)
AVERAGE_1 = (8389.6, 5299.6, 0.0652)
AVERAGE_2 = (15109.25, 5541.40, 0.2086, 7509.35, 329.44, 0.2613)
SCATTER_1 = (2.7, 6.1, 4.3)  # percent
SCATTER_2 = (3.1, 15.6, 5.7, 2.4, 26.8, 7.3)  # Sec. 5.1; the table itself has 15.1 and 25.2
# What this project aims at, percent: error of the mean, and scatter.
AIM_1 = (1.0, 3.0, 2.0)
AIM_2 = (2.0, 8.0, 4.0)
ROUNDING = 0.05  # percent, of the printed scatter


@dataclass(frozen=True)
class _Case:
    """Virtual tests of one setup and what was identified from them."""

    setup: ContactSetup
    tests: list[VirtualTest]
    found: Identification
    truth: dict[str, float]
    noise: WrenchNoise
    depth: np.ndarray  # of each surface along the first test, true [m]
    depth_rate: np.ndarray

    @property
    def trace(self) -> Trace:
        """The first test, sample by sample."""
        return self.found.traces[0]


@cache
def _case(name: str, count: int) -> _Case:
    setup, folder = read_setup(name)
    assert isinstance(setup, ContactSetup)
    assert setup.wrench.noise is not None
    truth = testbed_of(setup).truth
    tests = [virtual_test(setup, folder, number=i) for i in range(count)]
    found = identify([t.recording for t in tests], setup, folder)
    model = build_model(setup, folder)
    true = contacts_of(model, model_values(model, truth), tests[0].motion)
    deep = np.where(np.asarray(true.near), np.asarray(true.depth), -np.inf)
    at = np.argmax(deep, axis=2)[..., None]
    depth, rate = (
        np.take_along_axis(np.asarray(v), at, axis=2)[..., 0] for v in (true.depth, true.depth_rate)
    )
    return _Case(setup, tests, found, truth, setup.wrench.noise, depth, rate)


def _single() -> _Case:
    return _case("single-point", len(TABLE_1))


def _two() -> _Case:
    return _case("two-point", len(TABLE_2))


def _scatter(values: np.ndarray) -> np.ndarray:
    """Standard deviation over the mean [%], with the document's divisor, the number of tests."""
    return 100 * values.std(axis=0) / values.mean(axis=0)


def _table(case: _Case, printed, average, scatter, aim, letters, note: str = "") -> Reproduction:
    names = list(case.found.parameters)
    ours = np.array([[test[n] for n in names] for test in case.found.tests])
    truth = np.array([case.truth[n] for n in names])
    plain = [n.split()[0] for n in letters]
    rows = []

    def row(what: str, theirs, virtual) -> None:
        both = [f"{v:.5g}" for v in (*theirs, *virtual)]
        heads = [*letters, *(f"{n}, virtual" for n in letters)]
        rows.append({"": what, **dict(zip(heads, both, strict=True))})

    for i in range(len(printed)):
        row(f"test {i + 1}", printed[i], ours[i])
    row("average", printed.mean(axis=0), ours.mean(axis=0))
    row("scatter [%]", _scatter(printed), _scatter(ours))
    off = 100 * np.abs(ours.mean(axis=0) / truth - 1)
    rows.append(
        {"": "error of the average [%]"}
        | {f"{n}, virtual": f"{v:.2g}" for n, v in zip(letters, off, strict=True)}
    )
    # Averages are printed with as many digits as the tests, so rounding is relative to those.
    rounded = np.max(np.abs(printed.mean(axis=0) / np.array(average) - 1))
    checks = [
        check_below("averages follow from the printed tests, relative", rounded, 5e-4),
        *(
            check_close(f"scatter of {n} follows from the printed tests [%]", s, p, ROUNDING)
            for n, s, p in zip(plain, _scatter(printed), scatter, strict=True)
        ),
    ]
    for n, error, spread, bound in zip(plain, off, _scatter(ours), aim, strict=True):
        checks.append(check_below(f"virtual tests: error of the average {n} [%]", error, bound))
        checks.append(check_below(f"virtual tests: scatter of {n} [%]", spread, bound))
    gain = np.min(_scatter(printed) / _scatter(ours))
    checks.append(
        Check("virtual tests scatter less than a third as much", bool(gain > 3), float(gain), "> 3")
    )
    return Reproduction(table=rows, checks=checks, note=note)


@reproduces(DOCUMENT, "Table 1", title="Single-point contact: seven tests")
def table_1() -> Reproduction:
    letters = ("k [N/m]", "c [N·s/m]", "μ")
    return _table(_single(), TABLE_1, AVERAGE_1, SCATTER_1, AIM_1, letters)


@reproduces(DOCUMENT, "Table 2", title="Two-point contact: eight tests")
def table_2() -> Reproduction:
    letters = tuple(f"{n}{i}" for i in (1, 2) for n in ("k", "c", "μ"))
    note = (
        "The table prints a scatter of 15.1 % for c1 and 25.2 % for c2; its tests give 15.6 % and"
        " 26.8 %, as the document's Sec. 5.1 says."
    )
    return _table(_two(), TABLE_2, AVERAGE_2, SCATTER_2, (*AIM_2, *AIM_2), letters, note)


@reproduces(DOCUMENT, "Figure 8", title="Single point: motion of the contact body")
def figure_8() -> Reproduction:
    case = _single()
    t, true = case.trace, np.asarray(case.tests[0].motion.position)
    position = np.asarray(t.motion.position)
    figure, axis = new_figure()
    for i, name in enumerate("xyz"):
        axis.plot(t.time, 1e3 * position[:, i], color=COLORS[i], label=name)
    touching = np.flatnonzero(t.touched[:, 0] > 0)
    for when in t.time[touching[[0, -1]]]:
        axis.axvline(when, color="0.4", ls="--", lw=1)
    axis.set(xlabel="time [s]", ylabel="position [mm]")
    axis.legend(ncols=3)
    force = np.linalg.norm(case.tests[0].wrench[:, :3], axis=1)
    truly = np.flatnonzero(force > 0)
    step = float(np.median(np.diff(t.time)))
    off = np.abs(t.time[touching[[0, -1]]] - t.time[truly[[0, -1]]]).max()
    return Reproduction(
        figure,
        checks=[
            check_close("samples in contact: about 150", float(len(touching)), 150.0, 20.0),
            check_below("contact begins and ends when it truly does [samples]", off / step, 1.01),
            _path_check(position, true),
        ],
        note="Contact lasts from one dashed line to the other.",
    )


def _path_check(position: np.ndarray, true: np.ndarray) -> Check:
    error = 1e3 * float(np.sqrt(np.mean((position - true) ** 2)))
    return check_below("the path is known better than one reading of 0.1 mm, rms [mm]", error, 0.05)


def _wrench_figure(case: _Case, first: int, label: str, noise: float, unit: str) -> Reproduction:
    """Force or moment of the first test: measured, predicted and true."""
    t, part = case.trace, slice(first, first + 3)
    figure, axis = new_figure()
    for i, name in enumerate("xyz"):
        axis.plot(t.time, t.wrench[:, first + i], ".", ms=3, color=COLORS[i], alpha=0.6)
        axis.plot(t.time, t.predicted[:, first + i], color=COLORS[i], lw=1.2, label=name)
    axis.set(xlabel="time [s]", ylabel=f"{label} [{unit}]")
    axis.legend(ncols=3)
    residual = t.residual[t.used][:, part]
    error = (t.predicted - case.tests[0].wrench)[t.used][:, part]
    return Reproduction(
        figure,
        checks=[
            check_close(
                f"what is left is the sensor's noise, rms [{unit}]",
                float(np.sqrt(np.mean(residual**2))), noise, 0.1 * noise,
            ),
            check_below(
                f"the prediction is nearer to the truth than one reading, rms [{unit}]",
                float(np.sqrt(np.mean(error**2))), 0.5 * noise,
            ),
        ],
        note="Dots: measured; lines: predicted with the identified parameters.",
    )  # fmt: skip


@reproduces(DOCUMENT, "Figure 9", title="Single point: resultant contact force")
def figure_9() -> Reproduction:
    case = _single()
    return _wrench_figure(case, 0, "force", case.noise.force, "N")


@reproduces(DOCUMENT, "Figure 10", title="Single point: resultant contact moment")
def figure_10() -> Reproduction:
    case = _single()
    return _wrench_figure(case, 3, "moment", case.noise.moment, "N·m")


def _depth_figure(case: _Case, i: int) -> Reproduction:
    """Depth and its rate at one surface: by the fit, and true."""
    t = case.trace
    on = t.touched[:, i] > 0
    figure, axes = new_figure(2, sharex=True, figsize=(6.4, 4.8))
    errors = []
    for axis, fitted, true, name in zip(
        axes, (t.depth, t.depth_rate), (case.depth, case.depth_rate), ("depth [mm]", "rate [mm/s]"),
        strict=True,
    ):  # fmt: skip
        axis.plot(t.time[on], 1e3 * true[on, i], color="0.75", lw=4, label="true")
        axis.plot(t.time[on], 1e3 * fitted[on, i], color=COLORS[i], label="identified")
        axis.set_ylabel(name)
        errors.append(1e3 * float(np.sqrt(np.mean((fitted - true)[on, i] ** 2))))
    axes[1].set_xlabel("time [s]")
    axes[0].legend()
    # Differences of raw readings would be off by the noise over the time between two of them.
    raw = 1e3 * np.sqrt(2) * 1e-4 / float(np.median(np.diff(case.tests[0].recording.pose_time)))
    return Reproduction(
        figure,
        checks=[
            check_below("depth, error rms [mm]", errors[0], 0.05),
            check_below("rate, error rms [mm/s], a tenth of differences'", errors[1], raw / 10),
        ],
    )  # fmt: skip


@reproduces(DOCUMENT, "Figure 11", title="Single point: contact deflection and its rate")
def figure_11() -> Reproduction:
    return _depth_figure(_single(), 0)


def _loop_figure(case: _Case, i: int) -> Reproduction:
    """Normal force against depth at one surface: the loop is what the damper takes."""
    t, surface = case.trace, case.setup.surfaces[i]
    on = t.touched[:, i] > 0
    # What is measured of this surface: its prediction, and all that the prediction leaves over.
    normal = np.array(surface.normal) / np.linalg.norm(surface.normal)
    measured = t.normal_force[:, i] + t.residual[:, :3] @ normal
    figure, axis = new_figure(figsize=(5.4, 4.4))
    axis.plot(1e3 * t.depth[on, i], measured[on], ".", ms=4, color=COLORS[i], alpha=0.6)
    axis.plot(1e3 * t.depth[on, i], t.normal_force[on, i], color=COLORS[i], lw=1.2)
    axis.set(xlabel="depth [mm]", ylabel="normal force [N]")
    k, c = (case.truth[f"{surface.name}.{n}"] for n in "kc")
    time, x, v = t.time[on], case.depth[on, i], case.depth_rate[on, i]
    work = float(np.trapezoid(measured[on] * t.depth_rate[on, i], time))
    taken = float(c * np.trapezoid(v**2, time))
    stored = 0.5 * k * float(x[-1] ** 2 - x[0] ** 2)
    slope = float(np.sum((measured[on] - k * x) * v) / np.sum(v**2))
    return Reproduction(
        figure,
        checks=[
            check_close(
                "work of the measured force, less what the spring keeps, is what the damper takes"
                " [J]",
                work - stored, taken, 0.03 * (taken + abs(stored)),
            ),
            check_close(
                "what is measured beyond the spring grows with the rate as c says [N·s/m]",
                slope, c, 0.1 * c,
            ),
        ],
        note="Dots: measured; line: identified.",
    )  # fmt: skip


@reproduces(DOCUMENT, "Figure 12", title="Single point: contact force against deflection")
def figure_12() -> Reproduction:
    return _loop_figure(_single(), 0)


@reproduces(DOCUMENT, "Figure 15", title="Two points: motion in the plane of the plates")
def figure_15() -> Reproduction:
    case = _two()
    t, true = case.trace, np.asarray(case.tests[0].motion.position)
    position = np.asarray(t.motion.position)
    side, bottom = (t.touched > 0).T
    figure, axis = new_figure(figsize=(5.4, 4.8))
    axis.plot(1e3 * position[:, 0], 1e3 * position[:, 2], color="0.7")
    phases = (("side plate alone", side & ~bottom), ("both plates", side & bottom),
              ("bottom plate alone", bottom & ~side))  # fmt: skip
    for i, (name, on) in enumerate(phases):
        if on.any():
            axis.plot(
                1e3 * position[on, 0], 1e3 * position[on, 2], ".", color=COLORS[i], label=name
            )
    axis.set(xlabel="x, horizontal [mm]", ylabel="z, vertical [mm]")
    axis.legend()
    first = [int(np.flatnonzero(on)[0]) for on in (side, bottom)]
    together = int(np.sum(side & bottom))
    return Reproduction(
        figure,
        checks=[
            Check("the side plate is touched first", first[0] < first[1], first, "rising"),
            check_close("samples in contact: about 150", float(np.sum(side | bottom)), 150.0, 30.0),
            Check("both are touched for a while [samples]", together > 50, together, "> 50"),
            _path_check(position, true),
        ],
        note="Position of the point between the legs' lower ends.",
    )


@reproduces(DOCUMENT, "Figure 16", title="Two points: resultant contact force")
def figure_16() -> Reproduction:
    case = _two()
    return _wrench_figure(case, 0, "force", case.noise.force, "N")


@reproduces(DOCUMENT, "Figure 17", title="Two points: resultant contact moment")
def figure_17() -> Reproduction:
    case = _two()
    return _wrench_figure(case, 3, "moment", case.noise.moment, "N·m")


@reproduces(DOCUMENT, "Figure 18", title="Two points: deflection and its rate, side plate")
def figure_18() -> Reproduction:
    return _depth_figure(_two(), 0)


@reproduces(DOCUMENT, "Figure 19", title="Two points: deflection and its rate, bottom plate")
def figure_19() -> Reproduction:
    return _depth_figure(_two(), 1)


@reproduces(DOCUMENT, "Figure 20", title="Two points: force against deflection, side plate")
def figure_20() -> Reproduction:
    return _loop_figure(_two(), 0)


@reproduces(DOCUMENT, "Figure 21", title="Two points: force against deflection, bottom plate")
def figure_21() -> Reproduction:
    return _loop_figure(_two(), 1)
