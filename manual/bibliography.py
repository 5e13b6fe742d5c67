"""The page of the bibliography, from `docs/references.bib`."""

import re

from manual import DOCS, head
from manual.links import anchor

_ENTRY = re.compile(r"^@(\w+)\{([^,\s]+),(.*?)(?=^@|\Z)", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"^\s*(\w+)\s*=\s*\{(.*?)\},?\s*$", re.MULTILINE)
_ACCENTS = {
    "\\'": {
        "a": "á",
        "c": "ć",
        "e": "é",
        "i": "í",
        "n": "ń",
        "o": "ó",
        "u": "ú",
        "y": "ý",
        "s": "ś",
    },
    "\\`": {"a": "à", "e": "è"},
    '\\"': {"a": "ä", "o": "ö", "u": "ü"},
    "\\^": {"e": "ê", "o": "ô"},
    "\\~": {"n": "ñ"},
    "\\v": {"c": "č", "s": "š", "z": "ž", "r": "ř"},
    "\\c": {"c": "ç"},
}


def entries() -> dict[str, dict[str, str]]:
    """The fields of every entry by its key."""
    text = (DOCS / "references.bib").read_text()
    return {
        key: {"type": kind} | {name: plain(value) for name, value in _FIELD.findall(body)}
        for kind, key, body in _ENTRY.findall(text)
    }


def plain(text: str) -> str:
    """LaTeX of a bibliography as plain text."""
    for sign, letters in _ACCENTS.items():
        for letter, accented in letters.items():
            for upper in (False, True):
                a, b = (letter.upper(), accented.upper()) if upper else (letter, accented)
                for form in (
                    f"{{{sign}{a}}}",
                    f"{{{sign}{{{a}}}}}",
                    f"{sign}{{{a}}}",
                    f"{sign}{a}",
                ):
                    if not (sign[1].isalpha() and form == f"{sign}{a}"):
                        text = text.replace(form, b)
    for sign, letter in (
        ("o", "ø"),
        ("ss", "ß"),
        ("ae", "æ"),
        ("oe", "œ"),
        ("AA", "Å"),
        ("aa", "å"),
    ):
        text = re.sub(rf"\\{sign}(?![A-Za-z])(?:\{{\}})? ?|\{{\\{sign}\}}", letter, text)
    text = (
        text.replace("---", "—")
        .replace("--", "–")
        .replace("\\&", "&")
        .replace("~", " ")
        .replace("\\_", "_")
    )
    return " ".join(re.sub(r"[{}]", "", text).split())


def _authors(text: str) -> str:
    """'Last, First and …' as 'First Last, First Last and First Last'."""
    names = [" ".join(reversed([p.strip() for p in a.split(",", 1)])) for a in text.split(" and ")]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _where(entry: dict[str, str]) -> str:
    """Where it appeared: journal, volume, pages; or the book, the school, the publisher."""
    parts = []
    journal = entry.get("journal", "")
    if journal:
        volume = entry.get("volume", "") + (f"({entry['number']})" if "number" in entry else "")
        parts.append(f"*{journal}*" + (f" {volume}" if volume else ""))
    elif "booktitle" in entry:
        parts.append(f"in *{entry['booktitle']}*")
    if not journal and "number" in entry:
        parts.append(entry["number"])
    parts += [entry[f] for f in ("edition",) if f in entry and not entry[f].isdigit()]
    parts += [f"edition {entry['edition']}"] if entry.get("edition", "").isdigit() else []
    parts += [
        entry[f] for f in ("publisher", "institution", "school", "howpublished") if f in entry
    ]
    parts += [f"pp. {entry['pages']}"] if "pages" in entry else []
    return ", ".join(parts)


def page() -> str:
    """The bibliography in Markdown, each entry with its anchor."""
    lines = [head("bibliography")]
    for key, entry in sorted(entries().items(), key=lambda item: item[0].lower()):
        author = entry.get("author") or entry.get("editor") or entry.get("organization", "")
        title = entry.get("title", "")
        title = f"*{title}*" if entry["type"] == "book" else title
        said = [_authors(author) if author else "", title, _where(entry), entry.get("year", "")]
        link = entry.get("url") or (f"https://doi.org/{entry['doi']}" if "doi" in entry else "")
        said += [f"<{link}>"] if link else []
        said += (
            [entry["note"]] if "note" in entry and "in this project" not in entry["note"] else []
        )
        lines.append(f"## {key} {{ #{anchor(key)} }}\n")
        lines.append(". ".join(s.rstrip(".") for s in said if s) + ".\n")
    return "\n".join(lines)
