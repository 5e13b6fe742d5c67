"""What is known of a planar problem besides its motions, as plain data."""

from typing import Any

import numpy as np

from stiction.motions.classify import direction_ranges
from stiction.motions.files import PlanarProblem


def cone_and_directions(problem: PlanarProblem) -> dict[str, Any]:
    """The friction cone, and what pushes in every direction do (not where contacts collide)."""
    state = problem.state()
    content: dict[str, Any] = {
        "cone": {
            "sheets": state.sheets,
            "edges": state.cone.extreme_edges(),
            "facets": state.cone.facets,
            "dimension": state.cone.dimension,
            "everything": state.cone.everything,
        }
    }
    if state.colliding.any() or problem.has_vertices:  # pushes would need all ways of a vertex
        return content
    magnitude = float(np.hypot(*problem.force)) or 1.0
    ranges = direction_ranges(state, magnitude=magnitude, torque=problem.torque)
    content["directions"] = [
        {
            "from_degrees": float(np.degrees(r.start)),
            "to_degrees": float(np.degrees(r.end)),
            "response": r.response.words,
        }
        for r in ranges
    ]
    return content
