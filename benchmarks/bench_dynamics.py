"""Mass matrix, bias force and solve of the 38-DOF human, beside MuJoCo's `mj_forward`.

One core: a compiled loop of dependent evaluations, so that neither dispatch nor a second core
helps.
"""

import time

import jax
import jax.numpy as jnp
import numpy as np

import stiction
from benchmarks.timing import best_time, machine, table

LOOP = 2000


def loop(mechanism, q, v):
    """Evaluations that depend on each other in q and v: nothing can be hoisted or skipped."""

    def body(_, carry):
        q, v = carry
        a = stiction.forward_dynamics(mechanism, q, v, jnp.zeros_like(v))
        return q + 1e-12 * jnp.resize(a, q.shape), v + 1e-12 * a

    return jax.lax.fori_loop(0, LOOP, body, (q, v))


def main() -> None:
    import mujoco

    from stiction.scenes import scene

    mechanism = stiction.load("human")
    q, v = stiction.random_state(mechanism, jax.random.key(0), spread=0.3)
    start = time.perf_counter()
    run = jax.jit(loop).lower(mechanism, q, v).compile()
    compile_time = time.perf_counter() - start
    ours = best_time(lambda: run(mechanism, q, v)) / LOOP

    source = scene("human").model_source
    model = mujoco.MjModel.from_xml_string(source)
    data = mujoco.MjData(model)
    # Contact off: the same work, position and velocity terms and the factorised mass matrix.
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    data.qpos, data.qvel = np.asarray(q), np.asarray(v)

    def theirs_loop():
        for _ in range(LOOP):
            mujoco.mj_forward(model, data)

    theirs = best_time(theirs_loop) / LOOP
    a = stiction.forward_dynamics(mechanism, q, v, jnp.zeros_like(v))
    error = float(np.max(abs(a - data.qacc)) / np.max(abs(data.qacc)))
    print(machine("mujoco"), "\n")
    table(
        [
            {
                "what": "mass matrix + bias + solve, 38 DOF",
                "stiction [µs]": 1e6 * ours,
                "mj_forward [µs]": 1e6 * theirs,
                "ratio": ours / theirs,
                "difference": error,
                "compile [s]": compile_time,
            }
        ]
    )


def gpu(batch: int = 65_536) -> None:
    """The same in a batch on whatever accelerator there is, in single precision."""
    mechanism = stiction.load("human").astype(jnp.float32)
    keys = jax.random.split(jax.random.key(0), batch)
    q, v = jax.vmap(lambda k: stiction.random_state(mechanism, k, spread=0.3))(keys)

    @jax.jit
    def run(q, v):
        return jax.vmap(lambda q, v: stiction.forward_dynamics(mechanism, q, v, jnp.zeros_like(v)))(
            q, v
        )

    seconds = best_time(lambda: run(q, v))
    print(f"{jax.devices()[0].device_kind}: {batch / seconds / 1e6:.2f} million evaluations/s")


if __name__ == "__main__":
    main()
