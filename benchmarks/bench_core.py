"""Batches by the core: event-driven runs and fixed steps a second, on processors or a GPU.

    python -m benchmarks core                              # a few worlds on one core
    python -m benchmarks.bench_core gpu 65536 > table.md   # batches on a GPU

Times are of the launch alone: kernels compiled before, worlds set up, nothing read back. Errors: of
fixed steps the residual of Coulomb's law [m/s] that each step ends with; of event-driven runs the
largest difference of the ends from the same worlds on a processor in double precision at tolerances
of 1e-10, for the median world (contact is chaotic: a few worlds part from theirs).
"""

import sys
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import warp as wp

import stiction
from benchmarks import bench_stepping as human
from benchmarks.timing import machine, table
from stiction.engines import Hybrid, Solver
from stiction.engines.by_core import set_up, start_at
from stiction.engines.given import Extent, Given
from stiction.engines.simulation import _nothing

CHECKED = 64  # worlds that are compared with a processor's


def pendulums(lanes: int) -> dict[str, Any]:
    """Double pendulums from random postures onto their floor: e = 0.5, at most e* = 1 of energy."""
    built = stiction.scene("double-pendulum", {"contact.restitution": 0.5, "contact.energetic": 1})
    rng = np.random.default_rng(0)
    q = rng.uniform(-0.3, 0.3, (lanes, 2))
    return {"built": built, "q": q, "v": np.zeros((lanes, 2)), "until": 3.5}


def thrown(name: str, until: float):
    """The scene's own throw, with some scatter."""

    def make(lanes: int) -> dict[str, Any]:
        built = stiction.scene(name)
        rng = np.random.default_rng(0)
        v = np.asarray(built.v) + rng.normal(0, 0.3, (lanes, built.mechanism.nv))
        return {"built": built, "q": np.tile(built.q, (lanes, 1)), "v": v, "until": until}

    return make


def dropped_human(lanes: int) -> dict[str, Any]:
    """The 38-DOF human on eight balls, let go just above the floor."""
    mechanism = stiction.load(human.model())
    contacts = stiction.find_contacts(mechanism)
    q, v = (np.asarray(x) for x in human.starts(mechanism, lanes, jnp.float64))
    law = Hybrid(restitution=0.0, mu_static=human.MU, mu_dynamic=human.MU)
    return {"mechanism": mechanism, "contacts": contacts, "law": law, "q": q, "v": v, "until": 0.5}


RUNS = {
    "double pendulum, 3.5 s": pendulums,
    "sphere, 2 s": thrown("sphere", 2.0),
    "box, 2 s": thrown("box", 2.0),
    "human dropped, 0.5 s": dropped_human,
}


def given_of(case: dict[str, Any], dtype: Any, tolerance: float) -> Given:
    """A case as the engines take it."""
    parts = case.get("built")
    mechanism, contacts, law = (
        (parts.mechanism, parts.contacts, parts.law)
        if parts is not None
        else (case["mechanism"], case["contacts"], case["law"])
    )
    mechanism, contacts, law = human.as_type((mechanism, contacts, law), dtype)
    lanes = len(case["q"])
    law, _ = law.spread(contacts, (lanes,), dtype)
    until = np.full(lanes, case["until"], dtype)
    control = _nothing(mechanism.nu, jnp.dtype(dtype))
    solver = Solver(tolerance, tolerance / 10).astype(jnp.dtype(dtype))
    q, v = (np.asarray(case[x], dtype) for x in ("q", "v"))
    return Given(mechanism, contacts, control, solver, q, v, until, law)


def go(given: Given, device: str, repeat: int) -> tuple[Any, float]:
    """A run that has ended, and the least time of its launch [s]."""
    times = []
    for _ in range(repeat):
        run, kernel = set_up(given, Extent(2, False, 10_000, device))
        start_at(run, given)
        wp.synchronize()
        begin = time.perf_counter()
        run.go(kernel)
        wp.synchronize()
        times.append(time.perf_counter() - begin)
    return run, min(times[1:] or times)


def ends(run: Any) -> np.ndarray:
    """q and v of every world."""
    m = run.design.machine
    return run.numbers(m.z.y, m.tree.nq + m.tree.nv)


def few(given: Given, count: int) -> Given:
    """The first worlds of a batch."""
    lanes = len(given.q)
    law = jax.tree.map(lambda x: x[:count] if x.shape[:1] == (lanes,) else x, given.law)
    return given._replace(q=given.q[:count], v=given.v[:count], until=given.until[:count], law=law)


def event_driven(device: str, lanes: int, kinds: Any) -> list[dict[str, Any]]:
    """Runs a second, event by event."""
    rows = []
    for name, make in RUNS.items():
        case = make(lanes)
        exact, _ = go(few(given_of(case, np.float64, 1e-10), CHECKED), "cpu", 1)
        for dtype, tolerance in kinds:
            given = given_of(case, dtype, tolerance)
            run, seconds = go(given, device, 3)
            m = run.design.machine
            error = np.max(np.abs(ends(run)[:CHECKED] - ends(exact)), axis=1)
            row = {
                "runs": name,
                "worlds": f"{lanes:,}",
                "precision": np.dtype(dtype).name,
                "tolerance": f"{tolerance:g}",
                "runs/s": f"{lanes / seconds:,.0f}",
                "steps, mean": float(np.mean(run.wholes(m.z.steps))),
                "events, mean": float(np.mean(run.wholes(m.z.events))),
                "done [%]": 100 * float(np.mean(run.wholes(m.z.status) == 1)),
                "median error": float(np.median(error)),
            }
            print(row, file=sys.stderr, flush=True)
            rows.append(row)
    return rows


def fixed_steps(device: str, lanes: int, steps: int, kinds: Any) -> list[dict[str, Any]]:
    """Steps a second of the human on eight contacts."""
    rows = []
    for dtype, _ in kinds:
        case = dropped_human(lanes) | {"law": human.law(), "until": steps * human.DT}
        given = given_of(case, dtype, 1e-8)
        _, seconds = go(given, device, 3)
        watched = few(given, CHECKED)
        run, kernel = set_up(watched, Extent(steps + 1, False, 10_000, device))
        start_at(run, watched)
        run.go(kernel)
        residual = run.samples.numpy()[:, 1:, _residual_at(run)]
        row = human._row(
            f"stiction, {lanes:,} worlds", np.dtype(dtype).name, lanes * steps / seconds, residual
        )
        print(row, file=sys.stderr, flush=True)
        rows.append(row)
    return rows


def _residual_at(run: Any) -> int:
    m = run.design.machine
    return m.tree.nq + m.tree.nv + 7 + m.act.count + 4 * m.pairs.count


KINDS = ((np.float32, 1e-5), (np.float64, 1e-8))


def main(device: str = "cpu", lanes: int = 64, steps: int = 200) -> None:
    """Both tables."""
    print(machine("warp-lang"), device, "\n")
    table(fixed_steps(device, lanes, steps, KINDS))
    print()
    table(event_driven(device, lanes, KINDS))


if __name__ == "__main__":
    main("cuda:0" if sys.argv[1:2] == ["gpu"] else "cpu", *map(int, sys.argv[2:]))
