"""Joint velocities after the landing of a robot's foot: every law of impact beside the encoders.

Twenty jumps of Cassie, recordings looked for in `STICTION_DATA`. Not a race: how far rigid impacts
are from what a robot with leaf springs does. Errors are root mean squares over the seven encoders
of the leg that lands; beside the laws, the velocity before the impact, as if nothing had happened.
"""

import os
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.cassie import encoder_entries, landing_problem, load_cassie, read_landing
from benchmarks.timing import machine, table
from stiction.impacts import impact_law

FOLDER = Path(os.environ.get("STICTION_DATA", "data")) / "cassie_landing"
LANDINGS = 20
MU = 0.8
RESTITUTIONS = (0.0, 0.2)
AFTER = (4e-3, 7e-3, 10e-3)  # [s] after the state before the impact
LAWS = {
    "no-slip": ("no-slip", "off"),
    "dissipation": ("dissipation", "off"),
    "dissipation, constrained": ("dissipation", "constrain"),
    "newton, in sequence": ("newton", "off"),
    "poisson, in sequence": ("poisson", "off"),
    "stronge, in sequence": ("stronge", "off"),
    "lcp (square)": ("lcp", "off"),
    "lcp (cone)": ("lcp-cone", "off"),
    "lcp (cone), poisson": ("lcp-cone-poisson", "off"),
}


def main() -> None:
    print(machine("mujoco"), "\n")
    if not FOLDER.is_dir():
        print(f"no recordings at '{FOLDER}' (set STICTION_DATA)")
        return
    mechanism = load_cassie(FOLDER)
    landings = [read_landing(FOLDER, k, mechanism) for k in range(LANDINGS)]
    entries = jnp.asarray(np.stack([encoder_entries(mechanism, one.side) for one in landings]))
    states = [jnp.asarray(np.stack([getattr(one, k) for one in landings])) for k in "qv"]
    active = jnp.asarray(np.stack([one.active for one in landings]))
    measured = [np.stack([one.later[round(t / one.period)] for one in landings]) for t in AFTER]
    before = np.stack([one.later[0] for one in landings])
    rows = [_row("(none: velocity before)", "", before, measured, None)]
    # One after the other: a batch of calls into LAPACK may wait for itself on a processor.
    posed = jax.jit(lambda x: jax.lax.map(lambda one: landing_problem(mechanism, *one, 0.0, MU), x))
    problems, changes = posed((*states, active))
    for name, (law, method) in LAWS.items():
        resolve = impact_law(law, method)

        @jax.jit
        def land(e, resolve=resolve):
            def one(case):
                problem, change, v, at = case
                problem = eqx.tree_at(lambda p: p.restitution, problem, e + problem.restitution)
                s = resolve(problem)
                after = s.scale * (v + change @ s.impulse.reshape(-1))
                left = s.scale**2 * (problem.kinetic + jnp.sum(problem.work(s.impulse)))
                return after[at], left / problem.kinetic

            return jax.lax.map(one, (problems, changes, states[1], entries))

        for e in RESTITUTIONS:
            velocity, left = (np.asarray(x) for x in land(jnp.asarray(e)))
            rows.append(_row(name, e, velocity, measured, left))
    table(rows)


def _row(name, restitution, predicted, measured, left) -> dict:
    row = {"law": name, "e": restitution}
    for t, truth in zip(AFTER, measured, strict=True):
        error = np.sqrt(np.mean((predicted - truth) ** 2, axis=1))
        row[f"error at {1e3 * t:.0f} ms [rad/s]"] = f"{error.mean():.2f} ± {error.std():.2f}"
    row["kinetic energy left [%]"] = "" if left is None else f"{100 * left.mean():.1f}"
    return row


if __name__ == "__main__":
    main()
