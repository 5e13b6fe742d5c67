r"""One planar contact in configuration space (erdmann 4.1, 4.2, 5.4.1, 5.5.2).

The body has the coordinates $(x, y, q = \rho\theta)$, with $\rho$ its radius of gyration, so that
its inertia is $m$ in every direction. Vectors below are elements of that space.

symbol      name        meaning                                                      unit
n0          normal      unit normal at the contact, from the obstacle into the body  -
r           arm         from the contact point to the center of mass                 m
t_s         -           sliding tangent (n_y, -n_x): to the right when n0 is up      -
Δ_n n       normal row  (n_x, n_y, n_q/ρ), n_q = n0 × r                              -
v_f         tangent row (n_y, -n_x, v_q/ρ), v_q = t_s × r                            -
h           -           normal acceleration of the contact when a = 0                m/s²
g           -           tangential acceleration of the contact when a = 0            m/s²
κ_b, κ_o    curvature   of the body and of the obstacle, > 0 where convex            1/m

The document lets $t_s$ have either sign; here it is always $(n_y, -n_x)$, so that "slip right" is
sliding along $+t_s$ and "slip left" along $-t_s$. The functions use operators only, so that they
serve NumPy arrays of any shape and JAX tracers alike.
"""

import math
from typing import Any, NamedTuple

import numpy as np


class ContactTerms(NamedTuple):
    """What one contact (or an array of them) asks of the body's acceleration.

    The normal row is not normalised: it is $\\Delta_n n$ of the document, so that `normal @ a + h`
    is the acceleration of the gap itself [m/s²].
    """

    tangent: tuple[Any, Any, Any]  # (n_y, -n_x, v_q/ρ)
    normal: tuple[Any, Any, Any]  # (n_x, n_y, n_q/ρ)
    tangent_velocity: Any  # v·v_f [m/s], > 0 slipping right
    normal_velocity: Any  # v·(Δ_n n) [m/s], > 0 separating
    g: Any  # [m/s²]
    h: Any  # [m/s²]


def contact_terms(
    *,
    normal: Any,
    arm: Any,
    gyration_radius: Any,
    velocity: Any,
    curvature_body: Any = math.inf,
    curvature_obstacle: Any = 0.0,
) -> ContactTerms:
    r"""Rows, velocities and acceleration terms of contacts.

    The gap accelerates by $a\cdot\Delta_n n + h$ (5) and the material points in contact slide past
    each other with the acceleration $a \cdot v_f + g$ when they do not slide yet (8), where

    $$ h = \omega^2 n_0\cdot r
         + \frac{\kappa_b\kappa_o v_t^2 - 2\kappa_o\,\omega v_t - \omega^2}{\kappa_b+\kappa_o},
       \qquad g = \omega^2\, t_s\cdot r. $$

    A body vertex on a straight edge has $\kappa_b=\infty, \kappa_o=0$ and $h=\omega^2 n_0\cdot r$;
    a straight body edge on a fixed vertex has $\kappa_b=0, \kappa_o=\infty$ and
    $h=\omega^2 n_0\cdot r-2\omega v_t$. The document leaves $h$ to its predecessor; this form
    follows from differentiating the gap twice with the contact point moving along both curves.

    Args:
        normal: $(n_x, n_y)$ [-], unit.
        arm: $(r_x, r_y)$ [m].
        gyration_radius: $\rho$ [m].
        velocity: $(v_x, v_y, \omega)$ of the center of mass [m/s, m/s, rad/s].
        curvature_body: $\kappa_b$ [1/m], infinite (the default) at a vertex.
        curvature_obstacle: $\kappa_o$ [1/m], 0 (the default) for a straight edge.
    """
    nx, ny = normal
    rx, ry = arm
    rho = gyration_radius
    vx, vy, omega = velocity
    n_q = nx * ry - ny * rx  # (2)
    v_q = nx * rx + ny * ry  # (2)
    # t_s·r and n0·r happen to be n_q with the other sign and v_q.
    v_n = nx * vx + ny * vy + n_q * omega
    v_t = ny * vx - nx * vy + v_q * omega  # (8)
    bending = curvature_term(curvature_body, curvature_obstacle, v_t, omega)
    return ContactTerms(
        tangent=(ny, -nx, v_q / rho),
        normal=(nx, ny, n_q / rho),
        tangent_velocity=v_t,
        normal_velocity=v_n,
        g=-(omega**2) * n_q,
        h=omega**2 * v_q + bending,
    )


def curvature_term(curvature_body, curvature_obstacle, tangent_velocity, spin):
    r"""The part of $h$ that comes from the contact point moving along both curves [m/s²].

    $(\kappa_b\kappa_o v_t^2 - 2\kappa_o\omega v_t - \omega^2)/(\kappa_b+\kappa_o)$, with its limits
    where one of the curvatures is infinite.
    """
    kb, ko, v_t, omega = curvature_body, curvature_obstacle, tangent_velocity, spin
    xp = getattr(kb + v_t, "__array_namespace__", lambda: np)()  # floats have none
    b_vertex, o_vertex = xp.isinf(kb), xp.isinf(ko)
    # Where a curvature is infinite the general branch is given finite numbers it will not use.
    kb_, ko_ = xp.where(b_vertex, 1.0, kb), xp.where(o_vertex, 1.0, ko)
    vertex = b_vertex | o_vertex
    total = xp.where(vertex, 1.0, kb_ + ko_)
    part = ko_ / total  # of two large numbers the product would be too large
    general = part * (kb_ * v_t**2 - 2 * omega * v_t) - omega**2 / total
    body_vertex = ko_ * v_t**2
    obstacle_vertex = kb_ * v_t**2 - 2 * omega * v_t
    return xp.where(b_vertex, body_vertex, xp.where(o_vertex, obstacle_vertex, general))
