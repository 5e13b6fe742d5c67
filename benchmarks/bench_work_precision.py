"""A bouncing ball to its third apex: error against time, beside MuJoCo and Drake.

Every engine is held against the exact motion of its own law: Hunt-Crossley for stiction's compliant
engine and Drake, a spring and damper per unit of mass for MuJoCo (docs/compliant.md, HC.19),
constant restitution for stiction's hybrid engine. Parameters are translated so that the first
rebound is alike. Times are those of stepping alone, compiled or built before, of one core.

    python -m benchmarks work_precision            # the table; Drake where it is installed
    python -m benchmarks.bench_work_precision DIR  # and the figure, work-precision.svg and .png
"""

# Drake is optional, and MuJoCo's binary module has no stubs.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false
import importlib.util
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from scipy.integrate import solve_ivp

import stiction
from benchmarks.precision import Row, draw_rows, summary, timed
from benchmarks.timing import machine, table
from stiction.interop import IMPEDANCE, CompliantContact, to_oscillator
from stiction.laws import HuntCrossley, impact

G, MASS, RADIUS, HEIGHT = 9.81, 1.0, 0.05, 1.0
STIFFNESS, ALPHA = 1e5, 0.2
SPEED = math.sqrt(2 * G * HEIGHT)
WANTED = 1e-6
OVER = {"over compliant": "stiction, compliant", "over exact": "stiction, exact"}
LONGEST = 4e6  # steps of an engine with fixed steps

BALL = f"""<mujoco><option gravity="0 0 -{G}"/><worldbody>
  <geom name="floor" type="plane" size="1 1 .1" ATTRIBUTES/>
  <body name="ball" pos="0 0 {RADIUS}"><joint name="z" type="slide" axis="0 0 1"/>
    <geom name="ball" type="sphere" size="{RADIUS}" mass="{MASS}" ATTRIBUTES/></body>
</worldbody></mujoco>"""


def third_apex(push: Callable[[float, float], float]) -> tuple[float, float]:
    """Time and height of the third apex, by a method of high order from event to event.

    Args:
        push: Acceleration that the floor gives at a depth and its rate [m/s²], not clamped.
    """
    t, v = math.sqrt(2 * HEIGHT / G), SPEED
    for bounce in range(3):
        t, v = _contact(push, t, v)
        t += 2 * v / G if bounce < 2 else 0.0
    return t + v / G, v**2 / (2 * G)


def _contact(push: Callable[[float, float], float], t: float, v: float) -> tuple[float, float]:
    """Time and speed of parting after a touch at (t, v): pushed, then free where it would pull."""

    def motion(t, y):
        return [y[1], G - push(*y)]

    def lets_go(t, y):
        return push(*y) if y[1] < 0 else 1.0

    def parts(t, y):
        return y[0] if y[1] < 0 else 1.0

    lets_go.terminal = parts.terminal = True
    options = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-18, "events": (lets_go, parts)}
    y = solve_ivp(motion, (0.0, 1.0), [0.0, v], first_step=1e-8, **options)
    x, rate = y.y[:, -1]
    t += y.t[-1]
    if x > 1e-15:  # let go before it has parted: the rest is free
        out = math.sqrt(rate**2 - 2 * G * x)
        t, rate = t + (-rate - out) / G, -out
    return t, -rate


def row(engine: str, setting: str, exact: float, call: Callable[[], tuple[float, float]]) -> Row:
    """One run; the error is that of height and velocity at the apex, the larger [m, m/s]."""
    (z, v), seconds = timed(call)
    return Row(engine, setting, max(abs(z - exact), abs(v)), seconds)


def stiction_rows(exact: tuple[float, float]) -> Iterator[Row]:
    """Compliant and hybrid, by tolerance; of the hybrid one the apex is known in closed form."""
    mechanism = stiction.load(BALL.replace("ATTRIBUTES", ""))
    contacts = stiction.find_contacts(mechanism)
    e = float(impact.restitution(SPEED, 1.5 * ALPHA))
    rigid = SPEED / G * (1 + 2 * e + 2 * e**2 + e**3), HEIGHT * e**6
    laws = {
        "stiction, compliant": (
            stiction.Compliant(HuntCrossley.from_alpha(stiffness=STIFFNESS, alpha=ALPHA)),
            exact,
        ),
        "stiction, exact": (stiction.Hybrid(restitution=e), rigid),
    }
    for name, (law, (until, height)) in laws.items():

        @jax.jit
        def run(rtol, until, law=law):
            done = stiction.simulate(
                mechanism, jnp.array([HEIGHT]), jnp.zeros(1), until=until, contacts=contacts,
                law=law, samples=2, keep_events=False,
                solver=stiction.Solver(rtol=rtol, max_steps=4000),
            )  # fmt: skip
            return done.q[-1, 0], done.v[-1, 0]

        jax.block_until_ready(run(1e-3, until))
        for rtol in 10.0 ** -np.arange(3, 13):

            def call(rtol=rtol, run=run, until=until):
                z, v = run(rtol, until)
                return float(z), float(v)

            yield row(name, f"{rtol:.0e}", height, call)


def fixed_steps() -> list[int]:
    return [int(n) for n in 10 ** np.arange(3, 7.1, 0.5) if n <= LONGEST]


def mujoco_rows() -> Iterator[Row]:
    """Euler and RK4, by time step."""
    import mujoco

    contact = CompliantContact(stiffness=STIFFNESS, dissipation=1.5 * ALPHA, mass=MASS, speed=SPEED)
    o = to_oscillator(contact)
    k, b = o.frequency**2, 2 * o.damping_ratio * o.frequency
    until, height = third_apex(lambda x, rate: k * x + b * rate + IMPEDANCE * G)
    numbers = f'solref="{-k!r} {-b!r}" solimp="{IMPEDANCE} {IMPEDANCE} 0.001 0.5 2" condim="1"'
    model = mujoco.MjModel.from_xml_string(BALL.replace("ATTRIBUTES", numbers))
    data = mujoco.MjData(model)
    for name in ("Euler", "RK4"):
        model.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{name.upper()}")
        for n in fixed_steps():
            model.opt.timestep = until / n

            def call(n=n):
                mujoco.mj_resetData(model, data)
                data.qpos[0] = HEIGHT
                mujoco.mj_step(model, data, nstep=n)
                return float(data.qpos[0]), float(data.qvel[0])

            yield row(f"MuJoCo, {name}", f"{model.opt.timestep:.1e} s", height, call)


def drake_rows(exact: tuple[float, float]) -> Iterator[Row]:
    """The continuous plant by accuracy, the discrete one by time step."""
    from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator

    until, height = exact

    def rows(name: str, setting: str, time_step: float, prepare: Callable) -> Row:
        diagram, plant = _drake_ball(time_step)
        simulator = Simulator(diagram)
        prepare(simulator)
        root = simulator.get_mutable_context()
        context = plant.GetMyMutableContextFromRoot(root)

        def call():
            root.SetTime(0.0)
            plant.SetPositions(context, [HEIGHT])
            plant.SetVelocities(context, [0.0])
            simulator.Initialize()
            simulator.AdvanceTo(until)
            return float(plant.GetPositions(context)[0]), float(plant.GetVelocities(context)[0])

        return row(name, setting, height, call)

    for integrator in ("runge_kutta3", "runge_kutta5"):
        for accuracy in 10.0 ** -np.arange(3, 13):

            def prepare(simulator, integrator=integrator, accuracy=accuracy):
                ResetIntegratorFromFlags(simulator, integrator, 0.1)
                simulator.get_mutable_integrator().set_target_accuracy(accuracy)

            name = f"Drake, continuous, {integrator.replace('runge_kutta', 'RK')}"
            yield rows(name, f"{accuracy:.0e}", 0.0, prepare)
    for n in fixed_steps():
        if n <= 1e6:  # some 10 µs a step
            step = until / n
            yield rows("Drake, discrete", f"{step:.1e} s", step, lambda simulator: None)


def _drake_ball(time_step: float):
    from pydrake.geometry import AddContactMaterial, HalfSpace, ProximityProperties, Sphere
    from pydrake.math import RigidTransform
    from pydrake.multibody.plant import AddMultibodyPlant, CoulombFriction, MultibodyPlantConfig
    from pydrake.multibody.tree import PrismaticJoint, SpatialInertia, UnitInertia
    from pydrake.systems.framework import DiagramBuilder

    builder = DiagramBuilder()
    config = MultibodyPlantConfig(
        time_step=time_step, contact_model="point", discrete_contact_approximation="lagged"
    )
    plant, _ = AddMultibodyPlant(config, builder)
    inertia = SpatialInertia(MASS, np.zeros(3), UnitInertia.SolidSphere(RADIUS))
    ball = plant.AddRigidBody("ball", inertia)
    shift = RigidTransform([0.0, 0.0, RADIUS])
    frame = plant.world_frame()
    joint = PrismaticJoint("z", frame, ball.body_frame(), [0, 0, 1])
    plant.AddJoint(joint)
    properties = ProximityProperties()
    # Of two equal surfaces in series each is twice as stiff.
    AddContactMaterial(
        dissipation=1.5 * ALPHA,
        point_stiffness=2 * STIFFNESS,
        friction=CoulombFriction(0.0, 0.0),
        properties=properties,
    )
    plant.RegisterCollisionGeometry(
        plant.world_body(), RigidTransform(), HalfSpace(), "floor", properties
    )
    plant.RegisterCollisionGeometry(ball, shift, Sphere(RADIUS), "ball", properties)
    plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -G])
    plant.Finalize()
    return builder.Build(), plant


def measure() -> list[Row]:
    d = 1.5 * ALPHA
    exact = third_apex(lambda x, rate: STIFFNESS / MASS * x * (1 + d * rate))
    rows = [*stiction_rows(exact), *mujoco_rows()]
    if importlib.util.find_spec("pydrake") is None:
        print("Drake is left out: it is not installed (pip install drake).\n")
    else:
        rows += drake_rows(exact)
    return rows


def draw(rows: list[Row], folder: Path) -> None:
    """Error against time, a line for each engine."""
    from stiction.report.figures import STYLE, new_figure

    figure, axis = new_figure(figsize=(8.4, 4.4))
    draw_rows(axis, rows, WANTED)
    axis.set(ylabel="error at the third apex [m, m/s]")
    axis.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    import matplotlib.pyplot as plt

    with plt.rc_context(STYLE):
        for suffix in (".svg", ".png"):
            figure.savefig(folder / f"work-precision{suffix}", metadata={"Date": None}
                           if suffix == ".svg" else None)  # fmt: skip
    plt.close(figure)


def main(folder: str | None = None) -> None:
    rows = measure()
    print(machine("mujoco"), "\n")
    table([r._asdict() for r in rows])
    print()
    table(summary(rows, WANTED, OVER))
    if folder is not None:
        draw(rows, Path(folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
