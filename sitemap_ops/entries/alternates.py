"""hreflang alternates as rows give them: which pages, under which codes, are versions of one page (G-50 to G-56).

A row says so in one of three forms: columns that hold one language's URL each; a column of JSON; or the name of a
cluster and the row's own language. Here each alternate is checked for itself; which statements agree, and which pages
are entries, is known only when all rows are (`linking`). What a rejected row states is taken too: its page is in no
list, but that the others belong together is as true as before (C-74).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.columns import arrow, column
from sitemap_ops.entries.shapes import is_blank, lists_as_text, numpy, plain_column, strings
from sitemap_ops.entries.statements import Named, Stating, by_lists, by_names
from sitemap_ops.entries.text import text_of, trimmed
from sitemap_ops.examples import EXAMPLES, printable
from sitemap_ops.languages import hreflang_fault, hreflang_spelling
from sitemap_ops.tags import CLUSTER, LANGUAGE
from sitemap_ops.urls import UrlPolicy, canonicalize

ALTERNATE_NOTES: dict[str, str] = {
    "hreflang-attr": "not readable as codes and addresses (G-50)",
    "hreflang-code": "a code that is no language, or not one in the form of `en-GB` (G-53)",
    "hreflang-normalised": "a code in other letters than is usual, such as `en-gb`: rewritten",
    "hreflang-href": "not a usable URL (G-55)",
    "hreflang-foreign-host": "on a host that neither base_url nor urls.hosts names",
    "hreflang-not-listed": "a page of the site that is no entry: rejected, or not in the inventory (C-74)",
    "hreflang-not-reciprocal": "a page whose own rows say that it belongs to others, or several claim it (G-52)",
    "hreflang-duplicate": "a second page for a code of its cluster (G-54)",
    "hreflang-no-self": "an entry that names others, while no row says under which code it belongs to them (G-51)",
    "hreflang-alone": "an entry whose cluster has no other page left",
}
"""Code -> its meaning in one line. All but the last two count alternates, once for each row that names them, and drop
them, `hreflang-normalised` apart; the last two count entries, which have no alternates."""

_FOREIGN = ("foreign-host", "foreign-scheme", "foreign-port")
_FILTERED = ("excluded", "robots-disallowed")
_SEPARATORS = re.compile(r'[\s,;|"\[\]]+')
_SHOWN = 200


@dataclass(frozen=True)
class Alternates:
    """What a chunk's rows state.

    members: MEMBER_SCHEMA. counts: alternates by code of ALTERNATE_NOTES. examples: a few rows for each code.
    """

    members: pa.Table
    counts: Counter[str]
    examples: dict[str, list[str]]


def parse_alternates(
    rows: pd.DataFrame,
    spec: Mapping[str, str] | str,
    policy: UrlPolicy,
    locs: pd.Series,
    *,
    accepted: pa.Array,
    instants: pd.Series,
) -> Alternates:
    """The alternates that rows state, each checked.

    :param spec: of the site file: canonical codes to columns; CLUSTER and LANGUAGE to columns; or the column of a JSON
        object (code: address) or list (of `[code, address]` or `{hreflang, href}`).
    :param locs: the rows' canonical URLs, null where the URL policy refused them. :param accepted: bool, the rows that
        are entries. :param instants: int64, their lastmod in seconds, null without one.
    """
    stating = Stating(arrow(locs), numpy(accepted), arrow(instants), _home(policy))
    cells = _cells(rows, spec)
    told = _Told(cells, rows.index)
    number, codes = _codes(cells, told)
    if not isinstance(spec, str) and CLUSTER in spec:
        members = _of_clusters(rows[spec[CLUSTER]], cells, number, codes, stating)
    else:
        hrefs = _hrefs(cells, number >= 0, policy, told)
        row, at = cells.of_rows(numpy(hrefs.is_valid()))
        members = by_lists(Named(row, at, number[at], hrefs, codes), stating)
    return Alternates(members, told.counts, told.examples)


@dataclass(frozen=True)
class _Cells:
    """Alternates by the different values that rows have for them.

    of_row: int64, each row's cell, -1 for none. cell: int64, ascending, of each alternate; code, href: string.
    unreadable: int64, the cell of each thing in it that is no alternate.
    """

    of_row: np.ndarray
    cell: np.ndarray
    code: pa.Array
    href: pa.Array
    unreadable: np.ndarray

    def of_rows(self, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The kept (bool) alternates of all rows: each one's row, and its number in here; int64, by row."""
        chosen = np.flatnonzero(kept)
        starts = np.searchsorted(self.cell[chosen], np.arange(self.of_row.max(initial=-1) + 2))
        rows = np.flatnonzero(self.of_row >= 0)
        sizes = np.diff(starts)[self.of_row[rows]]
        within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return np.repeat(rows, sizes), chosen[within + np.repeat(starts[self.of_row[rows]], sizes)]


class _Told:
    """What is said of alternates: counted by row, with a few examples."""

    def __init__(self, cells: _Cells, index: pd.Index) -> None:
        self.counts: Counter[str] = Counter()
        self.examples: dict[str, list[str]] = {}
        self._index = index
        own, self._first, self._rows = np.unique(cells.of_row, return_index=True, return_counts=True)
        self._place = np.zeros(int(own.max(initial=-1)) + 1, np.int64)
        self._place[own[own >= 0]] = np.flatnonzero(own >= 0)
        self.add("hreflang-attr", cells.unreadable, lambda at: "neither an object of codes and addresses nor a list")

    def add(self, code: str, cells: np.ndarray, shown: Any) -> None:
        """cells: int64, of each alternate that it is said of; shown: from its place in `cells` to a text."""
        if not len(cells):
            return
        places = self._place[cells]
        self.counts[code] += int(self._rows[places].sum())
        kept = self.examples.setdefault(code, [])
        for at in range(min(len(cells), EXAMPLES - len(kept))):
            row = self._index[self._first[places[at]]]
            kept.append(f"row {row}: {(printable(shown(at)) or '')[:_SHOWN]}")


def _codes(cells: _Cells, told: _Told) -> tuple[np.ndarray, list[str]]:
    """Each alternate's code as a number, -1 where it is none, and the codes; what is wrong with one is told (G-53)."""
    encoded = trimmed(cells.code).dictionary_encode()
    which = encoded.indices.to_numpy()
    given = encoded.dictionary.to_pylist()
    faults = [hreflang_fault(code) for code in given]
    good = [None if fault else hreflang_spelling(code) for code, fault in zip(given, faults, strict=True)]
    codes = sorted(set(filter(None, good)))
    numbers = np.array([-1 if code is None else codes.index(code) for code in good], np.int64)[which]
    respelled = np.array([code not in (None, as_given) for code, as_given in zip(good, given, strict=True)], bool)
    bad, other = np.flatnonzero(numbers < 0), np.flatnonzero(respelled[which])
    told.add("hreflang-code", cells.cell[bad], lambda at: f"{given[which[bad[at]]]}: {faults[which[bad[at]]]}")
    told.add("hreflang-normalised", cells.cell[other], lambda at: given[which[other[at]]])
    return numbers, codes


def _hrefs(cells: _Cells, wanted: np.ndarray, policy: UrlPolicy, told: _Told) -> pa.Array:
    """Each wanted (bool) alternate's URL as the policy makes it (C-40, G-55), null where it is dropped."""
    given = pc.if_else(pa.array(wanted), cells.href, pa.scalar(None, pa.string()))
    urls = canonicalize(column(given), policy)
    reasons = numpy(arrow(urls["reason"]))
    foreign, filtered = np.isin(reasons, _FOREIGN), np.isin(reasons, _FILTERED)
    broken = numpy(arrow(urls["reason"]).is_valid()) & ~foreign & ~filtered
    for code, rows in (
        ("hreflang-foreign-host", foreign),
        ("hreflang-not-listed", filtered),
        ("hreflang-href", broken & wanted),
    ):
        found = np.flatnonzero(rows)
        told.add(
            code,
            cells.cell[found],
            lambda at, rows=found: f"{cells.code[rows[at]]} {cells.href[rows[at]]} ({reasons[rows[at]]})",
        )
    return arrow(urls["loc"])


def _of_clusters(
    values: pd.Series, cells: _Cells, number: np.ndarray, codes: Sequence[str], stating: Stating
) -> pa.Table:
    """Members of the clusters that a column names, each row under its good codes; where it has none, under none."""
    names = trimmed(text_of(plain_column(values)))
    names = pc.if_else(pa.array(is_blank(names)), pa.scalar(None, pa.string()), names)
    row, at = cells.of_rows(number >= 0)
    codeless = np.setdiff1d(np.arange(len(values)), row)
    code = pa.array(codes, pa.string()).take(pa.array(number[at]))
    code = pa.concat_arrays([code, pa.nulls(len(codeless), pa.string())])
    return by_names(names, np.concatenate([row, codeless]), code, stating)


def _home(policy: UrlPolicy) -> str:
    origins = UrlPolicy(policy.base).admission.origins
    return f"{next(iter(origins))}/" if origins else ""


def _cells(rows: pd.DataFrame, spec: Mapping[str, str] | str) -> _Cells:
    if isinstance(spec, str):
        return _of_json(rows[spec])
    return _languages(rows[spec[LANGUAGE]]) if CLUSTER in spec else _of_columns(rows, spec)


def _of_columns(rows: pd.DataFrame, columns: Mapping[str, str]) -> _Cells:
    """One column for each code; a cell is a row."""
    texts = {name: trimmed(text_of(plain_column(rows[name]))) for name in dict.fromkeys(columns.values())}
    there = {name: np.flatnonzero(~is_blank(array)) for name, array in texts.items()}
    cell = np.concatenate([there[name] for name in columns.values()])
    order = np.argsort(cell, kind="stable")
    codes = np.repeat(np.arange(len(columns)), [len(there[name]) for name in columns.values()])
    hrefs = pa.concat_arrays([texts[name].take(pa.array(there[name])) for name in columns.values()])
    return _Cells(
        np.arange(len(rows)),
        cell[order],
        pa.array(list(columns), pa.string()).take(pa.array(codes[order])),
        hrefs.take(pa.array(order)),
        np.zeros(0, np.int64),
    )


def _of_json(values: pd.Series) -> _Cells:
    """A column of JSON, or of Arrow's maps, structs and lists; a cell is a different text."""
    of_row, texts = _different(trimmed(text_of(lists_as_text(plain_column(values)))))
    cell: list[int] = []
    codes: list[str] = []
    hrefs: list[str] = []
    unreadable: list[int] = []
    for number, text in enumerate(texts):
        for pair in _pairs(text):
            if pair is None:
                unreadable.append(number)
            elif pair[1] is not None and pair[1].strip():
                cell.append(number)
                codes.append(pair[0])
                hrefs.append(pair[1])
    return _Cells(of_row, np.array(cell, np.int64), strings(codes), strings(hrefs), np.array(unreadable, np.int64))


def _languages(values: pd.Series) -> _Cells:
    """A column of one code, or several with blanks or other separators between them; a cell is a different text."""
    of_row, texts = _different(trimmed(text_of(lists_as_text(plain_column(values)))))
    split = [[code for code in _SEPARATORS.split(text) if code] for text in texts]
    cell = np.repeat(np.arange(len(split)), [len(codes) for codes in split])
    codes = pa.array([code for codes in split for code in codes], pa.string())
    return _Cells(of_row, cell, codes, pa.nulls(len(codes), pa.string()), np.zeros(0, np.int64))


def _different(texts: pa.Array) -> tuple[np.ndarray, list[str]]:
    """The different texts that say something, and each row's place among them, -1 for none."""
    encoded = pc.if_else(pa.array(is_blank(texts)), pa.scalar(None, pa.string()), texts).dictionary_encode()
    return encoded.indices.fill_null(-1).to_numpy().astype(np.int64), encoded.dictionary.to_pylist()


class _Object(list[tuple[str, Any]]):
    """A JSON object's pairs, also those whose names are equal."""


def _pairs(text: str) -> Iterator[tuple[str, str | None] | None]:
    """The pairs of code and address that a JSON text holds; None for what is no such pair."""
    try:
        value = json.loads(text, object_pairs_hook=_Object)
    except (ValueError, RecursionError):
        yield None
        return
    entries: Sequence[Any] = [value] if isinstance(value, _Object) and _is_link(value) else value
    if not isinstance(entries, list):
        yield None
        return
    for entry in entries:
        pair = entry
        if isinstance(entry, _Object):
            link = dict(entry)
            pair = (link.get("hreflang"), link.get("href", ...))
        whole = isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str)
        yield (pair[0], pair[1]) if whole and isinstance(pair[1], str | None) else None


def _is_link(value: _Object) -> bool:
    return {name for name, _ in value} >= {"hreflang", "href"}
