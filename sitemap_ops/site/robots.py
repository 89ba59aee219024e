"""Where a site file's robots.txt is: written in the file itself, at a path, or at an address."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import PlainValidator, ValidationInfo

from sitemap_ops.site.faults import not_a
from sitemap_ops.site.places import base_folder, readable

_DIRECTIVE = re.compile(r"\s*(#|(user-agent|disallow|allow|sitemap|crawl-delay|host|clean-param)\s*:)", re.IGNORECASE)


class RobotsTxt(NamedTuple):
    """value: the text itself, an absolute local path or s3:// address, or an http(s) address."""

    kind: Literal["text", "path", "url"]
    value: str


def _robots(value: Any, info: ValidationInfo) -> RobotsTxt:
    if isinstance(value, RobotsTxt):
        return value
    if not isinstance(value, str) or not value.strip():
        raise not_a("a robots.txt: write its text, its path or its address.")
    if "\n" in value.strip() or _DIRECTIVE.match(value):
        return RobotsTxt("text", value)
    if value.startswith(("http://", "https://")):
        return RobotsTxt("url", value)
    return RobotsTxt("path", readable(value, base_folder(info)))


Robots = Annotated[RobotsTxt, PlainValidator(_robots)]
