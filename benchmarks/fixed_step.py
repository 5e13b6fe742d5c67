"""MuJoCo, Drake, DART and PyBullet on the cases of `bench_accuracy`, each with n equal steps.

Every engine is asked for what is nearest to rigid contact. Where something touches in a point (a
tip, a corner) there is a sphere of a micrometre, over a floor that is as much lower.
"""

# Peers are optional, and their binary modules have no stubs.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false
import functools
import itertools
import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from stiction.interop import CompliantContact
from stiction.laws.impact import damping_ratio_for_restitution
from stiction.scenes.library import LIBRARY

G = 9.81
POINT = 1e-6  # radius of what stands for a point [m]
BALL = 0.05  # radius of the ball [m]
HALF = np.array([0.1, 0.075, 0.05])  # of the box [m]
CORNERS = np.array(list(itertools.product((-1, 1), repeat=3))) * HALF


class Unable(Exception):
    """An engine cannot do it here, and why."""


@dataclass(frozen=True)
class Problem:
    """What moves, from where, until when, and what comes out.

    Angles, height and speed are compared as they are; of the box, where its corners are.
    """

    name: str  # ball, pendulum or box
    q: tuple[float, ...]
    v: tuple[float, ...]
    until: float
    restitution: float
    mu: float
    answer: np.ndarray | None = None

    @property
    def mjcf(self) -> str:
        if self.name == "ball":
            return f"""<mujoco><option gravity="0 0 -{G}"/><worldbody>
              <geom name="floor" type="plane" size="1 1 .1"/>
              <body name="ball" pos="0 0 {BALL}"><joint name="z" type="slide" axis="0 0 1"/>
                <geom name="ball" type="sphere" size="{BALL}" mass="1"/></body>
            </worldbody></mujoco>"""
        return (
            LIBRARY / {"pendulum": "double-pendulum.xml", "box": "box.xml"}[self.name]
        ).read_text()

    @property
    def points(self) -> list[str] | None:
        """What touches, where it is not what the model says."""
        return ["tip"] if self.name == "pendulum" else None

    @property
    def spheres(self) -> tuple[str, np.ndarray, float]:
        """The link that touches, with which spheres, and their radius."""
        return {
            "ball": ("ball", np.zeros((1, 3)), BALL),
            "pendulum": ("bar_b", np.array([[1.0, 0.0, 0.0]]), POINT),
            "box": ("box", CORNERS, POINT),
        }[self.name]

    @property
    def floor(self) -> float:
        """Height of the floor under spheres [m]."""
        return 0.0 if self.name == "ball" else -POINT

    def read(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """What is compared, of a state in MuJoCo's coordinates."""
        if self.name == "ball":
            return np.concatenate([q, v])
        return (
            q
            if self.name == "pendulum"
            else self.corners(q[:3], Rotation.from_quat(q[[4, 5, 6, 3]]))
        )

    @staticmethod
    def corners(position: np.ndarray, rotation: Rotation) -> np.ndarray:
        return position + rotation.apply(CORNERS)

    def error(self, found: np.ndarray) -> float:
        """The largest difference, of corners the largest distance."""
        away = found - self.answer
        error = np.linalg.norm(away, axis=-1).max() if away.ndim == 2 else abs(away).max()
        return float(error) if np.isfinite(error) else math.inf

    @property
    def urdf(self) -> str:
        """The same for engines that do not read MJCF, with the spheres."""
        box = 1.2 / 3 * (np.sum(HALF**2) - HALF**2)
        bar = 4.04 / 12 * np.array([0.05**2 + 0.01**2, 1 + 0.05**2, 1 + 0.01**2])
        if self.name == "box":
            return f'<robot name="box">{self._link("box", 1.2, box)}</robot>'
        if self.name == "ball":
            links = [self._link("ball", 1.0, np.full(3, 0.4 * BALL**2))]
            joints = [_joint("prismatic", "world", "ball", f"0 0 {BALL}", "0 0 1")]
        else:
            links = [self._link(name, 4.04, bar, "0.5 0 0") for name in ("bar_a", "bar_b")]
            joints = [
                _joint("continuous", "world", "bar_a", "0 0 1.5", "0 -1 0"),
                _joint("continuous", "bar_a", "bar_b", "1 0 0", "0 -1 0"),
            ]
        return f'<robot name="{self.name}"><link name="world"/>{"".join(links + joints)}</robot>'

    def _link(self, name: str, mass: float, inertia: np.ndarray, centre: str = "0 0 0") -> str:
        touching, centres, radius = self.spheres
        spheres = "".join(
            f'<collision><origin xyz="{x} {y} {z}"/><geometry><sphere radius="{radius}"/>'
            "</geometry></collision>"
            for x, y, z in (centres if name == touching else ())
        )
        x, y, z = inertia
        return f"""<link name="{name}"><inertial><origin xyz="{centre}"/><mass value="{mass}"/>
          <inertia ixx="{x}" iyy="{y}" izz="{z}" ixy="0" ixz="0" iyz="0"/></inertial>
          {spheres}</link>"""

    def urdf_file(self) -> str:
        folder = Path(tempfile.gettempdir()) / "stiction-benchmarks"
        folder.mkdir(exist_ok=True)
        file = folder / f"{self.name}.urdf"
        file.write_text(self.urdf)
        return str(file)


def _joint(kind: str, parent: str, child: str, origin: str, axis: str) -> str:
    limit = (
        '<limit lower="-10" upper="10" effort="0" velocity="1000"/>' if kind == "prismatic" else ""
    )
    return f"""<joint name="to_{child}" type="{kind}"><parent link="{parent}"/>
      <child link="{child}"/><origin xyz="{origin}"/><axis xyz="{axis}"/>{limit}</joint>"""


def spring(problem: Problem, n: int, steps: float) -> tuple[float, float]:
    """Frequency [rad/s] and damping ratio of a spring that rebounds as asked, in so many steps.

    The steps that a contact takes grow with n, but less than it: stiffer and better resolved.
    """
    zeta = float(damping_ratio_for_restitution(problem.restitution))
    return math.pi * n / (steps * problem.until), zeta


def mujoco(problem: Problem, n: int) -> Callable[[], np.ndarray]:
    """Its constraints as stiff as they may be; restitution by a spring and damper."""
    import mujoco

    h = problem.until / n
    spec = mujoco.MjSpec.from_string(problem.mjcf)
    if problem.name != "ball":
        body, centres, radius = problem.spheres
        for geom in spec.geoms:
            geom.contype = geom.conaffinity = int(geom.name == "floor")
            if geom.name == "floor":
                geom.pos = [0.0, 0.0, problem.floor]
        for centre in centres:
            spec.body(body).add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[radius, 0, 0],
                                     pos=centre, mass=0.0, contype=1, conaffinity=0)  # fmt: skip
    solref = [2 * h, 10.0]  # the shortest time that it allows, and no rebound
    if problem.restitution:
        frequency, zeta = spring(problem, n, 4 * n**0.25)
        solref = [-(frequency**2), -2 * zeta * frequency]
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    for geom in spec.geoms:
        geom.solref, geom.solimp = solref, [0.9999, 0.9999, 0.001, 0.5, 2]
        geom.friction = [problem.mu, 0.0, 0.0]
        geom.condim = 3 if problem.mu else 1
    spec.option.timestep = h
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    model = spec.compile()
    data = mujoco.MjData(model)

    def run():
        mujoco.mj_resetData(model, data)
        data.qpos, data.qvel = problem.q, problem.v
        mujoco.mj_step(model, data, nstep=n)
        return problem.read(data.qpos.copy(), data.qvel.copy())

    return run


def drake(problem: Problem, n: int, approximation: str) -> Callable[[], np.ndarray]:
    """A plant of equal steps; restitution by its damping."""
    _need("pydrake", "drake")
    from pydrake.geometry import AddContactMaterial, HalfSpace, ProximityProperties, Sphere
    from pydrake.math import RigidTransform
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import AddMultibodyPlant, CoulombFriction, MultibodyPlantConfig
    from pydrake.systems.analysis import Simulator
    from pydrake.systems.framework import DiagramBuilder

    h = problem.until / n
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlant(
        MultibodyPlantConfig(
            time_step=h, contact_model="point", discrete_contact_approximation=approximation
        ),
        builder,
    )
    bare = problem.urdf.replace("<collision>", "<!--").replace("</collision>", "-->")
    Parser(plant).AddModelsFromString(bare, "urdf")
    # Stiff (a bar's weight presses it in by micrometres), damped as it is by default. Far stiffer
    # is no better: SAP then moves away from the answer, and "similar" fails.
    stiffness, dissipation, relaxation = 1e7, 50.0, 0.1
    if problem.restitution:
        frequency, zeta = spring(problem, n, n**0.5)
        speed = math.sqrt(2 * G * problem.q[0])
        blank = CompliantContact(stiffness=1.0, dissipation=0.0, mass=1.0, speed=speed)
        hunt_crossley = blank.with_restitution(problem.restitution)
        stiffness, dissipation = frequency**2, hunt_crossley.dissipation
        relaxation = 2 * zeta / frequency
    properties = ProximityProperties()
    # Of two equal surfaces in series each is twice as stiff; relaxation times add up.
    AddContactMaterial(
        dissipation=dissipation,
        point_stiffness=2 * stiffness,
        friction=CoulombFriction(problem.mu, problem.mu),
        properties=properties,
    )
    properties.AddProperty("material", "relaxation_time", relaxation / 2)
    link, centres, radius = problem.spheres
    floor = RigidTransform([0.0, 0.0, problem.floor])
    plant.RegisterCollisionGeometry(plant.world_body(), floor, HalfSpace(), "floor", properties)
    for i, centre in enumerate(centres):
        plant.RegisterCollisionGeometry(
            plant.GetBodyByName(link), RigidTransform(centre), Sphere(radius), f"{i}", properties
        )
    plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -G])
    plant.Finalize()
    simulator = Simulator(builder.Build())
    root = simulator.get_mutable_context()
    context = plant.GetMyMutableContextFromRoot(root)
    free = problem.name == "box"
    # Free bodies: quaternion before position, angular velocity before linear.
    q = (*problem.q[3:], *problem.q[:3]) if free else problem.q
    v = (*problem.v[3:], *problem.v[:3]) if free else problem.v

    def run():
        root.SetTime(0.0)
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        simulator.Initialize()
        simulator.AdvanceTo(problem.until)
        end = plant.GetPositions(context)
        end = np.concatenate([end[4:], end[:4]]) if free else end
        return problem.read(end, plant.GetVelocities(context))

    return run


def dart(problem: Problem, n: int, solver: str) -> Callable[[], np.ndarray]:
    """By its default solver, or by another; friction and restitution are coefficients."""
    _need("dartpy", "dartpy")
    import dartpy

    world = dartpy.simulation.World()
    world.setGravity([0.0, 0.0, -G])
    world.setTimeStep(problem.until / n)
    constraints = world.getConstraintSolver()
    constraints.setCollisionDetector(dartpy.collision.DARTCollisionDetector())
    if solver == "PGS":
        # What it falls back on, taken first. (It cannot be made anew from Python.)
        pgs = constraints.getSecondaryBoxedLcpSolver()
        constraints.setSecondaryBoxedLcpSolver(None)
        constraints.setBoxedLcpSolver(pgs)
    moving = dartpy.utils.DartLoader().parseSkeleton(problem.urdf_file())
    floor = dartpy.dynamics.Skeleton("floor")
    _, ground = floor.createWeldJointAndBodyNodePair()
    shape = ground.createShapeNode(dartpy.dynamics.BoxShape([20.0, 20.0, 2.0]))
    shape.createCollisionAspect()
    shape.createDynamicsAspect()
    shape.setRelativeTranslation([0.0, 0.0, problem.floor - 1.0])
    for skeleton in (floor, moving):
        world.addSkeleton(skeleton)
        for body in map(skeleton.getBodyNode, range(skeleton.getNumBodyNodes())):
            for i in range(body.getNumShapeNodes()):
                aspect = body.getShapeNode(i).getDynamicsAspect()
                if aspect is not None:
                    aspect.setFrictionCoeff(problem.mu)
                    aspect.setRestitutionCoeff(problem.restitution if skeleton is moving else 1.0)
    free = problem.name == "box"
    # Free bodies: rotation before position, velocities in the body, which begins upright.
    q = np.array([0.0, 0.0, 0.0, *problem.q[:3]] if free else problem.q)
    v = np.array([*problem.v[3:], *problem.v[:3]] if free else problem.v)

    def run():
        world.reset()
        moving.setPositions(q)
        moving.setVelocities(v)
        for _ in range(n):
            world.step()
        end = moving.getPositions()
        if free:
            return problem.corners(end[3:], Rotation.from_rotvec(end[:3]))
        return problem.read(end, moving.getVelocities())

    return run


def pybullet(problem: Problem, n: int) -> Callable[[], np.ndarray]:
    """With friction cones, no damping and no motors."""
    _need("pybullet", "pybullet")
    import pybullet as bullet

    if bullet.isConnected():
        bullet.disconnect()
    bullet.connect(bullet.DIRECT)
    bullet.setGravity(0, 0, -G)
    bullet.setPhysicsEngineParameter(
        fixedTimeStep=problem.until / n, numSolverIterations=200, numSubSteps=0,
        enableConeFriction=1, restitutionVelocityThreshold=1e-3,
        # Contacts that are seen before they touch, or pushed apart after, spoil the rebound.
        contactBreakingThreshold=1e-9, erp=0, contactERP=0,
    )  # fmt: skip
    plane = bullet.createCollisionShape(bullet.GEOM_PLANE)
    floor = bullet.createMultiBody(0, plane, basePosition=[0, 0, problem.floor])
    free = problem.name == "box"
    moving = bullet.loadURDF(
        problem.urdf_file(), useFixedBase=not free, flags=bullet.URDF_USE_INERTIA_FROM_FILE
    )
    joints = range(bullet.getNumJoints(moving))
    bullet.changeDynamics(floor, -1, lateralFriction=1.0, restitution=1.0)
    for link in (-1, *joints):
        # In two calls: of links, a call that changes joints as well forgets the rest.
        bullet.changeDynamics(
            moving, link, lateralFriction=problem.mu, restitution=problem.restitution
        )
        bullet.changeDynamics(moving, link, linearDamping=0, angularDamping=0, jointDamping=0)
    for joint in joints:
        bullet.setJointMotorControl2(moving, joint, bullet.VELOCITY_CONTROL, force=0)

    def run():
        if free:
            bullet.resetBasePositionAndOrientation(moving, problem.q[:3], [0, 0, 0, 1])
            bullet.resetBaseVelocity(moving, problem.v[:3], problem.v[3:])
        for joint in joints:
            bullet.resetJointState(moving, joint, problem.q[joint], problem.v[joint])
        for _ in range(n):
            bullet.stepSimulation()
        if free:
            position, quaternion = bullet.getBasePositionAndOrientation(moving)
            return problem.corners(np.array(position), Rotation.from_quat(quaternion))
        states = bullet.getJointStates(moving, list(joints))
        return problem.read(np.array([s[0] for s in states]), np.array([s[1] for s in states]))

    return run


def _need(module: str, package: str) -> None:
    import importlib.util

    if importlib.util.find_spec(module) is None:
        raise Unable(f"it is not installed (pip install {package})")


ENGINES: dict[str, Callable[[Problem, int], Callable[[], np.ndarray]]] = {
    "MuJoCo": mujoco,
    "Drake, lagged (default)": functools.partial(drake, approximation="lagged"),
    "Drake, similar": functools.partial(drake, approximation="similar"),
    "Drake, SAP": functools.partial(drake, approximation="sap"),
    "DART, Dantzig (default)": functools.partial(dart, solver="Dantzig"),
    "DART, PGS": functools.partial(dart, solver="PGS"),
    "PyBullet": pybullet,
}
