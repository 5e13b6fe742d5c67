"""From the fields of `contact` to the law that they mean."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.errors import InputError, unknown
from stiction.engines import Compliant, Hybrid, Stepping
from stiction.laws import (
    AbstractNormalLaw,
    AbstractTangentialLaw,
    AsymmetricHuntCrossley,
    Bristle,
    CarvalhoMartins,
    Flores,
    Gonthier,
    HuntCrossley,
    LankaraniNikravesh,
    LinearSpringDamper,
    RegularizedCoulomb,
    Stribeck,
    dissipation_from_alpha,
)
from stiction.mechanism import Mechanism
from stiction.scenes.scenario import (
    AnyContact,
    CompliantFields,
    Friction,
    HybridContact,
    Scenario,
    SteppingContact,
)
from stiction.surfaces import Contacts, WorldContacts

_ALPHA = 0.5  # s/m, where neither alpha nor restitution is given
_RELAXATION = 5e-3  # of a bristle, damping over stiffness, where no damping is given [s]

_OF_LITERATURE = {
    "lankarani-nikravesh": LankaraniNikravesh,
    "flores": Flores,
    "gonthier": Gonthier,
    "carvalho-martins": CarvalhoMartins,
}
_BY_GEOM = ("mu_static", "mu_dynamic", "stribeck_speed", "stribeck_exponent")
_RIGID = ("restitution", "mu_static", "mu_dynamic", "rest_speed")


def law_of(scenario: Scenario, contacts: Contacts | WorldContacts) -> Hybrid | Stepping | Compliant:
    """The law that a scenario names."""
    fields = scenario.contact
    if isinstance(fields, SteppingContact):
        return _stepping(fields, scenario.solver.dt, contacts)
    if isinstance(fields, CompliantFields):
        return _compliant(fields, contacts)
    if isinstance(contacts, WorldContacts):
        return _hybrid(as_rigid(fields), contacts)
    assert isinstance(fields, HybridContact)
    return _hybrid(fields, contacts)


def rigid_law(fields: AnyContact, contacts: Contacts) -> Hybrid:
    """The hybrid law with those numbers of any law that it has too."""
    return _hybrid(as_rigid(fields), contacts)


def as_rigid(fields: AnyContact) -> HybridContact:
    """The fields of the hybrid law, with those of any other law that it has too."""
    given = fields.model_dump(exclude_unset=True)
    shared = {k: x for k, x in given.items() if k in HybridContact.model_fields}
    return HybridContact.model_validate({**shared, "law": "hybrid"})


def world_numbers(fields: AnyContact, mechanism: Mechanism) -> tuple[tuple[str, str, float], ...]:
    """What tables of a scenario say of contacts of some geoms, where contacts are found later."""
    said = []
    for name in (*_RIGID, "stribeck_speed", "stribeck_exponent"):
        table = getattr(fields, name, None)
        if isinstance(table, dict):
            for geom, value in table.items():
                if geom not in mechanism.shapes.names:
                    raise unknown(f"geom in `contact.{name}`", geom, mechanism.shapes.names)
                said.append((geom, name, float(value)))
        elif isinstance(table, list):
            raise InputError(
                f"`contact.{name}` must be one number, or a table by geom: contacts of this model"
                " are found on the way"
            )
    return tuple(said)


def _hybrid(fields: HybridContact, contacts: Contacts | WorldContacts) -> Hybrid:
    names = (*_RIGID, "stribeck_speed", "stribeck_exponent")
    controlled = fields.energetic != "off"
    method = fields.energy_method or ("scale" if controlled else "off")
    return Hybrid(
        **{name: _per_contact(fields, name, contacts) for name in names},
        energetic=fields.energetic if controlled else 1.0,
        impact=fields.impact,
        energy_method=method if controlled else "off",
        sequence=fields.sequence,
    )


def _stepping(fields: SteppingContact, dt: float, contacts: Contacts | WorldContacts) -> Stepping:
    return Stepping(
        dt=dt,
        **{name: _per_contact(fields, name, contacts) for name in _RIGID},
        energetic=None if fields.energetic == "off" else fields.energetic,
        solver=fields.solver,
        restitution_law=fields.restitution_law,
        sides=fields.sides,
    )


def _compliant(fields: CompliantFields, contacts: Contacts | WorldContacts) -> Compliant:
    def value(name: str, default: float | None = None) -> jnp.ndarray:
        given = getattr(fields, name)
        by_geom = name in _BY_GEOM and not isinstance(given, list)
        if isinstance(contacts, WorldContacts) and isinstance(given, list | dict) and not by_geom:
            raise InputError(
                f"`{name}` must be one number: contacts of this model are found on the way"
            )
        return _per_contact(fields, name, contacts, default)

    return Compliant(
        _naming(lambda: _normal(fields, value)), _naming(lambda: _tangential(fields, value))
    )


def _normal(fields: CompliantFields, value: Callable) -> AbstractNormalLaw:
    k = value("stiffness")
    if fields.normal == "spring-damper":
        return LinearSpringDamper(stiffness=k, damping=value("damping"))
    if fields.normal == "asymmetric":
        closing = dissipation_from_alpha(value("alpha", _ALPHA))
        parting = dissipation_from_alpha(value("alpha_parting", 0.0))
        return AsymmetricHuntCrossley(
            stiffness=k,
            compression_dissipation=closing,
            restitution_dissipation=parting,
            exponent=value("exponent", 1.0),
        )
    if fields.normal in _OF_LITERATURE:
        return _OF_LITERATURE[fields.normal](
            stiffness=k,
            restitution=value("restitution"),
            impact_speed=value("impact_speed"),
            exponent=value("exponent", 1.5),
        )
    n = value("exponent", 1.0)
    # A file's restitution is for rigid contact too, so that alpha, where it is given, wins.
    if fields.alpha is None and "restitution" in fields.model_fields_set:
        return HuntCrossley.from_restitution(
            stiffness=k,
            restitution=value("restitution"),
            impact_speed=value("impact_speed"),
            exponent=n,
        )
    return HuntCrossley.from_alpha(stiffness=k, alpha=value("alpha", _ALPHA), exponent=n)


def _tangential(fields: CompliantFields, value: Callable) -> AbstractTangentialLaw | None:
    if fields.tangential == "none":
        return None
    if fields.tangential == "coulomb":
        return RegularizedCoulomb(mu=value("mu_dynamic"), slip_speed=value("slip_speed"))
    curve = {
        "mu_static": value("mu_static"),
        "mu_dynamic": value("mu_dynamic"),
        "stribeck_speed": value("stribeck_speed"),
        "stribeck_power": value("stribeck_exponent"),
    }
    if fields.tangential == "stribeck":
        return Stribeck(**curve, slip_speed=value("slip_speed"))
    k = value("stiffness") if fields.bristle_stiffness is None else value("bristle_stiffness", 1e5)
    c = _RELAXATION * k if fields.bristle_damping is None else value("bristle_damping", 1.0)
    for name, numbers in (("bristle_stiffness", k), ("bristle_damping", c)):
        if not bool(jnp.all(numbers > 0)):
            raise InputError(f"`{name}` must be positive, got {float(jnp.min(numbers)):g}")
    return Bristle(**curve, stiffness=k, damping=c)


def _naming(make: Callable) -> Any:
    """What `make` makes; where it refuses a number, the field is named as in the scenario."""
    try:
        return make()
    except InputError as error:
        raise InputError(str(error).replace("`", "`contact.", 1)) from None


def _per_contact(
    fields: Friction,
    name: str,
    contacts: Contacts | WorldContacts,
    default: float | None = None,
) -> jnp.ndarray:
    """One value for each contact, from a number, a list, or a table by the contact's name.

    Contacts that a table leaves out have the field's default, or `default` if it has none.
    """
    given, n = getattr(fields, name), contacts.count
    usual = type(fields).model_fields[name].default
    usual: Any = default if usual is None else usual
    given = usual if given is None else given
    if name == "mu_dynamic" and name not in fields.model_fields_set:
        return jnp.minimum(usual, _per_contact(fields, "mu_static", contacts))
    if isinstance(contacts, WorldContacts):  # by geom: see `world_numbers`
        return jnp.asarray(float(usual if isinstance(given, dict) else given))
    if isinstance(given, dict):
        values = np.full(n, usual, float)
        for contact, value in given.items():
            if contact not in contacts.names:
                raise unknown(f"contact in `contact.{name}`", contact, contacts.names)
            values[contacts.names.index(contact)] = value
        return jnp.asarray(values)
    if isinstance(given, list) and len(given) != n:
        raise InputError(
            f"`contact.{name}` must be one number or {n} (one for each contact:"
            f" {', '.join(contacts.names)}), got {len(given)}"
        )
    return jax.device_put(np.broadcast_to(np.array(given, float), (n,)).copy())
