"""What else than runs a study can do in each case: impacts, postures, identifications anew."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from stiction._base.errors import InputError, unknown
from stiction.scenes import Scene
from stiction.studies.measures import parse_keep
from stiction.studies.scene_subject import SceneSubject, VariedScene, scene_function
from stiction.studies.subject import AbstractSubject, Case, FunctionSubject

if TYPE_CHECKING:
    import xarray as xr

OF = ("run", "impact", "posture")


def subject_of(
    scene: Scene,
    source: str,
    of: str = "run",
    *,
    keep: str = "summary",
    direction: Sequence[float] | None = None,
    settings: str = "",
    device: str = "cpu",
) -> AbstractSubject:
    """What a study of a scene does.

    Args:
        scene: The scene.
        source: Its name or file, for commands.
        of: One of `OF`.
        keep: Of each run: ends, summary, events, trajectories.
        direction: Of posture: a unit vector in the world.
        settings: Options that the scene was changed by, for commands.
        device: Of runs: cpu or gpu.
    """
    if device != "cpu" and of != "run":
        raise InputError(f"`--device` {device} is for runs; leave it out of --of {of}")
    if of not in OF:
        raise unknown("`--of`", of, OF)
    if (of == "posture") != (direction is not None):
        raise InputError("`--direction` belongs to `--of posture`, which needs it")
    varied = VariedScene(scene.scenario, scene.folder, source)
    if of == "run":
        return SceneSubject(varied, parse_keep(keep), settings, device)
    command = f"stiction {of} {shlex.quote(source)}"
    if of == "impact":
        return scene_function(varied, impact_outcome, command, settings)
    assert direction is not None
    towards = tuple(float(x) for x in direction)
    command += f" --direction {','.join(map(repr, towards))}"
    return scene_function(varied, PostureOutcome(towards), command, settings)


def impact_outcome(scene: Scene) -> "xr.Dataset":
    """What every impact law makes of the first impact of a scene."""
    import xarray as xr

    from stiction.scenes import find_impact, resolve_by_all
    from stiction.scenes.impact import LAWS

    found = find_impact(scene, at_start=False)
    after, creates = np.full(len(LAWS), np.nan), np.zeros(len(LAWS), bool)
    for row in resolve_by_all(found):
        name = row["law"]
        place = list(LAWS).index(name if name in LAWS else name.removesuffix(", in sequence"))
        after[place], creates[place] = row["kinetic_after"], row["creates_energy"]
    return xr.Dataset(
        {
            "impact_time": ((), found.time, {"units": "s"}),
            "kinetic_before": ((), float(found.problem.kinetic), {"units": "J"}),
            "kinetic_after": ("law", after, {"units": "J"}),
            "creates_energy": ("law", creates),
        },
        {"law": list(LAWS)},
    )


@dataclass(frozen=True)
class PostureOutcome:
    """The best posture of a scene along a direction."""

    direction: tuple[float, ...]

    def __call__(self, scene: Scene) -> "xr.Dataset":
        import jax.numpy as jnp
        import xarray as xr

        from stiction.agility import best_posture, posture_limits
        from stiction.scenes.stance import build_stance

        stance, q = build_stance(scene)
        limits = posture_limits(stance)
        found = best_posture(stance, limits, jnp.asarray(self.direction), guess=q)
        best = found.optima[0]
        return xr.Dataset(
            {
                "capability": ((), float(best.capability), {"units": "m/s²"}),
                "optima": len(found.optima),
                "posture": ("coordinate", np.asarray(best.q)),
            },
            {"coordinate": list(stance.mechanism.tree.coordinate_names)},
        )


def bootstrap(logs: Sequence[str | Path], setup: str | Path) -> FunctionSubject:
    """Identify again from tests drawn with replacement: the spread that other tests would have.

    To be studied in replicates: `study(bootstrap(logs, setup), make_design(replicates=200))`. Each
    log is one test, so there must be several.

    Args:
        logs: Files of tests.
        setup: A setup file or a built-in name.
    """
    if len(logs) < 3:
        raise InputError(f"`logs` must be at least 3 tests to draw from, got {len(logs)}")
    drawn = _Redraw(tuple(Path(log).absolute() for log in logs), str(setup))
    identity = {"logs": [str(log) for log in drawn.logs], "setup": str(setup)}
    return FunctionSubject(drawn, "identify", identity)


@dataclass(frozen=True)
class _Redraw:
    """Identification from tests that are drawn by the seed of a case."""

    logs: tuple[Path, ...]
    setup: str

    @cached_property
    def _read(self) -> Any:
        from stiction.identify import read_setup

        return read_setup(self.setup)

    def __getstate__(self) -> dict[str, Any]:
        return {"logs": self.logs, "setup": self.setup}

    def __call__(self, case: Case, seed: np.random.SeedSequence) -> dict[str, float]:
        from stiction.identify import identify_logs

        setup, folder = self._read
        chosen = np.random.default_rng(seed).integers(0, len(self.logs), len(self.logs))
        found = identify_logs([self.logs[i] for i in chosen], setup, folder)
        return {
            name: float("nan") if p.value is None else p.value
            for name, p in found.parameters.items()
        }
