r"""Implicit stages, for what is stiff: a stage is an equation, and a pass is a correction of it.

A stage of Kvaerno5 [Kvaerno2004] has y = y_base + g k with k = f(y) and g = γ h. The method is
L-stable and its last stage is the new state; so is its embedded method, whose distance is the
error: nothing is left in it that would have to be filtered. With the residual r = f(y) - k

$$ (I - g \, \partial f / \partial y) \, \kappa = r, \qquad k \leftarrow k + \kappa, \quad
   y \leftarrow y + g \kappa . $$

Of ∂f/∂y what may be stiff is taken, in closed form: contacts, joint springs and dampers, servos.
The rest only slows the iteration. Bristles are eliminated contact by contact, so that a contact is
$\Delta f = S \Delta u + s$ with $\Delta u = g J \kappa_v$, and with ρ the residual of q along the
freedoms the gap changes by $g (J_n \rho + \Delta u_n)$. In the coordinates
$w = D^{1/2} L \kappa_v$ of the factored mass matrix, with $y = D^{-1/2} L^{-T} e$ the row of a
joint of stiffness K and damping C,

$$ A w = D^{1/2} L r_v + \sum Y s - g \sum K (e \cdot \rho) y, \qquad
   A = I - g \sum Y S Y^T + \sum (g C + g^2 K) y y^T . $$

How far A is from the identity says how stiff a step is: explicit ones are stable up to about 1.
"""

import warp as wp

from .compliance import Yielding, axis_of, bristle_at, get_axes, react
from .contacts import place_contact, put_jacobian, row
from .layout import (
    BOOKS,
    BRISTLE_DAMPING,
    BRISTLE_STIFFNESS,
    OPEN,
    SLIP,
    Machines,
)
from .reals import (
    HALF,
    INFINITY,
    ONE,
    TWO,
    ZERO,
    World,
    add_scaled,
    dot,
    fill,
    get,
    get3,
    get_int,
    get_quat,
    mat22,
    mat33,
    put,
    put3,
    put_int,
    put_quat,
    quat,
    real,
    scale,
    vec2,
    vec3,
)
from .rows import law
from .step import error_ratio, method_of, n_stages, put_rate
from .tree import BALL, FREE, HINGE, SLIDE, half_solve, second_half

# A correction of this part of what is tolerated is the last; and of this part, if they no longer
# become smaller.
_CLOSE, _ROUNDED = wp.constant(real(0.02)), wp.constant(real(0.3))
_MAX_ITERATIONS = wp.constant(12)
_FIRST_STABLE, _LEAST_STIFF = wp.constant(real(1.5)), wp.constant(real(0.6))
_PATIENCE = wp.constant(5)  # steps that must agree before the kind of step changes
_GAMMA = wp.constant(real(0.26))


@wp.struct
class Softness:
    """How a contact's force and bristle change: Δf = S Δu + s, Δz = g (z + Z Δu_t + Z_N ΔN)."""

    S: mat33
    s: vec3
    z: vec2
    by_slip: mat22
    by_load: vec2
    load: vec2  # ΔN = load[0] + load[1] Δu_n


@wp.func
def soften(m: Machines, s: World, i: int, r: Yielding, g: real, rho: real, bend: vec2):
    """Softness of contact i with its bristle eliminated; ρ and `bend` are residuals."""
    soft = Softness()
    k = law(m, s, i, BRISTLE_STIFFNESS)
    c = ONE
    if k > ZERO:
        c = law(m, s, i, BRISTLE_DAMPING)
    B = r.by_trial
    one = mat22(ONE, ZERO, ZERO, ONE)
    E = wp.inverse(one + (one - B) * (g * k / c))
    slip = B * c + r.by_slip
    soft.by_slip = E * slip / c
    soft.by_load = E * r.by_load / c
    soft.z = E * bend
    if k == ZERO:  # no bristle
        soft.by_slip = mat22()
        soft.by_load = vec2()
        slip = r.by_slip
    normal = -(r.by_rate + g * r.by_depth)
    shift = -g * r.by_depth * rho
    if r.force[2] > ZERO:
        soft.load = vec2(shift, normal)
    pull = B * (g * k)
    T = -(pull * soft.by_slip + slip)
    T_N = -(pull * soft.by_load + r.by_load)
    t = -(pull * soft.z) + T_N * soft.load[0]
    T_n = T_N * soft.load[1]
    soft.S = mat33(
        T[0, 0], T[0, 1], T_n[0], T[1, 0], T[1, 1], T_n[1], ZERO, ZERO, normal
    )  # fmt: skip
    soft.s = vec3(t[0], t[1], shift)
    return soft


@wp.func(inline=False)
def soften_pair(m: Machines, s: World, i: int, g: real, rho: real):
    z = m[0].soft.change + bristle_at(m, i)
    r = react(m, s, i, get_axes(m, s, m[0].c.velocity, i))
    return soften(m, s, i, r, g, rho, vec2(get(s, z), get(s, z + 1)))


@wp.func
def add_outer(m: Machines, s: World, a: int, b: int, factor: real):
    """A += factor a bᵀ."""
    nv = m[0].tree.nv
    for i in range(nv):
        x = factor * get(s, a + i)
        if x != ZERO:
            add_scaled(s, m[0].soft.A + i * nv, x, b, nv)


@wp.func(inline=False)
def add_contact(m: Machines, s: World, i: int, g: real):
    """The rows of a closed contact, and its part of the equations."""
    nv = m[0].tree.nv
    count = m[0].pairs.rows[i]
    here = place_contact(m, s, i, get(s, m[0].z.now))
    Y = m[0].c.Y + count * i * nv
    rho = real(0.0)
    for j in range(count):
        direction = row(here.frame, axis_of(count, j))
        to = Y + j * nv
        fill(s, to, nv, ZERO)
        put_jacobian(m, s, m[0].pairs.first[i], direction, here.point, ONE, to)
        put_jacobian(m, s, m[0].pairs.second[i], direction, here.point, -ONE, to)
        rho = dot(s, to, m[0].soft.turn, nv)  # of the normal, which comes last
        half_solve(m, s, to)
    put(s, m[0].soft.rho + i, rho)
    soft = soften_pair(m, s, i, g, rho)
    for a in range(count):
        fill(s, m[0].soft.row, nv, ZERO)
        for b in range(count):
            part = soft.S[axis_of(count, a), axis_of(count, b)]
            add_scaled(s, m[0].soft.row, part, Y + b * nv, nv)
        add_outer(m, s, Y + a * nv, m[0].soft.row, -g)
        add_scaled(s, m[0].soft.right, soft.s[axis_of(count, a)], Y + a * nv, nv)


@wp.func
def add_joint(m: Machines, s: World, damping: real, stiffness: real, rho: real, g: real):
    """The part of what acts along the row that is given, which is half solved."""
    half_solve(m, s, m[0].soft.row)
    add_outer(m, s, m[0].soft.row, m[0].soft.row, g * damping + g * g * stiffness)
    add_scaled(s, m[0].soft.right, -g * stiffness * rho, m[0].soft.row, m[0].tree.nv)


@wp.func
def add_actuator(m: Machines, s: World, i: int, g: real):
    """A servo within its limits: -∂f/∂l and -∂f/∂l̇ are its stiffness and damping."""
    f = get(s, m[0].motors.effort + i)
    if f <= m[0].act.force_range[i, 0] or f >= m[0].act.force_range[i, 1]:
        return
    k = -m[0].act.bias[i, 1]
    if m[0].act.n_phases > 0:
        k += m[0].act.gain[i] * m[0].act.phases[i, get_int(s, m[0].motors.phase + i), 2]
    c = -m[0].act.bias[i, 2]
    if k == ZERO and c == ZERO:
        return
    rho = real(0.0)
    fill(s, m[0].soft.row, m[0].tree.nv, ZERO)
    for e in range(m[0].act.first[i], m[0].act.first[i + 1]):
        d = m[0].act.entry_v[e]
        put(s, m[0].soft.row + d, m[0].act.gear[e])
        rho += m[0].act.gear[e] * get(s, m[0].soft.turn + d)
        if m[0].act.entry_q[e] < 0:
            k = ZERO
    add_joint(m, s, c, k, rho, g)


@wp.func(inline=False)
def assemble(m: Machines, s: World, g: real):
    """A and the right-hand side at the state that was evaluated, and how stiff that is."""
    nv = m[0].tree.nv
    nq = m[0].tree.nq
    fill(s, m[0].soft.A, nv * nv, ZERO)
    for d in range(nv):  # D^(1/2) L r
        entry = m[0].at.M + m[0].tree.row[d] + 1
        p = get(s, m[0].soft.change + nq + d)
        j = m[0].tree.before[d]
        while j >= 0:
            p += get(s, entry) * get(s, m[0].soft.change + nq + j)
            entry += 1
            j = m[0].tree.before[j]
        put(s, m[0].soft.right + d, p / get(s, m[0].at.D + d))
    fastest = real(0.0)
    for i in range(m[0].pairs.count):
        if get_int(s, m[0].c.mode + i) != OPEN:
            add_contact(m, s, i, g)
            k = law(m, s, i, BRISTLE_STIFFNESS)
            if k > ZERO and get_int(s, m[0].c.mode + i) == SLIP:
                fastest = wp.max(fastest, g * k / law(m, s, i, BRISTLE_DAMPING))
    for i in range(1, m[0].tree.n_links):
        kind = m[0].tree.kind[i]
        first = m[0].tree.at_v[i]
        for d in range(first, m[0].tree.last_freedom[i] + 1):
            k = ZERO
            if kind == SLIDE or kind == HINGE:
                k = m[0].tree.stiffness[i]
            c = m[0].tree.damping[d]
            if k != ZERO or c != ZERO:
                fill(s, m[0].soft.row, nv, ZERO)
                put(s, m[0].soft.row + d, ONE)
                add_joint(m, s, c, k, get(s, m[0].soft.turn + d), g)
    for i in range(m[0].act.count):
        add_actuator(m, s, i, g)
    for i in range(nv):
        total = real(0.0)
        for j in range(nv):
            total += wp.abs(get(s, m[0].soft.A + i * nv + j))
        fastest = wp.max(fastest, total)
        here = m[0].soft.A + i * nv + i
        put(s, here, get(s, here) + ONE)
    put(s, m[0].soft.stiffness, fastest)


@wp.func
def eliminate(s: World, A: int, n: int, x: int):
    """x := A⁻¹ x by Gauss's elimination, the largest pivot of each column first. A is lost."""
    for k in range(n):
        best = int(k)
        for i in range(k + 1, n):
            if wp.abs(get(s, A + i * n + k)) > wp.abs(get(s, A + best * n + k)):
                best = i
        if best != k:
            swap(s, x + k, x + best)
            for j in range(k, n):
                swap(s, A + k * n + j, A + best * n + j)
        for i in range(k + 1, n):
            share = get(s, A + i * n + k) / get(s, A + k * n + k)
            if share != ZERO:
                put(s, x + i, get(s, x + i) - share * get(s, x + k))
                add_scaled(s, A + i * n + k, -share, A + k * n + k, n - k)
    for back in range(n):
        i = n - 1 - back
        value = get(s, x + i) - dot(s, A + i * n + i + 1, x + i + 1, n - 1 - i)
        put(s, x + i, value / get(s, A + i * n + i))


@wp.func
def swap(s: World, a: int, b: int):
    x = get(s, a)
    put(s, a, get(s, b))
    put(s, b, x)


@wp.func
def along_freedoms(m: Machines, s: World, rate: int):
    """A rate of q as velocities of the freedoms, into `turn`."""
    for i in range(1, m[0].tree.n_links):
        a = m[0].tree.at_q[i]
        d = m[0].soft.turn + m[0].tree.at_v[i]
        kind = m[0].tree.kind[i]
        if kind == FREE:
            put3(s, d, get3(s, rate + a))
            d += 3
            a += 3
        if kind == FREE or kind == BALL:
            w = wp.quat_inverse(get_quat(s, m[0].at.q + a)) * get_quat(s, rate + a)
            put3(s, d, vec3(w[0], w[1], w[2]) * TWO)
        else:
            put(s, d, get(s, rate + a))


@wp.func
def correct_turns(m: Machines, s: World, g: real):
    """κ_q = r_q + g q̇(κ_v), in place of r_q."""
    change = m[0].soft.change
    for i in range(1, m[0].tree.n_links):
        a = m[0].tree.at_q[i]
        d = change + m[0].tree.nq + m[0].tree.at_v[i]
        kind = m[0].tree.kind[i]
        if kind == FREE:
            put3(s, change + a, get3(s, change + a) + get3(s, d) * g)
            a += 3
            d += 3
        if kind == FREE or kind == BALL:
            w = get3(s, d) * (HALF * g)
            turn = get_quat(s, m[0].at.q + a) * quat(w[0], w[1], w[2], ZERO)
            put_quat(s, change + a, get_quat(s, change + a) + turn)
        else:
            put(s, change + a, get(s, change + a) + get(s, d) * g)


@wp.func(inline=False)
def solve_stage(m: Machines, s: World, g: real):
    """From the residual to the correction κ of what acts: q, v, bristles; and of gaps, to judge."""
    nv = m[0].tree.nv
    nq = m[0].tree.nq
    change = m[0].soft.change
    along_freedoms(m, s, change)
    assemble(m, s, g)
    w = m[0].soft.right
    eliminate(s, m[0].soft.A, nv, w)
    for i in range(m[0].pairs.count):
        bend = vec2()
        closed = real(0.0)
        if get_int(s, m[0].c.mode + i) != OPEN:
            count = m[0].pairs.rows[i]
            rho = get(s, m[0].soft.rho + i)
            soft = soften_pair(m, s, i, g, rho)
            du = vec3()
            for j in range(count):
                du[axis_of(count, j)] = g * dot(s, m[0].c.Y + (count * i + j) * nv, w, nv)
            load = soft.load[0] + soft.load[1] * du[2]
            bend = soft.z + soft.by_slip * vec2(du[0], du[1]) + soft.by_load * load
            closed = rho + du[2]
        put(s, change + bristle_at(m, i), bend[0])
        put(s, change + bristle_at(m, i) + 1, bend[1])
        put(s, change + m[0].z.gaps + i, closed)
    second_half(m, s, w)
    for d in range(nv):
        put(s, change + nq + d, get(s, w + d))
    correct_turns(m, s, g)


@wp.func
def is_booked(m: Machines, i: int):
    """Whether an entry of y only follows from the others: ledger, losses, gaps."""
    moving = m[0].tree.nq + m[0].tree.nv
    bristles = moving + BOOKS
    return i >= moving and (i < bristles or i >= bristles + 2 * m[0].pairs.count)


@wp.func(inline=False)
def correct_stage(m: Machines, s: World):
    """Correct an implicit stage by its evaluation. 0: once more; 1: it holds; 2: it does not.

    The last stage is taken where it was evaluated, so that forces are those of the new state.
    """
    n = m[0].z.n
    j = get_int(s, m[0].z.stage)
    own = m[0].a[method_of(m, s), j, j]
    g = get(s, m[0].z.h) * own
    k = m[0].z.k + j * n
    change = m[0].soft.change
    put_rate(m, s, change)
    for i in range(n):
        r = get(s, change + i) - get(s, k + i)
        put(s, change + i, r)
        if is_booked(m, i):
            put(s, m[0].z.y + i, get(s, m[0].z.y + i) + g * r)
            put(s, k + i, get(s, k + i) + r)
            put(s, change + i, ZERO)
    solve_stage(m, s, g)
    for i in range(m[0].z.gaps):
        if not is_booked(m, i):
            put(s, k + i, get(s, k + i) + get(s, change + i))
    scale(s, change, g, n)
    size = error_ratio(m, s, change)
    count = get_int(s, m[0].soft.iteration)
    before = get(s, m[0].soft.size)
    put(s, m[0].soft.size, size)
    put_int(s, m[0].soft.iteration, count + 1)
    last = j == n_stages(m) - 1
    holds = size <= _CLOSE
    if count > 0 and size < before:
        # What is left is this part of the correction, which the last stage does not make.
        left = size * size / (before - size)
        holds = holds or (left <= _CLOSE and not last)
    elif count > 1:
        holds = holds or size <= _ROUNDED
    if not (holds and last):
        add_scaled(s, m[0].z.y, ONE, change, m[0].z.gaps)
    if holds:
        return 1
    if not (size < INFINITY) or count >= _MAX_ITERATIONS or (count > 2 and size > TWO * before):
        return 2
    return 0


@wp.func
def choose_kind(m: Machines, s: World):
    """Whether the next step is implicit: where stability, not accuracy, keeps explicit ones short.

    After several steps whose stiffness says so; and back, when implicit steps do not get longer
    than explicit ones might be.
    """
    if m[0].opt.method != 2:
        return
    implicit = get_int(s, m[0].soft.implicit)
    if implicit == 0:
        fill(s, m[0].soft.turn, m[0].tree.nv, ZERO)
        assemble(m, s, _GAMMA * get(s, m[0].z.h))
    stiff = get(s, m[0].soft.stiffness)
    wants = (implicit == 0 and stiff > _LEAST_STIFF) or (implicit != 0 and stiff < _FIRST_STABLE)
    streak = int(0)
    if wants:
        streak = get_int(s, m[0].soft.streak) + 1
    if streak >= _PATIENCE:
        put_int(s, m[0].soft.implicit, 1 - implicit)
        streak = 0
    put_int(s, m[0].soft.streak, streak)
