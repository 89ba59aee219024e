"""Sitemaps from a site's inventory of URLs: cleaned, sharded, published to S3 and verified."""

__version__ = "0.1.0"
