"""Ground reactions from recorded motion: from momentum to feet, soles and force plates."""
