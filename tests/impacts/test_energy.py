"""With energy under control no impact adds any, over random impacts of built-in mechanisms."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import stiction
from stiction._base.compile import quick_jit
from stiction.engines.contact_dynamics import contact_dynamics, kinetic
from stiction.impacts import ImpactProblem, impact_law
from stiction.mechanism import normalize

# 10,000 impacts: what touches is drawn at random, whatever the gaps are.
COUNTS = {
    "double-pendulum": 3000, "bicycle": 2000, "rod": 1500, "sphere": 1000, "box": 1000,
    "jumping-leg": 1000, "bouncing-ball": 500, "mass-spring-friction": 500,
}  # fmt: skip
# Scenes whose impacts have one shape share a program.
SHAPES = {
    "one in the plane": ("double-pendulum", "mass-spring-friction"),
    "two in the plane": ("bicycle", "rod"),
    "one in space": ("sphere", "bouncing-ball"),
    "seven in space": ("box", "jumping-leg"),
}
MOST = 7  # drawn among more contacts: beyond six the dissipation law does not try all choices


@functools.cache
def random_impacts(name: str, count: int, energetic: tuple[float, float]) -> ImpactProblem:
    """Impacts of a scene's mechanism at random states, with random laws."""
    scene = stiction.scene(name)
    mechanism, contacts, q0 = scene.mechanism, scene.contacts, scene.posture
    assert contacts is not None
    rng = np.random.default_rng(0)
    n = contacts.count
    q = np.asarray(q0) + rng.uniform(-1, 1, (count, mechanism.nq))
    v = rng.normal(size=(count, mechanism.nv))
    active = rng.random((count, n)) < 0.7
    static = rng.uniform(0, 1.2, (count, n))
    restitution, dynamic = rng.uniform(0, 1, (count, n)), static * rng.uniform(0.3, 1, (count, n))
    numbers = (q, v, active, restitution, static, dynamic, rng.uniform(*energetic, count))
    some = np.argsort(rng.random((count, n)), axis=1)[:, :MOST]

    @quick_jit
    @jax.vmap
    def at(q, v, active, restitution, mu_static, mu_dynamic, energetic, some):
        q = normalize(mechanism, q)
        d = contact_dynamics(mechanism, contacts, q, v, jnp.zeros(()), jnp.zeros_like(v))
        u = d.contacts.velocity
        # Turned round where nothing approaches, so that most of them are impacts.
        u = jnp.where(u[jnp.argmax(active), -1] > 0, -u, u)
        return ImpactProblem(
            d.W, u, active & (u[:, -1] < 0), restitution, mu_static, mu_dynamic,
            jnp.full(n, 1e-4), jnp.ones(n), kinetic(d.L, v), energetic,
        ).part(some)  # fmt: skip

    return at(*map(jnp.asarray, numbers), jnp.asarray(some))


def energy_after(problem: ImpactProblem, law) -> tuple:
    s = law(problem)
    return s, s.scale**2 * (problem.kinetic + jnp.sum(problem.work(s.impulse)))


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("name", "method"), [("no-slip", "scale"), ("dissipation", "constrain")])
def test_energy_never_rises(shape, name, method, cases):
    parts = {s: random_impacts(s, cases(COUNTS[s]), (0.3, 1.0)) for s in SHAPES[shape]}
    p = jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *parts.values())
    law, off = impact_law(name, method), impact_law(name, "off")
    _, T = quick_jit(jax.vmap(lambda p: energy_after(p, law)))(p)
    assert np.all(np.isfinite(T))
    assert np.max(np.asarray(T) / np.asarray(p.kinetic)) <= 1 + 1e-9
    for scene in {"double-pendulum", "bicycle"} & set(parts):  # not because nothing happens
        p = parts[scene]
        _, free = quick_jit(jax.vmap(lambda p: energy_after(p, off)))(p)
        assert np.mean(np.asarray(free) > np.asarray(p.kinetic) * (1 + 1e-6)) > 0.01


def test_scaling_and_constraint_agree_where_no_energy_is_to_be_removed():
    """flickinger, Chapter 5: both leave an impact alone that keeps its bound."""
    p = random_impacts("double-pendulum", 500, (1.0, 1.0))

    laws = [impact_law("dissipation", method) for method in ("off", "scale", "constrain")]
    resolved = quick_jit(jax.vmap(lambda p: [energy_after(p, law) for law in laws]))(p)
    (off, T), (scaled, _), (constrained, _) = resolved
    keeps = np.asarray(T) <= np.asarray(p.kinetic) * (1 - 1e-6)
    assert 100 < keeps.sum() < 500
    np.testing.assert_array_equal(np.asarray(scaled.scale)[keeps], 1.0)
    np.testing.assert_allclose(
        np.asarray(constrained.impulse)[keeps], np.asarray(off.impulse)[keeps], atol=1e-8
    )
    bound = eqx.tree_at(lambda p: p.energetic, p, jnp.zeros_like(p.energetic))
    assert np.all(
        np.asarray(quick_jit(jax.vmap(impact_law("no-slip", "scale")))(bound).scale) == 0.0
    )
