"""The blocks of the manual: command lines, code and files, with what is said about each.

A comment just before a block says what is special about it; docs/developer/manual.md lists them.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

_FENCE = re.compile(r"^(\s*)```+\s*(\S*)\s*(.*)$")
_TITLE = re.compile(r'title="([^"]+)"')
_COMMENT = re.compile(r"^\s*<!--\s*(.*?)\s*-->\s*$")
_PROGRAMS = ("stiction", "make", "pip", "python")


@dataclass(frozen=True)
class Block:
    """A block of a page.

    Attributes:
        page: Relative to the root of the project.
        line: Its first line, from 1.
        language: As the page has it; "indented" for blocks of four spaces.
        text: What is in it.
        title: The name of the file that it is, if it is one.
        notes: The comments before it.
    """

    page: str
    line: int
    language: str
    text: str
    title: str = ""
    notes: tuple[str, ...] = ()

    @property
    def commands(self) -> list[str]:
        """The command lines of the block, without comments and without what they print."""
        if self.language not in ("console", "indented", "sh", "bash"):
            return []
        lines = re.sub(r"\\\n\s*", "", self.text).splitlines()  # a shell joins such lines
        prompted = [line[2:] for line in lines if line.startswith("$ ")]
        plain = [line for line in lines if line.split(" ")[0] in _PROGRAMS]
        found = [shlex.join(_words(line)) for line in prompted or plain]
        return [line for line in found if line]

    @property
    def code(self) -> str:
        """The Python of the block."""
        if self.language == "python":
            return self.text
        if self.language == "console":
            lines = [
                line[4:] for line in self.text.splitlines() if line.startswith((">>> ", "... "))
            ]
            return "\n".join(lines)
        return ""

    def note(self, word: str) -> str | None:
        """What a comment says after a word; None if no comment begins so."""
        for note in self.notes:
            if note.split(":")[0].split(" ")[0] == word.split(" ")[0] and note.startswith(word):
                return note[len(word) :].strip(" :")
        return None


def _words(line: str) -> list[str]:
    return shlex.split(line, comments=True)


def pages() -> list[Path]:
    """Every page of the manual, and what stands beside it."""
    return [*sorted(DOCS.rglob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]


def blocks(path: Path) -> list[Block]:
    """The blocks of a page, from top to bottom."""
    return list(_blocks(str(path.relative_to(ROOT)), path.read_text().splitlines()))


def _blocks(page: str, lines: list[str]) -> Iterator[Block]:
    notes: list[str] = []
    i = 0
    while i < len(lines):
        line = lines[i]
        fence = _FENCE.match(line)
        comment = _COMMENT.match(line)
        if fence:
            indent, language, rest = fence.groups()
            end = next(j for j in range(i + 1, len(lines)) if lines[j].strip().startswith("```"))
            text = "\n".join(row.removeprefix(indent) for row in lines[i + 1 : end])
            title = _TITLE.search(rest)
            yield Block(page, i + 1, language, text, title[1] if title else "", tuple(notes))
            notes, i = [], end + 1
        elif line.startswith("    ") and (i == 0 or not lines[i - 1].strip()):
            end = i
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            text = "\n".join(row[4:] for row in lines[i:end]).rstrip()
            if text.split(" ")[0] in _PROGRAMS:
                yield Block(page, i + 1, "indented", text, "", tuple(notes))
            notes, i = [], end
        else:
            if comment:
                notes.append(comment[1])
            elif line.strip():
                notes = []
            i += 1
