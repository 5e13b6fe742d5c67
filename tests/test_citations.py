"""Every [Key2000] in a docstring or a page is an entry of docs/references.bib."""

import re
from pathlib import Path

import pytest

import stiction

ROOT = Path(__file__).parents[1]
KEY = re.compile(r"\[([A-Z][A-Za-z]+[12][0-9]{3}[a-z]?)\]")
BIB = ROOT / "docs" / "references.bib"


def cited() -> dict[str, str]:
    """key -> a file that cites it"""
    files = [*Path(stiction.__file__).parent.rglob("*.py"), *(ROOT / "docs").rglob("*.md")]
    return {key: str(f) for f in files for key in KEY.findall(f.read_text())}


def test_every_citation_is_in_the_bibliography():
    if not BIB.exists():
        pytest.skip("the documentation is not beside the tests")
    known = set(re.findall(r"@\w+\{([^,\s]+),", BIB.read_text()))
    missing = {key: file for key, file in cited().items() if key not in known}
    assert not missing
