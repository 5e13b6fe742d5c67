"""The bench of the studio, without a browser."""

import gc
import threading
import weakref

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import stiction
from stiction.engines import blueprint, watching
from stiction.engines.forces import MODE_NAMES
from stiction.studio import Bench, bench, knobs_of
from stiction.studio.bench import Superseded


@pytest.fixture(name="bench")
def small_bench():
    return Bench(stiction.scene("bouncing-ball", until=1.5, samples=61))


def knob(bench, label):
    return next(k for k in knobs_of(bench.scene) if k.label == label)


def test_a_moved_slider_gives_what_the_scene_gives(bench):
    moved = knob(bench, "restitution")
    assert bench.change(moved.change(bench.scene, 0.25))
    alone = bench.scene.change({"contact.restitution": 0.25}).run()
    assert_array_equal(bench.run.q, alone.q)
    assert knob(bench, "restitution").value == 0.25


def test_every_slider_changes_its_number(bench):
    for before in knobs_of(bench.scene):
        value = before.low + 0.6 * (before.high - before.low)
        scene = bench.scene.change(before.change(bench.scene, value))
        after = next(
            k for k in knobs_of(scene) if (k.label, k.index) == (before.label, before.index)
        )
        assert after.value == pytest.approx(value), before.label


def test_a_run_that_fails_keeps_the_last_good_one(bench):
    q = bench.run.q
    assert not bench.change({"contact.restitution": 1.5})
    assert bench.message == "`contact.restitution` must be in [0, 1], got 1.5"
    assert bench.run.q is q
    assert bench.change({"contact.restitution": 0.5})
    assert bench.message == ""


def test_undo_goes_back_step_by_step(bench):
    first = bench.run.q
    for value in (0.1, 0.2):
        bench.change({"contact.restitution": value})
    assert bench.undo()
    assert bench.scene.scenario.contact.restitution == 0.1
    assert bench.undo()
    assert_array_equal(bench.run.q, first)
    assert not bench.undo()


def test_a_slider_that_is_drawn_is_undone_at_once(bench):
    for value in (0.1, 0.2, 0.3):
        bench.change({"contact.restitution": value}, by="restitution")
    bench.change({"until": 1.0}, by="duration")
    assert bench.undo()
    assert bench.scene.scenario.contact.restitution == 0.3
    assert bench.undo()
    assert bench.scene.scenario.contact.restitution == 0.9
    assert not bench.undo()


@pytest.mark.parametrize("law", ["hybrid", "stepping", "compliant"])
def test_friction_is_known_under_every_law(law):
    bench = Bench(stiction.scene("box", until=0.02, samples=3).change({"contact.law": law}))
    assert_allclose(bench.friction(), bench.scene.scenario.contact.mu_static)


def test_ghosts_are_the_same_start_under_other_laws(bench):
    bench.compare(("hybrid", "compliant"))
    assert list(bench.ghosts) == ["compliant"]  # its own law is no ghost
    assert_array_equal(bench.ghosts["compliant"].q[0], bench.run.q[0])
    assert bench.differences()["compliant"] > 1e-4
    bench.change({"contact.restitution": 0.3})
    assert bench.ghosts["compliant"].scene.scenario.contact.restitution == 0.3
    bench.compare(())
    assert bench.ghosts == {}


def test_what_is_saved_runs_again(bench, tmp_path):
    bench.change({"contact.restitution": 0.35})
    (tmp_path / "saved.yaml").write_text(bench.scenario())
    assert_array_equal(stiction.scene(tmp_path / "saved.yaml").run().q, bench.run.q)
    assert "stiction-player" in bench.page()


def test_a_start_of_a_hinge_is_slid(bench):
    pendulum = Bench(stiction.scene("double-pendulum", until=0.2, samples=11))
    joint = next(k for k in knobs_of(pendulum.scene) if k.path == "start.q" and k.index == 1)
    assert pendulum.change(joint.change(pendulum.scene, 0.4))
    assert_allclose(pendulum.run.q[0, 1], 0.4)


def test_the_motions_of_a_paused_instant_are_those_of_the_run():
    """Also between two steps, where interpolation would make what touches part or collide."""
    from stiction.studio.instant import tell_motions

    bench = Bench(stiction.scene("box"))
    kinds = set()
    for t in (1.1, 1.25, 1.3):
        told = tell_motions(bench, t)
        assert "unique" in told
        modes = bench.run.modes[np.argmin(np.abs(bench.run.time - t))]
        for contact in np.flatnonzero(modes):
            kinds.add(MODE_NAMES[modes[contact]])
            assert f"box[{contact}] {MODE_NAMES[modes[contact]]}" in told
    assert kinds >= {"slip"}


@pytest.fixture
def slow(monkeypatch):
    """A bench whose runs are shown after every part of them, as if they took long."""
    monkeypatch.setattr(blueprint, "_BREATH", 0.0)  # a part is a single pass then
    monkeypatch.setattr(watching, "BETWEEN", -1.0)
    monkeypatch.setattr(bench, "FIRST", -1.0)
    monkeypatch.setattr(bench, "_IDLE", 0.0)
    return Bench(stiction.scene("stairs", until=0.12, samples=13))


def test_a_run_is_shown_as_far_as_it_has_come(slow):
    seen = []

    def meanwhile():
        if slow.goes_on:  # before there are two samples there is nothing to see
            seen.append((slow.version, float(slow.path.time[-1]), slow.until))

    assert slow.change({"contact.restitution": 0.3}, meanwhile=meanwhile)
    versions, ends, until = zip(*seen, strict=True)
    assert len(set(versions)) == len(versions) > 2
    assert list(ends) == sorted(ends)
    assert ends[0] < 0.06
    assert set(until) == {0.12}
    assert not slow.goes_on
    alone = stiction.scene("stairs", until=0.12, samples=13, contact={"restitution": 0.3}).run()
    assert_array_equal(slow.run.q, alone.q)


def test_a_run_that_was_shown_is_let_go(slow):
    shown = []
    fields = {"contact.restitution": 0.3}
    assert slow.change(fields, meanwhile=lambda: shown.append(weakref.ref(slow.run)))
    gc.collect()
    assert sum(ref() is None for ref in shown) > 0.8 * len(shown) > 10


def superseded(slow):
    """What ends a run as soon as a part of it is shown."""

    def meanwhile():
        if slow.goes_on:
            raise Superseded

    return meanwhile


def test_changes_of_a_run_that_was_superseded_count(slow):
    with pytest.raises(Superseded):
        slow.change({"contact.restitution": 0.3}, meanwhile=superseded(slow))
    assert slow.goes_on
    assert slow.change({"contact.mu_dynamic": 0.2})
    fields = slow.scene.scenario.contact
    assert (fields.restitution, fields.mu_dynamic) == (0.3, 0.2)


def test_undo_takes_back_a_run_that_was_superseded(slow):
    q, times = slow.run.q, [event.time for event in slow.events]
    with pytest.raises(Superseded):
        slow.change({"contact.restitution": 0.3}, meanwhile=superseded(slow))
    assert slow.undo()
    assert slow.run.q is q
    assert [event.time for event in slow.events] == times
    assert slow.aim is slow.scene
    assert not slow.undo()


def test_after_a_refusal_the_last_whole_run_is_shown(slow):
    q = slow.run.q
    with pytest.raises(Superseded):
        slow.change({"contact.restitution": 0.3}, meanwhile=superseded(slow))
    assert not slow.change({"contact.mu_dynamic": 3.0})
    assert "mu_dynamic" in slow.message
    assert slow.run.q is q
    assert not slow.goes_on


def test_runs_of_two_people_at_once_do_not_mix():
    """Both begin with the same scene, which is run by neither."""
    scene = stiction.scene("box", until=0.6, samples=31)
    whole, found = scene.run(), []

    def work():
        mine = Bench(scene)
        for _ in range(6):
            found.append(mine.run.q)
            mine.change({"contact.restitution": 0.2})
            mine._before = [(old, None) for old, _ in mine._before]  # undone by another run
            mine.undo()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 18
    for q in found:
        assert_array_equal(q, whole.q)
