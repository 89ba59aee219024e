"""The common form of a sitemap as columns, by NumPy on its bytes: several times as fast as an event a tag.

Takes blocks of whole entries that hold nothing but tags and text, and gives None for anything else (comments, CDATA,
numeric references, namespaces declared inside, a fault of any kind): `sax` then reads those and says what is wrong.
What is taken is well-formed: every tag is checked, each is closed by its own name, every reference is one of the five.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sitemap_ops.reading.column import cut, distinct, matches, take
from sitemap_ops.reading.elements import Elements, Names
from sitemap_ops.reading.sax import MAX_DEPTH

MAX_TAGS = 262_144
_NAME = r"(?:[A-Za-z_][\w.-]*:)?[A-Za-z_][\w.-]*"
_VALUE = r"\"[^\"<]*\"|'[^'<]*'"
_TAG = re.compile(rf"<(/?)({_NAME})((?:[ \n\t]+{_NAME} ?= ?(?:{_VALUE}))*)[ \n\t]*(/?)>", re.ASCII)
_ATTRIBUTE = re.compile(rf"({_NAME}) ?= ?({_VALUE})", re.ASCII)
_REFERENCES = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&apos;", "'"), ("&amp;", "&"))
_XML = "http://www.w3.org/XML/1998/namespace"
OPENS, CLOSES, BOTH = 1, -1, 0


def read(block: bytes, first_line: int, prefixes: dict[str, str], names: Names) -> Elements | None:
    """The entries of a block; None where `sax` has to read it.

    block: UTF-8, whole entries. first_line: the line it starts in. prefixes: the root's, prefix -> namespace.
    """
    data = np.frombuffer(block, np.uint8)
    opening, closing = (data == ord("<")).nonzero()[0], (data == ord(">")).nonzero()[0]
    controls = (data < 0x20).nonzero()[0]
    if not (_alternate(opening, closing) and _characters(block, data, controls)):
        return None
    edges = np.full(2 * len(opening) + 2, len(block), np.int32)
    edges[0:-2:2], edges[1:-2:2] = opening, closing + 1
    plain = _resolved(block, data, opening, closing, edges)
    if plain is None or plain[: edges[0]].strip():
        return None
    pieces = cut(plain, edges)
    which, different = distinct(take(pieces, np.arange(0, len(pieces) - 1, 2)))
    tags = _tags(different, {"": "", "xml": _XML} | prefixes, names)
    if tags is None:
        return None
    shape = _shape(tags.step[which], tags.code[which])
    text = None if shape is None else _texts(pieces, shape, b"\r" in block)
    if shape is None or text is None:
        return None
    kinds = which[shape.rows]
    newlines = controls[data[controls] == ord("\n")]
    return Elements(
        names=list(names.list),
        tag=tags.code[kinds],
        depth=shape.depth,
        line=first_line + np.searchsorted(newlines, opening[shape.rows]),
        text=text,
        stray=np.zeros(len(kinds), bool),
        attributes={int(row): tags.attributes[kinds[row]] for row in tags.attributed[kinds].nonzero()[0]},
    )


def _alternate(opening: np.ndarray, closing: np.ndarray) -> bool:
    """Each `<` has its `>` before the next one: so there is no bare > in texts or values."""
    return bool(
        0 < len(opening) == len(closing) <= MAX_TAGS
        and (opening < closing).all()
        and (closing[:-1] < opening[1:]).all()
    )


def _characters(block: bytes, data: np.ndarray, controls: np.ndarray) -> bool:
    """Whether they are all UTF-8 and allowed in XML 1.0 (P-20, P-23)."""
    low = data[controls]
    if not ((low == 0x0A) | (low == 0x09) | (low == 0x0D)).all():
        return False
    if not block.isascii():
        try:
            block.decode("utf-8")
        except UnicodeDecodeError:
            return False
        return b"\xef\xbf\xbe" not in block and b"\xef\xbf\xbf" not in block
    return True


def _resolved(
    block: bytes, data: np.ndarray, opening: np.ndarray, closing: np.ndarray, edges: np.ndarray
) -> bytes | None:
    """The bytes with the five references replaced (P-21), and `edges` moved to fit, in place.

    None where an & starts anything else, or where one inside a tag might end its value early.
    """
    left = starts = (data == ord("&")).nonzero()[0]
    shrinks = np.zeros(len(starts) + 1, np.int32)
    for reference, character in _REFERENCES if len(starts) else ():
        found = _at(data, left, reference)
        here, left = left[found], left[~found]
        if not len(here):
            continue
        if character != "&" and (here < closing[np.searchsorted(opening, here) - 1]).any():
            return None
        shrinks[np.searchsorted(starts, here) + 1] = len(reference) - 1
        block = block.replace(reference.encode(), character.encode())
    if len(left):
        return None
    edges -= np.cumsum(shrinks, dtype=np.int32)[np.searchsorted(starts, edges)]
    return block


def _at(data: np.ndarray, starts: np.ndarray, word: str) -> np.ndarray:
    """At which of the places (bool) the bytes are this word."""
    found = starts + len(word) <= len(data)
    for at, byte in enumerate(word.encode()):
        found[found] = data[starts[found] + at] == byte
    return found


@dataclass(frozen=True)
class _Tags:
    """What the different tags of a block do (OPENS, CLOSES, BOTH), their names' codes, their attributes."""

    step: np.ndarray
    code: np.ndarray
    attributed: np.ndarray
    attributes: list[dict[str, str]]


def _tags(texts: list[str], prefixes: dict[str, str], names: Names) -> _Tags | None:
    step, code, attributes = [], [], []
    for text in texts:
        match = _TAG.fullmatch(text)
        if match is None:
            return None
        prefix, _, local = match[2].rpartition(":")
        named = _attributes(match[3], prefixes)
        if prefix not in prefixes or named is None or (match[1] and (named or match[4])):
            return None
        step.append(CLOSES if match[1] else BOTH if match[4] else OPENS)
        code.append(names[f"{prefixes[prefix]} {local}" if prefixes[prefix] else local])
        attributes.append(named)
    attributed = np.array([bool(named) for named in attributes])
    return _Tags(np.array(step, np.int8), np.array(code, np.int32), attributed, attributes)


def _attributes(text: str, prefixes: dict[str, str]) -> dict[str, str] | None:
    """As expat gives them; None where that takes more than reading them off."""
    found: dict[str, str] = {}
    for name, quoted in _ATTRIBUTE.findall(text):
        prefix, _, local = name.rpartition(":")
        value = quoted[1:-1]
        key = f"{prefixes.get(prefix)} {local}" if prefix else name
        if name.startswith("xmlns") or key in found or (prefix and prefix not in prefixes):
            return None
        if "\n" in value or "\t" in value:
            return None
        found[key] = value
    return found


@dataclass(frozen=True)
class _Shape:
    """rows: which tags begin an element. depth: theirs. texts: the tags whose text is a value; beside: all others."""

    rows: np.ndarray
    depth: np.ndarray
    leaf: np.ndarray


def _shape(step: np.ndarray, code: np.ndarray) -> _Shape | None:
    """Which tags begin elements, and how deep; None where they are not closed in their order."""
    after = np.cumsum(step, dtype=np.int64)
    level = after + (step != OPENS)
    if after.min() < 0 or after[-1] != 0 or level.max() >= MAX_DEPTH:
        return None
    paired = (step != BOTH).nonzero()[0]
    order = paired[np.argsort(level[paired], kind="stable")]
    if (step[order[0::2]] != OPENS).any() or (code[order[0::2]] != code[order[1::2]]).any():
        return None
    leaf = np.zeros(len(step), bool)
    leaf[:-1] = (step[:-1] == OPENS) & (step[1:] == CLOSES)
    rows = (step != CLOSES).nonzero()[0]
    return _Shape(rows, (level[rows] + 1).astype(np.int16), leaf)


def _texts(pieces: pa.Array, shape: _Shape, returns: bool) -> pa.Array | None:
    """The value of each row; None where text stands beside elements, or has line ends to be normalised.

    pieces: tag and text in turn, and an empty one at the end. returns: there are carriage returns.
    """
    beside = take(pieces, (~shape.leaf).nonzero()[0] * 2 + 1)
    if matches(beside, r"[^ \t\r\n]").any():
        return None
    text = take(pieces, np.where(shape.leaf[shape.rows], shape.rows * 2 + 1, len(pieces) - 1))
    return None if returns and matches(text, "\r").any() else text
