"""Laws ranked by what they foretell of data that were kept aside, and which of them these tell."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from stiction._base.arrays import Float

TOLD_APART = 2.0  # standard errors between the scores of two laws


@dataclass(frozen=True)
class Ranking:
    """Laws from the best to the worst."""

    # of each law its name, mean loss, how far it is behind the best with the standard error of
    # that, and whether the data tell it from the best
    rows: list[dict[str, Any]]
    sentence: str  # the same in words

    @property
    def best(self) -> str:
        """The law that foretells best."""
        return self.rows[0]["law"]


def rank(losses: dict[str, Float[np.ndarray, " n"]], what: str) -> Ranking:
    """Rank laws by their losses on the same units of data, each foretold without being fitted.

    The difference of two laws is judged by how it scatters from unit to unit.

    `what` names the data, in the plural.
    """
    order = sorted(losses, key=lambda law: float(np.mean(losses[law])))
    best, rows = losses[order[0]], []
    for law in order:
        d = losses[law] - best
        std = float(np.std(d, ddof=1) / np.sqrt(len(d)))
        apart = bool(np.mean(d) > TOLD_APART * std)
        rows.append(
            {"law": law, "loss": float(np.mean(losses[law])), "behind": float(np.mean(d)),
             "std": std, "told_apart": apart}
        )  # fmt: skip
    alike = [row["law"] for row in rows[1:] if not row["told_apart"]]
    worse = [row["law"] for row in rows[1:] if row["told_apart"]]
    parts = [f"of the laws {', '.join(order)} these {what} are foretold best by {order[0]}"]
    if alike:
        parts.append(f"cannot tell it from {' or '.join(alike)}")
    if worse:
        parts.append(f"speak against {' and '.join(worse)}")
    return Ranking(rows, f"{parts[0]}; they {' and '.join(parts[1:])}" if parts[1:] else parts[0])
