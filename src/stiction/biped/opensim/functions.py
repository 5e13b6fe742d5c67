r"""Functions of the coordinates that move OpenSim's joints.

All the kinds that OpenSim's models use (constant, linear, polynomial, splines, piecewise linear,
and multiples of these) are piecewise polynomials of one linear combination of coordinates. So they
are kept as one table and evaluated in one go:

$$ y_k = p_k(x_k), \qquad x_k = \textstyle\sum_j A_{kj} q_j . $$
"""

import math
import xml.etree.ElementTree as ET
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Float
from stiction._base.errors import InputError, unknown
from stiction.biped.opensim import document

# The two names are one function: NaturalCubicSpline until OpenSim 3, though it is not natural.
SIMM_SPLINES = ("SimmSpline", "NaturalCubicSpline", "natCubicSpline")
_POLYNOMIALS = ("Constant", "LinearFunction", "PolynomialFunction", "PiecewiseLinearFunction")
KINDS = (*_POLYNOMIALS, *SIMM_SPLINES[:2], "GCVSpline", "MultiplierFunction")
_EDGE = 1.0  # width of the outermost pieces, which go on for ever


class CoordinateFunctions(eqx.Module):
    """Piecewise polynomials of linear combinations of coordinates."""

    mixing: Float[Array, "n nq"]  # the matrix A
    knots: Float[Array, "n n_knots"]  # where the pieces of each function meet, padded with inf
    origins: Float[Array, "n n_pieces"]  # the point that each piece is expanded about
    # coefficients of the powers 0, 1, 2, … of x less the piece's origin
    coefficients: Float[Array, "n n_pieces n_powers"]

    def __call__(self, q: Float[Array, "nq"]) -> Float[Array, "n"]:
        """The values at q."""
        x = self.mixing @ q
        piece = jnp.sum(x[:, None] >= self.knots, axis=1)
        rows = jnp.arange(len(x))
        dx = x - self.origins[rows, piece]
        c = self.coefficients[rows, piece]
        value = c[:, -1]
        for power in range(c.shape[1] - 2, -1, -1):
            value = value * dx + c[:, power]
        return value


class Pieces(NamedTuple):
    """A piecewise polynomial, laid out as SciPy's `PPoly`, which is slow to import."""

    c: np.ndarray  # coefficients (n_powers, n_pieces), highest power first, about the left ends
    x: np.ndarray  # the ends of the pieces; the outermost go on beyond them

    def __call__(self, x: np.ndarray | float, order: int = 0) -> np.ndarray:
        """The derivative of an order at x."""
        x = np.asarray(x, float)
        piece = np.clip(np.searchsorted(self.x, x, side="right") - 1, 0, self.c.shape[1] - 1)
        value, dx = np.zeros(x.shape), x - self.x[piece]
        for power in range(len(self.c) - 1, order - 1, -1):
            value = value * dx + math.perm(power, order) * self.c[len(self.c) - 1 - power][piece]
        return np.asarray(value)


class Term:
    """One function as read: a piecewise polynomial and the weights of the coordinates in x."""

    def __init__(self, polynomial: Pieces, weights: dict[str, float]):
        self.polynomial, self.weights = polynomial, weights

    def scaled(self, factor: float) -> "Term":
        """The function times a number."""
        return Term(Pieces(factor * self.polynomial.c, self.polynomial.x), self.weights)


def tabulate(terms: list[Term], coordinates: tuple[str, ...]) -> CoordinateFunctions:
    """Put functions into one table."""
    n = len(terms)
    pieces = max((t.polynomial.c.shape[1] for t in terms), default=1)
    powers = max((t.polynomial.c.shape[0] for t in terms), default=1)
    mixing = np.zeros((n, len(coordinates)))
    knots = np.full((n, pieces - 1), np.inf)
    origins = np.zeros((n, pieces))
    coefficients = np.zeros((n, pieces, powers))
    for k, term in enumerate(terms):
        c, x = term.polynomial.c, term.polynomial.x
        for name, weight in term.weights.items():
            mixing[k, coordinates.index(name)] += weight
        knots[k, : len(x) - 2] = x[1:-1]
        origins[k, : len(x) - 1] = x[:-1]
        coefficients[k, : c.shape[1], : c.shape[0]] = c[::-1].T
    return CoordinateFunctions(*jax.device_put((mixing, knots, origins, coefficients)))


def constant(value: float) -> Term:
    """A function that does not depend on anything."""
    return Term(_polynomial([value]), {})


def identity(coordinate: str) -> Term:
    """The coordinate itself."""
    return Term(_polynomial([1.0, 0.0]), {coordinate: 1.0})


def read_term(element: ET.Element, coordinates: list[str]) -> Term:
    """The function of an XML element, of the coordinates that are named beside it."""
    kind = element.tag
    if kind == "LinearFunction":
        *slopes, offset = document.numbers(element, "coefficients", None)
        if len(slopes) != len(coordinates):
            raise InputError(
                f"`coefficients` of '{document.name_of(element)}' must be one for each of"
                f" {coordinates} and an offset, got {len(slopes) + 1} numbers"
            )
        weights = dict(zip(coordinates, slopes, strict=True))
        return Term(_polynomial([1.0, offset]), weights)
    polynomial = read_polynomial(element)
    if not polynomial.c[:-1].any() and polynomial.c.shape[1] == 1:
        return Term(polynomial, {})
    if len(coordinates) != 1:
        raise InputError(
            f"`{kind}` must be of one coordinate, got {coordinates or 'none'};"
            " only a LinearFunction may have several"
        )
    return Term(polynomial, {coordinates[0]: 1.0})


def read_polynomial(element: ET.Element) -> Pieces:
    """A function of one variable as a piecewise polynomial."""
    scale = 1.0
    while element.tag == "MultiplierFunction":
        inside = [e for e in element.iterfind("function/*") if e.tag in KINDS]
        if not inside:
            raise InputError(f"`function` of '{document.name_of(element)}' is empty")
        scale *= document.number(element, "scale", 1.0)
        element = inside[0]
    polynomial = _read_plain(element)
    return Pieces(scale * polynomial.c, polynomial.x)


def _read_plain(element: ET.Element) -> Pieces:
    """A function of one variable that multiplies no other."""
    kind = element.tag
    if kind == "Constant":
        return _polynomial([document.number(element, "value", 0.0)])
    if kind in ("PolynomialFunction", "LinearFunction"):
        return _polynomial(document.numbers(element, "coefficients", None))
    if kind in SIMM_SPLINES or kind in ("PiecewiseLinearFunction", "GCVSpline"):
        x, y = document.numbers(element, "x", None), document.numbers(element, "y", None)
        if len(x) != len(y) or len(x) < 2 or (np.diff(x) <= 0).any():
            raise InputError(
                f"`x` and `y` of the {kind} must be at least two points with x growing,"
                f" got {len(x)} and {len(y)} numbers"
            )
        if kind == "PiecewiseLinearFunction":
            return _extended(Pieces(np.stack([np.diff(y) / np.diff(x), y[:-1]]), x), 1)
        if kind == "GCVSpline":
            half_order = round(document.number(element, "half_order", 3.0))
            return natural_spline(x, y, degree=2 * half_order - 1)
        return simm_spline(x, y)
    raise unknown("kind of function that stiction reads", kind, KINDS)


def simm_spline(x: np.ndarray, y: np.ndarray) -> Pieces:
    """OpenSim's SimmSpline: cubic, straight outside its points.

    Its third derivative in the first piece is that of the cubic through the first four points, in
    the last piece that of the last four ([Forsythe1977]'s `spline`), so it is not what SciPy calls
    natural, clamped or not-a-knot.
    """
    n = len(x)
    if n == 2:
        return _extended(Pieces(np.stack([np.diff(y) / np.diff(x), y[:-1]]), x), 1)
    h, slope = np.diff(x), np.diff(y) / np.diff(x)
    # Unknown: half the second derivatives c, with c_{i+1} - c_i = 3 h_i d_i for the pieces' d.
    A, b = np.zeros((n, n)), np.zeros(n)
    inner = np.arange(1, n - 1)
    A[inner, inner - 1], A[inner, inner], A[inner, inner + 1] = h[:-1], 2 * (h[:-1] + h[1:]), h[1:]
    b[1:-1] = 3 * np.diff(slope)
    A[0, :2], A[-1, -2:] = (-1, 1), (-1, 1)
    if n > 3:
        b[0] = 3 * h[0] * _third_difference(x[:4], y[:4])
        b[-1] = 3 * h[-1] * _third_difference(x[-4:], y[-4:])
    c = np.linalg.solve(A, b)
    d = np.diff(c) / (3 * h)
    first = slope - h * (2 * c[:-1] + c[1:]) / 3
    return _extended(Pieces(np.stack([d, c[:-1], first, y[:-1]]), x), 1)


def natural_spline(x: np.ndarray, y: np.ndarray, *, degree: int) -> Pieces:
    """OpenSim's GCVSpline through its points (its error variance is 0 in model files).

    A natural spline of odd degree 2m - 1 is a polynomial of degree m - 1 outside its points.
    """
    m = (degree + 1) // 2
    if degree < 3 or len(x) <= degree:
        return _extended(Pieces(np.stack([np.diff(y) / np.diff(x), y[:-1]]), x), 1)
    from scipy.interpolate import PPoly, make_interp_spline  # takes 0.25 s to import

    ends = [(order, 0.0) for order in range(m, degree)]
    spline = PPoly.from_spline(make_interp_spline(x, y, k=degree, bc_type=(ends, ends)))
    wide = np.diff(spline.x) > 0  # repeated knots leave pieces of no width
    knots = np.append(spline.x[:-1][wide], spline.x[-1])
    return _extended(Pieces(spline.c[:, wide], knots), m - 1)


def _third_difference(x: np.ndarray, y: np.ndarray) -> float:
    """The leading coefficient of the cubic through four points."""
    for order in (1, 2, 3):
        y = np.diff(y) / (x[order:] - x[:-order])
    return float(y[0])


def _polynomial(coefficients) -> Pieces:
    """One polynomial everywhere; highest power first."""
    return Pieces(np.array(coefficients, float)[:, None], np.array([0.0, _EDGE]))


def _extended(inside: Pieces, degree: int) -> Pieces:
    """The same function, going on outside its points as its Taylor polynomial at the end."""
    powers = inside.c.shape[0]
    c = np.zeros((powers, inside.c.shape[1] + 2))
    c[:, 1:-1] = inside.c
    first, last = inside.x[0], inside.x[-1]
    # A piece is expanded about its left end, which for the first one lies outside.
    for order in range(min(degree, powers - 1) + 1):
        factorial = math.factorial(order)
        c[powers - 1 - order, -1] = inside(last, order) / factorial
        shifted = np.poly1d([1.0, -_EDGE]) ** order
        c[powers - 1 - order :, 0] += inside(first, order) / factorial * shifted.coeffs
    return Pieces(c, np.concatenate([[first - _EDGE], inside.x, [last + _EDGE]]))
