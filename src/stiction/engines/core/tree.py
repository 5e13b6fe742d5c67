r"""The equations of motion of a tree of links, $M \dot v = \tau - c$, by loops over its links.

Every link hangs on its parent by one joint (link 0 is the world), and parents come before their
children. Spatial vectors are written in world axes about a point that belongs to the link's tree,
the origin of its root link: (angular, linear). Three sweeps:

outwards   poses, motion of each freedom, velocities, accelerations without v̇ (Newton-Euler)
inwards    forces, composite inertias, rows of M [Featherstone2008, 6.2]
inwards    M = Lᵀ D L in place: row i has entries for the freedoms before i [Featherstone2008, 6.5]

symbol  slots     meaning
S       motion    of what lies beyond a freedom, per unit of its speed
V       velocity  of each link
A       rate      acceleration of each link if v does not change, gravity not included
"""

import warp as wp

from .layout import Machines
from .reals import (
    CALLED,
    HALF,
    ONE,
    REAL,
    ROWS,
    ZERO,
    World,
    add_scaled,
    get,
    get3,
    get6,
    get_quat,
    put,
    put3,
    put6,
    put_quat,
    quat,
    real,
    vec3,
    vec6,
    vec10,
)

FREE, BALL, SLIDE, HINGE = wp.constant(0), wp.constant(1), wp.constant(2), wp.constant(3)


@wp.func(inline=CALLED)
def place(m: Machines, s: World, i: int):
    """The pose of link i; its anchor is left in the motion of its first freedom."""
    parent = m[0].tree.parent[i]
    turn = get_quat(s, m[0].at.rotation + 4 * parent)
    p = get3(s, m[0].at.position + 3 * parent) + wp.quat_rotate(turn, m[0].tree.position[i])
    r = turn * m[0].tree.rotation[i]
    kind = m[0].tree.kind[i]
    a = m[0].tree.at_q[i]
    if kind == FREE:
        p = get3(s, m[0].at.q + a)
        r = wp.normalize(get_quat(s, m[0].at.q + a + 3))
    elif kind == SLIDE:
        p = p + wp.quat_rotate(r, m[0].tree.axis[i]) * (
            get(s, m[0].at.q + a) - m[0].tree.reference[a]
        )
    else:
        anchor = p + wp.quat_rotate(r, m[0].tree.anchor[i])
        if kind == BALL:
            r = r * wp.normalize(get_quat(s, m[0].at.q + a))
        else:
            half = HALF * (get(s, m[0].at.q + a) - m[0].tree.reference[a])
            u = m[0].tree.axis[i] * wp.sin(half)
            r = r * quat(u[0], u[1], u[2], wp.cos(half))
        p = anchor - wp.quat_rotate(r, m[0].tree.anchor[i])
    put3(s, m[0].at.position + 3 * i, p)
    put_quat(s, m[0].at.rotation + 4 * i, wp.normalize(r))


@wp.func
def put_motion(m: Machines, s: World, freedom: int, w: vec3, u: vec3):
    put3(s, m[0].at.motion + 6 * freedom, w)
    put3(s, m[0].at.motion + 6 * freedom + 3, u)


@wp.func(inline=CALLED)
def move(m: Machines, s: World, i: int):
    """What the freedoms of link i move, and the link's velocity and rate."""
    parent = m[0].tree.parent[i]
    w = get3(s, m[0].at.velocity + 6 * parent)
    u = get3(s, m[0].at.velocity + 6 * parent + 3)
    dw = get3(s, m[0].at.rate + 6 * parent)
    du = get3(s, m[0].at.rate + 6 * parent + 3)
    r = get_quat(s, m[0].at.rotation + 4 * i)
    origin = get3(s, m[0].at.position + 3 * i)
    c = get3(s, m[0].at.position + 3 * m[0].tree.root[i])
    kind = m[0].tree.kind[i]
    a = m[0].tree.at_v[i]
    if kind == SLIDE:
        axis = wp.quat_rotate(r, m[0].tree.axis[i])
        put_motion(m, s, a, vec3(), axis)
        speed = get(s, m[0].at.v + a)
        du = du + wp.cross(w, axis) * speed
        u = u + axis * speed
    elif kind == HINGE:
        axis = wp.quat_rotate(r, m[0].tree.axis[i])
        anchor = origin + wp.quat_rotate(r, m[0].tree.anchor[i])
        arm = wp.cross(anchor - c, axis)
        put_motion(m, s, a, axis, arm)
        speed = get(s, m[0].at.v + a)
        dw = dw + wp.cross(w, axis) * speed
        du = du + (wp.cross(w, arm) + wp.cross(u, axis)) * speed
        w = w + axis * speed
        u = u + arm * speed
    else:
        anchor = origin + wp.quat_rotate(r, m[0].tree.anchor[i])
        if kind == FREE:  # translation along world axes, then turns about its own axes
            for k in range(3):
                e = vec3()
                e[k] = ONE
                put_motion(m, s, a + k, vec3(), e)
            u = u + get3(s, m[0].at.v + a)
            a += 3
        R = wp.quat_to_matrix(r)
        turn = vec3()
        sweep = vec3()
        for k in range(3):
            axis = vec3(R[0, k], R[1, k], R[2, k])
            arm = wp.cross(anchor - c, axis)
            put_motion(m, s, a + k, axis, arm)
            speed = get(s, m[0].at.v + a + k)
            turn = turn + axis * speed
            sweep = sweep + arm * speed
        dw = dw + wp.cross(w, turn)
        du = du + wp.cross(w, sweep) + wp.cross(u, turn)
        w = w + turn
        u = u + sweep
    put3(s, m[0].at.velocity + 6 * i, w)
    put3(s, m[0].at.velocity + 6 * i + 3, u)
    put3(s, m[0].at.rate + 6 * i, dw)
    put3(s, m[0].at.rate + 6 * i + 3, du)


@wp.func
def inertia_times(I: vec10, w: vec3):
    """The rotational inertia (xx, yy, zz, xy, xz, yz) of a spatial inertia, times a vector."""
    return vec3(
        I[0] * w[0] + I[3] * w[1] + I[4] * w[2],
        I[3] * w[0] + I[1] * w[1] + I[5] * w[2],
        I[4] * w[0] + I[5] * w[1] + I[2] * w[2],
    )


@wp.func
def moment(I: vec10, w: vec3, u: vec3):
    """The angular part of a spatial inertia times a motion."""
    return inertia_times(I, w) + wp.cross(vec3(I[6], I[7], I[8]), u)


@wp.func
def momentum(I: vec10, w: vec3, u: vec3):
    """The linear part."""
    return I[9] * u + wp.cross(w, vec3(I[6], I[7], I[8]))


@wp.func
def get_inertia(m: Machines, s: World, i: int):
    I = vec10()
    for k in range(10):
        I[k] = get(s, m[0].at.inertia + 10 * i + k)
    return I


@wp.func(inline=CALLED)
def weigh(m: Machines, s: World, i: int):
    """The spatial inertia of link i about its tree's point, and the force its motion takes."""
    r = get_quat(s, m[0].at.rotation + 4 * i)
    R = wp.quat_to_matrix(r)
    c = get3(s, m[0].at.position + 3 * i) + R * m[0].tree.center[i]
    c = c - get3(s, m[0].at.position + 3 * m[0].tree.root[i])
    mass = m[0].tree.mass[i]
    B = R * m[0].tree.inertia[i] * wp.transpose(R)
    cc = wp.dot(c, c)
    I = vec10()
    for k in range(3):
        I[k] = B[k, k] + mass * (cc - c[k] * c[k])
        I[6 + k] = mass * c[k]
    I[3] = B[0, 1] - mass * c[0] * c[1]
    I[4] = B[0, 2] - mass * c[0] * c[2]
    I[5] = B[1, 2] - mass * c[1] * c[2]
    I[9] = mass
    for k in range(10):
        put(s, m[0].at.inertia + 10 * i + k, I[k])
    w = get3(s, m[0].at.velocity + 6 * i)
    u = get3(s, m[0].at.velocity + 6 * i + 3)
    dw = get3(s, m[0].at.rate + 6 * i)
    du = get3(s, m[0].at.rate + 6 * i + 3) - m[0].tree.gravity
    h_w = moment(I, w, u)
    h_u = momentum(I, w, u)
    put3(s, m[0].at.force + 6 * i, moment(I, dw, du) + wp.cross(w, h_w) + wp.cross(u, h_u))
    put3(s, m[0].at.force + 6 * i + 3, momentum(I, dw, du) + wp.cross(w, h_u))


@wp.func(inline=False)
def sweep_out(m: Machines, s: World):
    """Poses, motions, velocities and forces of all links, from the roots outwards."""
    put3(s, m[0].at.position, vec3())
    put_quat(s, m[0].at.rotation, quat(ZERO, ZERO, ZERO, ONE))
    for k in range(6):
        put(s, m[0].at.velocity + k, ZERO)
        put(s, m[0].at.rate + k, ZERO)
    for i in range(1, m[0].tree.n_links):
        place(m, s, i)
        move(m, s, i)
        weigh(m, s, i)


@wp.func(inline=False)
def sweep_in(m: Machines, s: World):
    """The bias force c and M, from the leaves inwards. Inertias and forces become composite."""
    for back in range(1, m[0].tree.n_links):
        i = m[0].tree.n_links - back
        I = get_inertia(m, s, i)
        f_w = get3(s, m[0].at.force + 6 * i)
        f_u = get3(s, m[0].at.force + 6 * i + 3)
        a = m[0].tree.at_v[i]
        d = m[0].tree.last_freedom[i]
        while d >= a:
            S_w = get3(s, m[0].at.motion + 6 * d)
            S_u = get3(s, m[0].at.motion + 6 * d + 3)
            put(s, m[0].at.bias + d, wp.dot(S_w, f_w) + wp.dot(S_u, f_u))
            g_w = moment(I, S_w, S_u)
            g_u = momentum(I, S_w, S_u)
            entry = m[0].at.M + m[0].tree.row[d]
            put(s, entry, wp.dot(S_w, g_w) + wp.dot(S_u, g_u) + m[0].tree.armature[d])
            e = m[0].tree.before[d]
            while e >= 0:
                entry += 1
                M_w = wp.dot(get3(s, m[0].at.motion + 6 * e), g_w)
                put(s, entry, M_w + wp.dot(get3(s, m[0].at.motion + 6 * e + 3), g_u))
                e = m[0].tree.before[e]
            d -= 1
        parent = m[0].tree.parent[i]
        if parent > 0:
            for k in range(10):
                to = m[0].at.inertia + 10 * parent + k
                put(s, to, get(s, to) + I[k])
            put3(s, m[0].at.force + 6 * parent, get3(s, m[0].at.force + 6 * parent) + f_w)
            put3(s, m[0].at.force + 6 * parent + 3, get3(s, m[0].at.force + 6 * parent + 3) + f_u)


@wp.func(inline=False)
def factor(m: Machines, s: World):
    """M = Lᵀ D L, without fill-in: row i of L has entries for the freedoms before i only."""
    for back in range(m[0].tree.nv):
        k = m[0].tree.nv - 1 - back
        row = m[0].at.M + m[0].tree.row[k]
        inverse = ONE / get(s, row)
        put(s, m[0].at.D + k, wp.sqrt(inverse))
        i = m[0].tree.before[k]
        entry = row + 1
        while i >= 0:
            value = get(s, entry)
            share = value * inverse
            to = m[0].at.M + m[0].tree.row[i]
            add_scaled(s, to, -share, entry, m[0].tree.depth[i] + 1)
            put(s, entry, share)
            i = m[0].tree.before[i]
            entry += 1


# Loops over the freedoms before one: where it begins in row i of L, and in x. A GPU asks for a few
# numbers before it needs the first.
_BEFORE = (
    ROWS
    + f"""
    const int* before = m.data->tree.before.data;
    const {REAL}* L = x + (m.data->at.M + m.data->tree.row.data[i] + 1) * d;
    {REAL}* p = x + to * d;
    constexpr int AHEAD = 6;
    int at[AHEAD];
    {REAL} l[AHEAD], u[AHEAD];
    auto ask = [&](int j) {{
        #pragma unroll
        for (int k = 0; k < AHEAD; ++k) {{
            at[k] = j;
            l[k] = u[k] = 0;
            if (j >= 0) {{ l[k] = L[k * d]; u[k] = p[j * d]; j = before[j]; }}
        }}
        L += AHEAD * d;
        return j;
    }};
"""
)


@wp.func_native(
    snippet=_BEFORE
    + f"""
    const {REAL} value = p[i * d];
#if defined(__CUDA_ARCH__)
    for (int j = before[i]; j >= 0;) {{
        j = ask(j);
        #pragma unroll
        for (int k = 0; k < AHEAD; ++k) if (at[k] >= 0) p[at[k] * d] = u[k] - l[k] * value;
    }}
#else
    for (int j = before[i]; j >= 0; j = before[j]) p[j] -= *L++ * value;
#endif
    p[i * d] = value * x[(m.data->at.D + i) * d];
"""
)
def solve_freedom(m: Machines, s: World, to: int, i: int):
    """Freedom i of a half solve: what it takes from those before it."""
    ...


@wp.func_native(
    snippet=_BEFORE
    + f"""
    {REAL} total = 0;
#if defined(__CUDA_ARCH__)
    for (int j = before[i]; j >= 0;) {{
        j = ask(j);
        #pragma unroll
        for (int k = 0; k < AHEAD; ++k) total += l[k] * u[k];
    }}
#else
    for (int j = before[i]; j >= 0; j = before[j]) total += *L++ * p[j];
#endif
    return total;
"""
)
def times_L(m: Machines, s: World, to: int, i: int) -> real:
    """Row i of L times x, but for its diagonal."""
    ...


@wp.func(inline=CALLED)
def half_solve(m: Machines, s: World, x: int):
    """x := D^(-1/2) L⁻ᵀ x, so that the product of two such rows is xᵀ M⁻¹ y."""
    for back in range(m[0].tree.nv):
        i = m[0].tree.nv - 1 - back
        if get(s, x + i) != ZERO:
            solve_freedom(m, s, x, i)


@wp.func
def half_solve_along(m: Machines, s: World, x: int, last: int):
    """`half_solve` of what is not zero only from a freedom on to its root."""
    i = last
    while i >= 0:
        solve_freedom(m, s, x, i)
        i = m[0].tree.before[i]


@wp.func_native(
    snippet=ROWS
    + f"""
    const int* before = m.data->tree.before.data;
    const int* row = m.data->tree.row.data;
    const {REAL}* L = x + m.data->at.M * d;
    const {REAL}* p = x + to * d;
    wp::vec_t<6, {REAL}> total(({REAL})0);
    const int deep = m.data->tree.depth.data[i];
    int depth = m.data->tree.depth.data[last];
    #pragma unroll 4
    for (int k = last; depth > deep; --depth, k = before[k]) {{
        const {REAL} l = L[(row[k] + depth - deep) * d];
        for (int e = 0; e < 6; ++e) total[e] += l * p[(6 * k + e) * d];
    }}
    return total;
"""
)
def from_behind(m: Machines, s: World, to: int, i: int, last: int) -> vec6:
    """What the freedoms from the last one down to i give to it, of six rows side by side."""
    ...


@wp.func(inline=False)
def solve_link(m: Machines, s: World, to: int, link: int):
    """`half_solve` of the motion of a link: six rows, side by side along its branch."""
    last = m[0].tree.last_freedom[link]
    i = last
    while i >= 0:
        put6(s, to + 6 * i, get6(s, m[0].at.motion + 6 * i) - from_behind(m, s, to, i, last))
        i = m[0].tree.before[i]
    i = last
    while i >= 0:
        put6(s, to + 6 * i, get6(s, to + 6 * i) * get(s, m[0].at.D + i))
        i = m[0].tree.before[i]


@wp.func
def second_half(m: Machines, s: World, x: int):
    """x := L⁻¹ D^(-1/2) x, what is left to M⁻¹."""
    for i in range(m[0].tree.nv):
        value = get(s, x + i) * get(s, m[0].at.D + i)
        put(s, x + i, value - times_L(m, s, x, i))
