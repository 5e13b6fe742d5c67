"""Pinocchio is the oracle for URDF: massless links, odd inertias, fixed and free base.

Pinocchio orders joints by name and gives a free base's velocity in body axes (v_body); ours is the
velocity of the origin in world axes. With v = A v_pin, M_pin = Aᵀ M A and the bias follows from
v̇ = A v̇_pin + (ω × v in world axes).
"""

import jax
import numpy as np
import pytest

import stiction
from helpers import URDFS, jit_once, quiet_load, relative_error
from stiction.mechanism.tree import COORDINATES, FREEDOMS

pinocchio = pytest.importorskip("pinocchio", reason="the oracle `pin` is not installed")

STATES = 200
TOLERANCE = 1e-10


@pytest.mark.shared
@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("name", URDFS)
def test_urdf_agrees_with_pinocchio(shared_data, name, base):
    path = shared_data / "robot_models" / f"{name}.urdf"
    mechanism = quiet_load(path, base)
    root = [pinocchio.JointModelFreeFlyer()] if base == "free" else []
    model = pinocchio.buildModelFromUrdf(str(path), *root)
    data = model.createData()
    at_q, at_v = entries(mechanism, model)
    rng = np.random.default_rng(3)

    states, masses, forces, transforms, drifts, energies = [], [], [], [], [], []
    for _ in range(STATES):
        q_pin = pinocchio.neutral(model)
        q_pin = pinocchio.integrate(model, q_pin, rng.normal(size=model.nv))
        v_pin = rng.normal(size=model.nv)
        q, v = q_pin[at_q], v_pin[at_v]
        A = np.eye(model.nv)[at_v]
        drift = np.zeros(model.nv)
        if base == "free":
            q[3:7] = q_pin[[6, 3, 4, 5]]  # xyzw to wxyz
            R = pinocchio.Quaternion(q_pin[3:7]).toRotationMatrix()
            A[:3] = R @ A[:3]
            drift[:3] = R @ np.cross(v_pin[3:6], v_pin[:3])
            v = A @ v_pin
        M = pinocchio.crba(model, data, q_pin)
        masses.append(np.triu(M) + np.triu(M, 1).T)
        forces.append(pinocchio.nonLinearEffects(model, data, q_pin, v_pin).copy())
        energies.append(pinocchio.computeKineticEnergy(model, data, q_pin, v_pin))
        states.append((q, v))
        transforms.append(A)
        drifts.append(drift)

    q, v = (np.array(x) for x in zip(*states, strict=True))
    A, drift = np.array(transforms), np.array(drifts)
    M = jit_once(jax.vmap(lambda q: stiction.mass_matrix(mechanism, q)))(q)
    c = jit_once(jax.vmap(lambda q, v: stiction.bias_force(mechanism, q, v)))(q, v)
    T = jit_once(jax.vmap(lambda q, v: stiction.kinetic_energy(mechanism, q, v)))(q, v)
    c = c + np.einsum("nij,nj->ni", M, drift)
    rotor = np.diag(model.armature)  # pinocchio adds none of its own
    assert relative_error(np.swapaxes(A, 1, 2) @ M @ A, np.array(masses) - rotor) < TOLERANCE
    assert relative_error(np.einsum("nji,nj->ni", A, c), np.array(forces)) < TOLERANCE
    assert relative_error(T, np.array(energies)) < TOLERANCE


def entries(mechanism, model) -> tuple[np.ndarray, np.ndarray]:
    """For each of our entries of q and v, pinocchio's."""
    tree = mechanism.tree
    at_q, at_v = np.zeros(tree.nq, int), np.zeros(tree.nv, int)
    for joint, kind in enumerate(tree.joint_types):
        name = tree.joint_names[joint]
        theirs = model.joints[model.getJointId("root_joint" if name == "root" else name)]
        for at, address, sizes, start in (
            (at_q, tree.q_address, COORDINATES, theirs.idx_q),
            (at_v, tree.v_address, FREEDOMS, theirs.idx_v),
        ):
            at[address[joint] : address[joint] + sizes[kind]] = start + np.arange(sizes[kind])
    return at_q, at_v
