"""All possible motions: growth with the number of contacts beside brute force; batched verdicts.

Brute force solves one linear program for each of the 4^k assignments of contact modes (SciPy's
HiGHS); it is the oracle of the tests. Beside the times stand the largest residual of Newton's,
Coulomb's and the contacts' equations, and whether brute force, where it runs, agrees.
"""

import contextlib
import os
import sys
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.timing import best_time, machine, table
from stiction.motions import (
    PlanarBody,
    SpatialBody,
    classify_forces,
    contact_state,
    contact_terms,
    possible_accelerations,
    possible_motions,
    possible_spatial_motions,
    single_contact_motions,
    spatial_state,
)

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "motions"))  # the oracle lives with the tests

EXACT = (1, 2, 3, 4, 5, 6, 8, 10, 14, 20, 30)
BRUTE_FORCE = (1, 2, 3, 4, 5)
ENUMERATION = (1, 2, 3, 4, 5, 6, 8, 10, 14, 20)
G = 9.81


def bowl(k: int):
    """A body in a bowl: k contacts at rest, normals in general position around the vertical."""
    from brute_force import Problem

    rng = np.random.default_rng(k)
    angle = np.linspace(-1.0, 1.0, k) + rng.uniform(-0.05, 0.05, k) - np.pi / 2
    points = np.stack([np.cos(angle), np.sin(angle)], axis=1) + rng.uniform(-0.1, 0.1, (k, 2))
    return Problem(
        mass=1.0,
        inertia=0.4,
        points=points,
        normals=-np.stack([np.cos(angle), np.sin(angle)], axis=1),
        mu=rng.uniform(0.1, 0.6, k),
        velocity=np.zeros(3),
        force=np.array([3.0, -G]),
        torque=0.5,
        curvature_body=np.full(k, np.inf),
        curvature_obstacle=np.zeros(k),
    )


def floor(k: int):
    """k points on one line, each with its own friction, sliding: all are kept at once."""
    problem = bowl(k)
    problem.points = np.stack([np.linspace(-1, 1, k), np.full(k, -0.3)], axis=1)
    problem.normals = np.tile([0.0, 1.0], (k, 1))
    problem.velocity = np.array([1.0, 0.0, 0.0])
    return problem


def exact(p):
    state = contact_state(
        PlanarBody(p.mass, p.inertia, velocity=p.velocity),
        points=p.points,
        normals=p.normals,
        mu=p.mu,
    )
    return possible_motions(state, force=p.force, torque=p.torque)


def by_modes(p):
    from brute_force import linear_parts

    n_row, t_row, h, g, _, v_t = linear_parts(p)
    return possible_accelerations(
        mass_matrix=np.diag([p.mass, p.mass, p.inertia]),
        applied=np.array([*p.force, p.torque]),
        jacobian=np.stack([t_row, n_row], axis=1),
        bias=np.stack([g, h], axis=1),
        slip_velocity=v_t[:, None],
        mu=p.mu,
    )


def residual(p, result) -> float:
    """Of Newton, the cone and the second variation, over all motions."""
    from brute_force import linear_parts

    n_row, t_row, h, _, _, _ = linear_parts(p)
    worst = 0.0
    for m in result.motions:
        f_t, f_n = m.forces.T
        load = np.array([*p.force, p.torque]) + n_row.T @ f_n + t_row.T @ f_t
        mass = np.array([p.mass, p.mass, p.inertia])
        worst = max(worst, np.abs(mass * m.acceleration - load).max())
        worst = max(worst, -np.min(n_row @ m.acceleration + h), np.max(np.abs(f_t) - p.mu * f_n))
    return float(worst)


def cpu_time(call, *, repeat: int) -> float:
    """Processor seconds of the quickest of several calls: these methods use one core only."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def growth() -> dict[str, list[tuple[int, float]]]:
    from agreement import DIRECTIONS, differences
    from brute_force import brute_force

    curves: dict[str, list[tuple[int, float]]] = {}
    rows = []
    for name, make in (("bowl, at rest", bowl), ("floor, sliding", floor)):
        for k in EXACT:
            p = make(k)
            seconds = cpu_time(lambda p=p: exact(p), repeat=5)
            result = exact(p)
            row = {
                "problem": name,
                "contacts": k,
                "motions": len(result.motions),
                "exact [s]": seconds,
            }
            curves.setdefault(f"exact, {name}", []).append((k, seconds))
            row["residual"] = residual(p, result)
            if k in ENUMERATION:
                row["modes searched [s]"] = cpu_time(lambda p=p: by_modes(p), repeat=2)
                curves.setdefault(f"modes searched, {name}", []).append(
                    (k, row["modes searched [s]"])
                )
            if k in BRUTE_FORCE:
                row["brute force [s]"] = cpu_time(lambda p=p: brute_force(p, DIRECTIONS), repeat=1)
                sets = brute_force(p, DIRECTIONS)
                row["agrees"] = "yes" if not differences(sets, result) else "NO"
                curves.setdefault(f"brute force, {name}", []).append((k, row["brute force [s]"]))
            rows.append(row)
    names = list(max(rows, key=len))
    table([{n: row.get(n, "") for n in names} for row in rows])
    return curves


def draw(curves: dict[str, list[tuple[int, float]]]) -> Path:
    from stiction.report import OutputDirectory
    from stiction.report.figures import new_figure, save_figure

    figure, axes = new_figure(figsize=(6.4, 4.8))
    colors = {"exact": "C0", "modes searched": "C2", "brute force": "C1"}
    for name, points in curves.items():
        method, problem = name.split(", ", 1)
        k, seconds = np.array(points).T
        style = "o-" if problem.startswith("bowl") else "s--"
        axes.loglog(k, seconds, style, color=colors[method], ms=4, label=name)
    axes.set_xlabel("contacts")
    axes.set_ylabel("time on one core [s]")
    axes.set_xticks([1, 2, 3, 5, 10, 20, 30], ["1", "2", "3", "5", "10", "20", "30"])
    axes.minorticks_off()
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)
    directory = OutputDirectory(ROOT / "out" / "bench-motions")
    return save_figure(figure, directory, "motions-growth")[0]


@contextlib.contextmanager
def one_core():
    """All threads of this process on one core (where the system can do that)."""
    tasks = Path("/proc/self/task")
    if not tasks.exists():
        yield "all cores"
        return
    before = os.sched_getaffinity(0)

    def allow(cores: set[int]) -> None:
        for task in tasks.iterdir():
            os.sched_setaffinity(int(task.name), cores)

    allow({min(before)})
    try:
        yield "one core"
    finally:
        allow(before)


def batched() -> None:
    n = 1_000_000
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, n)
    normal = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    arm = rng.normal(size=(n, 2))
    # Half of the bodies slide: the velocity of the contact point is along the tangent.
    omega, slip = rng.normal(size=n) * (rng.random(n) < 0.5), rng.normal(size=n)
    slip = slip * (omega != 0)
    tangent = np.stack([normal[:, 1], -normal[:, 0]], axis=1)
    turned = np.stack([-arm[:, 1], arm[:, 0]], axis=1)
    linear = slip[:, None] * tangent + omega[:, None] * turned
    problems = {
        "arm": arm,
        "normal": normal,
        "mass": rng.uniform(0.5, 2, n),
        "gyration_radius": rng.uniform(0.2, 1, n),
        "mu": rng.uniform(0, 3, n),
        "velocity": np.concatenate([linear, omega[:, None]], axis=1),
        "force": rng.normal(size=(n, 2)),
        "torque": rng.normal(size=n),
    }
    problems = {name: jnp.asarray(value) for name, value in problems.items()}

    def one(arm, normal, gyration_radius, velocity, **rest):
        shared = {"gyration_radius": gyration_radius, "velocity": velocity}
        contact = contact_terms(arm=arm, normal=normal, **shared)
        return single_contact_motions(contact, **shared, **rest)

    verdicts = jax.jit(jax.vmap(lambda p: one(**p).verdict))
    everything = jax.jit(jax.vmap(lambda p: one(**p)))
    got = np.asarray(verdicts(problems))
    sample = rng.integers(n, size=300)
    wrong = sum(int(got[i]) != int(_one(problems, i).verdict) for i in sample)
    counts = dict(
        zip(("inconsistent", "unique", "ambiguous"), np.bincount(got, minlength=3), strict=False)
    )
    rows = []
    for name, call in (("verdicts", verdicts), ("verdicts, accelerations, forces", everything)):
        jax.block_until_ready(call(problems))
        with one_core() as cores:
            seconds = best_time(lambda call=call: call(problems), repeat=5)
        row = {"single contacts": name, f"million/s on {cores}": n / seconds / 1e6}
        rows.append(row | {"differ from the exact method": f"{wrong} of 300"})
    table(rows)
    print("\n" + ", ".join(f"{int(v)} {k}" for k, v in counts.items()), "\n")

    state = contact_state(
        PlanarBody(1.0, 1.0), points=[[-1, -1], [1, -1], [0, -1]], normals=[[0, 1]] * 3, mu=0.25
    )
    many = rng.normal(size=(100_000, 3))
    seconds = best_time(lambda: classify_forces(state, many[:, :2], many[:, 2]), repeat=3)
    table(
        [{"forces on three contacts classified": len(many), "million/s": len(many) / seconds / 1e6}]
    )


def _one(problems, i: int):
    p = {name: np.asarray(value[i]) for name, value in problems.items()}
    inertia = float(p["mass"] * p["gyration_radius"] ** 2)
    state = contact_state(
        PlanarBody(float(p["mass"]), inertia, velocity=p["velocity"]),
        points=-p["arm"][None],
        normals=p["normal"][None],
        mu=float(p["mu"]),
    )
    return possible_motions(state, force=p["force"], torque=float(p["torque"]))


def spatial() -> None:
    rows = []
    for k in (1, 2, 3, 4, 5, 6):
        angle = 2 * np.pi * np.arange(k) / k
        points = np.stack([np.cos(angle), np.sin(angle), np.full(k, -0.5)], axis=1)

        def solve(velocity, points=points, k=k):
            state = spatial_state(
                SpatialBody(1.0, (0.4, 0.4, 0.5), velocity=velocity),
                points=points,
                normals=np.tile([0.0, 0.0, 1.0], (k, 1)),
                mu=0.5,
            )
            return possible_spatial_motions(state, force=(6.0, 1.0, -G))

        row = {"spatial contacts": k}
        for name, velocity in (("at rest [s]", (0, 0, 0)), ("sliding [s]", (1.0, 0.3, 0))):
            row[name] = cpu_time(lambda v=velocity: solve(v), repeat=2)
        rows.append(row)
    table(rows)


def main() -> None:
    print(machine("numpy", "scipy"), "\n")
    path = draw(growth())
    print(f"\nfigure: {path.relative_to(ROOT)}\n")
    batched()
    print()
    spatial()


if __name__ == "__main__":
    main()
