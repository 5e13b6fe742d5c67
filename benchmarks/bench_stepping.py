"""Time stepping of a human with eight foot contacts, beside MuJoCo (C, one core) and MJX (batched).

    python -m benchmarks stepping                    # one core: beside MuJoCo's C engine
    JAX_ENABLE_X64=0 python -m benchmarks.bench_stepping gpu  # a batch on any device: beside MJX

The same model for all: the 38-DOF human with a small ball under each corner of its soles, friction
0.7, springs and dampers in the joints, steps of 2 ms, from random upright postures just above the
floor; it lands, stands and topples. Residuals are measured alike for all engines, on the impulses p
and the velocities u that a step ends with: how far they are from Coulomb's law, `cone_residual`
[m/s].
"""

import sys
import time
import xml.etree.ElementTree as ET

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.timing import best_time, machine, table
from stiction.biped import human
from stiction.complementarity import cone_residual
from stiction.engines import Stepping, simulate
from stiction.engines.contact_dynamics import contact_dynamics
from stiction.mechanism import load_mechanism
from stiction.surfaces import find_contacts

DT, MU, RADIUS = 0.002, 0.7, 0.01


def model() -> str:
    """The human with balls at the corners of its soles, over a floor, as MJCF."""
    root = ET.fromstring(human())
    ET.SubElement(root, "option", timestep=str(DT), cone="pyramidal")
    for geom in root.iter("geom"):
        geom.set("contype", "0")
        geom.set("conaffinity", "0")
    friction = f"{MU} 0 0"
    for body in root.iter("body"):
        for site in body.findall("site"):
            name = site.get("name", "")
            if "heel" in name or "toe" in name:
                x, y, z = (float(s) for s in site.get("pos", "").split())
                ET.SubElement(
                    body, "geom", name=f"{name}_ball", type="sphere", size=str(RADIUS),
                    pos=f"{x} {y} {z + RADIUS}", contype="1", conaffinity="0", condim="3",
                    friction=friction, mass="0",
                )  # fmt: skip
    world = root.find("worldbody")
    assert world is not None
    ET.SubElement(
        world, "geom", name="floor", type="plane", size="0 0 1", contype="0", conaffinity="1",
        condim="3", friction=friction,
    )  # fmt: skip
    for joint in root.iter("joint"):
        joint.set("limited", "false")  # limits are not part of the comparison
        for name, value in (("stiffness", 100), ("damping", 2), ("armature", 0.01)):
            joint.set(name, str(value))
    return ET.tostring(root, encoding="unicode")


def starts(mechanism, lanes: int, dtype) -> tuple[jax.Array, jax.Array]:
    """Postures near upright, soles about 1 cm above the floor, slowly moving."""
    rng = np.random.default_rng(0)
    q = np.tile(np.asarray(mechanism.q_reference), (lanes, 1))
    q[:, 7:] += rng.normal(0, 0.02, (lanes, mechanism.nq - 7))
    q[:, 2] += 0.02
    v = rng.normal(0, 0.05, (lanes, mechanism.nv))
    return jnp.asarray(q, dtype), jnp.asarray(v, dtype)


def ours(mechanism, contacts, q, v, steps: int, law: Stepping, samples: int = 2):
    """A batch of `steps` steps, ends only."""
    return simulate(
        mechanism, q, v, until=steps * DT, contacts=contacts, law=law, samples=samples,
        keep_events=False, throw=False,
    )  # fmt: skip


def as_type(tree, dtype):
    """All real numbers of a tree in another precision."""
    return jax.tree.map(
        lambda x: x.astype(dtype) if jnp.issubdtype(x.dtype, jnp.floating) else x, tree
    )


def law() -> Stepping:
    """No rebound, friction 0.7."""
    return Stepping(dt=DT, mu_static=MU, mu_dynamic=MU)


def residuals_of(mechanism, contacts):
    """A compiled function: (q, v after the step, contact forces) to the residual [m/s].

    The problem of the step is rebuilt from what it ended with. A sunken contact may stay sunken.
    """

    @jax.jit
    def residual(q, v_after, force):
        d = contact_dynamics(
            mechanism, contacts, q, v_after, jnp.zeros((), q.dtype), jnp.zeros_like(v_after)
        )
        p = (force * DT).reshape(-1)
        room = jnp.maximum(d.contacts.gap, 0) / DT
        u = d.contacts.velocity.at[:, -1].add(room).reshape(-1)
        mu = jnp.full(contacts.count, MU, q.dtype)
        return cone_residual(d.W, u - d.W @ p, mu, p)

    return residual


def cpu() -> None:
    """One trajectory on one core, beside MuJoCo."""
    import mujoco

    text = model()
    mechanism = load_mechanism(text)
    contacts = find_contacts(mechanism)
    assert contacts is not None
    steps = 500
    print(machine("mujoco"))
    rows = []
    residual = residuals_of(mechanism, contacts)
    for dtype in (jnp.float64, jnp.float32):
        m, c = as_type((mechanism, contacts), dtype)
        q, v = (x[0] for x in starts(mechanism, 1, dtype))
        chosen = law()
        seconds = best_time(
            lambda m=m, c=c, q=q, v=v, a=chosen: ours(m, c, q, v, steps, a), repeat=3
        )
        run = ours(m, c, q, v, steps, chosen, samples=steps + 1)
        seen = np.asarray(run.residual)[1:]
        rows.append(_row("stiction", dtype.__name__, steps / seconds, seen))
    rows.append(_mujoco_row(mujoco, text, mechanism, contacts, residual, steps))
    table(rows)


def _row(name: str, precision: str, rate: float, residual: np.ndarray) -> dict:
    return {
        "engine": name,
        "precision": precision,
        "steps/s": f"{rate:,.0f}",
        "median residual [m/s]": float(np.median(residual)),
        "mean": float(np.mean(residual)),
        "largest": float(np.max(residual)),
    }


def _mujoco_row(mujoco, text, mechanism, contacts, residual, steps) -> dict:
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    q, v = (np.asarray(x[0]) for x in starts(mechanism, 1, jnp.float64))

    def reset():
        mujoco.mj_resetData(m, d)
        d.qpos[:], d.qvel[:] = q, v

    times = []
    for _ in range(3):
        reset()
        begin = time.perf_counter()
        mujoco.mj_step(m, d, steps)
        times.append(time.perf_counter() - begin)
    reset()
    names = {mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_GEOM, i): i for i in range(m.ngeom)}
    order = {names[n]: k for k, n in enumerate(contacts.names)}
    seen = []
    for _ in range(steps):
        before = d.qpos.copy()
        mujoco.mj_step(m, d)
        force = np.zeros((contacts.count, 3))
        for i in range(d.ncon):
            f = np.zeros(6)
            mujoco.mj_contactForce(m, d, i, f)
            geoms = d.contact.geom[i]
            ball = int(max(geoms, key=lambda g: g in order))
            # The frame's first row is the normal, from the first geom to the second.
            R = d.contact.frame[i].reshape(3, 3) * (1 if geoms[1] == ball else -1)
            force[order[ball]] = R.T @ f[:3]  # world x, y, z: the floor's tangents and normal
        seen.append(float(residual(jnp.asarray(before), jnp.asarray(d.qvel), jnp.asarray(force))))
    return _row("MuJoCo C (Newton, its defaults)", "float64", steps / min(times), np.array(seen))


def gpu(lanes: int = 8192, steps: int = 200) -> None:
    """A batch, float32, beside MJX where it is installed."""
    text = model()
    mechanism = load_mechanism(text)
    contacts = find_contacts(mechanism)
    m, c = as_type((mechanism, contacts), jnp.float32)
    q, v = starts(mechanism, lanes, jnp.float32)
    print(machine(), f"batch {lanes}, {steps} steps of {DT} s", flush=True)
    rows = []
    begin = time.perf_counter()
    run = jax.block_until_ready(ours(m, c, q, v, steps, law()))
    compiled = time.perf_counter() - begin
    seconds = best_time(lambda: ours(m, c, q, v, steps, law()), repeat=3)
    few = ours(m, c, q[:64], v[:64], steps, law(), samples=steps + 1)
    row = _row("stiction", "float32", lanes * steps / seconds, np.asarray(few.residual)[:, 1:])
    rows.append({**row, "finite": bool(jnp.all(jnp.isfinite(run.q))), "compile [s]": compiled})
    rows.append(_mjx_row(text, mechanism, contacts, q, v, steps))
    table(rows)


def _mjx_row(text, mechanism, contacts, q, v, steps) -> dict:
    import mujoco
    from mujoco import mjx
    from mujoco.mjx._src import support

    spec = mujoco.MjModel.from_xml_string(text)
    spec.opt.iterations, spec.opt.ls_iterations = 5, 5
    model_x = mjx.put_model(spec)
    data = mjx.make_data(model_x)
    names = {mujoco.mj_id2name(spec, mujoco.mjtObj.mjOBJ_GEOM, i): i for i in range(spec.ngeom)}
    order = {names[n]: k for k, n in enumerate(contacts.names)}

    @jax.jit
    def batch(q, v):
        def one(q, v):
            d = data.replace(qpos=q, qvel=v)
            d, _ = jax.lax.scan(lambda d, _: (mjx.step(model_x, d), None), d, None, steps)
            return d.qpos, d.qvel

        return jax.vmap(one)(q, v)

    begin = time.perf_counter()
    jax.block_until_ready(batch(q, v))
    compiled = time.perf_counter() - begin
    seconds = best_time(lambda: batch(q, v), repeat=3)
    print(f"MJX {len(q) * steps / seconds:,.0f} steps/s", flush=True)

    @jax.jit
    def watched(q, v):
        def one(q, v):
            def step(d, _):
                after = mjx.step(model_x, d)
                n = after._impl.contact.geom.shape[0]
                f = jnp.stack(
                    [support.contact_force(model_x, after, i, True)[:3] for i in range(n)]
                )
                return after, (d.qpos, after.qvel, f, after._impl.contact.geom)

            d = data.replace(qpos=q, qvel=v)
            return jax.lax.scan(step, d, None, steps)[1]

        return jax.vmap(one)(q, v)

    qs, vs, fs, geoms = watched(q[:64], v[:64])
    geoms = np.asarray(geoms)[0, 0]
    balls = [int(max(pair, key=lambda g: g in order)) for pair in geoms]
    place = np.array([balls.index(g) for g in order])
    residual = jax.jit(jax.vmap(jax.vmap(residuals_of(mechanism, contacts))))
    seen = residual(*(jnp.asarray(x, float) for x in (qs, vs, fs[:, :, place])))
    row = _row("MJX, 5 iterations", "float32", len(q) * steps / seconds, np.asarray(seen))
    return {**row, "finite": True, "compile [s]": compiled}


def main() -> None:
    """The table of one core."""
    cpu()


if __name__ == "__main__":
    gpu(*map(int, sys.argv[2:])) if sys.argv[1:2] == ["gpu"] else main()
