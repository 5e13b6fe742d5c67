r"""The compliant law in a world: numbers of its pairs, limits and dry friction among them.

Contacts have the law's numbers. Limits and dry friction have no stiffness of their own in the law;
so limits give way under a steady load as MuJoCo's own do, by `solref` and `solimp` of the model,

$$ K = \frac{d}{1 - d} \, m k, \qquad C = 2 \sqrt{K m}, $$

with m the inertia that MuJoCo reckons for the joint or tendon, k the stiffness over inertia that
`solref` asks for, and d the impedance. Dry friction is a bristle as stiff as an oscillator of that
inertia with 1,000 rad/s. Loops do not give way: they are bonds here too.
"""

import warnings
from typing import Any

import mujoco
import numpy as np

from stiction._base.errors import IgnoredWarning, InputError
from stiction.engines.blueprint import Run
from stiction.engines.compliant import Compliant
from stiction.engines.core import part
from stiction.engines.worlds.laws import NOTHING_SAID
from stiction.mechanism import Mechanism
from stiction.surfaces import WorldContacts

_BRISTLE = 1e3  # of dry friction [rad/s]
_FASTEST = 1e3  # of limits [rad/s]: `solref` may ask for anything
# Fields of a scenario that may differ by geom, and their number of the law.
_BY_GEOM = {
    "mu_static": "SOFT_MU_STATIC",
    "mu_dynamic": "SOFT_MU_DYNAMIC",
    "stribeck_speed": "SOFT_STRIBECK_SPEED",
    "stribeck_exponent": "SOFT_STRIBECK_POWER",
}


def give_soft_laws(
    run: Run, law: Compliant, contacts: WorldContacts, model: mujoco.MjModel, mechanism: Mechanism
) -> None:
    """Tell the machine what every pair does, and what those will that are found on the way."""
    if np.any(_condim(model) > 3):
        warnings.warn(
            "friction of spin and rolling (condim 4 and 6) is left out: compliant contacts only"
            " slide",
            IgnoredWarning,
            stacklevel=2,
        )
    design, a = run.design, run.design.arrays
    M, lay = design.machine, design.core.layout
    usual = np.asarray(law.numbers(()), float)
    table = np.tile(usual, (1, M.pairs.count, 1))
    _number_laws(table[0], design, model)
    run.law = a.real(table)
    said = np.full((max(int(M.shapes.count), 1), len(usual)), NOTHING_SAID)
    for name, field, value in contacts.numbers:
        if field not in _BY_GEOM:
            raise InputError(
                f"`contact.{field}` must be one number for compliant contacts that are found on the"
                f" way, got a table; by geom there are {', '.join(_BY_GEOM)}"
            )
        said[mechanism.shapes.names.index(name), int(getattr(lay, _BY_GEOM[field]))] = value
    M.shapes.own_friction = int(contacts.own_friction)
    M.shapes.usual, M.shapes.law = a.real(usual), a.real(said)


def _condim(model: mujoco.MjModel) -> np.ndarray:
    touch = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    return np.concatenate([model.geom_condim[touch], model.pair_dim])


def _number_laws(table: np.ndarray, design: Any, model: mujoco.MjModel) -> None:
    """Laws of limits and of dry friction."""
    lay, kinds = part("layout"), part("coordinates")
    pairs = design.machine.pairs
    first = pairs.first.numpy()
    limits = (kinds.JOINT_LIMIT, kinds.BALL_LIMIT)
    for i, kind in enumerate(pairs.kind.numpy()):
        k = int(first[i])
        if kind in limits:
            joint = k - 1
            m = _inertia(model.dof_invweight0[model.jnt_dofadr[joint]])
            _limit(table[i], lay, m, model.jnt_solref[joint], model.jnt_solimp[joint])
        elif kind == kinds.TENDON_LIMIT:
            m = _inertia(model.tendon_invweight0[k])
            _limit(table[i], lay, m, model.tendon_solref_lim[k], model.tendon_solimp_lim[k])
        elif kind == kinds.FREEDOM_FRICTION:
            _dry(table[i], lay, _inertia(model.dof_invweight0[k]))
        elif kind == kinds.TENDON_FRICTION:
            _dry(table[i], lay, _inertia(model.tendon_invweight0[k]))


def _inertia(inverse: float) -> float:
    return 1.0 / inverse if inverse > 0 else 1.0


def _limit(row: np.ndarray, lay: Any, m: float, solref: np.ndarray, solimp: np.ndarray) -> None:
    time, ratio = solref
    k = 1 / (time * ratio) ** 2 if time > 0 else -time
    d = min(float(solimp[1]), 0.9999)
    K = m * min(d / (1 - d) * k, _FASTEST**2)
    row[:] = 0.0
    row[lay.STIFFNESS], row[lay.EXPONENT], row[lay.CLAMP] = K, 1.0, 1.0
    row[lay.DAMPING] = 2 * np.sqrt(K * m)
    row[lay.SOFT_STRIBECK_SPEED] = row[lay.SOFT_STRIBECK_POWER] = row[lay.CREEP_SPEED] = 1.0


def _dry(row: np.ndarray, lay: Any, m: float) -> None:
    row[:] = 0.0
    row[lay.EXPONENT] = row[lay.SOFT_MU_STATIC] = row[lay.SOFT_MU_DYNAMIC] = 1.0
    row[lay.SOFT_STRIBECK_SPEED] = row[lay.SOFT_STRIBECK_POWER] = row[lay.CREEP_SPEED] = 1.0
    row[lay.BRISTLE_STIFFNESS] = m * _BRISTLE**2
    row[lay.BRISTLE_DAMPING] = 2 * m * _BRISTLE
