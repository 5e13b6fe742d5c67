"""Physics under abuse: random and degenerate impacts and scenes, by the thousand."""
