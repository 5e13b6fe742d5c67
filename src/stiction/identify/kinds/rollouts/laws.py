"""Which law of impact foretells best the rollouts that were kept aside."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from stiction._base.errors import InputError
from stiction.identify.fit.ranking import Ranking, rank
from stiction.identify.kinds.rollouts.identify import identify
from stiction.identify.kinds.rollouts.setup import RolloutSetup
from stiction.impacts import ONE_CONTACT
from stiction.tables import Table

# Fields of `contact` that say which law, and what they may be, engine by engine.
CHOICES = {
    "hybrid": ("impact", ("newton", "poisson", "stronge", "lcp")),
    "stepping": ("restitution_law", ("newton", "poisson")),
    "compliant": ("normal", ("hunt-crossley", "lankarani-nikravesh", "flores")),
}


def rank_laws(
    tables: Sequence[Table],
    setup: RolloutSetup,
    folder: Path = Path(),
    *,
    tell: Callable[[str], None] = lambda text: None,
) -> Ranking:
    """Fit each law of the setup's engine, and rank them by the mean distance of rollouts aside."""
    if not setup.kept_aside:
        raise InputError("`kept_aside` must be above 0 to rank laws: they are judged on those")
    field, laws = CHOICES[setup.contact.law or "hybrid"]
    losses = {}
    for law in laws:
        change: dict[str, object] = {field: law}
        if field == "impact":
            change["sequence"] = law in ONE_CONTACT
        contact = setup.contact.model_copy(update=change)
        found = identify(
            tables,
            setup.model_copy(update={"contact": contact}),
            folder,
            tell=lambda text, law=law: tell(f"{law}: {text}"),
        )
        aside = found.curves["rollout.aside"]
        losses[law] = np.nanmean(found.curves["rollout.position_error"][aside], axis=1)
    return rank(losses, "rollouts")
