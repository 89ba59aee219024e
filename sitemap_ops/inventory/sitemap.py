"""An existing sitemap, index or feed as a source, in any dialect that `dialects` reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sitemap_ops.inventory.chunk import Chunk, numbered, positions

if TYPE_CHECKING:
    from sitemap_ops.connections import Connections
    from sitemap_ops.site import SitemapSource


def read_sitemap(
    source: SitemapSource, columns: Sequence[str], connections: Connections, chunk_rows: int
) -> Iterator[Chunk]:
    """The wanted ones of loc, lastmod, changefreq, priority, images and alternates, as text; null where there is none.

    An entry without a loc is a row. Raises SourceError where a file that belongs to the location can't be read whole.
    """
    from sitemap_ops.dialects.files import Sitemaps
    from sitemap_ops.dialects.rows import COLUMNS
    from sitemap_ops.validate.findings import safe

    positions(COLUMNS, columns, safe(source.location) or "")
    sitemaps = Sitemaps(source.location, connections, source.aws_conn_id)
    yield from numbered((batch.select(list(columns)) for batch in sitemaps.batches()), chunk_rows)
