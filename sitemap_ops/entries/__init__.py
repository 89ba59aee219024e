"""What a row says beside its URL: lastmod, changefreq, priority, images, videos, news; templates of locs; filters.

Every function takes columns and gives Arrow-backed columns with the same index; a row's result depends on that row
alone. Nothing here raises for a value: what can't be published is null, with a code that is counted.
"""

from sitemap_ops.entries.changefreq import parse_changefreq
from sitemap_ops.entries.extension import Extension
from sitemap_ops.entries.filters import FILTERS, filtered, non_canonical
from sitemap_ops.entries.images import parse_images
from sitemap_ops.entries.lastmod import parse_lastmod
from sitemap_ops.entries.news import parse_news
from sitemap_ops.entries.notes import DROPPED, NOTES
from sitemap_ops.entries.priority import parse_priority
from sitemap_ops.entries.spread import LastmodSpread
from sitemap_ops.entries.template import check_certain, fill_template
from sitemap_ops.entries.videos import parse_videos

__all__ = [
    "DROPPED",
    "FILTERS",
    "NOTES",
    "Extension",
    "LastmodSpread",
    "check_certain",
    "fill_template",
    "filtered",
    "non_canonical",
    "parse_changefreq",
    "parse_images",
    "parse_lastmod",
    "parse_news",
    "parse_priority",
    "parse_videos",
]
