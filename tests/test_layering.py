"""Each folder of the package imports only from the folders above it."""

import ast
from pathlib import Path

import stiction

PACKAGE = Path(stiction.__file__).parent

# From the top down. `scenes` are files and their reader; `cli` may use everything.
LAYERS = [
    "_base",
    "tables",
    "mechanism",
    "surfaces",
    "laws",
    "complementarity",
    "impacts",
    "interop",
    "control",
    "engines",
    "mujoco",
    "motions",
    "biped",
    "agility",
    "scenes",
    "identify",
    "studies",
    "report",
    "studio",
    "reproduce",
    "cli",
]


def imported_folders(file: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
            if node.module == "stiction":
                names = [f"stiction.{alias.name}" for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "stiction" and len(parts) > 1:
                found.add(parts[1])
    return found


def test_folders_import_only_from_those_above_them():
    wrong = []
    for file in PACKAGE.rglob("*.py"):
        folder = file.relative_to(PACKAGE).parts[0]
        if folder not in LAYERS:
            continue
        below = LAYERS[LAYERS.index(folder) + 1 :]
        wrong += [
            f"{file.relative_to(PACKAGE)} imports {b}" for b in imported_folders(file) & set(below)
        ]
    assert not wrong


def test_every_folder_has_its_layer():
    folders = {p.parent.name for p in PACKAGE.glob("*/__init__.py")}
    assert folders <= set(LAYERS)
