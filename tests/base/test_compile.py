"""A long compilation says so, once; a quick program serves inside of others too."""

import time

import jax
import jax.numpy as jnp
import numpy as np

from stiction._base import waiting
from stiction._base.compile import quick_jit

BEGINS = "/jax/compilation_cache/compile_requests_use_cache"
ENDS = "/jax/core/compile/backend_compile_duration"


def test_a_long_compilation_says_so_once(capfd, monkeypatch):
    monkeypatch.setattr(waiting, "PATIENCE", 0.01)
    announcer = waiting.Announcer()
    for _ in range(2):
        announcer.begins()
        time.sleep(0.5)
        announcer.ends()
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("compiling") == err.count("\n") == 1


def test_a_short_one_says_nothing(capfd, monkeypatch):
    monkeypatch.setattr(waiting, "PATIENCE", 0.2)
    announcer = waiting.Announcer()
    announcer.begins()
    announcer.ends()
    time.sleep(0.5)
    assert capfd.readouterr().err == ""


def test_the_events_are_those_of_jax():
    """Both are seen when something is compiled, the beginning first."""
    seen = []
    jax.monitoring.register_event_listener(lambda event, **_: seen.append(event))
    jax.monitoring.register_event_duration_secs_listener(lambda event, *_, **__: seen.append(event))
    jax.jit(lambda x: 3.0 * x + len(seen))(1.0)
    assert seen.index(BEGINS) < seen.index(ENDS)


def test_a_quick_program_works_within_others_and_by_keyword():
    """Options are for the outermost program only."""

    @quick_jit
    def scaled(x, factor=2.0):
        return factor * x

    assert scaled(1.5, factor=3.0) == 4.5
    assert jax.jit(lambda x: scaled(x) + 1.0)(1.5) == 4.0
    assert jax.grad(scaled)(1.5) == 2.0
    np.testing.assert_array_equal(jax.vmap(scaled)(jnp.arange(3.0)), [0.0, 2.0, 4.0])
