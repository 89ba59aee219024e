"""The site file (DESIGN 4): one YAML file that says all that is configured for one site.

`load_site` gives a `Site`, or one sentence for each mistake with file, line, key and what to write instead. Airflow
parses site files every 30 s: pydantic, yaml and the standard library are all that is imported here.
"""

from sitemap_ops.site.load import load_site
from sitemap_ops.site.model import (
    Acl,
    Engine,
    Fresh,
    Guards,
    News,
    Notify,
    Retention,
    Section,
    SectionGuards,
    Site,
    UrlRules,
)
from sitemap_ops.site.robots import RobotsTxt
from sitemap_ops.site.sources import CsvSource, ParquetSource, SitemapSource, Source, SqlSource

__all__ = [
    "Acl",
    "CsvSource",
    "Engine",
    "Fresh",
    "Guards",
    "News",
    "Notify",
    "ParquetSource",
    "Retention",
    "RobotsTxt",
    "Section",
    "SectionGuards",
    "Site",
    "SitemapSource",
    "Source",
    "SqlSource",
    "UrlRules",
    "load_site",
]
