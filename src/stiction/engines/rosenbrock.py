r"""Implicit steps for stiff contacts: Rodas5P [Steinebach2023], a Rosenbrock method of order 5(4).

With J the derivative of the rate by the state, f_t that by time, and $W = I/(\gamma h) - J$,

$$ W U_i = f(t + c_i h, \; y + \textstyle\sum_j a_{ij} U_j) + \sum_j \frac{C_{ij}}{h} U_j
   + h \, d_i \, f_t , $$

the new state is y plus the last row's sum, and the last U is the error. L-stable: a contact at rest
costs long steps however stiff it is. No equation is solved by iteration, so that a step is one
straight program, and lanes of a batch do not wait for each other. The method is in no library that
shows its last stage; its numbers are those of OrdinaryDiffEq.jl.

What is booked does not act back on the motion: its part of W is a number, and of J a block below.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np
from jax.flatten_util import ravel_pytree

from stiction._base.arrays import Array, Float, Scalar
from stiction.engines.state import State

_GAMMA = 0.21193756319429014
_A = np.zeros((9, 8))
_A[1, :1] = 3.0
_A[2, :2] = 2.849394379747939, 0.45842242204463923
_A[3, :3] = -6.954028509809101, 2.489845061869568, -10.358996098473584
_A[4, :4] = 2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641
_A[5, :5] = (
    -7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256,
    0.030198172008377946,
)  # fmt: skip
# From here on a stage is the one before and its U.
for _i in range(6, 9):
    _A[_i] = _A[_i - 1]
    _A[_i, _i - 1] = 1.0
_C = np.zeros((9, 8))
_C[1, :1] = -14.155112264123755
_C[2, :2] = -17.97296035885952, -2.859693295451294
_C[3, :3] = 147.12150275711716, -1.41221402718213, 71.68940251302358
_C[4, :4] = 165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306
_C[5, :5] = (
    24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125,
    -0.6610691825249471,
)  # fmt: skip
_C[6, :6] = (
    30.91273214028599, -3.1208243349937974, 77.79954646070892, 34.28646028294783,
    -19.097331116725623, -28.087943162872662,
)  # fmt: skip
_C[7, :7] = (
    37.80277123390563, -3.2571969029072276, 112.26918849496327, 66.9347231244047,
    -40.06618937091002, -54.66780262877968, -9.48861652309627,
)  # fmt: skip
_TIMES = np.array(
    [0, 0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664, 1, 1, 1, 1]
)
_D = np.array(
    [_GAMMA, -0.42387512638858027, -0.3384627126235924, 1.8046452872882734, 2.325825639765069]
    + [0.0] * 4
)


def rosenbrock_step(
    look: Callable[[Scalar, State], tuple[State, Any]],
    finish: Callable[[State], State],
    t: Scalar,
    y: State,
    k1: State,
    dt: Scalar,
) -> tuple[State, State, Any, State]:
    """A step from (t, y) over dt; arguments and results as of `runge_kutta.explicit_step`."""
    x0, as_moving = ravel_pytree(_moving(y))
    b0, as_booked = ravel_pytree(_booked(y))

    def state(x: Array, b: Array) -> State:
        (q, v, memory), (ledger, gap, books) = as_moving(x), as_booked(b)
        inner = () if not jax.tree.leaves(y.inner) else type(y.inner)(memory, *books)
        return State(q, v, ledger, gap, inner)

    def flat(k: State) -> Array:
        return jnp.concatenate([ravel_pytree(_moving(k))[0], ravel_pytree(_booked(k))[0]])

    def rate(x: Array, t: Scalar) -> Array:
        return flat(look(t, state(x, b0))[0])

    n = x0.size
    along = jnp.eye(n + 1, dtype=x0.dtype)
    J = jax.vmap(lambda d: jax.jvp(rate, (x0, t), (d[:-1], d[-1]))[1], out_axes=1)(along)
    J, f_t = J[:, :-1], J[:, -1]
    W = jsl.lu_factor(jnp.eye(n, dtype=x0.dtype) / (_GAMMA * dt) - J[:n])
    a, c, d, times = (jnp.asarray(m, x0.dtype) for m in (_A, _C, _D, _TIMES))

    def solve(i: Array, f: Array, U: Float[Array, "8 m"]) -> Array:
        right = f + (c[i] @ U) / dt + dt * d[i] * f_t
        moving = jsl.lu_solve(W, right[:n])
        return jnp.concatenate([moving, _GAMMA * dt * (right[n:] + J[n:] @ moving)])

    def stage(i: Array, carry: tuple) -> tuple:
        U, *_ = carry
        change = a[i] @ U
        new = state(x0 + change[:n], b0 + change[n:])
        new = jax.tree.map(lambda x, z: jnp.where(i == 8, x, z), finish(new), new)
        k, more = look(t + times[i] * dt, new)
        # The pass after the last stage only looks at the new state.
        U = U.at[jnp.minimum(i, 7)].set(jnp.where(i == 8, U[7], solve(i, flat(k), U)))
        return U, new, k, more

    U = jnp.zeros((8, n + b0.size), x0.dtype)
    U = U.at[0].set(solve(jnp.asarray(0), flat(k1), U))
    shapes = jax.eval_shape(look, t, y)[1]
    nothing = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)
    U, y, k, more = jax.lax.fori_loop(1, 9, stage, (U, y, k1, nothing))
    return y, k, more, state(U[7, :n], U[7, n:])


def _moving(y: State) -> tuple:
    """What acts on the motion."""
    return y.q, y.v, getattr(y.inner, "memory", ())


def _booked(y: State) -> tuple:
    """What is booked along with it."""
    inner = y.inner
    return y.ledger, y.gap, (inner.normal_loss, inner.friction_loss) if inner != () else ()
