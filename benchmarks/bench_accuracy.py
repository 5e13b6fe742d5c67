"""Error against time where bodies are rigid: stiction's hybrid engine beside fixed-step engines.

A ball to its third apex (e = 0.9), the plastic double pendulum to its rest (mu = 0.57), and a box
thrown onto a floor, plastic too, until it slides on the second corner that it has hit. The ball is
held against the closed form, the others against the hybrid engine at its tightest tolerance. Times
are those of running alone, of one core, compiled or built before. Engines that are not installed
are left out.

    python -m benchmarks accuracy            # the tables
    python -m benchmarks.bench_accuracy DIR  # and the figure, time-to-accuracy.svg and .png
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import stiction
from benchmarks.fixed_step import ENGINES, Problem, Unable
from benchmarks.precision import Row, draw_rows, summary, timed
from benchmarks.timing import machine, table

# As peers are called: a call returns when the answer is there, on the thread that asked.
jax.config.update("jax_cpu_enable_async_dispatch", False)

WANTED = 1e-4
LONGEST = 3.0  # processor time of one run [s]
TITLES = {
    "ball": "ball, third apex",
    "pendulum": "plastic double pendulum, at rest",
    "box": "tumbling box, after two impacts",
}


def problems() -> Iterator[Problem]:
    """The three cases; answers that are not known in closed form are still to be filled in."""
    t1, e = np.sqrt(2 / 9.81), 0.9
    yield Problem(
        name="ball", q=(1.0,), v=(0.0,), until=t1 * (1 + 2 * e + 2 * e**2 + e**3),
        restitution=e, mu=0.0, answer=np.array([e**6, 0.0]),
    )  # fmt: skip
    yield Problem(name="pendulum", q=(0.0, 0.0), v=(0.0, 0.0), until=4.0, restitution=0.0, mu=0.57)
    yield Problem(
        name="box", q=(0.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0), v=(-0.4, -0.2, 0.1, -6.0, 2.7, 2.4),
        until=0.4, restitution=0.0, mu=0.4,
    )  # fmt: skip


def stiction_rows(problem: Problem) -> tuple[Problem, list[Row]]:
    """By tolerance, compiled as a whole; and, at the default one, as `simulate` is called."""
    mechanism = stiction.load(problem.mjcf)
    contacts = stiction.find_contacts(mechanism, points=problem.points)
    law = stiction.Hybrid(
        restitution=problem.restitution, mu_static=problem.mu, mu_dynamic=problem.mu
    )
    q, v = jnp.array(problem.q), jnp.array(problem.v)

    def simulate(rtol, until, q, v):
        # Of the solver's own, only the tolerance is varied.
        done = stiction.simulate(
            mechanism, q, v, until=until, contacts=contacts, law=law, samples=2,
            keep_events=False, solver=stiction.Solver(rtol=rtol, atol=rtol / 10),
        )  # fmt: skip
        return done.q[-1], done.v[-1]

    compiled = jax.jit(simulate)

    def call(rtol, run):
        return problem.read(*map(np.asarray, run(rtol, problem.until, q, v)))

    if problem.answer is None:
        problem = replace(problem, answer=call(1e-13, compiled))
    rows = []
    for name, run, rtols in (
        ("stiction, compiled", compiled, 10.0 ** -np.arange(3, 13)),
        ("stiction, simulate()", simulate, 10.0 ** -np.arange(4, 13, 4)),
    ):
        call(1e-8, run)  # to warm up
        for rtol in map(float, rtols):
            answer, seconds = timed(lambda rtol=rtol, run=run: call(rtol, run), budget=0.3)
            rows.append(Row(name, f"{rtol:.0e}", problem.error(answer), seconds))
    return problem, rows


def fixed_rows(name: str, problem: Problem) -> Iterator[Row]:
    """An engine by time step, until a run takes too long."""
    for n in (10 ** np.arange(2.5, 7.1, 0.5)).astype(int):
        call = ENGINES[name](problem, int(n))
        answer, seconds = timed(call, budget=0.3)
        yield Row(name, f"{problem.until / n:.1e} s", problem.error(answer), seconds)
        if seconds * np.sqrt(10) > LONGEST:
            return


def siconos_rows(problem: Problem) -> list[Row]:
    """Siconos's event-driven scheme, in the system's Python; it knows no friction there."""
    python = shutil.which("python3", path=os.defpath)
    words = [problem.q[0], problem.restitution, problem.until]
    program = Path(__file__).with_name("siconos_ball.py")
    command = [str(python), str(program), *map(str, words)]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        print("Siconos is left out: the system's Python has none (python3-siconos).\n")
        return []
    found = json.loads(done.stdout)
    error = problem.error(np.array([found["height"], found["speed"]]))
    return [Row("Siconos, event-driven", "default", error, found["seconds"])]


def measure(problem: Problem) -> list[Row]:
    problem, rows = stiction_rows(problem)
    for name in ENGINES:
        try:
            rows += fixed_rows(name, problem)
        except Unable as reason:
            print(f"{name} is left out: {reason}.\n", flush=True)
    return rows + (siconos_rows(problem) if problem.name == "ball" else [])


def draw(cases: dict[str, list[Row]], folder: Path) -> None:
    """A panel for each case."""
    import matplotlib.pyplot as plt

    from stiction.report.figures import STYLE

    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(1, len(cases), figsize=(12, 4.6), layout="constrained")
        for axis, (name, rows) in zip(np.atleast_1d(axes), cases.items(), strict=True):
            draw_rows(axis, rows, WANTED)
            axis.set_title(TITLES[name])
        np.atleast_1d(axes)[0].set_ylabel("error [m, m/s, rad]")
        lines = {
            label: line
            for axis in figure.axes
            for line, label in zip(*axis.get_legend_handles_labels(), strict=True)
        }
        figure.legend(lines.values(), lines, loc="outside lower center", ncols=5, frameon=False)
        for suffix, metadata in ((".svg", {"Date": None}), (".png", None)):
            figure.savefig(folder / f"time-to-accuracy{suffix}", metadata=metadata)
        plt.close(figure)


def main(folder: str | None = None, *names: str) -> None:
    installed = [p for p in ("drake", "dartpy", "pybullet") if importlib.util.find_spec(_module(p))]
    print(machine("mujoco", *installed), "\n")
    cases = {}
    for problem in problems():
        if names and problem.name not in names:
            continue
        cases[problem.name] = rows = measure(problem)
        print(f"### {TITLES[problem.name]}\n")
        table([r._asdict() for r in rows])
        print()
        table(summary(rows, WANTED, {"ratio": "stiction, compiled"}))
        print(flush=True)
    if folder is not None:
        draw(cases, Path(folder))


def _module(package: str) -> str:
    return {"drake": "pydrake"}.get(package, package)


if __name__ == "__main__":
    main(*sys.argv[1:])
