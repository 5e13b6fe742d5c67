"""Linear complementarity problems per second in one compiled call; for a GPU, runs anywhere.

    python -m benchmarks.gpu_complementarity [--size 72] [--batch 16384] [--kind definite]

Needs JAX and stiction only. Prints problems per second in double and in single precision, with the
largest residual, max |min(z, w)| / max |q|, worked out in double precision on the host.
"""

import argparse

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.bench_complementarity import friction, positive_definite, residual
from benchmarks.timing import best_time, machine, table
from stiction.complementarity import SOLVE_RESULTS, solve_lcp

DISTINCT = 1024


def measure(kind: str, size: int, batch: int, dtype) -> dict:
    make = {"definite": positive_definite, "friction": friction}[kind]
    M, q = (a.astype(dtype) for a in make(size, min(batch, DISTINCT)))
    # Few problems are made on the host and repeated on the device.
    rows = jnp.arange(batch) % len(q)
    device = jnp.asarray(M)[rows], jnp.asarray(q)[rows]
    tolerance = 1e-10 if dtype == np.float64 else 1e-4
    solve = jax.jit(jax.vmap(lambda M, q: solve_lcp(M, q, tolerance=tolerance, throw=False)))
    seconds = best_time(lambda: solve(*device), repeat=5)
    solution = solve(*device)
    some = slice(0, len(q))
    return {
        "problem": kind,
        "size": size,
        "batch": batch,
        "precision": np.dtype(dtype).name,
        "problems/s": float(batch / seconds),
        "solved": float(np.mean(np.asarray(solution.result == SOLVE_RESULTS.successful))),
        "largest residual": residual(*(np.float64(a) for a in (M, q, solution.value[some]))),
        "pivots, mean": float(np.mean(solution.iterations)),
        "pivots, most": int(np.max(solution.iterations)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=72)
    parser.add_argument("--batch", type=int, nargs="+", default=[4096, 16384, 65536])
    parser.add_argument("--kind", nargs="+", default=["definite", "friction"])
    options = parser.parse_args()
    print(machine(), "\n")
    table(
        [
            measure(kind, options.size, batch, dtype)
            for kind in options.kind
            for batch in options.batch
            for dtype in (np.float64, np.float32)
        ]
    )


if __name__ == "__main__":
    main()
