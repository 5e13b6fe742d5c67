"""Identification: speed of the least squares, accuracy on virtual tests, and `mujoco.sysid` beside.

One core: run with `taskset -c 0` and `OMP_NUM_THREADS=1` to be sure of it.
"""

import time
from functools import partial

import numpy as np
from tests.identify.virtual_study import repeat

from benchmarks.timing import best_time, machine, table
from stiction.identify import identify, read_setup, virtual_test
from stiction.identify.fit.least_squares import solve
from stiction.identify.fit.recursive import RecursiveLeastSquares

SAMPLES = 1_000_000
REPETITIONS = 200
TESTS = {"single-point": 7, "two-point": 8}  # as in ma's Tables 1 and 2
PEER_LOGS = 10
SINGLE = np.array([8389.6, 5299.6, 0.0652])
TRUTH = np.array([8389.6, 5299.6, 547.0])  # k, c, kμ


def main() -> None:
    print(machine("numpy", "scipy", "mujoco"), "\n")
    table(batch_rows())
    print()
    table(recursive_rows())
    print()
    table(accuracy_rows())
    print()
    table(peer_rows())


def contact_rows(samples: int, noise: float = 0.25):
    """Depth, rate and tangential columns of a long test, one row a sample, and its force."""
    rng = np.random.default_rng(0)
    t = np.linspace(0, samples / 1000, samples)
    depth = 5e-3 + 3e-3 * np.sin(2.1 * t) + 1e-3 * np.sin(7.7 * t)
    rate = np.gradient(depth, t)
    A = np.stack([depth, rate, depth * np.sign(np.cos(1.3 * t))], axis=1)
    return A, A @ TRUTH + noise * rng.standard_normal(samples)


def batch_rows() -> list[dict]:
    A, b = contact_rows(SAMPLES)

    def product():
        """One pass over the data: the normal matrix and its right-hand side."""
        return A.T @ A, A.T @ b

    def normal_equations():
        return np.linalg.solve(*product())

    ours = lambda: solve(A, b).x  # noqa: E731
    peers = {
        "matrix product (one pass)": product,
        "normal equations (ma 15)": normal_equations,
        "stiction (orthogonal)": ours,
        "numpy.linalg.lstsq (SVD)": lambda: np.linalg.lstsq(A, b, rcond=None)[0],
        "numpy.linalg.qr": lambda: np.linalg.solve(*_reduced(A, b)),
    }
    exact = np.linalg.lstsq(A, b, rcond=None)[0]
    times = {name: best_time(call, repeat=5) for name, call in peers.items()}
    one = times["matrix product (one pass)"]
    return [
        {
            f"{SAMPLES:,} samples, 3 parameters": name,
            "time [ms]": 1e3 * seconds,
            "of a matrix product": seconds / one,
            "difference from SVD": float(np.max(np.abs(peers[name]() / exact - 1)))
            if name != "matrix product (one pass)"
            else "",
        }
        for name, seconds in times.items()
    ]


def _reduced(A, b):
    Q, R = np.linalg.qr(A)
    return R, Q.T @ b


def recursive_rows() -> list[dict]:
    n = 200_000
    A, b = contact_rows(n)
    batch = solve(A, b).x
    # Six rows a sample, as a force-torque sensor gives them.
    six = np.repeat(A[: n // 4, None], 6, axis=1) * np.linspace(0.5, 1.5, 6)[:, None]
    forces = np.einsum("nij,j->ni", six, TRUTH)
    rows = []

    def many(x, y):
        rls = RecursiveLeastSquares(3)
        rls.update_many(x, y)
        return rls.estimate

    for name, x, y, exact in (
        ("one row an update, compiled", A, b, batch),
        ("six rows an update, compiled", six, forces, TRUTH),
    ):
        seconds = best_time(lambda x=x, y=y: many(x, y), repeat=5)
        error = float(np.max(np.abs(many(x, y) / exact - 1)))
        rows.append({"recursive": name, "updates/s": len(x) / seconds, "difference": error})
    rls = RecursiveLeastSquares(3)
    start = time.perf_counter()
    for i in range(20_000):
        rls.update(A[i], b[i])
    seconds = time.perf_counter() - start
    error = float(np.max(np.abs(rls.estimate / solve(A[:20_000], b[:20_000]).x - 1)))
    rows.append(
        {
            "recursive": "`update(row)`, one by one",
            "updates/s": 20_000 / seconds,
            "difference": error,
        }
    )
    return rows


def accuracy_rows() -> list[dict]:
    """Mean error and scatter of whole tables of tests, and how often intervals hold the truth."""
    rows = []
    for name, tests in TESTS.items():
        setup, folder = read_setup(name)
        start = time.perf_counter()
        study = repeat(setup, REPETITIONS * tests, folder)
        seconds = time.perf_counter() - start
        by_table = study.estimates.reshape(REPETITIONS, tests, -1)
        worst = np.abs(by_table.mean(axis=1) / study.truth - 1).max(axis=0)
        for i, parameter in enumerate(study.names):
            rows.append(
                {
                    f"{REPETITIONS} tables": f"{name} {parameter}",
                    "bias [%]": 100 * float(study.bias[i]),
                    "scatter [%]": 100 * float(study.scatter[i]),
                    "worst mean error [%]": 100 * float(worst[i]),
                    "coverage [%]": 100 * float(study.coverage[i]),
                    "time a test [ms]": 1e3 * seconds / (REPETITIONS * tests),
                }
            )
    return rows


def peer_rows() -> list[dict]:
    """The same logs, friction on the whole normal force as MuJoCo has it, by both programs."""
    setup, folder = read_setup("single-point")
    surface = setup.surfaces[0].model_copy(update={"friction_of": "normal"})
    setup = setup.model_copy(update={"surfaces": [surface]})
    plain_method = setup.method.model_copy(update={"name": "least-squares"})
    plain = setup.model_copy(update={"method": plain_method})
    logs = [virtual_test(setup, folder, number=i).recording for i in range(PEER_LOGS + 1)]

    def ours(setup):
        return lambda log: [p.value for p in identify([log], setup, folder).parameters.values()]

    calls = {
        "stiction, errors in variables": ours(setup),
        "stiction, least squares": ours(plain),
    }
    try:
        import mujoco.sysid

        if not hasattr(mujoco.sysid, "optimize"):
            raise ImportError("its dependencies are absent: pip install 'mujoco[sysid]'")
        from benchmarks.sysid_peer import sysid_parameters

        calls |= {
            "mujoco.sysid, motion prescribed": partial(sysid_parameters, simulated=False),
            "mujoco.sysid, simulated": partial(sysid_parameters, simulated=True),
        }
    except ImportError as error:
        print(f"without mujoco.sysid: {error}\n")
    rows, first = [], None
    for name, call in calls.items():
        call(logs[0])  # to warm up
        errors, times = [], []
        for log in logs[1:]:
            start = time.perf_counter()
            values = call(log)
            times.append(time.perf_counter() - start)
            errors.append(np.array(values) / SINGLE - 1)
        k, c, mu = 100 * np.sqrt(np.mean(np.square(errors), axis=0))
        seconds = float(np.median(times))
        first = first or seconds
        rows.append(
            {
                f"{PEER_LOGS} logs of one contact": name,
                "error of k [%]": float(k),
                "of c [%]": float(c),
                "of μ [%]": float(mu),
                "time a log [ms]": 1e3 * seconds,
                "ratio": seconds / first,
            }
        )
    return rows


if __name__ == "__main__":
    main()
