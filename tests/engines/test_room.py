"""What would take too much memory or time is refused with the number and the remedy."""

import re
import signal
import time

import numpy as np
import pytest

import stiction
from stiction import InputError
from stiction._base import waiting
from stiction.engines import room


def spheres(count: int) -> str:
    """Free balls apart from each other, over a floor."""
    bodies = "".join(
        f'<body pos="{0.3 * (i % 15)} {0.3 * (i // 15)} .2"><freejoint/><geom size=".1" mass="1"/>'
        "</body>"
        for i in range(count)
    )
    return f'<mujoco><worldbody><geom type="plane" size="5 5 .1"/>{bodies}</worldbody></mujoco>'


def test_steps_without_end_are_refused_at_once():
    scene = stiction.scene("box", {"contact.law": "stepping", "solver.dt": 1e-12})
    begin = time.monotonic()
    with pytest.raises(InputError, match=r"`solver.dt` must be at least 3e-08 s for a run of 3 s"):
        scene.run()
    assert time.monotonic() - begin < 10


@pytest.mark.parametrize("law", ["hybrid", "stepping"])
def test_ctrl_c_is_heard_in_the_middle_of_a_run(law):
    """A run of hours ends at once, and the next one is as good as ever."""
    shaken = {"contact.law": law, "ground.amplitude": [0.03, 0, 0], "ground.frequency": 3.0,
              "contact.mu_static": 0.2, "contact.mu_dynamic": 0.2, "samples": 3}  # fmt: skip
    scene = stiction.scene("box", shaken)
    scene.run(until=0.5)
    old = signal.signal(signal.SIGALRM, signal.default_int_handler)
    begin = time.monotonic()
    try:
        signal.setitimer(signal.ITIMER_REAL, 1.0)
        with pytest.raises(KeyboardInterrupt):
            scene.run({"contact.max_events": 10**4, "solver.max_steps": 10**8}, until=5e4)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert time.monotonic() - begin < 10
    assert scene.run(until=0.5).success


def test_a_run_that_takes_long_says_how_long(monkeypatch, capsys):
    monkeypatch.setattr(waiting, "LONG", 0.0)
    monkeypatch.setattr(waiting.Pace, "told", False)
    for _ in range(2):
        stiction.scene("box", {"contact.law": "stepping"}).run()
    (line,) = capsys.readouterr().err.splitlines()  # once in a process
    assert re.fullmatch(
        r"stiction: .* % of the run is done after 0 s: at this pace it takes .*", line
    )


def test_who_listens_hears_how_far_a_run_is():
    heard = []
    with waiting.listening(lambda part, left: heard.append((part, left))):
        stiction.scene("box", {"contact.law": "stepping"}).run()
    parts = [part for part, _ in heard]
    assert len(parts) > 1
    assert parts == sorted(parts)
    assert 0 < parts[0] < parts[-1] < 1
    assert all(left > 0 for _, left in heard)


def test_memory_is_estimated_before_the_run(monkeypatch):
    monkeypatch.setattr(room, "machine_memory", lambda: 4e8)
    scene = stiction.scene(spheres(40), {"until": 0.01, "samples": 3})
    with pytest.raises(InputError, match=r"0.186 GiB, .* would take .* .820 pairs .*`max_events`"):
        scene.run()
    assert scene.run({"contact.max_events": 10}).success
    with pytest.raises(InputError, match=r"mostly for its samples .*; ask for fewer `samples`"):
        scene.run({"contact.max_events": 10, "samples": 100_000})


def test_a_batch_is_told_to_be_smaller(monkeypatch):
    monkeypatch.setattr(room, "machine_memory", lambda: 1e8)
    box = stiction.scene("box")
    q = np.tile(np.asarray(box.q), (3000, 1))
    with pytest.raises(InputError, match=r"3000 runs at once.*make the batch smaller"):
        stiction.simulate(
            box.mechanism, q, np.zeros((3000, 6)), until=1.0, contacts=box.contacts, law=box.law
        )


def test_dozens_of_balls_fall_side_by_side():
    """1,830 pairs may touch, and few do: room is made for those that touch at once."""
    changes = {"contact.law": "stepping", "until": 0.2, "samples": 3, "contact.max_events": 20}
    run = stiction.scene(spheres(60), changes).run()
    z = np.asarray(run.q)[-1].reshape(60, 7)[:, 2]
    np.testing.assert_allclose(z, 0.1, atol=1e-4)
    assert run.success


def test_more_that_touch_at_once_than_there_is_room_for_is_said(monkeypatch):
    from stiction.engines import assemble

    monkeypatch.setattr(assemble, "MOST_ROWS_AT_ONCE", 9)
    changes = {"until": 0.2, "samples": 3, "contact.max_events": 20}
    run = stiction.scene(spheres(5), changes).run()
    assert not run.success
    assert "More contacts touch at once than the 400" in run.message


@pytest.mark.parametrize("sides", [4, 8, 16, 40])
def test_pyramids_may_have_any_number_of_sides(sides):
    """The tableau has room for all of them; a box that slides stops near where the cone has it."""
    changes = {
        "contact.law": "stepping", "contact.solver": "lcp", "contact.sides": sides, "until": 0.4,
        "start.q": [0, 0, 0.05, 1, 0, 0, 0], "start.v": [1.0, 0.3, 0, 0, 0, 0],
    }  # fmt: skip
    run = stiction.scene("box", changes).run()
    assert run.success
    way = np.linalg.norm(run.q[-1, :2])
    mu = stiction.scene("box", changes).scenario.contact.mu_dynamic
    assert way == pytest.approx((1.0 + 0.09) / (2 * mu * 9.81), rel=0.35 if sides == 4 else 0.1)
