"""Random scenes in short runs: right, or refused by name; `python -m benchmarks abuse` has more."""

from .scenes import scenes, try_scene


def test_random_scenes_are_right_or_say_what_is_not(cases):
    """Ledgers close, numbers are finite; what an engine does not treat is named."""
    found = scenes(cases(300))
    assert not [what for what in found if what.startswith("WRONG")], found
    assert found["right"] > 0.5 * found.total()


def test_a_scene_is_the_same_every_time():
    assert try_scene(3) == try_scene(3)
