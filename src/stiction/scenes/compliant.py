"""From the fields of a scenario to the laws of its compliant contacts."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from stiction._errors import InputError
from stiction.engines import Compliant
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
from stiction.scenes.per_contact import per_contact
from stiction.scenes.scenario import ContactFields
from stiction.surfaces import Contacts

_ALPHA = 0.5  # s/m, where neither alpha nor restitution is given
_RELAXATION = 5e-3  # of a bristle, damping over stiffness, where no damping is given [s]
_STRIBECK_SPEED = 1e-2  # m/s: compliant contacts shiver faster than the rigid ones' default

_OF_LITERATURE = {
    "lankarani-nikravesh": LankaraniNikravesh,
    "flores": Flores,
    "gonthier": Gonthier,
    "carvalho-martins": CarvalhoMartins,
}


def compliant_law(fields: ContactFields, contacts: Contacts) -> Compliant:
    """The compliant law of a scenario."""

    def value(name: str, default: Any = None) -> jnp.ndarray:
        given = getattr(fields, name)
        return per_contact(name, default if given is None else given, default, contacts)

    return Compliant(
        _naming(lambda: _normal(fields, value)), _naming(lambda: _tangential(fields, value))
    )


def _normal(fields: ContactFields, value: Callable) -> AbstractNormalLaw:
    k = value("stiffness", 1e5)
    if fields.normal == "spring-damper":
        return LinearSpringDamper(stiffness=k, damping=value("damping", 0.0))
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
            restitution=value("restitution", 1.0),
            impact_speed=value("impact_speed", 1.0),
            exponent=value("exponent", 1.5),
        )
    n = value("exponent", 1.0)
    # A file's restitution is for rigid contact too, so that alpha, where it is given, wins.
    if fields.alpha is None and "restitution" in fields.model_fields_set:
        return HuntCrossley.from_restitution(
            stiffness=k,
            restitution=value("restitution", 1.0),
            impact_speed=value("impact_speed", 1.0),
            exponent=n,
        )
    return HuntCrossley.from_alpha(stiffness=k, alpha=value("alpha", _ALPHA), exponent=n)


def _tangential(fields: ContactFields, value: Callable) -> AbstractTangentialLaw | None:
    if fields.tangential == "none":
        return None
    if fields.tangential == "coulomb":
        return RegularizedCoulomb(mu=value("mu_dynamic", 0.0), slip_speed=value("slip_speed", 1e-4))
    given = "stribeck_speed" in fields.model_fields_set
    curve = {
        "mu_static": value("mu_static", 0.0),
        "mu_dynamic": value("mu_dynamic", 0.0),
        "stribeck_speed": value("stribeck_speed", 1.0) if given else jnp.asarray(_STRIBECK_SPEED),
        "stribeck_power": value("stribeck_exponent", 1.0),
    }
    if fields.tangential == "stribeck":
        return Stribeck(**curve, slip_speed=value("slip_speed", 1e-4))
    k = value("stiffness" if fields.bristle_stiffness is None else "bristle_stiffness", 1e5)
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
