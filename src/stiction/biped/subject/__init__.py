"""Who moves: a subject's bodies, coordinates, soles, and its pose from markers."""
