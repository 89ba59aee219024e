"""The site file (DESIGN 4): one YAML file that says all that is configured for one site.

`load_site` gives a `Site`, or one sentence for each mistake with file, line, key and what to write instead. Airflow
parses site files every 30 s: pydantic, yaml and the standard library are all that is imported here.
"""

from sitemap_ops.site.load import load_site
from sitemap_ops.site.model import (
    Acl,
    CsvSource,
    Engine,
    Fresh,
    Guards,
    News,
    Notify,
    ParquetSource,
    Retention,
    Section,
    SectionGuards,
    Site,
    SitemapSource,
    Source,
    SqlSource,
    UrlRules,
)
from sitemap_ops.site.robots import RobotsTxt

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
