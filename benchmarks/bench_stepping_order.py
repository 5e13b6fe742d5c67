"""How fast the stepping engine's answer comes to that of the hybrid engine, scene by scene.

    python -m benchmarks stepping_order
    python -m benchmarks.bench_stepping_order docs/images/stepping-order.png

Errors of positions and angles at the end, medians over random starts (two impacts
within one step are resolved as one, which makes an average jump); the order is the slope of
the line through them. The hybrid engine has the same impact law (`lcp-cone`) and tolerances of
1e-11.
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.timing import machine, table
from stiction.engines import Hybrid, Solver, Stepping, simulate
from stiction.mechanism import add_velocity
from stiction.report.figures import new_figure
from stiction.scenes import scene

LANES = 8
DTS = 4e-3 / 2.0 ** np.arange(7)
# scene: duration [s], restitution, friction, spread of starts, velocity (None: the scene's)
SCENES = {
    "double-pendulum": (1.0, 0.5, 0.5, 0.05, None),
    "box": (0.9, 0.3, 0.4, 0.02, None),
    "sphere": (1.0, 0.0, 0.3, 0.0, [2.0, 0.3, 0.0, 0.0, -5.0, 1.0]),
    "bicycle": (1.5, 0.5, 0.57, 0.05, None),
}


def errors(name: str) -> np.ndarray:
    """Median errors at the end for every step."""
    until, e, mu, spread, velocity = SCENES[name]
    built = scene(name)
    mechanism, contacts, q, v = built.mechanism, built.contacts, built.q, built.v
    rng = np.random.default_rng(0)
    v = v if velocity is None else jnp.asarray(velocity)
    shift = jnp.asarray(rng.normal(0, spread, (LANES, mechanism.nv)))
    q = jax.vmap(lambda x: add_velocity(mechanism, q, x))(shift)
    v = v[None] + jnp.asarray(rng.normal(0, 0.05, (LANES, mechanism.nv)))
    if name == "sphere":  # on the ground
        q, v = q.at[:, 2].set(0.1), v.at[:, 2].set(0.0)

    def end(law, **options):
        return simulate(
            mechanism, q, v, until=until, contacts=contacts, law=law, samples=2, keep_events=False,
            throw=False, **options,
        ).q[:, -1]  # fmt: skip

    options = {"restitution": e, "mu_static": mu, "mu_dynamic": mu}
    exact = end(Hybrid(**options, impact="lcp-cone"), solver=Solver(1e-11, 1e-12))
    found = [end(Stepping(dt=dt, **options)) - exact for dt in DTS]
    return np.array([float(jnp.median(jnp.linalg.norm(d, axis=1))) for d in found])


def main(figure: str | None = None) -> None:
    """The table, and a figure if a file is named."""
    print(machine())
    rows, curves = [], {}
    for name in SCENES:
        curves[name] = errors(name)
        order = np.polyfit(np.log(DTS), np.log(curves[name]), 1)[0]
        at = dict(zip((f"{1e3 * dt:.3g} ms" for dt in DTS), curves[name], strict=True))
        rows.append({"scene": name, "order": float(order), **{k: float(v) for k, v in at.items()}})
        print(rows[-1], flush=True)
    table(rows)
    if figure:
        drawn, axis = new_figure()
        for name, values in curves.items():
            axis.loglog(DTS, values, "o-", ms=4, label=name)
        axis.loglog(DTS, DTS, "--", color="0.5", label="first order")
        axis.set_xlabel("step [s]")
        axis.set_ylabel("median error at the end [m, rad]")
        axis.legend()
        drawn.savefig(figure)


if __name__ == "__main__":
    main(*sys.argv[1:])
