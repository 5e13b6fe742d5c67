# ruff: noqa: E501  (files as they are written)
"""Mutations that know what they mutate: words of a grammar more often than single bytes."""

import random
import re
from collections.abc import Callable

# What breaks readers: too large, too small, no number, another sign, no end, no meaning.
NUMBERS = (
    "0", "-0", "-1", "1", "2", "1e308", "-1e308", "1e-308", "1e400", "nan", "inf", "-inf", "1e5",
    "0x10", "1_000", "1,5", "٣", "9" * 400, "9" * 5000, "1" + "0" * 30, "0.1.2", "--1", "1e", "½",
    "true", "", " ", "4294967296", "-2147483649", "1e9",
)  # fmt: skip
WORDS = (
    "", " ", "a" * 300, "a" * 40_000, "[/red] x", "\x1b[31m", "../../etc/passwd", "/dev/zero", "ä",
    "\u202e", "null", "None", "{}", "[]", "%s%n", "${HOME}", "\ufeff", "😀", "a b", "a.b", "\t",
    "world", "free", "time", "'", '"', "`", "\\", "&amp;", "&#0;", "<", ">", "=", "#", ":", "*a", "&a",
)  # fmt: skip
BLOCKS = (
    "[" * 3000 + "]" * 3000, "{" * 1000, "<a>" * 2000, "a: &a [*a]\n", "[[a]]\n", "\n\n\n", "\r", ",", ";",
    "a = 1\n", "- - - -\n", "<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]>", "endheader\n",
    "<?xml version='1.0' encoding='martian'?>", "nRows=1e9\n", "\x00", "NaN,NaN\n",
)  # fmt: skip
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d_]*\.?\d*(?:[eE][-+]?\d+)?")
_WORD = re.compile(r"[A-Za-z_][\w.-]*")
_PIECE = re.compile(r"<[^<>]*>|[^\n]*\n")


def mutate(content: bytes, rng: random.Random, *, text: bool) -> bytes:
    """One to four mutations of a file."""
    for _ in range(rng.choice((1, 1, 1, 2, 2, 4))):
        if text and rng.random() < 0.85:
            try:
                words = content.decode("utf-8")
            except UnicodeDecodeError:
                content = rng.choice(BYTES)(content, rng)
                continue
            content = rng.choice(TEXT)(words, rng).encode("utf-8", "surrogatepass")
        else:
            content = rng.choice(BYTES)(content, rng)
    return content


def _replace(pattern: re.Pattern, choices: tuple[str, ...]) -> Callable:
    def apply(text: str, rng: random.Random) -> str:
        found = list(pattern.finditer(text))
        if not found:
            return text + rng.choice(choices)
        where = rng.choice(found)
        return text[: where.start()] + rng.choice(choices) + text[where.end() :]

    return apply


def _other_word(text: str, rng: random.Random) -> str:
    """A word in the place of another one of the same file: right grammar, wrong meaning."""
    found = list(_WORD.finditer(text))
    if not found:
        return text
    here, there = rng.choice(found), rng.choice(found)
    return text[: here.start()] + there[0] + text[here.end() :]


def _pieces(text: str, rng: random.Random) -> str:
    """Delete, double, swap or move a line or a tag."""
    pieces = _PIECE.findall(text) or [text]
    i, j = rng.randrange(len(pieces)), rng.randrange(len(pieces))
    match rng.randrange(4):
        case 0:
            del pieces[i]
        case 1:
            pieces.insert(j, pieces[i])
        case 2:
            pieces[i], pieces[j] = pieces[j], pieces[i]
        case _:
            pieces.insert(i, pieces.pop(j))
    return "".join(pieces)


def _insert(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(BLOCKS + WORDS + NUMBERS) + text[at:]


TEXT = (
    _replace(_NUMBER, NUMBERS), _replace(_NUMBER, NUMBERS), _replace(_WORD, WORDS), _other_word,
    _pieces, _insert,
)  # fmt: skip


def _flip(content: bytes, rng: random.Random) -> bytes:
    if not content:
        return b"\x00"
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 4, 16))):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _cut(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def _remove(content: bytes, rng: random.Random) -> bytes:
    a, b = sorted(rng.randrange(len(content) + 1) for _ in range(2))
    return content[:a] + content[b:]


def _double(content: bytes, rng: random.Random) -> bytes:
    a, b = sorted(rng.randrange(len(content) + 1) for _ in range(2))
    return content[:b] + content[a:b][:10_000] + content[b:]


def _word16(content: bytes, rng: random.Random) -> bytes:
    """A number of two or four bytes: counts and offsets of binary formats."""
    size = rng.choice((2, 4))
    if len(content) < size:
        return content
    at = rng.randrange(0, len(content) - size + 1, 1 if rng.random() < 0.5 else size)
    value = rng.choice((0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF)) % (1 << (8 * size))
    return content[:at] + value.to_bytes(size, "little") + content[at + size :]


BYTES = (_flip, _cut, _remove, _double, _word16)
