"""Globs of a site file as regular expressions that RE2 and Python both read."""

from __future__ import annotations

import re
from collections.abc import Callable

Encode = Callable[[str], str]
"""Text to how it stands in a canonical URL."""


def path_glob(glob: str, encode: Encode) -> str:
    """A glob over path and query: `*` is within a segment, `**` across segments, all else literal ("?" too).

    `/**/` also stands for a single slash, as in gitignore. Literal parts are percent-encoded as locs are, so that
    `/товар/**` means what it says. The whole of path and query has to match.
    """
    pattern = ""
    for part in re.split(r"(/\*\*/|\*\*|\*)", glob):
        pattern += {"/**/": "/(?:.*/)?", "**": ".*", "*": "[^/]*"}.get(part) or re.escape(encode(part))
    return f"^(?:{pattern})$"


def name_glob(glob: str, encode: Encode) -> str:
    """A glob over the name of a query parameter: `*` is any run of characters, all else literal (U-40)."""
    return "[^=&]*".join(re.escape(encode(part)) for part in glob.split("*"))
