"""One regular expression for the rows that are canonical as they stand, the common ones.

A row that it matches needs no work, so it may miss a canonical row (that costs time) but never match one that the
policy would change, refuse or note something about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from sitemap_ops.urls.notes import SESSION_NAMES, UTF_8_CHARACTER
from sitemap_ops.urls.policy import TrailingSlash

# Of RFC 3986's pchar these are left to the slow path: ":" for a second "://" (C-30), ";" and "(" for session ids
# (P-51); a "." at the start of a segment; and of triplets those that are not as U-10 and U-12 want them, or get a note.
_CHARACTERS = r"A-Za-z0-9\-_~!$&')*+,=@"
_TRIPLETS = rf"%(?:2[0-46-9A-CF]|3[B-F]|[46]0|5[B-E]|7[B-D])|{UTF_8_CHARACTER}"
_SEGMENT = rf"(?:[{_CHARACTERS}]|{_TRIPLETS})(?:[{_CHARACTERS}.]|{_TRIPLETS})*"
_MORE = {
    "keep": rf"(?:/(?:{_SEGMENT})?)*",
    "add": rf"(?:/(?:{_SEGMENT})?)*/",
    "remove": rf"(?:(?:/(?:{_SEGMENT})?)*/{_SEGMENT})?",
}
"""What follows a first segment."""
_NAME_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$'()*+,:@/?"
_NAME = f"[{re.escape(_NAME_CHARACTERS)}]"
_VALUE = rf"(?:[{re.escape(_NAME_CHARACTERS)}=]|{_TRIPLETS})*"

_PREFIX = 3
"""Characters by which a parameter's name is told from the named ones: enough, and the pattern stays small."""


def clean_patterns(origins: Iterable[str], trailing_slash: TrailingSlash, dropped: Iterable[str]) -> tuple[str, str]:
    """RE2 patterns for canonical URLs of the origins, and for such that only lack what stands before them.

    That is their origin (`/a/b`) or the base's folder (`a/b`; no "." in the first segment, it might be a host).
    dropped: the names of `drop_params`, percent-encoded. No parameter may start as one of them does, whatever the case.
    """
    own = "|".join(map(re.escape, sorted(origins)))
    more = _MORE[trailing_slash]
    query = _query({name.partition("*")[0].lower()[:_PREFIX] for name in (*SESSION_NAMES, *dropped)})
    path = f"/(?:{_SEGMENT}{more})?"
    return f"^(?:{own}){path}{query}$", f"^(?:{path}|(?:[{_CHARACTERS}]|{_TRIPLETS})+{more}){query}$"


def _query(prefixes: set[str]) -> str:
    """A pattern for a query, or none, without parameters that start with one of the prefixes."""
    name = _start_with_none_of(prefixes)
    if name is None:
        return ""
    value = f"(?:={_VALUE})?"
    return rf"(?:\?{name}{value}(?:&{name}?{value})*)?"


def _start_with_none_of(prefixes: set[str]) -> str | None:
    """A pattern for parameter names that start with none of the prefixes (whatever the case); None where there is none.

    RE2 has no look-ahead, so it is spelled out along the prefixes' trie.
    """
    if "" in prefixes:
        return None
    first = {prefix[0] for prefix in prefixes}
    others = "".join(char for char in _NAME_CHARACTERS if char.lower() not in first)
    branches = [f"[{re.escape(others)}]{_NAME}*"]
    for char in sorted(first.intersection(_NAME_CHARACTERS)):
        rest = _start_with_none_of({prefix[1:] for prefix in prefixes if prefix[0] == char})
        if rest is not None:
            branches.append(f"[{re.escape(char + char.upper())}]{rest}?")
    return f"(?:{'|'.join(branches)})"
