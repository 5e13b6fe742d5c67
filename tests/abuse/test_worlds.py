"""Random worlds in short runs; `python -m benchmarks worlds` tries a thousand."""

from .worlds import try_world, worlds


def test_random_worlds_come_to_their_end(cases):
    """Nothing is inside of anything, no energy comes from nowhere, every ledger closes."""
    count = cases(400)
    found = worlds(count)
    assert found["right"] >= 0.97 * count, found


def test_a_world_is_the_same_every_time():
    assert try_world(3) == try_world(3)
