"""What a notebook shows: a table of a result, its page in a frame, its charts by matplotlib."""

import html
from collections.abc import Callable, Mapping
from typing import Any

from stiction._base.errors import InputError, unknown
from stiction.biped import GroundReactions
from stiction.engines import Trajectory
from stiction.identify import Identification
from stiction.report.charts import Chart
from stiction.report.page import Report
from stiction.scenes import Scene

HEIGHT = 620  # px of a page in a notebook


class Framed:
    """A whole page inside of another: it cannot disturb what is around it.

    Attributes:
        page: Its HTML.
    """

    def __init__(self, page: str, height: int = HEIGHT):
        self.page, self.height = page, height

    def _repr_html_(self) -> str:
        text = html.escape(self.page, quote=True)
        style = f"width:100%;height:{self.height}px;border:0"
        return f'<iframe srcdoc="{text}" style="{style}"></iframe>'


def table_of(result: Any) -> str:
    """A result in a few rows."""
    for kind, tell in _TABLES.items():
        if isinstance(result, kind):
            title, rows = tell(result)
            report = Report(title)
            report.table(rows)
            return report.body()
    raise InputError(f"a {type(result).__name__} cannot be shown")


def show(result: Any) -> Framed:
    """The page of a run, an identification or ground reactions; of a scene, that of its run."""
    if isinstance(result, Scene):
        result = result.run()
    if isinstance(result, Trajectory):
        from stiction.report.run import run_page

        _of_a_scene(result)
        return Framed(run_page(result).to_html())
    report = Report(type(result).__name__)
    for chart, caption in charts_of(result).values():
        report.chart(chart, caption)
    report.raw(table_of(result))
    return Framed(report.to_html())


def plot(result: Any, what: str = "") -> Any:
    """A chart of a result by matplotlib.

    Args:
        result: A run, an identification or ground reactions; of a scene, its run.
        what: The chart's name; by default the first.
    """
    from stiction.report.charts.draw import draw

    charts = charts_of(result.run() if isinstance(result, Scene) else result)
    what = what or next(iter(charts))
    if what not in charts:
        raise unknown("chart", what, charts)
    return draw(charts[what][0]).axes


def charts_of(result: Any) -> Mapping[str, tuple[Chart, str]]:
    """The charts of a result, with captions."""
    if isinstance(result, Trajectory):
        from stiction.report.run import run_charts
        from stiction.report.run_path import through_events

        return run_charts(result, result.events(), through_events(result))
    if isinstance(result, Identification):
        from stiction.report.identify import identification_figures

        figures = identification_figures(result)
    else:
        from stiction.report.grf_figures import reaction_figures

        figures = reaction_figures(result)
    return {name: made for name, made in figures.items() if isinstance(made[0], Chart)}


def _of_a_scene(run: Trajectory) -> None:
    if run.scene is None:
        raise InputError("only the run of a scene has a page: stiction.scene(…).run()")


def _run(run: Trajectory) -> tuple[str, list[dict[str, Any]]]:
    from stiction.report.run import story, summarize_run

    _of_a_scene(run)
    told = story(summarize_run(run))
    name = run.scene.scenario.title or run.mechanism.name
    return name, [{"quantity": what, "value": value} for what, value in told]


def _scene(scene: Scene) -> tuple[str, list[dict[str, Any]]]:
    mechanism, contacts = scene.mechanism, scene.contacts
    rows = {
        "mechanism": f"{mechanism.name}: {mechanism.nq} coordinates, {mechanism.nu} actuators",
        "contacts": "none" if contacts is None else ", ".join(contacts.names[:8]),
        "law": "free motion" if scene.law is None else type(scene.law).__name__,
        "start": ", ".join(f"{x:.4g}" for x in scene.q[:8]),
        "duration": f"{scene.scenario.until:g} s",
    }
    told = [{"quantity": name, "value": value} for name, value in rows.items()]
    return scene.scenario.title or mechanism.name, told


def _identification(found: Identification) -> tuple[str, list[dict[str, Any]]]:
    from stiction.report.identify import parameter_rows

    return found.method, parameter_rows(found)


def _reactions(found: GroundReactions) -> tuple[str, list[dict[str, Any]]]:
    from stiction.report.grf import reaction_rows

    return f"Ground reactions of {found.subject.name}", reaction_rows(found)


_TABLES: dict[type, Callable[[Any], tuple[str, list[dict[str, Any]]]]] = {
    Trajectory: _run,
    Scene: _scene,
    Identification: _identification,
    GroundReactions: _reactions,
}
