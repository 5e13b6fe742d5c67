"""Capability, posture and jumps of the jumping leg; the linear program of SciPy beside them."""

import time

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import linprog

import stiction
from benchmarks.timing import best_time, machine, table
from stiction.agility import (
    best_posture,
    capability,
    hold,
    jump_study,
    make_stance,
    posture_limits,
    sample_postures,
    stance_maps,
    unit_vector,
)
from stiction.scenes import read_scenario, rigid_law

BATCH = 4096
JUMPS = 2000


def main() -> None:
    """Print the tables."""
    print(machine("scipy"), "\n")
    stance = make_stance(stiction.load("jumping-leg"), contacts=["foot"], mu=0.5)
    limits, d = posture_limits(stance), unit_vector("direction", [-1, 0, 1])
    q, _ = sample_postures(stance, limits, d, seed=0, samples=BATCH)
    table(_capability(stance, jnp.asarray(q), d))
    print()
    table(_posture(stance, limits, d))
    print()
    table(_jumps(stance, limits, jnp.asarray(q[0]), d))


def _capability(stance, q, d) -> list[dict]:
    rows = []
    values = {}
    for name, contact_limits in (("motors alone (6.6)", False), ("contacts too", True)):
        f = jax.jit(
            jax.vmap(lambda q, c=contact_limits: capability(stance, q, d, contact_limits=c))
        )
        seconds = best_time(lambda f=f: f(q))
        values[name] = np.asarray(f(q).value)
        rows.append({"what": name, "postures/s": f"{BATCH / seconds:.3g}", "difference": ""})
    still = jnp.zeros(stance.mechanism.nv)
    at = jax.jit(jax.vmap(lambda q: stance_maps(stance, q, still).without_forces()))
    maps = jax.device_get(at(q))
    few = np.flatnonzero(np.isfinite(values["motors alone (6.6)"]))[:200]
    start = time.perf_counter()
    answers = []
    for i in few:
        A = np.column_stack([-np.asarray(d), maps.D[i]])
        done = linprog([-1, 0, 0, 0], A_eq=A, b_eq=-maps.a0[i],
                       bounds=[(None, None)] + [(-2.5, 2.5)] * 3)  # fmt: skip
        answers.append(-done.fun)
    seconds = (time.perf_counter() - start) / len(few)
    found = values["motors alone (6.6)"][few]
    wrong = np.max(np.abs(found - answers) / (1 + np.abs(found)))
    rows[0]["difference"] = f"{wrong:.1e}"
    rows.append({"what": "SciPy HiGHS, matrices given", "postures/s": f"{1 / seconds:.3g}",
                 "difference": 0})  # fmt: skip
    return rows


def _posture(stance, limits, d) -> list[dict]:
    best_posture(stance, limits, d)
    start = time.perf_counter()
    found = best_posture(stance, limits, d, seed=1)
    seconds = time.perf_counter() - start
    return [{"what": "best posture, 10,000 samples, 32 starts", "time [s]": f"{seconds:.2f}",
             "KKT residual": f"{found.optima[0].residual:.1e}", "converged": found.converged,
             "over the best sample": f"{found.optima[0].capability / found.best_sample:.3f}",
             }]  # fmt: skip


def _jumps(stance, limits, q, d) -> list[dict]:
    scenario, _ = read_scenario("jumping-leg")
    law = rigid_law(scenario.contact, stance.contacts)
    narrow = hold(stance, limits, stance.mechanism.q_reference, ("femur", "tibia"))
    jump_study(stance, narrow, d, 250, law=law)
    start = time.perf_counter()
    done = jump_study(stance, narrow, d, JUMPS, law=law)
    seconds = time.perf_counter() - start
    return [{"what": f"{JUMPS} jumps from random postures", "time [s]": f"{seconds:.0f}",
             "left the ground": int(done.outcome.left.sum()),
             "timeouts": int(done.timeout.sum())}]  # fmt: skip


if __name__ == "__main__":
    main()
