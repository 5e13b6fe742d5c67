"""One class, one name: a reader who finds a public class knows which one it is."""

import ast
from collections import defaultdict
from pathlib import Path

import stiction

PACKAGE = Path(stiction.__file__).parent

# Names that still stand twice; a name that is mended must be taken off this list.
KNOWN_TWICE: set[str] = set()


def public_classes() -> dict[str, list[str]]:
    """Name of every public class at the top of a module: the files that define one."""
    found = defaultdict(list)
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(str(file.relative_to(PACKAGE)))
    return found


def test_no_public_class_name_stands_twice():
    twice = {name: files for name, files in public_classes().items() if len(files) > 1}
    assert {n: f for n, f in twice.items() if n not in KNOWN_TWICE} == {}
    assert KNOWN_TWICE - twice.keys() == set(), "mended: take them off the list"
