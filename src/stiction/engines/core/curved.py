r"""Two curved shapes on each other: the normal along which they are nearest, and how it turns.

Each is an ellipsoid with the shape $B = R A^2 R^T$, of which semi-axes may vanish: a disc, whose
boundary is a rim, or a point; or the second is a line without end. About either there may be a
radius. With d from the centre of the second to that of the first, their gap without radii is

$$ g = \max_{|n| = 1} \; n \cdot d - \sqrt{n \cdot B_1 n} - \sqrt{n \cdot B_2 n}, $$

over normals n from the second to the first, square to the line if there is one. There
$r = d - B_1 n / |n|_{B_1} - B_2 n / |n|_{B_2}$, between the nearest points, is along n (and line).

Newton's method on the sphere finds it, always uphill, from where it was when a step was last kept:
what is found must depend on the state alone, not on steps that were tried in between. Where the
shapes are apart there is one maximum: g, stretched along its rays, is concave, hence below
$g(n_1) \, n \cdot n_1$ of a second one at $n_1$. Where they overlap, as at the end of a step that
goes too far, there are others, and going uphill keeps to the side that one came from.
"""

import warp as wp

from .layout import Machines
from .material import world_point
from .reals import HALF, INFINITY, ONE, ZERO, World, get_quat, quat, real, tolerance, vec3

_NEWTON = wp.constant(40)
_ASIDE = tolerance(1e-7, 1e-4)  # by which r may be aside of a normal that was found [m]
_FOUND = tolerance(1e-9, 1e-4)  # turn of the normal that was the last: the next is its square
_SURE = tolerance(1e-6, 1e-3)  # a smaller one needs no proof that it goes up
_LEAST_WAY = wp.constant(real(1e-3))
_HALVINGS = wp.constant(30)


@wp.struct
class Curved:
    """Two shapes in the world."""

    apart: vec3  # from the centre of the second to that of the first
    turn: quat
    axes: vec3  # semi-axes
    other_turn: quat
    other_axes: vec3
    line: vec3  # direction of the second if that is a line, or zero


@wp.func
def curved(m: Machines, s: World, i: int):
    first = m[0].pairs.first[i]
    second = m[0].pairs.second[i]
    c = Curved()
    c.apart = world_point(m, s, first, m[0].pairs.point[i])
    c.apart = c.apart - world_point(m, s, second, m[0].pairs.on[i])
    c.turn = get_quat(s, m[0].at.rotation + 4 * first) * m[0].pairs.turn[i]
    c.axes = m[0].pairs.axes[i]
    c.other_turn = get_quat(s, m[0].at.rotation + 4 * second) * m[0].pairs.facing[i]
    c.other_axes = m[0].pairs.along[i]
    if c.other_axes[2] < ZERO:
        c.other_axes = vec3()
        c.line = wp.quat_rotate(c.other_turn, vec3(ZERO, ZERO, ONE))
    return c


@wp.func
def shape_times(turn: quat, axes: vec3, n: vec3):
    """B n."""
    x = wp.quat_rotate_inv(turn, n)
    x = vec3(axes[0] * axes[0] * x[0], axes[1] * axes[1] * x[1], axes[2] * axes[2] * x[2])
    return wp.quat_rotate(turn, x)


@wp.func
def support(turn: quat, axes: vec3, n: vec3):
    """B n / |n|: from the centre to the point that is farthest along n."""
    Bn = shape_times(turn, axes, n)
    size = wp.dot(n, Bn)
    if size <= ZERO:
        return vec3()
    return Bn / wp.sqrt(size)


@wp.func
def support_rate(turn: quat, axes: vec3, w: vec3, n: vec3, dn: vec3):
    """How that point moves about the centre as the shape spins with w and n turns by dn."""
    Bn = shape_times(turn, axes, n)
    size = wp.dot(n, Bn)
    if size <= ZERO:
        return vec3()
    size = wp.sqrt(size)
    spun = wp.cross(w, Bn)  # dB/dt = [w] B - B [w]
    grows = (wp.dot(n, spun) + wp.dot(dn, Bn)) / size
    return (spun + shape_times(turn, axes, dn - wp.cross(w, n))) / size - Bn * (
        grows / (size * size)
    )


@wp.func
def curvature(turn: quat, axes: vec3, n: vec3, e: vec3, f: vec3):
    """e · (derivative of the farthest point by n) f."""
    Bn = shape_times(turn, axes, n)
    size = wp.dot(n, Bn)
    if size <= ZERO:
        return ZERO
    value = wp.dot(e, shape_times(turn, axes, f)) - wp.dot(e, Bn) * wp.dot(f, Bn) / size
    return value / wp.sqrt(size)


@wp.func
def both_curvatures(c: Curved, n: vec3, e: vec3, f: vec3):
    return curvature(c.turn, c.axes, n, e, f) + curvature(c.other_turn, c.other_axes, n, e, f)


@wp.func
def between(c: Curved, n: vec3):
    """r: from the nearest point of the second, without radius, to that of the first."""
    return c.apart - support(c.turn, c.axes, n) - support(c.other_turn, c.other_axes, n)


@wp.func
def across(n: vec3, line: vec3):
    """A direction square to n, and to the line if there is one."""
    if wp.dot(line, line) > ZERO:
        return wp.normalize(wp.cross(line, n))
    y = vec3(ZERO, ONE, ZERO)
    if wp.abs(n[1]) > real(0.9):
        y = vec3(ZERO, ZERO, ONE)
    return wp.normalize(wp.cross(y, n))


@wp.func
def turn_normal(c: Curved, n: vec3, pull: vec3, least: real):
    """The turn of the normal by which r loses `pull` square to n (Newton's step for r itself), with
    the eigenvalues of the matrix raised so that none is below `least`.
    """
    gap = wp.dot(n, between(c, n))
    e = across(n, c.line)
    a = both_curvatures(c, n, e, e) + gap
    p = wp.dot(e, pull)
    if wp.dot(c.line, c.line) > ZERO:
        return e * (p / wp.max(a, least))
    f = wp.cross(n, e)
    b = both_curvatures(c, n, e, f)
    d = both_curvatures(c, n, f, f) + gap
    q = wp.dot(f, pull)
    lowest = HALF * (a + d) - wp.sqrt(real(0.25) * (a - d) * (a - d) + b * b)
    raised = wp.max(least - lowest, ZERO)
    a += raised
    d += raised
    return (e * (d * p - b * q) + f * (a * q - b * p)) / (a * d - b * b)


@wp.func
def curved_gap(c: Curved, n: vec3):
    """The gap without radii; infinite where n is none of the greatest: then other parts are nearer
    (of a disc its face).
    """
    r = between(c, n)
    gap = wp.dot(n, r)
    aside = r - n * gap - c.line * wp.dot(c.line, r)
    e = across(n, c.line)
    a = both_curvatures(c, n, e, e) + gap
    greatest = a > ZERO
    if wp.dot(c.line, c.line) == ZERO:
        f = wp.cross(n, e)
        b = both_curvatures(c, n, e, f)
        greatest = greatest and a * (both_curvatures(c, n, f, f) + gap) > b * b
    if greatest and wp.length(aside) < _ASIDE:
        return gap
    return INFINITY


@wp.func
def way(turn: quat, axes: vec3, n: vec3):
    """The most by which a normal may turn at once: about the axis of a disc g has a ridge that is
    sharp like a cone, and what is on its one side tells nothing of the other.
    """
    if axes[2] > ZERO or axes[0] <= ZERO:
        return HALF
    k = wp.quat_rotate(turn, vec3(ZERO, ZERO, ONE))
    return wp.max(HALF * wp.length(wp.cross(k, n)), _LEAST_WAY)


@wp.func
def find_normal(m: Machines, s: World, i: int, c: Curved):
    """The normal of pair i, from where it was when a step was last kept."""
    second = get_quat(s, m[0].at.rotation + 4 * m[0].pairs.second[i])
    n = wp.quat_rotate(second, m[0].pairs.normal[i])
    n = wp.normalize(n - c.line * wp.dot(c.line, n))
    for _ in range(_NEWTON):
        r = between(c, n)
        gap = wp.dot(n, r)
        turn = turn_normal(c, n, r, wp.length(r - n * gap - c.line * wp.dot(c.line, r)))
        size = wp.length(turn)
        if not (size < INFINITY):  # nothing is to be found
            return n
        most = wp.min(way(c.turn, c.axes, n), way(c.other_turn, c.other_axes, n))
        if size > most:  # far from it
            turn = turn * (most / size)
            size = most
        after = wp.normalize(n + turn)
        halvings = int(0)
        while size > _SURE and halvings < _HALVINGS and wp.dot(after, between(c, after)) <= gap:
            turn = HALF * turn
            after = wp.normalize(n + turn)
            halvings += 1
        n = after
        if size < _FOUND:
            break
    return n


@wp.func
def keep_normal(m: Machines, s: World, i: int):
    """Remember the normal of pair i at the state that was evaluated."""
    c = curved(m, s, i)
    n = find_normal(m, s, i, c)
    if curved_gap(c, n) < INFINITY:
        second = get_quat(s, m[0].at.rotation + 4 * m[0].pairs.second[i])
        m[0].pairs.normal[i] = wp.quat_rotate_inv(second, n)


@wp.func
def normal_rate(c: Curved, n: vec3, w: vec3, other_w: vec3, parting: vec3):
    """dn/dt, with the spins of both and the velocity with which their centres part.

    r stays along n, and n square to the line.
    """
    dn = vec3()
    r = between(c, n)
    change = parting
    if wp.dot(c.line, c.line) > ZERO:
        db = wp.cross(other_w, c.line)
        dn = -c.line * wp.dot(n, db)
        # r has a part along the line, which turns.
        change = change - db * wp.dot(c.line, r)
    change = change - support_rate(c.turn, c.axes, w, n, dn)
    change = change - support_rate(c.other_turn, c.other_axes, other_w, n, dn)
    return dn + turn_normal(c, n, change, -INFINITY)
