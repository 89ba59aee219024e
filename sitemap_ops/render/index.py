"""The sitemap index (P-36 to P-43)."""

from __future__ import annotations

from collections.abc import Sequence

from sitemap_ops.render.escape import escape
from sitemap_ops.render.xml import DECLARATION, NAMESPACE, schema_location_of


def render_index(entries: Sequence[tuple[str, str | None]], *, schema_location: bool = False) -> bytes:
    """The index that lists (URL of a sitemap, W3C date-time of its last change or None), in the order given.

    schema_location: name the published schema too (P-56).
    """
    located = schema_location_of("siteindex") if schema_location else ""
    lines = [
        f"<sitemap><loc>{escape(loc)}</loc>"
        + (f"<lastmod>{escape(lastmod)}</lastmod></sitemap>\n" if lastmod else "</sitemap>\n")
        for loc, lastmod in entries
    ]
    return b"".join(
        [
            DECLARATION,
            f'<sitemapindex xmlns="{NAMESPACE}"{located}>\n'.encode(),
            "".join(lines).encode(),
            b"</sitemapindex>\n",
        ]
    )
