"""What stands beside the fields of a class, as a comment, is told in the manual.

A Griffe extension, named in `zensical.toml`: comments at the end of a field's lines, and on those
above it, become the section "Attributes" of the class, unless its docstring has one.
"""

import re
import textwrap
import tokenize
from pathlib import Path
from typing import Any

from griffe import Attribute, Class, Extension

_FOR_TOOLS = re.compile(r"# *(noqa|type:|pyright:|fmt:|pragma:)")


class Beside(Extension):
    """Comments beside fields become their descriptions."""

    def on_class(self, *, cls: Class, **_: Any) -> None:
        """Write the section."""
        if cls.docstring is None or "Attributes:" in cls.docstring.value:
            return
        told = {name: _told(field) for name, field in cls.attributes.items() if _is_field(field)}
        if any(told.values()):
            rows = (f"    {name}: {text}" for name, text in told.items() if text)
            cls.docstring.value += "\n\nAttributes:\n" + "\n".join(rows)


def _is_field(attribute: Attribute) -> bool:
    inside = attribute.annotation is not None and "property" not in attribute.labels
    return inside and not attribute.name.startswith("_")


def _told(field: Attribute) -> str:
    """The comments of a field as a sentence."""
    first, last = field.lineno, field.endlineno
    if first is None or last is None or not isinstance(field.filepath, Path):
        return ""
    lines, above = field.lines_collection[field.filepath], []
    while lines[first - 2 - len(above)].lstrip().startswith("# "):
        above.insert(0, lines[first - 2 - len(above)])
    own = iter(textwrap.dedent("\n".join(lines[first - 1 : last])).splitlines(keepends=True))
    tokens = tokenize.generate_tokens(lambda: next(own, ""))
    comments = above + [token.string for token in tokens if token.type == tokenize.COMMENT]
    text = " ".join(c.strip(" #") for c in comments if not _FOR_TOOLS.match(c.strip()))
    if re.match(r"([a-z]{2,}|a)([ ,;:.'-]|$)", text):  # a word, and no symbol
        text = text[0].upper() + text[1:]
    is_unit = text.startswith("[") and text.endswith("]")
    return text if not text or is_unit or text.endswith((".", "?", "…")) else f"{text}."
