"""What a study leaves behind besides its results: a summary, tables, figures and a page."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from stiction._base.errors import RunError
from stiction.report.charts import SOFT, Chart, Line, Map, Panel
from stiction.report.charts.chart import MOST_ON_MAP
from stiction.report.output import OutputDirectory
from stiction.report.page import Report
from stiction.studies import Study, basins, outcome_of, sobol_indices
from stiction.studies.outcomes import NOTHING, numbers_of, usual_outcomes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from stiction.studies import RandomModels

_MOST_FAILURES = 100  # in the table; the results have the messages of all
_MOST_BASINS = 8  # with a colour of their own
_BINS = 40
_LONGEST = 44  # letters of a basin's name in a legend


def summarize_study(study: Study, shown: list[str]) -> dict[str, Any]:
    """The answers of a study, as plain data."""
    dataset, progress = study.dataset(), study.progress
    shown = shown or usual_outcomes(dataset)
    summary: dict[str, Any] = {
        "cases": progress.cases,
        "done": progress.done,
        "failed": progress.failed,
        "complete": study.complete,
        "dims": study.design.dims,
        "varied": {name: list(paths) for name, paths in study.design.targets.items()},
        "results": study.path,
        "outcomes": {name: _distribution(outcome_of(dataset, name)) for name in shown},
        "sobol": {},
        "failures": study.failures(_MOST_FAILURES),
    }
    if study.stop is not None:
        answer = study.ask()
        summary["ask"] = {"question": study.stop.question.text, **answer.to_json()}
        if study.stop.width is not None:
            summary["ask"] |= {"width": study.stop.width, "reached": study.watch.narrow}
    if study.design.sampler == "saltelli":
        numbers = list(study.design.targets)
        for name in shown:
            try:
                indices = sobol_indices(outcome_of(dataset, name), numbers)
            except RunError as error:
                summary["sobol"][name] = [{"note": str(error)}]
                continue
            summary["sobol"][name] = [vars(index) for index in indices]
    if "final_mode" in dataset and progress.done > progress.failed:
        summary["basins"] = basins(dataset)[1]
    return summary


def _distribution(outcome: Any) -> dict[str, Any]:
    known = outcome.values[np.isfinite(outcome.values)]
    if not known.size:
        return {"cases": 0}
    low, middle, high = np.quantile(known, [0.05, 0.5, 0.95])
    return {
        "cases": int(known.size),
        "mean": float(known.mean()),
        "std": float(known.std()),
        "min": float(known.min()),
        "5 %": float(low),
        "median": float(middle),
        "95 %": float(high),
        "max": float(known.max()),
        "scale": float(outcome.scale),
    }


def story(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """A study in a few lines: what, how much."""
    size = " x ".join(f"{n} {name}" for name, n in summary["dims"].items())
    lines = [("cases", f"{summary['done']} of {summary['cases']} done ({size})")]
    if summary["failed"]:
        lines.append(("failed", str(summary["failed"])))
    if ask := summary.get("ask"):
        p, low, high = ask["probability"], ask["low"], ask["high"]
        text = f"{p:.4g}" if np.isfinite(p) else "unknown"
        text += f", {100 * ask['confidence']:g} % interval {low:.4g} to {high:.4g}"
        lines.append((f"probability of {ask['question']}", f"{text}, from {ask['cases']} cases"))
        if ask.get("reached") is False:
            lines.append(("note", f"the interval is still wider than {ask['width']:g}: more cases"))
    for name, d in summary["outcomes"].items():
        if d["cases"]:
            middle, low, high = (_beside(d[key], d["scale"]) for key in ("median", "5 %", "95 %"))
            lines.append((name, f"{middle} ({low} to {high} in 90 %)"))
    lines.append(("results", str(summary["results"])))
    return lines


def _beside(value: float, scale: float) -> str:
    """A number for people; 0 where it is nothing beside the largest, but the run's inaccuracy."""
    return "0" if abs(value) < NOTHING * scale else f"{value:.5g}"


def _outcome_row(name: str, found: dict[str, Any]) -> dict[str, Any]:
    numbers = {k: x for k, x in found.items() if k not in ("cases", "scale")}
    scale = found.get("scale", 0.0)
    return {"outcome": name, "cases": found["cases"]} | {
        k: _beside(x, scale) for k, x in numbers.items()
    }


def index_rows(rows: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Sobol indices as people read them."""
    if "note" in rows[0]:
        return rows

    def cell(row: dict[str, Any], key: str) -> str:
        low, high = row[f"{key}_interval"]
        return f"{row[key]:.3f} ({low:.3f} to {high:.3f})"

    return [
        {
            "number": row["number"],
            "first order": cell(row, "first"),
            "total": cell(row, "total"),
            "rows": str(row["rows"]),
        }
        for row in rows
    ]


def write_study(
    study: Study, summary: dict[str, Any], title: str, directory: OutputDirectory
) -> Path:
    """Write the answers of a study; return the report's path."""
    from stiction.report.figures import add_figures

    directory.json("summary.json", summary)
    if summary["failures"]:
        directory.csv("failures.csv", summary["failures"])
    report = Report(f"Study: {title}")
    report.table([{"quantity": k, "value": v} for k, v in story(summary)])
    if not summary["complete"] and not summary.get("ask", {}).get("reached"):
        report.text("The study is not complete: the same command does the cases that are missing.")
    _varied(report, study)
    figures = _figures(study, summary)
    if figures:
        report.heading("Figures")
        add_figures(report, directory, figures)
    for name, rows in summary["sobol"].items():
        report.heading(f"What matters for {name}")
        report.text(
            "First-order index: the share of the variance that goes away when the number is known."
            " Total index: the share that stays when all others are."
        )
        report.table(index_rows(rows))
    if rows := summary.get("basins"):
        report.heading("Where it comes to rest")
        report.table(rows)
    report.heading("Outcomes")
    report.table([_outcome_row(n, d) for n, d in summary["outcomes"].items()])
    if summary["failures"]:
        report.heading("Cases that failed")
        if summary["failed"] > len(summary["failures"]):
            report.text(f"The first {len(summary['failures'])} of {summary['failed']}.")
        report.table(summary["failures"])
    return directory.page(report)


def _varied(report: Report, study: Study) -> None:
    report.heading("What varies")
    design = study.design
    rows = [
        {"number": a.name, "field": ", ".join(a.paths), "how": _values(a.values)}
        for a in design.axes
    ]
    for draw in design.draws:
        how = str(getattr(draw, "distribution", "drawn by an identification's covariance"))
        rows += [
            {"number": n, "field": ", ".join(paths), "how": how}
            for n, paths in draw.targets.items()
        ]
    rows += [{"number": n, "field": n, "how": "table"} for n in design.table]
    report.table(rows)


def _values(values: tuple[Any, ...]) -> str:
    if len(values) <= 6:
        return ", ".join(f"{v:.6g}" if isinstance(v, float) else str(v) for v in values)
    return f"{values[0]:.6g} to {values[-1]:.6g} in {len(values)}"


def _figures(study: Study, summary: dict[str, Any]) -> dict[str, tuple[Any, str]]:
    dataset = study.dataset()
    numbers = numbers_of(study.design, dataset)[:2]
    figures: dict[str, tuple[Any, str]] = {}
    for name in summary["outcomes"]:
        outcome = outcome_of(dataset, name)
        if not np.isfinite(outcome.values).any():
            continue
        file = name.replace(".", "-")
        if numbers:
            others = [d for d in outcome.dims if d not in numbers]
            average = bool(others) and all(n in outcome.dims for n in numbers)
            shown = outcome.mean(others, skipna=True) if average else outcome
            words = f"{name} over {' and '.join(numbers)}"
            words += f", averaged over {', '.join(map(str, others))}" if average else ""
            chart = _over(dataset, shown, numbers, _unit(outcome))
            figures[f"map-{file}"] = chart, words + _thinned(chart)
        figures[f"distribution-{file}"] = (
            _histogram(outcome),
            f"Distribution of {name}; dotted: median, shaded: 90 % of the cases",
        )
    known = {n: rows for n, rows in summary["sobol"].items() if "number" in rows[0]}
    if known:
        figures["sobol"] = _indices(known), "Sobol indices with 95 % intervals"
    if summary.get("basins") and numbers:
        kinds, rows = basins(dataset)
        states = _states(rows)
        shown = kinds.where(kinds >= 0).clip(max=len(states) - 1)
        chart = _over(dataset, shown, numbers, "basin", states)
        words = "Where cases come to rest; blank: failed or not done"
        figures["basins"] = chart, words + _thinned(chart)
    return figures


def _thinned(chart: Chart) -> str:
    """What to say if a map has more points than a page draws."""
    (panel,) = chart.panels
    if not (isinstance(panel, Map) and panel.points and len(panel.values) > MOST_ON_MAP):
        return ""
    return f"; {len(panel.thinned(chart.x)[0])} of {len(panel.values)} cases are drawn here"


def _label(dataset: Any, name: str) -> str:
    field = dataset[name].attrs.get("field", "") if name in dataset else ""
    return field.split(",")[0] or name


def _unit(outcome: Any) -> str:
    unit = outcome.attrs.get("units", "")
    return f"{outcome.name} [{unit}]" if unit and unit != "1" else str(outcome.name)


def _over(dataset: Any, values: Any, numbers: list[str], name: str, states: Any = None) -> Chart:
    """Values of cases over one or two of the varied numbers."""
    labels = [_label(dataset, n) for n in numbers]
    if set(values.dims) == set(numbers) and len(numbers) == 2:
        values = values.sortby(numbers).transpose(*reversed(numbers))
        x, *y = (values[n].values for n in numbers)
        z = values.values
    else:
        dims = values.dims
        x, *y = (dataset[n].broadcast_like(values).transpose(*dims).values.ravel() for n in numbers)
        z = np.asarray(values.values, float).ravel()
        order = np.argsort(x, kind="stable")
        x, *y, z = (part[order] for part in (x, *y, z))
    if y:
        return Chart(x, [Map(labels[1], y[0], z, name, states or {})], labels[0])
    line = Line(name, z, "line" if len(np.unique(x)) == len(x) else "dots")
    return Chart(x, [Panel(name, [line])], labels[0])


def _states(rows: list[dict]) -> dict[int, tuple[str, int]]:
    """Names and colours of the basins; those that have none of their own are the last, together."""
    own = rows if len(rows) <= _MOST_BASINS else rows[: _MOST_BASINS - 1]
    found = {row["basin"]: (f"{_cut(row['what'])} ({row['cases']})", row["basin"]) for row in own}
    if left := sum(row["cases"] for row in rows[len(own) :]):
        found[len(own)] = (f"others ({left})", SOFT)
    return found


def _cut(words: str) -> str:
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"


def _histogram(outcome: Any) -> Chart:
    values = outcome.values[np.isfinite(outcome.values)]
    counts, edges = np.histogram(values, bins=min(_BINS, max(5, int(np.sqrt(values.size)))))
    low, middle, high = (float(x) for x in np.quantile(values, [0.05, 0.5, 0.95]))
    line = Line("cases", [*counts.tolist(), counts[-1]], "steps")
    return Chart(
        edges, [Panel("cases", [line], spans=[(low, high)], marks=[middle])], _unit(outcome)
    )


def _indices(found: dict[str, list[dict[str, Any]]]) -> "Figure":
    from stiction.report.figures import legend_above, new_figure

    count = max(len(rows) for rows in found.values())
    size = (6.8, 1.0 + len(found) * (0.5 + 0.42 * count))
    figure, axes = new_figure(len(found), squeeze=False, sharex=True, figsize=size)
    for axis, (name, rows) in zip(axes[:, 0], found.items(), strict=True):
        rows = rows[::-1]
        for shift, key in ((0.18, "first"), (-0.18, "total")):
            place = np.arange(len(rows)) + shift
            value = np.array([row[key] for row in rows])
            low, high = np.array([row[f"{key}_interval"] for row in rows]).T
            spread = np.maximum([value - low, high - value], 0)
            word = "first order" if key == "first" else "total"
            axis.barh(place, value, 0.34, xerr=spread, label=word, ecolor="0.3", capsize=2)
        axis.set_yticks(np.arange(len(rows)), [row["number"] for row in rows])
        axis.set_title(name, loc="left")
        axis.axvline(0, color="0.3", lw=0.8)
    legend_above(axes[0, 0])
    axes[-1, 0].set_xlabel("share of the variance")
    return figure


def write_models(models: "RandomModels", directory: OutputDirectory) -> None:
    """Write a model file for each case, and what differs between them as arrays."""
    digits = len(str(models.design.count - 1))
    for number, text in enumerate(models.texts()):
        directory.text(f"model-{number:0{digits}d}.xml", text)
    values = {name: np.asarray(v) for name, v in models.values().items()}
    for name, arrays in (("models.npz", models.arrays), ("drawn.npz", values)):
        with directory.file(name) as path, path.open("wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
    columns = {n: v for n, v in values.items() if v.ndim == 1}
    rows = [
        {"model": k, **{n: v[k].item() for n, v in columns.items()}}
        for k in range(models.design.count)
    ]
    directory.csv("drawn.csv", rows)
