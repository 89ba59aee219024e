"""The asset that a site's DAG publishes. It tells the API server, which has no site files, where the records lie."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from airflow.sdk import Asset

if TYPE_CHECKING:
    from sitemap_ops.site import Site

KEYS = ("site", "base_url", "index", "state", "aws_conn_id")
"""What an asset's extra says of its site: places and names, no secret."""


def site_asset(site: Site) -> Asset:
    """The main index, by the DAG's id; other DAGs are scheduled by it."""
    extra: dict[str, Any] = {
        "site": site.site,
        "base_url": site.base_url,
        "index": f"{site.files_url}{site.index}",
        "state": site.state,
        "aws_conn_id": site.aws_conn_id,
    }
    return Asset(name=site.dag_id, uri=f"{site.target}{site.index}", extra=extra)


def is_site(extra: Mapping[str, Any] | None) -> bool:
    """Whether an asset's extra is that of a site's asset."""
    return extra is not None and all(key in extra for key in KEYS)


def audit_asset(site: Site) -> Asset:
    """The reports of a site's audits; its events carry what was found."""
    extra: dict[str, Any] = {"site": site.site, "base_url": site.base_url}
    return Asset(name=site.audit_dag_id, uri=f"{site.state}audits", extra=extra)


def site_facts(operator: Any) -> Mapping[str, Any] | None:
    """What the asset of a task says of its site; None where the task publishes none. For serialized operators too."""
    extras = (getattr(outlet, "extra", None) for outlet in operator.outlets)
    return next(filter(is_site, extras), None)
