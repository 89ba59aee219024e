"""The site file (DESIGN 4): one YAML file that says all that is configured for one site.

`load_site` gives a `Site`, or one sentence for each mistake with file, line, key and what to write instead. Airflow
parses site files every 30 s: pydantic, yaml and the standard library are all that is imported here.
"""

from sitemap_ops.site.load import load_site
from sitemap_ops.site.model import Acl, Site
from sitemap_ops.site.robots import RobotsTxt
from sitemap_ops.site.section import News, Section
from sitemap_ops.site.settings import (
    Audit,
    Engine,
    EngineSet,
    Fresh,
    Guards,
    Notify,
    Retention,
    SectionGuards,
    UrlRules,
)
from sitemap_ops.site.sources import CsvSource, ParquetSource, SitemapSource, Source, SqlSource

__all__ = [
    "Acl",
    "Audit",
    "CsvSource",
    "Engine",
    "EngineSet",
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
