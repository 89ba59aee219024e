"""Where a section's rows come from: the kinds of source a site file can name."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from sitemap_ops.site.faults import wrong
from sitemap_ops.site.part import Part
from sitemap_ops.site.places import base_folder, readable
from sitemap_ops.site.values import Column, ConnId, Count, Delimiter, Encoding, Scalar


class CsvSource(Part):
    """A CSV file with a header line. `path` is an absolute local path or s3://bucket/key; `.gz` is read through."""

    type: Literal["csv"]
    path: str = Field(description="the file, as a path or s3://bucket/key")
    encoding: Encoding = "utf-8-sig"
    delimiter: Delimiter = ","
    max_bad_rows: Annotated[Count, Field(ge=0)] = 100
    """Rows with a wrong number of fields that are counted and left out before the read is given up."""
    aws_conn_id: ConnId | None = None

    @field_validator("path")
    @classmethod
    def _absolute(cls, value: str, info: ValidationInfo) -> str:
        return readable(value, base_folder(info))


class ParquetSource(Part):
    """A Parquet file, a folder of them or a glob: absolute local path or s3:// address."""

    type: Literal["parquet"]
    path: str = Field(description="the file, folder or glob, as a path or s3://bucket/prefix/")
    aws_conn_id: ConnId | None = None

    @field_validator("path")
    @classmethod
    def _absolute(cls, value: str, info: ValidationInfo) -> str:
        return readable(value, base_folder(info))


class SqlSource(Part):
    """The rows of a query: through one cursor, or with `key` in pages of `page_rows` rows ordered by that column."""

    type: Literal["sql"]
    conn_id: ConnId = Field(description="the id of the connection to the database, such as shop_db")
    query: Column = Field(description='the SELECT to read, such as "SELECT slug, updated_at FROM product"')
    params: dict[str, Scalar] = Field(default_factory=dict)
    """Bind parameters of the query."""
    key: Column | None = None
    page_rows: Annotated[Count, Field(ge=1)] = 500_000
    split: Annotated[Count, Field(ge=1)] = 1
    """Parts by key that are read by themselves: in Airflow each by a task of its own."""

    @model_validator(mode="after")
    def _pages_need_a_key(self) -> Self:
        for name in ("page_rows", "split"):
            if name in self.model_fields_set and self.key is None:
                raise wrong("has no effect without key: name a unique, indexed column in key.", at=(name,))
        return self


class SitemapSource(Part):
    """An existing sitemap or index: a path, http(s) or s3:// address."""

    type: Literal["sitemap"]
    location: str = Field(description="the sitemap or index, as a path or address")
    aws_conn_id: ConnId | None = None

    @field_validator("location")
    @classmethod
    def _absolute(cls, value: str, info: ValidationInfo) -> str:
        return value if value.startswith(("http://", "https://")) else readable(value, base_folder(info))


Source = Annotated[CsvSource | SqlSource | ParquetSource | SitemapSource, Field(discriminator="type")]
