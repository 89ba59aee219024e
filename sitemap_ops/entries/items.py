"""Images and videos as a source gives them, in whatever form, as items: one row for each.

A column's value is one of these, told apart by its first character: a JSON list, object or string; or plain text, which
is one URL, or several, one a line. A URL may hold commas and semicolons, so that alone they separate nothing. Before
`http://` or `https://` white space does, with or without one of them, and so does a `|`, which no URL may hold as such.
Lists of text and nested columns of Arrow are lists and objects like those of JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.columns import text_buffers
from sitemap_ops.entries.extension import Notes
from sitemap_ops.entries.shapes import as_text, is_blank, loaded, numpy, plain_column, strings
from sitemap_ops.entries.text import text_of, trimmed

_JSON_STARTS = np.frombuffer(b'[{"', np.uint8)
_TEXTS_AT_ONCE = 4_096
_SEVERAL = r"[ \t\r\n|]"
_BEFORE_NEXT = r"(?i)(?:[ \t\r\n]*\|[ \t\r\n]*|[,;]?[ \t\r\n]+)(https?://)"


@dataclass(frozen=True)
class Items:
    """Some images or videos.

    row: int64, ascending: the position of the inventory's row that each belongs to. rank: int64, its place in that
    row's list. values: tag -> array, null where an item has none: text, or the plain type of a mapped column.
    """

    row: np.ndarray
    rank: np.ndarray
    values: dict[str, pa.Array]

    def __len__(self) -> int:
        return len(self.row)

    def text(self, tag: str) -> pa.Array:
        """A tag's values as text, all null where no item has it."""
        return text_of(self.values[tag]) if tag in self.values else pa.nulls(len(self), pa.string())

    def keep(self, items: np.ndarray) -> Items:
        """The items of a mask."""
        if items.all():
            return self
        values = {tag: array.filter(pa.array(items)) for tag, array in self.values.items()}
        return Items(self.row[items], self.rank[items], values)

    def given(self, tags: Sequence[str]) -> np.ndarray:
        """Which items (bool) have a value for one of the tags."""
        there = np.zeros(len(self), bool)
        for tag in tags:
            if tag in self.values:
                there |= ~is_blank(trimmed(self.text(tag)))
        return there


def read_column(values: pd.Series, tags: Sequence[str], bare: str | None, notes: Notes) -> Items:
    """The items of a column that holds whole ones, of objects with the names of `tags`.

    bare: the tag that a text alone is the value of; None where only objects are items. Notes `<kind>-json` for what
    can't be read, `<kind>-unknown-tag` for names that are none of `tags`.
    """
    row, rank, texts = _pieces(values)
    offsets, data = text_buffers(texts)
    is_json = np.isin(data[offsets[:-1]], _JSON_STARTS)
    found = []
    if bare is None:
        notes.add("json", row[~is_json])
    elif not is_json.any():
        found = [_plain(texts, np.arange(len(texts)), bare)]
    else:
        found = [_plain(texts.filter(pa.array(~is_json)), np.flatnonzero(~is_json), bare)]
    if is_json.any():
        items, unreadable, unknown = _read_json(texts.filter(pa.array(is_json)), tags, bare, np.flatnonzero(is_json))
        notes.add("json", row[is_json][unreadable])
        notes.add("unknown-tag", row[is_json][unknown])
        found.append(items)
    whole = _together(found)
    return Items(row[whole.piece], rank[whole.piece] + whole.rank, whole.values)


def mapped_texts(values: pd.Series, items: Items) -> pa.Array:
    """A column's text for each item of its row; of a list (of JSON or Arrow) the text at the item's own rank."""
    array = plain_column(values).take(pa.array(items.row))
    if pa.types.is_list(array.type):
        lists = zip(array.to_pylist(), items.rank.tolist(), strict=True)
        return strings([_at(entries, rank) for entries, rank in lists])
    texts = text_of(array)
    maybe = numpy(pc.match_substring_regex(texts, r"^\s*\[").fill_null(False))
    if not maybe.any():
        return texts
    chosen = texts.to_pylist()
    for at in np.flatnonzero(maybe):
        entries = loaded(chosen[at])
        if isinstance(entries, list):
            chosen[at] = _at(entries, items.rank[at])
    return strings(chosen)


def _at(entries: Sequence[Any] | None, rank: int) -> str | None:
    return as_text(entries[rank]) if entries is not None and rank < len(entries) else None


def _pieces(values: pd.Series) -> tuple[np.ndarray, np.ndarray, pa.Array]:
    """A column's texts that say something, trimmed, with their rows and their places in a row's list."""
    array = plain_column(values)
    if pa.types.is_list(array.type):
        row = pc.list_parent_indices(array).to_numpy().astype(np.int64)
        array = array.flatten()
        rank = np.arange(len(row)) - np.searchsorted(row, row)
    else:
        row, rank = np.arange(len(array)), np.zeros(len(array), np.int64)
    texts = trimmed(text_of(array))
    blank = is_blank(texts)
    if blank.any():
        row, rank, texts = row[~blank], rank[~blank], texts.filter(pa.array(~blank))
    return row, rank, texts


@dataclass(frozen=True)
class _Found:
    """Items by the piece that each is of; rank: its place in that piece."""

    piece: np.ndarray
    rank: np.ndarray
    values: dict[str, pa.Array]


def _together(found: Sequence[_Found]) -> _Found:
    """The items of all, in the order of their pieces."""
    found = [some for some in found if len(some.piece)]
    if not found:
        return _Found(np.zeros(0, np.int64), np.zeros(0, np.int64), {})
    if len(found) == 1:
        return found[0]
    piece = np.concatenate([some.piece for some in found])
    order = np.argsort(piece, kind="stable")
    values = {}
    for tag in dict.fromkeys(tag for some in found for tag in some.values):
        parts = [some.values.get(tag, pa.nulls(len(some.piece), pa.string())) for some in found]
        values[tag] = pa.concat_arrays(parts).take(pa.array(order))
    return _Found(piece[order], np.concatenate([some.rank for some in found])[order], values)


def _plain(texts: pa.Array, piece: np.ndarray, tag: str) -> _Found:
    """Plain texts: one URL each, or several."""
    several = numpy(pc.match_substring_regex(texts, _SEVERAL))
    if not several.any():
        return _Found(piece, np.zeros(len(texts), np.int64), {tag: texts})
    lines = pc.replace_substring_regex(texts, "[\r\n]+", "\n")
    split = pc.split_pattern(pc.replace_substring_regex(lines, _BEFORE_NEXT, "\n\\1"), "\n")
    owner = pc.list_parent_indices(split).to_numpy().astype(np.int64)
    return _Found(piece[owner], np.arange(len(owner)) - np.searchsorted(owner, owner), {tag: trimmed(split.flatten())})


@dataclass(frozen=True)
class _Parsed:
    """What some JSON texts say.

    counts: int64, items of each text. rank, values: of these items, one text after the other; the tags that occur.
    unreadable, unknown: bool, for each text.
    """

    counts: np.ndarray
    rank: np.ndarray
    values: dict[str, pa.Array]
    unreadable: np.ndarray
    unknown: np.ndarray

    @classmethod
    def of(cls, texts: Sequence[str], tags: Sequence[str], bare: str | None) -> _Parsed:
        objects: list[Mapping[str, Any]] = []
        ranks: list[int] = []
        counts, unreadable, unknown = [], [], []
        for text in texts:
            read = loaded(text)
            entries = read if isinstance(read, list) else [read]
            said = [(rank, _as_object(entry, bare)) for rank, entry in enumerate(entries)]
            kept = [(rank, entry) for rank, entry in said if entry]
            unreadable.append(any(entry is None for _, entry in said))
            unknown.append(any(not entry.keys() <= set(tags) for _, entry in kept))
            counts.append(len(kept))
            ranks += [rank for rank, _ in kept]
            objects += [entry for _, entry in kept]
        found = {tag for entry in objects for tag in entry}
        return cls(
            np.array(counts, np.int64),
            np.array(ranks, np.int64),
            {tag: strings([as_text(entry.get(tag)) for entry in objects]) for tag in tags if tag in found},
            np.array(unreadable, bool),
            np.array(unknown, bool),
        )


def _read_json(
    texts: pa.Array, tags: Sequence[str], bare: str | None, piece: np.ndarray
) -> tuple[_Found, np.ndarray, np.ndarray]:
    """The items of JSON texts, whose pieces are `piece`, and which texts are in part unreadable or unknown (bool).

    Each different text is read once, and a few thousand at a time: Python objects take many times the room of columns.
    """
    encoded = texts.dictionary_encode()
    different, text = encoded.dictionary, encoded.indices.to_numpy().astype(np.int64)
    starts = range(0, len(different), _TEXTS_AT_ONCE)
    blocks = [_Parsed.of(different.slice(start, _TEXTS_AT_ONCE).to_pylist(), tags, bare) for start in starts]
    read = _together(
        [_Found(np.repeat(at, len(block.rank)), block.rank, block.values) for at, block in enumerate(blocks)]
    )
    counts = np.concatenate([block.counts for block in blocks])
    unreadable, unknown = (
        np.concatenate([getattr(block, name) for block in blocks]) for name in ("unreadable", "unknown")
    )
    owner = np.repeat(np.arange(len(text)), counts[text])
    items = np.arange(len(owner)) - np.searchsorted(owner, owner) + (np.cumsum(counts) - counts)[text][owner]
    values = {tag: array.take(pa.array(items)) for tag, array in read.values.items()}
    return _Found(piece[owner], read.rank[items], values), unreadable[text], unknown[text]


def _as_object(entry: Any, bare: str | None) -> Mapping[str, Any] | None:
    """An entry of JSON as an object, an empty one where it says nothing; None where it can't be read."""
    if entry is None or (isinstance(entry, str) and not entry.strip()):
        return {}
    if isinstance(entry, dict):
        return {tag: value for tag, value in entry.items() if value not in (None, "")}
    return {bare: entry} if isinstance(entry, str) and bare is not None else None
