"""Links that nobody has to write: of `[Key2000]`, and of a document's short name.

A Markdown extension, named in `zensical.toml`; docstrings go through it too. The five documents are
cited by short names everywhere ("flickinger (5.2)"); their pages say what they are.
"""

import re
from xml.etree.ElementTree import Element

from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor

CITATION = r"\[([A-Za-z]+[12][0-9]{3}[a-z]?)((?:,[^\]\[]*)?)\](?![\[(])"
DOCUMENTS = ("erdmann", "flickinger", "ma", "marhefka", "rodic")
# Not inside of a longer word, a path or a file name, as in `flickinger.md` or `out/ma`.
_NAME = rf"(?<![\w/.-])({'|'.join(DOCUMENTS)})(?![\w/-]|\.\w)"


class Linked(InlineProcessor):
    """Text that links to an anchor of some page of the manual."""

    ANCESTOR_EXCLUDE = ("a", "autoref", "h1", "h2", "h3", "h4", "h5", "h6")

    def __init__(self, pattern: str, md: Markdown, prefix: str):
        super().__init__(pattern, md)
        self.prefix = prefix

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[Element, int, int]:
        """The link, resolved when all pages are known; an anchor that is absent fails the build."""
        link = Element("autoref", {"identifier": anchor(m[1], self.prefix)})
        link.text = m[0].strip("[]")
        return link, m.start(0), m.end(0)


class Links(Extension):
    """Citations and short names of documents become links."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Before Markdown's own links (160 and less), after code (190) and escapes (180)."""
        md.inlinePatterns.register(Linked(CITATION, md, "cite-"), "citations", 175)
        md.inlinePatterns.register(Linked(_NAME, md, "document-"), "documents", 5)


def anchor(key: str, prefix: str = "cite-") -> str:
    """The anchor of an entry of the bibliography, or of a document's page."""
    return prefix + key.lower()


def makeExtension(**settings: object) -> Links:
    """What Markdown calls."""
    return Links(**settings)
