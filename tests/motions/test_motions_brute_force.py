"""The set of accelerations equals that of brute force: 4^k linear programs."""

import os
from dataclasses import replace

import numpy as np
import pytest
from agreement import DIRECTIONS, answer, differences, disagreements
from brute_force import linear_parts, mode_sets
from problems import planar_state
from random_problems import random_problem

from stiction.motions import possible_motions

# The full run: STICTION_MOTIONS_PROBLEMS=20000 pytest tests/motions/test_motions_brute_force.py
N_PROBLEMS = int(os.environ.get("STICTION_MOTIONS_PROBLEMS", "120"))


@pytest.mark.parametrize("n_contacts", [1, 2, 3, 4])
def test_motions_equal_those_of_brute_force(n_contacts):
    wrong = []
    for seed in range(n_contacts - 1, N_PROBLEMS, 4):
        p = random_problem(np.random.default_rng(seed), n_contacts)
        found = disagreements(p, answer(p))
        if found:
            wrong.append((seed, found))
    assert not wrong


def test_nested_families_are_told_once():
    """Here two faces find families that are one inside the other."""
    p = random_problem(np.random.default_rng(1307), 4)
    result = answer(p)
    assert len({m.modes for m in result.motions}) == len(result.motions)
    assert disagreements(p, result) == []


def test_all_verdicts_and_continua_occur_in_the_sample():
    """Otherwise the comparison would say little."""
    seen = set()
    for seed in range(400):
        result = answer(random_problem(np.random.default_rng(seed), 1 + seed % 4))
        seen.add(str(result.verdict))
        seen |= {m.family.dimension for m in result.motions if m.family}
        if any(m.family and len(m.family.rays) for m in result.motions):
            seen.add("unbounded")
    assert {"unique", "ambiguous", "inconsistent", 1, 2, "unbounded"} <= seen


@pytest.mark.parametrize("seed", range(24))
def test_accelerations_of_obstacles_too(seed):
    """With arbitrary h and g (as obstacles that accelerate give) the c_i differ and are sorted."""
    rng = np.random.default_rng(1000 + seed)
    k = int(rng.integers(2, 5))
    p = random_problem(rng, k)
    p.velocity = np.zeros(3)
    if seed % 2:  # several contacts on one line of sliding
        p.normals = np.tile([0.0, 1.0], (k, 1))
    if seed % 4 == 3:  # or on one line of action
        p.points[:, 0] = 0.5
    g = rng.normal(size=k)
    h = rng.normal(size=k) if seed % 2 == 0 else np.full(k, 0.3)
    n_row, t_row, _, _, v_n, v_t = linear_parts(p)
    state = planar_state(
        mass=p.mass, inertia=p.inertia, points=p.points, normals=p.normals, mu=p.mu
    )
    state = replace(state, rows=replace(state.rows, h=h, g=g, scale=1.0))
    result = possible_motions(state, force=p.force, torque=p.torque)
    sets = mode_sets(p, n_row, t_row, h, g, v_n, v_t, DIRECTIONS)
    assert differences(sets, result) == []
