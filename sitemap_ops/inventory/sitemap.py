"""An existing sitemap, index or feed as a source, in any dialect that `dialects` reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sitemap_ops.columns import frame
from sitemap_ops.errors import SourceError
from sitemap_ops.inventory.chunk import Chunk, numbered, positions

if TYPE_CHECKING:
    from sitemap_ops.connections import Connections
    from sitemap_ops.site import SitemapSource


def read_sitemap(
    source: SitemapSource, columns: Sequence[str], connections: Connections, chunk_rows: int, _: Collection[str] = ()
) -> Iterator[Chunk]:
    """The wanted ones of `rows.COLUMNS`, as text; null where there is none.

    An entry without a loc is a row. The chunks tell what was repaired to read them; the last one, that may be without
    rows, what was found behind the last row. Raises SourceError where there is nothing, or a file that belongs to the
    location can't be read whole.
    """
    from sitemap_ops.dialects.files import Sitemaps
    from sitemap_ops.dialects.rows import COLUMNS, SCHEMA
    from sitemap_ops.reading.places import NothingThere
    from sitemap_ops.reading.record import safe

    positions(COLUMNS, columns, safe(source.location) or "")
    sitemaps = Sitemaps(source.location, connections, source.aws_conn_id)
    told: Counter[str] = Counter()
    try:
        for chunk in numbered((batch.select(list(columns)) for batch in sitemaps.batches()), chunk_rows):
            told, new = sitemaps.repairs.copy(), sitemaps.repairs - told
            yield replace(chunk, repaired=new)
    except NothingThere as error:
        raise SourceError(str(error)) from None
    if rest := sitemaps.repairs - told:
        yield Chunk(frame(SCHEMA.empty_table().select(list(columns))), repaired=rest)
