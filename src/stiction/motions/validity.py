r"""When a friction-cone edge may take part in the reaction (erdmann Table 1, equations 7 to 10)."""

import numpy as np
from jaxtyping import Float

ALWAYS = (-np.inf, np.inf)
NEVER = (np.inf, -np.inf)


def validity_intervals(
    sliding: Float[np.ndarray, " m"],
    along: Float[np.ndarray, " m"],
    force: Float[np.ndarray, " m"],
) -> tuple[Float[np.ndarray, "m 2"], Float[np.ndarray, "m 2"]]:
    r"""The intervals of c in which each contact's two edges are usable (Table 1).

    On the line of reactions $F_R(c) = -F_A - m h' + c\,t_c$ (7) the tangential acceleration of
    contact i has the sign of $F_i\cdot v_{fi}$ with $F_i = -mh' + m\omega^2 r_i + c\,t_c$ (9):
    friction opposes the sliding velocity, or if there is none, the sliding acceleration, which
    changes sign at

    $$ c_i = \frac{m (h' - \omega^2 r_i)\cdot v_{fi}}{t_c\cdot v_{fi}}. \qquad (10) $$

    Args:
        sliding: $v\cdot v_{fi}$, exactly 0 where the contact does not slide.
        along: $t_c\cdot v_{fi}$, exactly 0 where c does not matter.
        force: $F_i\cdot v_{fi}$ at c = 0, exactly 0 where nothing pulls the contact sideways.

    Returns:
        $I_i^+$ of the edges $\Delta_n n + \mu v_f$ and $I_i^-$ of $\Delta_n n - \mu v_f$, both
        closed; an empty interval is (inf, -inf).
    """
    # Positive where the contact slides right, whatever c (rows 1, 2, 5, 6, 7).
    at_rest = sliding == 0
    turning = at_rest & (along != 0)
    rightward = np.where(at_rest, force, sliding)
    c = np.where(turning, -force / np.where(turning, along, 1.0), 0.0)  # (10)

    plus = np.where((rightward <= 0)[:, None], ALWAYS, NEVER)
    minus = np.where((rightward >= 0)[:, None], ALWAYS, NEVER)
    below = np.stack([np.full_like(c, -np.inf), c], axis=1)
    above = np.stack([c, np.full_like(c, np.inf)], axis=1)
    rising = (along > 0)[:, None]
    plus = np.where(turning[:, None], np.where(rising, below, above), plus)  # rows 3, 4
    minus = np.where(turning[:, None], np.where(rising, above, below), minus)
    return plus, minus
