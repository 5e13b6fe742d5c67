"""From a setup to the contact model it describes, and from its parameters to those asked for."""

from pathlib import Path

import jax.numpy as jnp
import numpy as np

from stiction._arrays import Array, Float
from stiction._errors import InputError
from stiction.identify.inertia import Inertia
from stiction.identify.model import ContactModel, Material
from stiction.identify.plates import plates
from stiction.identify.setup import ContactSetup, MeshShape, Shape
from stiction.identify.shapes import AbstractShape, Cylinder, Sphere, box, convex_mesh, h_peg

SLIP_FLOOR = 1e-6  # m/s, where the setup gives none


def build_model(setup: ContactSetup, folder: Path = Path()) -> ContactModel:
    """The contact model of a setup.

    Args:
        setup: Shapes, surfaces, wanted parameters.
        folder: Where mesh files named in the setup lie.
    """
    body = tuple(_shape(s, folder) for s in setup.body)
    n_points = sum(s.n_points for s in body)
    allowed = np.ones((len(setup.surfaces), n_points), dtype=bool)
    for row, s in zip(allowed, setup.surfaces, strict=True):
        if s.contacts is not None:
            outside = [i for i in s.contacts if not 0 <= i < n_points]
            if outside:
                raise InputError(
                    f"`surfaces.{s.name}.contacts` must number points 0 to {n_points - 1},"
                    f" got {outside[0]}"
                )
            row[:] = np.isin(np.arange(n_points), s.contacts)
    names = list(dict.fromkeys(s.material or s.name for s in setup.surfaces))
    firsts = [next(s for s in setup.surfaces if (s.material or s.name) == n) for n in names]
    materials = tuple(
        Material(
            name=name,
            damping="c" in s.wanted,
            dissipation="alpha" in s.wanted,
            friction=s.friction_of if "mu" in s.wanted else "none",
            bristle=bool({"k_f", "mu_s"} & set(s.wanted)),
            exponent="lambda" in s.wanted,
            offset="offset" in s.wanted,
        )
        for name, s in zip(names, firsts, strict=True)
    )
    extents = [s.half_size or [np.inf, np.inf] for s in setup.surfaces]
    return ContactModel(
        body=body,
        plates=plates(
            [s.point for s in setup.surfaces], [s.normal for s in setup.surfaces], extents
        ),
        allowed=jnp.asarray(allowed),
        exponent=jnp.asarray([s.exponent for s in firsts]),
        slip_floor=jnp.asarray(setup.method.slip_floor or SLIP_FLOOR),
        reference=jnp.asarray(setup.wrench.point, dtype=float),
        axes=setup.wrench.frame,
        materials=materials,
        material_of=tuple(names.index(s.material or s.name) for s in setup.surfaces),
        bias=setup.wrench.bias,
        may_pull=setup.method.may_pull,
    )


def build_inertia(setup: ContactSetup) -> Inertia | None:
    """Mass properties of what hangs on the sensor, if the setup gives them."""
    i = setup.inertia
    if i is None:
        return None
    return Inertia(
        jnp.asarray(i.mass), jnp.asarray(i.center), jnp.asarray(i.matrix), jnp.asarray(i.gravity)
    )


def _shape(s: Shape, folder: Path) -> AbstractShape:
    if s.shape == "box":
        return box(np.array(s.half_size), np.array(s.center))
    if s.shape == "sphere":
        return Sphere(jnp.asarray(s.center), jnp.asarray(s.radius))
    if s.shape == "cylinder":
        axis = np.array(s.axis) / np.linalg.norm(s.axis)
        return Cylinder(
            jnp.asarray(s.center),
            jnp.asarray(axis),
            jnp.asarray(s.radius),
            jnp.asarray(s.half_length),
        )
    if s.shape == "h-peg":
        return h_peg(s.width, s.height, s.depth, s.leg)
    return convex_mesh(_vertices(s, folder) * s.scale)


def _vertices(s: MeshShape, folder: Path) -> np.ndarray:
    if s.vertices is not None:
        return np.array(s.vertices)
    import mujoco

    path = folder / str(s.file)
    if not path.is_file():
        raise InputError(f"no mesh '{path}' (`body.file`); check the path")
    spec = mujoco.MjSpec()
    spec.add_mesh(name="m", file=str(path.resolve()))
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="m")
    try:
        model = spec.compile()
    except ValueError as error:
        raise InputError(f"mesh '{path}' (`body.file`) cannot be read: {error}") from None
    # MuJoCo centres meshes and turns them to their principal axes; turn them back.
    from scipy.spatial.transform import Rotation

    turn = Rotation.from_quat(model.mesh_quat[0], scalar_first=True)
    return turn.apply(model.mesh_vert) + model.mesh_pos[0]


def wanted_names(model: ContactModel) -> tuple[str, ...]:
    """The parameters of the output: `surface.k`, `surface.mu`, …, then the sensor's."""
    names = []
    for m in model.materials:
        own = ["k"]
        own += ["c"] if m.damping else []
        own += ["alpha"] if m.dissipation else []
        own += ["mu"] if m.friction != "none" else []
        own += ["k_f", "mu_s"] if m.bristle else []
        own += ["lambda"] if m.exponent else []
        own += ["offset"] if m.offset else []
        names += [f"{m.name}.{n}" for n in own]
    return (*names, *(n for n in model.linear_names if n.startswith("bias.")))


def _quotients(model: ContactModel) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Each output as factor × θ[above] / θ[below]; which material's break-away multiplies it.

    Places past the end of θ stand for 1, and so does a material past the last.
    """
    place = {name: i for i, name in enumerate(model.names)}
    one, none = len(model.names), len(model.materials)
    materials = [m.name for m in model.materials]
    rows = []
    for full in wanted_names(model):
        material, _, name = full.rpartition(".")
        k = place.get(f"{material}.k", one)
        if name == "mu" and f"{material}.kmu" in place:
            rows.append((1.0, place[f"{material}.kmu"], k, none))
        elif name == "alpha":
            rows.append((2 / 3, place[f"{material}.h"], k, none))
        elif name == "mu_s":
            rows.append((1.0, place[f"{material}.k_f"], k, materials.index(material)))
        else:
            rows.append((1.0, place[full], one, none))
    factor, above, below, of = zip(*rows, strict=True)
    return np.array(factor), np.array(above), np.array(below), np.array(of)


def wanted_values(
    model: ContactModel,
    theta: Float[Array, " p"] | Float[np.ndarray, " p"],
    breakaway: Float[np.ndarray, " n_materials"],
) -> Float[Array, " w"] | Float[np.ndarray, " w"]:
    r"""The parameters of the output from those of the model.

    $\mu = (k\mu) / k$ (ma 12), $\alpha = \tfrac23 h / k$ (marhefka 7),
    $\mu_s = k_f s_\max / (k d^\lambda)$ at the switch from holding to sliding.

    Args:
        model: For the names.
        theta: As in `ContactModel.names`.
        breakaway: $s_\max / d^\lambda$ at the switch, by material.
    """
    factor, above, below, of = _quotients(model)
    xp = np if isinstance(theta, np.ndarray) else jnp
    padded = xp.concatenate([theta, np.ones(1)])
    with np.errstate(divide="ignore", invalid="ignore"):  # nan where nothing told k
        return padded[above] / padded[below] * (factor * np.append(breakaway, 1.0)[of])


def model_values(model: ContactModel, wanted: dict[str, float]) -> Float[Array, " p"]:
    """The model's parameters from those of the output: the inverse of `wanted_values`."""
    own = set(wanted_names(model)) - {n for n in wanted_names(model) if n.endswith(".mu_s")}
    missing = sorted(n for n in own if n not in wanted and not n.startswith("bias."))
    extra = sorted(
        set(wanted) - set(wanted_names(model)) - {f"{m.name}.s_max" for m in model.materials}
    )
    if missing or extra:
        word = "lacks" if missing else "must not have"
        raise InputError(
            f"the table of parameters {word} `{(missing or extra)[0]}`;"
            f" it needs: {', '.join(sorted(own))}"
        )
    out = []
    for full in model.names:
        material, _, name = full.rpartition(".")
        k = wanted.get(f"{material}.k", 0.0)
        if name == "kmu":
            out.append(k * wanted[f"{material}.mu"])
        elif name == "h":
            out.append(1.5 * wanted[f"{material}.alpha"] * k)
        else:
            out.append(wanted.get(full, 0.0))
    return jnp.asarray(np.array(out, dtype=float))


def jacobian_of_wanted(
    model: ContactModel,
    theta: Float[np.ndarray, " p"],
    breakaway: Float[np.ndarray, " n_materials"],
) -> Float[np.ndarray, "w p"]:
    """Derivative of `wanted_values`, for standard errors; zero where θ[below] is."""
    factor, above, below, of = _quotients(model)
    scale = factor * np.append(breakaway, 1.0)[of]
    padded, rows = np.append(theta, 1.0), np.arange(len(above))
    inverse = np.divide(1.0, padded[below], out=np.zeros(len(rows)), where=padded[below] != 0)
    J = np.zeros((len(above), len(padded)))
    J[rows, above] = scale * inverse
    J[rows, below] -= scale * padded[above] * inverse**2
    return J[:, :-1]
