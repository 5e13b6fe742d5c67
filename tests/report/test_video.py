"""Videos: which times are shown, and files that hold pictures."""

import os
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

import stiction
from stiction._base.errors import InputError
from stiction.report.video import SIZE, _write_mp4, check_video, frame_times


def test_more_pictures_near_impacts_and_both_ends():
    run = stiction.scene("bouncing-ball").run(until=1.0, samples=31)
    times = frame_times(run, 30.0)
    fall = np.sqrt(2 / 9.81)
    steps = np.diff(times)
    assert (times[0], times[-1]) == (0.0, 1.0)
    near = np.abs(times[:-1] - fall) < 0.01
    far = np.abs(times[:-1] - fall) > 0.1
    assert steps[near].max() < 0.5 / 30
    assert steps[far][:-1] == pytest.approx(1 / 30)


@pytest.mark.parametrize(("name", "word"), [("a.avi", ".mp4 or .gif"), ("no/a.gif", "directory")])
def test_other_files_are_refused_before_anything_is_done(tmp_path, name, word):
    with pytest.raises(InputError, match=word):
        check_video(tmp_path / name)


@pytest.mark.filterwarnings("error")  # JAX's own, at a fork
def test_a_film_is_encoded_without_a_fork_of_this_process(tmp_path):
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
    jax.devices()  # has threads now
    pictures = (np.full((SIZE[1], SIZE[0], 3), 20 * k, np.uint8) for k in range(12))
    _write_mp4(tmp_path / "film.mp4", pictures)
    assert imageio_ffmpeg.count_frames_and_secs(str(tmp_path / "film.mp4"))[0] == 12


@pytest.mark.slow
def test_a_gif_shows_the_motion(tmp_path):
    """In a process of its own: MuJoCo chooses how to draw when it is imported."""
    from PIL import Image

    command = [sys.executable, "-m", "stiction", "run", "bouncing-ball", "--set", "until=0.5"]
    command += ["--video", "ball.gif", "--set", "samples=11", "--out", "out"]
    made = subprocess.run(
        command,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=os.environ
        | {"MUJOCO_GL": "egl", "PYTHONPATH": str(Path(stiction.__file__).parents[1])},
    )
    if "cannot draw without a screen" in made.stderr:
        pytest.skip("no EGL here")
    assert made.returncode == 0, made.stderr
    film = Image.open(tmp_path / "ball.gif")
    first = np.asarray(film.convert("RGB"), float)
    film.seek(film.n_frames - 1)
    last = np.asarray(film.convert("RGB"), float)

    def height(picture):
        orange = (picture[..., 0] > 150) & (picture[..., 2] < 90)
        return -np.nonzero(orange)[0].mean()

    assert height(first) > height(last) + 100  # px: it falls
