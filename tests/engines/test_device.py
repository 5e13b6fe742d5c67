"""Where a run is computed: refused in one line if it is not there, and passed on if it is."""

import jax.numpy as jnp
import numpy as np
import pytest
import warp

import stiction
from stiction._base.errors import InputError
from stiction.engines import by_core


def _run(device: str, control=None) -> stiction.Trajectory:
    arm = stiction.load("double-pendulum")
    floor = stiction.find_contacts(arm, points=["tip"])
    zeros = jnp.zeros((3, 2))
    options = {"until": 0.2, "samples": 2, "control": control}
    return stiction.simulate(arm, zeros, zeros, contacts=floor, device=device, **options)


@pytest.fixture
def there(monkeypatch):
    """A machine that says it has a GPU, and computes on its processor."""
    asked, here = [], by_core.design_of

    def design_of(*args, device, **options):
        asked.append(device)
        return here(*args, **options)

    monkeypatch.setattr(warp, "is_cuda_available", lambda: True)
    monkeypatch.setattr(by_core, "design_of", design_of)
    return asked


def test_without_a_gpu_one_is_refused_in_one_line():
    if warp.is_cuda_available():
        pytest.skip("there is a GPU here")
    with pytest.raises(InputError, match="`device` gpu needs an NVIDIA GPU") as told:
        _run("gpu")
    assert "\n" not in str(told.value)


def test_an_unknown_device_is_refused():
    with pytest.raises(InputError, match=r"no `device` 'tpu'.*'cpu', 'gpu'"):
        _run("tpu")


def test_the_core_is_asked_for_the_gpu(there):
    done = _run("gpu")
    assert there == ["cuda:0"]
    assert np.array_equal(done.q, _run("cpu").q)
    assert there == ["cuda:0", "cpu"]


def test_a_control_in_python_is_refused_on_a_gpu(there):
    with pytest.raises(InputError, match="`control` is a Python function"):
        _run("gpu", control=lambda t, q, v, modes: jnp.zeros(0))
    assert there == []


def test_contacts_found_on_the_way_are_refused_on_a_gpu(there):
    box = stiction.scene("box")
    contacts = stiction.surfaces.world_contacts(box.mechanism)
    start = {"q": box.q, "v": box.v, "until": 0.1}
    with pytest.raises(InputError, match="found by MuJoCo"):
        stiction.simulate(box.mechanism, **start, contacts=contacts, device="gpu")
