r"""Drake: `hunt_crossley_dissipation`, `point_contact_stiffness`, friction.

Drake's point contact is $f = k x (1 + d \dot x)_+$ [Drake2019]: the same law with
$n = 1$. A pair combines as $k = k_a k_b / (k_a + k_b)$ and $d = (k_b d_a + k_a d_b)/(k_a + k_b)$,
so that each of two equal surfaces has $2 k$ and $d$. Friction combines as $2 \mu_a \mu_b / (\mu_a +
\mu_b)$, which leaves equal ones as they are.
"""

# Drake is optional.
# pyright: reportMissingImports=false
import importlib.metadata
from collections.abc import Mapping
from typing import Any

import numpy as np

from stiction._base.errors import InputError
from stiction.interop.contact import (
    TIME_STEP,
    CompliantContact,
    ForeignEngine,
    Translation,
    number,
    recommended_step,
)
from stiction.interop.drop import DropCheck, drop_ball
from stiction.interop.linear import to_oscillator
from stiction.interop.stepping import adjust, stepped_restitution

SNIPPET = ("point_contact_stiffness", "hunt_crossley_dissipation", "mu_static", "mu_dynamic")
ACCURACY = 1e-8  # of Drake's error-controlled integrator in the check


def to_drake(contact: CompliantContact, *, time_step: float | None = None) -> Translation:
    """A contact in Drake's words: exact for n = 1, in restitution for every n.

    Args:
        contact: What is wanted.
        time_step: Step of a discrete plant [s]; if left out, a hundredth of the contact's duration.
    """
    flat = contact.with_peak_depth(contact.peak_depth, 1.0)
    dt = time_step or recommended_step(contact.duration)
    oscillator = to_oscillator(contact)
    discrete = adjust(
        lambda d: lagged_restitution(flat, d, dt), contact.restitution, high=flat.dissipation
    )
    parameters = {
        "point_contact_stiffness": 2 * flat.stiffness,
        "hunt_crossley_dissipation": flat.dissipation,
        "hunt_crossley_dissipation_discrete": discrete,
        "mu_static": flat.mu_static,
        "mu_dynamic": flat.mu_dynamic,
        # Each of the two surfaces has half of 2 ζ/ω, the damping over the stiffness.
        "relaxation_time": oscillator.damping_ratio / oscillator.frequency,
        "time_step": dt,
    }
    limits = [
        "a discrete plant (time_step > 0) adds damping of its own, less with a smaller step: take"
        f" the dissipation for it, which is right at {contact.speed:g} m/s and {dt:g} s only; the"
        " continuous plant (time_step = 0) has the law exactly",
        "the discrete approximation 'sap' ignores hunt_crossley_dissipation and takes"
        " relaxation_time, a linear damper; use 'lagged' or 'similar'",
        "friction is regularized: a body below the cone creeps, at up to the stiction tolerance",
    ]
    best = float(lagged_restitution(flat, discrete, dt).mean())
    if best < contact.restitution - 1e-6:
        limits.append(
            f"a discrete plant of {dt:g} s gives at most {best:.4f}, even without dissipation; take"
            " a smaller step"
        )
    if contact.exponent != 1:
        limits.append(
            f"the exponent is 1, not {contact.exponent:g}: restitution is kept at all speeds, peak"
            f" depth at {contact.speed:g} m/s"
        )
    if flat.mu_static != flat.mu_dynamic:
        limits.append("a discrete plant has one coefficient of friction, the dynamic one")
    lines = "\n".join(
        f"  <drake:{k}>{v:.10g}</drake:{k}>" for k, v in parameters.items() if k in SNIPPET
    )
    return Translation(
        engine="drake",
        parameters=parameters,
        limits=tuple(limits),
        snippet=f"<drake:proximity_properties>  <!-- on both geometries -->\n{lines}\n"
        f"  <!-- in a discrete plant of {dt:g} s: hunt_crossley_dissipation {discrete:.10g} -->\n"
        "</drake:proximity_properties>",
        time_step=dt,
    )


def lagged_restitution(flat: CompliantContact, dissipation: float, dt: float) -> np.ndarray:
    r"""Restitution of Drake's discrete step ('lagged', 'similar') over the instants of touch.

    Where the step begins in contact it solves
    $v_1 = v - \tfrac{\delta t}{m} k (x + \delta t \, v_1)_+ (1 + d v_1)_+$, a quadratic.
    """
    c, d = dt * flat.stiffness / flat.mass, dissipation * flat.speed  # for a speed of 1

    def step(x: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        b = 1 + c * (dt + d * x)
        root = (
            2 * (v - c * x) / (b + np.sqrt(np.maximum(b * b + 4 * c * d * dt * (v - c * x), 0.0)))
        )
        v = np.where((x > 0) & (x + dt * v > 0), root, v)
        return x + dt * v, v

    return stepped_restitution(step, dt, flat.duration)


def from_drake(
    parameters: Mapping[str, Any], *, mass: float, speed: float
) -> tuple[CompliantContact, tuple[str, ...]]:
    """The contact between two equal Drake surfaces.

    Args:
        parameters: `hunt_crossley_dissipation` and `point_contact_stiffness` of each surface, and
            `mu_static`, `mu_dynamic` if there is friction.
        mass: Mass of the body [kg].
        speed: Speed of approach [m/s].

    Returns:
        The contact, and what was lost on the way (nothing).
    """
    mu = number(parameters, "mu_static", 0.0)
    contact = CompliantContact(
        stiffness=0.5 * number(parameters, "point_contact_stiffness"),
        dissipation=number(parameters, "hunt_crossley_dissipation"),
        mass=mass,
        speed=speed,
        mu_static=mu,
        mu_dynamic=number(parameters, "mu_dynamic", mu),
    )
    return contact, ()


def check_drake(contact: CompliantContact, translation: Translation) -> DropCheck:
    """Drop a ball in Drake: in the continuous plant, then in discrete ones."""
    try:
        version = importlib.metadata.version("drake")
    except importlib.metadata.PackageNotFoundError:
        raise InputError(
            "`check` in drake needs Drake, which is not installed; run `pip install drake`"
        ) from None
    dt = translation.parameters["time_step"]
    drops = []
    for name, approximation, step in (
        ("continuous", "lagged", 0.0),
        (f"lagged, {1e3 * dt:g} ms", "lagged", dt),
        (f"sap, {1e3 * dt:g} ms", "sap", dt),
    ):
        ball = _Ball(contact, translation, approximation, step)
        drops += drop_ball(contact, name, ball.start, ball.step, step or dt)
    return DropCheck("drake", version, tuple(drops))


class _Ball:
    """A ball over a half space, in a Drake plant that is built anew for every drop."""

    def __init__(
        self,
        contact: CompliantContact,
        translation: Translation,
        approximation: str,
        time_step: float,
    ):
        self.contact, self.parameters = contact, translation.parameters
        self.approximation, self.time_step = approximation, time_step
        self.radius = contact.radius or 0.1
        self.sample = time_step or self.parameters["time_step"]

    def start(self, gap: float, speed: float, gravity: float) -> None:
        from pydrake.systems.analysis import Simulator

        diagram, self.plant = self._build(gravity)
        self.simulator = Simulator(diagram)
        if self.time_step == 0:
            self.simulator.get_mutable_integrator().set_target_accuracy(ACCURACY)
        root = self.simulator.get_mutable_context()
        self.context = self.plant.GetMyMutableContextFromRoot(root)
        self.plant.SetPositions(self.context, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, self.radius + gap])
        self.plant.SetVelocities(self.context, [0.0, 0.0, 0.0, 0.0, 0.0, -speed])

    def step(self) -> tuple[float, float]:
        self.simulator.AdvanceTo(self.simulator.get_context().get_time() + self.sample)
        q, v = self.plant.GetPositions(self.context), self.plant.GetVelocities(self.context)
        return float(q[-1]) - self.radius, float(v[-1])

    def _build(self, gravity: float) -> tuple[Any, Any]:
        from pydrake.geometry import AddContactMaterial, HalfSpace, ProximityProperties, Sphere
        from pydrake.math import RigidTransform
        from pydrake.multibody.plant import AddMultibodyPlant, CoulombFriction, MultibodyPlantConfig
        from pydrake.multibody.tree import SpatialInertia, UnitInertia
        from pydrake.systems.framework import DiagramBuilder

        builder = DiagramBuilder()
        config = MultibodyPlantConfig(
            time_step=self.time_step,
            contact_model="point",
            discrete_contact_approximation=self.approximation,
        )
        plant, _ = AddMultibodyPlant(config, builder)
        rotational = UnitInertia.SolidSphere(self.radius)
        ball = plant.AddRigidBody(
            "ball", SpatialInertia(self.contact.mass, np.zeros(3), rotational)
        )
        p = self.parameters
        name = "hunt_crossley_dissipation" + ("_discrete" if self.time_step else "")
        material = ProximityProperties()
        AddContactMaterial(
            dissipation=p[name],
            point_stiffness=p["point_contact_stiffness"],
            friction=CoulombFriction(p["mu_static"], p["mu_dynamic"]),
            properties=material,
        )
        material.AddProperty("material", "relaxation_time", p["relaxation_time"])
        for body, shape in ((ball, Sphere(self.radius)), (plant.world_body(), HalfSpace())):
            plant.RegisterCollisionGeometry(body, RigidTransform(), shape, "surface", material)
        plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -gravity])
        plant.Finalize()
        return builder.Build(), plant


DRAKE = ForeignEngine(
    title="Drake",
    parameters={
        "hunt_crossley_dissipation": "dissipation of each surface [s/m]",
        "point_contact_stiffness": "stiffness of each surface [N/m]",
        "mu_static": "static friction",
        "mu_dynamic": "dynamic friction, the static one if left out",
    },
    to=to_drake,
    back=from_drake,
    options=TIME_STEP,
    check=check_drake,
)
