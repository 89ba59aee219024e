"""An audit's result: the findings of `validate` over index, files and pages, and figures of the pages asked for."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sitemap_ops.audit.crawl import Crawled
from sitemap_ops.site import Audit, Site
from sitemap_ops.validate.findings import Validation

AuditReport = dict[str, Any]


def build_audit_report(
    site: Site,
    asked: Audit,
    indexes: Sequence[str],
    validation: Validation,
    crawled: Crawled,
    *,
    started: datetime,
    finished: datetime,
) -> AuditReport:
    """JSON-able. `findings`, `counts`, `totals` and `worst` are those of `validate`; a page's place is its URL."""
    found = validation.to_json()
    return {
        "schema": 1,
        "kind": "audit",
        "site": site.site,
        "started": started.isoformat(timespec="seconds"),
        "finished": finished.isoformat(timespec="seconds"),
        "indexes": list(indexes),
        "engines": found["engines"],
        "files": found["files"],
        "urls": found["urls"],
        "pages": {
            "asked": sum(crawled.statuses.values()),
            "seed": asked.seed,
            "statuses": dict(sorted(crawled.statuses.items())),
            "seconds": _seconds(crawled.seconds),
            "stopped": crawled.stopped,
        },
        **{name: found[name] for name in ("worst", "totals", "counts", "findings")},
    }


def _seconds(seconds: Sequence[float]) -> dict[str, float | None]:
    """How long answers took: the middle one, the slowest of the fastest 95 %, the slowest."""
    ordered = sorted(seconds)
    if not ordered:
        return {"median": None, "p95": None, "most": None}
    almost = ordered[int(0.95 * (len(ordered) - 1))]
    return {"median": round(statistics.median(ordered), 3), "p95": round(almost, 3), "most": round(ordered[-1], 3)}


def audit_facts(report: AuditReport, uri: str) -> dict[str, Any]:
    """The few figures that travel with a task's result and an asset's event; `report` says where the others are."""
    return {
        "report": uri,
        "index": report["indexes"][0],
        "files": report["files"],
        "urls": report["urls"],
        "pages": report["pages"]["asked"],
        "worst": report["worst"],
        **report["totals"],
        "codes": {kind["code"]: kind["count"] for kind in report["counts"]},
    }
