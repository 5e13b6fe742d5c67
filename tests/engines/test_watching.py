"""Runs that are looked at on their way are the runs that they are alone."""

import jax
import numpy as np
import pytest

import stiction
from stiction.engines import watched, watching

# Round cones in the core, fixed steps, a world, and a control that is asked from outside.
RUNS = {
    "box": {},
    "rod": {"contact.law": "stepping"},
    "foot": {"contact.law": "compliant", "until": 0.3},
    "stairs": {"until": 0.5, "samples": 51},
    "human-drop": {"until": 0.2, "samples": 21},
}


@pytest.fixture
def at_every_part(monkeypatch):
    monkeypatch.setattr(watching, "BETWEEN", -1.0)


def same(one, other):
    pairs = zip(*(jax.tree.leaves(run.to_numpy()) for run in (one, other)), strict=True)
    return all(np.array_equal(x, y, equal_nan=x.dtype.kind == "f") for x, y in pairs)


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.usefixtures("at_every_part")
def test_what_is_seen_on_the_way_is_the_beginning_of_the_run(name):
    scene = stiction.scene(name, RUNS[name])
    alone, seen = scene.run(), []
    with watched(lambda so_far: seen.append(so_far())):
        run = scene.run()
    assert same(run, alone)
    assert len(seen) > 2
    lengths = [len(part.time) for part in seen]
    assert lengths == sorted(lengths)
    assert lengths[0] < lengths[-1] or lengths[-1] == len(run.time)
    for part in (seen[0], seen[len(seen) // 2], seen[-1]):
        n, events = len(part.time), int(part.n_events)
        assert np.array_equal(part.q, run.q[:n])
        assert np.array_equal(part.kinetic, run.kinetic[:n])
        assert events <= int(run.n_events)
        assert np.array_equal(part.log.time[:events], run.log.time[:events])


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.usefixtures("at_every_part")
def test_a_run_that_is_ended_on_its_way_leaves_nothing_behind(name):
    scene = stiction.scene(name, RUNS[name])
    alone = scene.run()

    def end(_):
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"), watched(end):
        scene.run()
    assert same(scene.run(), alone)  # and nobody looks any more
