"""Names that are imported when they are first used, so that importing their folder stays light."""

import ast
import importlib
import sys
from collections.abc import Callable
from pathlib import Path


def lazy_names(
    package: str, file: str
) -> tuple[Callable[[str], object], Callable[[], list[str]], dict[str, str]]:
    """The `__getattr__` and `__dir__` of a package, and the module of each of its names.

    The names stand in one place, the stub `__init__.pyi` beside the package's file, where type
    checkers and editors find them too: `from stiction.laws import HuntCrossley as HuntCrossley`.
    """
    modules, folders = {}, []
    for node in ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            for name in (alias.name for alias in node.names):
                if node.module == package:
                    folders.append(name)
                else:
                    modules[name] = str(node.module)

    def get(name: str) -> object:
        if name in folders:
            return importlib.import_module(f"{package}.{name}")
        if name not in modules:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        value = getattr(importlib.import_module(modules[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted([*modules, *folders, "__version__"]), modules
