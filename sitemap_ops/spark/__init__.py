"""The engine for inventories that outgrow one machine: the same column functions inside Spark (DESIGN 9)."""

from sitemap_ops.spark.assemble import assemble

__all__ = ["assemble"]
