"""The URL policy over a column: DESIGN 5, rules U-01 to U-42.

A row that a regular expression finds canonical is done (`clean`). The others are repaired, each step over the whole
block: trim, take apart, judge every distinct authority once, percent-encode, put together, and then the rarer things
for the rows that have them. No row's result depends on another row.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.columns import column, text_buffers
from sitemap_ops.errors import UsageError
from sitemap_ops.urls import notes, octets
from sitemap_ops.urls.authority import parse_authority
from sitemap_ops.urls.charsets import UTF_8, encode_rows
from sitemap_ops.urls.codes import BIT, REASON, REASONS
from sitemap_ops.urls.compiled import Rules, compile_rules
from sitemap_ops.urls.octets import matches, replace_rows, rows_holding
from sitemap_ops.urls.paths import apply_trailing_slash, remove_dot_segments
from sitemap_ops.urls.policy import UrlPolicy
from sitemap_ops.urls.references import ABSOLUTE, NETWORK, RELATIVE, ROOTED, References, take_apart, without_origin
from sitemap_ops.urls.text import as_text

MAX_LENGTH = 2_047
"""Characters of an encoded loc (P-05, U-33)."""
_BLOCK_ROWS, _BLOCK_BYTES = 131_072, 1 << 25
"""What is worked on at once. A block's intermediate buffers take some ten times its bytes."""

INVISIBLE = (
    "\t\n\x0b\x0c\r \x85\xa0\xad\u061c\u1680\u180e"
    + "".join(map(chr, [*range(0x2000, 0x2010), *range(0x2028, 0x2030), *range(0x205F, 0x2070)]))
    + "\u3000\ufeff"
)
"""What is trimmed from both ends (U-02): Unicode white space, soft hyphen, zero-width characters, bidi marks, BOM.

Inside a value they are characters like others. Variation selectors are not among them: they are part of an emoji.
"""


def canonicalize(urls: pd.Series, policy: UrlPolicy) -> pd.DataFrame:
    """The canonical form of each value, or why it has none.

    urls: text, null where missing; any dtype (text in objects may hold lone surrogates).
    Returns a frame with the same index:
        loc (string[pyarrow]): the canonical URL, ASCII, at most 2,047 characters; null where refused.
        reason (string[pyarrow]): one of REASONS; null where accepted.
        changes (uint32[pyarrow]): a bit set over CHANGES; 0 where refused.
    Canonicalising a loc again gives the same loc. Raises UsageError where an option of the policy can't be used; no
    value raises.
    """
    rules = _rules(policy)
    text, broken = as_text(urls)
    size = max(1, min(_BLOCK_ROWS, len(text) * _BLOCK_BYTES // max(text.nbytes, 1)))
    starts = range(0, max(len(text), 1), size)
    blocks = [_block(text.slice(start, size), broken[start : start + size], rules) for start in starts]
    locs, reasons, changes = zip(*blocks, strict=True)
    frame = pd.DataFrame(
        {
            "loc": column(pa.chunked_array(locs)),
            "reason": column(pa.chunked_array(reasons)),
            "changes": column(pa.chunked_array(changes)),
        }
    )
    frame.index = urls.index
    return frame


@lru_cache(maxsize=16)
def _rules(policy: UrlPolicy) -> Rules:
    if policy.base is None:
        return compile_rules(policy, None)
    # its path is canonicalised like any other; slash and filter options are for what is listed
    origin = next(iter(UrlPolicy(policy.base).admission.origins))
    plain = UrlPolicy(hosts=(origin,), charset=policy.charset, drop_params=policy.drop_params)
    own = canonicalize(pd.Series([policy.base], dtype=object), plain)
    if own["loc"].isna()[0]:
        raise UsageError(f"The base URL can't be used ({own['reason'][0]}): write it as https://www.example.com/.")
    return compile_rules(policy, own["loc"][0])


class _Work:
    """Some rows on their way: the number of each one's reason (uint8, 0 none) and its change bits (uint32)."""

    def __init__(self, rows: int) -> None:
        self.reason = np.zeros(rows, np.uint8)
        self.changes = np.zeros(rows, np.uint32)

    def refuse(self, rows: np.ndarray, code: str) -> None:
        """Refuse the rows of a mask, unless they are refused already."""
        self.reason[rows & (self.reason == 0)] = REASON[code]

    def note(self, rows: np.ndarray, code: str) -> None:
        self.changes[rows] |= np.uint32(BIT[code])

    def keep(self, array: pa.Array) -> pa.Array:
        """A string array, emptied where a row is refused."""
        return pc.if_else(pa.array(self.reason == 0), array, "") if self.reason.any() else array


def _block(text: pa.Array, broken: np.ndarray, rules: Rules) -> tuple[pa.Array, pa.Array, pa.Array]:
    work = _Work(len(text))
    work.refuse(broken, "url-surrogate")
    locs, done = _clean(work, text, rules)
    todo = ~done & ~broken
    if todo.any():
        part = _Work(int(todo.sum()))
        repaired = _repair(part, text.filter(pa.array(todo)).fill_null(""), rules)
        work.reason[todo], work.changes[todo] = part.reason, part.changes
        locs = replace_rows(locs, todo, repaired)
    _filter(work, locs, rules)
    refused = work.reason > 0
    if refused.any():
        work.changes[refused] = 0
        locs = pc.if_else(pa.array(~refused), locs, pa.scalar(None, pa.string()))
    numbers = pa.array(work.reason.astype(np.int16) - 1, mask=~refused)
    return locs, pa.array(REASONS).take(numbers), pa.array(work.changes)


def _clean(work: _Work, text: pa.Array, rules: Rules) -> tuple[pa.Array, np.ndarray]:
    """The rows that are canonical, or only lack the origin, are done (bool); the others stand as they are."""
    if rules.clean is None:
        return text, np.zeros(len(text), np.bool_)
    done = matches(text, rules.clean)
    offsets, data = text_buffers(text)
    lengths = np.diff(offsets)
    if rules.base is not None and rules.clean_relative is not None:
        first = np.append(data, np.uint8(0))[offsets[:-1]]
        # one that starts as a scheme may is left to the slow path: so absolute rows are not looked at twice
        relative = np.flatnonzero(
            matches(text, rules.clean_relative, ~done & (first != ord("h")) & (first != ord("H")))
        )
        if len(relative):
            done[relative] = True
            before = np.full(len(text), ABSOLUTE)
            before[relative] = np.where(first[relative] == ord("/"), ROOTED, RELATIVE)
            lengths = lengths + np.array([len(prefix) for prefix in rules.base.by_kind])[before]
            text = pc.binary_join_element_wise(pa.array(rules.base.by_kind).take(pa.array(before)), text, "")
            work.note(relative, "loc-resolved")
    return text, done & (lengths <= MAX_LENGTH)


def _repair(work: _Work, text: pa.Array, rules: Rules) -> pa.Array:
    """The locs of a block of rows (no nulls); anything at all where a row is refused."""
    trimmed = pc.utf8_trim(text, characters=INVISIBLE)
    work.note(pc.not_equal(pc.binary_length(trimmed), pc.binary_length(text)).to_numpy(False), "url-trimmed")
    parts = take_apart(trimmed)
    held = parts.held
    _judge_characters(work, trimmed, parts)
    _judge_structure(work, parts, rules)
    prefixes = work.keep(_prefixes(work, parts, rules))
    rests = _encode(work, work.keep(parts.rests), held, rules.charset)
    locs = pc.binary_join_element_wise(prefixes, rests, "")
    locs, found = remove_dot_segments(locs, held & (octets.DOT | octets.PERCENT) > 0)
    work.note(found, "dot-segments")
    if rules.drop:
        found = matches(locs, rules.drop.pattern, parts.has_query)
        if found.any():
            locs = replace_rows(locs, found, rules.drop.drop(locs.filter(pa.array(found))))
            work.note(found, "tracking-param-removed")
    locs, found = apply_trailing_slash(locs, rules.trailing_slash)
    work.note(found, "trailing-slash")
    work.refuse(pc.greater(pc.binary_length(locs), MAX_LENGTH).to_numpy(False), "loc-too-long")
    _take_notes(work, locs, parts, rules.charset)
    work.note(matches(trimmed, notes.ENTITY, rows_holding(trimmed, b";")), "double-entity-escape")
    return locs


def _judge_characters(work: _Work, text: pa.Array, parts: References) -> None:
    """U-02, U-03, P-23: what no URL can hold, wherever it stands, and what shows that the text was decoded wrongly."""
    work.refuse(parts.empty, "loc-missing")
    work.refuse(matches(text, r"[\t\r\n]", parts.control), "url-inner-newline")
    work.refuse(parts.control, "url-control-char")
    if rows_holding(text, b"\xef\xbf").any():
        for noncharacter in "\ufffe\uffff":
            work.refuse(rows_holding(text, noncharacter.encode()), "url-control-char")
        work.refuse(rows_holding(text, "\ufffd".encode()), "url-replacement-char")


def _judge_structure(work: _Work, parts: References, rules: Rules) -> None:
    """U-01, U-05, U-07, U-34: what kind of reference each row is."""
    work.refuse(parts.other_scheme, "url-scheme")
    work.refuse(parts.no_host, "url-no-host")
    work.refuse(parts.backslash, "url-backslash")
    relative = parts.kind != ABSOLUTE
    if rules.base is None:
        work.refuse(relative, "loc-not-absolute")
    work.note(relative, "loc-resolved")
    dotted = (parts.kind == RELATIVE) & (parts.held & octets.DOT > 0)
    work.note(matches(parts.rests, notes.LOOKS_LIKE_HOST, dotted), "loc-looks-like-host")
    work.note(parts.has_fragment, "url-fragment-removed")


def _prefixes(work: _Work, parts: References, rules: Rules) -> pa.Array:
    """What stands before each row's own path or query; rows whose authority is not admitted are refused (P-44)."""
    own_head = parts.kind <= NETWORK
    heads = parts.heads.dictionary_encode()
    table, reasons, changes = [], [], []
    for head in heads.dictionary.to_pylist():
        network = f"{rules.base.scheme}:{head}" if rules.base and head.startswith("//") else head
        authority = parse_authority(network)
        table += [authority.origin, authority.origin + "/"]
        reasons.append(REASON.get(rules.admission.reason(authority) or "", 0))
        changes.append(authority.changes)
    codes = heads.indices.to_numpy()
    undecided = own_head & (work.reason == 0)
    work.reason[undecided] = np.array(reasons, np.uint8)[codes[undecided]]
    work.changes[own_head] |= np.array(changes, np.uint32)[codes[own_head]]
    no_path = own_head & parts.bare
    work.note(no_path, "not-normalised")
    numbers = np.where(own_head, 2 * codes + no_path, len(table) + parts.kind)
    bases = rules.base.by_kind if rules.base else [""] * 6
    return pa.array([*table, *bases]).take(pa.array(numbers))


def _encode(work: _Work, rests: pa.Array, held: np.ndarray, charset: str) -> pa.Array:
    """Paths and queries percent-encoded (U-08 to U-18); `held` has their classes of bytes."""
    foreign = held & octets.NON_ASCII > 0
    work.note(foreign, "loc-not-encoded")
    work.note(held & octets.ILLEGAL > 0, "url-char-encoded")
    unfinished = held & (octets.NON_ASCII | octets.ILLEGAL | octets.PERCENT) > 0
    if not unfinished.any():
        return rests
    if 2 * unfinished.sum() > len(unfinished):
        unfinished[:] = True  # it costs less to encode the others too than to put the rows together again
    source = rests
    if charset != UTF_8 and foreign.any():
        encoded = encode_rows(rests.filter(pa.array(foreign)).to_pylist(), charset)
        lacking = foreign.copy()
        lacking[foreign] = [row is None for row in encoded]
        work.refuse(lacking, "url-charset")
        source = replace_rows(rests.cast(pa.binary()), foreign, pa.array([row or b"" for row in encoded], pa.binary()))
    result = octets.percent_encode(source.filter(pa.array(unfinished)))
    work.note(np.flatnonzero(unfinished)[result.stray], "stray-percent")
    work.note(np.flatnonzero(unfinished)[result.respelled], "not-normalised")
    return replace_rows(rests, unfinished, result.text)


def _take_notes(work: _Work, locs: pa.Array, parts: References, charset: str) -> None:
    """What is odd about a loc and stays as it is; `parts` is what each row came with."""
    held = parts.held
    percents = held & octets.PERCENT > 0
    work.note(matches(locs, notes.PERCENT_CONTROL, percents), "percent-control")
    work.note(matches(locs, notes.DOUBLE_ENCODED, percents), "double-encoded")
    if charset == UTF_8:
        work.note(percents & ~matches(locs, notes.PERCENT_UTF_8, percents), "percent-not-utf8")
    work.note(matches(locs, notes.EMPTY_QUERY, parts.has_query), "empty-query")
    work.note(matches(locs, notes.SESSION_ID, held & octets.SESSION > 0), "session-id")
    work.note(matches(locs, notes.URL_IN_PATH, held & (octets.COLON | octets.PERCENT) > 0), "url-in-path")


def _filter(work: _Work, locs: pa.Array, rules: Rules) -> None:
    """What the site file leaves out: exclude patterns first, then what no include pattern names, then robots.txt."""
    if not (rules.exclude or rules.include or rules.robots):
        return
    locs = work.keep(locs)
    paths = without_origin(locs)
    if rules.exclude:
        work.refuse(rules.exclude.match(paths), "excluded")
    if rules.include:
        work.refuse(~rules.include.match(paths), "excluded")
    if rules.robots:
        work.refuse(rules.robots.disallowed(locs, paths), "robots-disallowed")
