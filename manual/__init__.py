"""How the manual is made: generated pages, links of citations, pictures, and what its tests share.

`python -m manual` writes the generated pages of `docs/` (reference, bibliography) anew;
`python -m manual gallery` makes the pictures of the gallery and `python -m manual choose` the
measurements of the page "Choose", which take some minutes.
"""

from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def head(name: str) -> str:
    """What stands, written by hand, at the head of a generated page."""
    return (Path(__file__).parent / "heads" / f"{name}.md").read_text()
