"""The pages. Routes of a site are `site_router`'s, which asks Airflow whether the user may read its DAG's runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity
from airflow.api_fastapi.common.db.common import SessionDep
from airflow.api_fastapi.core_api.security import ReadableDagsFilterDep, requires_access_dag
from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from sitemap_ops.airflow.ui.overview import standings
from sitemap_ops.airflow.ui.rendering import render, segment, static_files
from sitemap_ops.airflow.ui.sites import ListedSite, known_runs, last_runs, listed_sites
from sitemap_ops.airflow.ui.tables import matching, page
from sitemap_ops.release.manifest import Manifest
from sitemap_ops.report.archive import Audited, Outcome, compare
from sitemap_ops.report.charts import Chart, chart
from sitemap_ops.report.html import moment
from sitemap_ops.report.scope import robots_lines
from sitemap_ops.report.urls import MAX_CHANGES, url_changes

SHOWN_RELEASES = 60
SHOWN_OTHERS = 20
SHOWN_AUDITS = 30
SHOWN_FINDINGS = 500

BLUE, AMBER, GREEN, RED = 1, 2, 3, 4
ACTIONS = {"added": GREEN, "changed": BLUE, "removed": RED}
LEVELS = {"error": RED, "warning": AMBER, "info": BLUE}

SHARD_KEYS = {
    "key": lambda shard: shard.key,
    "section": lambda shard: (shard.section, shard.key),
    "entries": lambda shard: shard.entries,
    "xml": lambda shard: shard.xml_bytes,
    "gzip": lambda shard: shard.gzip_bytes,
    "lastmod": lambda shard: (shard.lastmod or "", shard.key),
}
CHANGE_KEYS = {
    "key": lambda change: change.key,
    "action": lambda change: (change.action, change.key),
    "entries": lambda change: change.entries,
}

router = APIRouter(default_response_class=HTMLResponse)
site_router = APIRouter(
    prefix="/dags/{dag_id}",
    default_response_class=HTMLResponse,
    dependencies=[Depends(requires_access_dag("GET", DagAccessEntity.RUN))],
)


def _site(dag_id: str, session: SessionDep) -> ListedSite:
    found = listed_sites(session, [dag_id])
    if not found:
        raise HTTPException(404, f"No DAG {dag_id} publishes a sitemap here.")
    return found[0]


SiteDep = Annotated[ListedSite, Depends(_site)]


@router.get("/")
def overview(request: Request, session: SessionDep, readable: ReadableDagsFilterDep) -> str:
    sites = listed_sites(session, readable.value or set())
    runs = last_runs(session, [site.dag_id for site in sites])
    return render(request, "overview.html", standings=standings(sites), runs=runs)


@router.get("/static/{name}")
def static(name: str) -> Response:
    if name not in static_files():
        raise HTTPException(404, "No such file.")
    media_type, text = static_files()[name]
    return Response(text, media_type=media_type, headers={"Cache-Control": "private, max-age=31536000, immutable"})


@site_router.get("/")
def site_page(request: Request, site: SiteDep, session: SessionDep) -> str:
    archive = site.archive()
    released = archive.released(SHOWN_RELEASES)
    outcomes = sorted([*released, *archive.unreleased(SHOWN_OTHERS)], key=lambda each: each.release, reverse=True)
    return render(
        request,
        "site.html",
        site=site,
        standing=(standing := archive.standing()),
        robots=robots_lines(standing.report["indexes"]) if standing.report else [],
        outcomes=outcomes,
        runs=known_runs(session, site.dag_id, [outcome.run_id for outcome in outcomes]),
        last_run=last_runs(session, [site.dag_id]).get(site.dag_id),
        charts=_charts(released[::-1]) if released else [],
        audits=(audits := archive.audits(SHOWN_AUDITS)),
        audit_chart=_audit_chart(audits[::-1]) if audits else None,
    )


def _charts(released: list[Outcome]) -> list[Chart]:
    """Over the releases, oldest first."""
    labels = [moment(outcome.as_of) for outcome in released]
    return [
        chart("Entries by section", labels, [outcome.sections for outcome in released]),
        chart("Rejects by reason", labels, [outcome.rejected for outcome in released]),
        chart("Shards rewritten", labels, [outcome.shards for outcome in released], colours=ACTIONS),
        chart(
            "Bytes uploaded", labels, [outcome.bytes for outcome in released], colours={"uploaded": BLUE}, unit="bytes"
        ),
    ]


def _audit_chart(audits: list[Audited]) -> Chart:
    totals = [audit.totals for audit in audits]
    return chart("Findings of audits", [moment(audit.started) for audit in audits], totals, colours=LEVELS)


@site_router.get("/audits/{audit}")
def audit_page(request: Request, site: SiteDep, audit: str) -> str:
    report = site.archive().audit(audit)
    if report is None:
        raise HTTPException(404, f"No audit {audit} of {site.site} is kept.")
    return render(request, "audit.html", site=site, audit=audit, report=report, most=SHOWN_FINDINGS)


@site_router.get("/runs/{run_id}")
def run_page(request: Request, site: SiteDep, run_id: str) -> Response:
    """To what a DAG run released, planned or was stopped with."""
    here = f"{request.scope.get('root_path', '')}/dags/{segment(site.dag_id)}/"
    archive = site.archive()
    for outcome in [*archive.released(SHOWN_RELEASES), *archive.unreleased(SHOWN_OTHERS)]:
        if outcome.run_id == run_id:
            return RedirectResponse(f"{here}releases/{segment(outcome.release)}")
    raise HTTPException(
        404, f"The run {run_id} has left no release, or none of the newest: it failed before, or is old."
    )


@site_router.get("/releases/{release}")
def release_page(request: Request, site: SiteDep, release: str, session: SessionDep) -> str:
    archive = site.archive()
    report = archive.report(release)
    if report is None:
        raise HTTPException(404, f"No release {release} of {site.site} is kept.")
    kept = [past.release for past in archive.kept()]
    return render(
        request,
        "release.html",
        site=site,
        report=report,
        live=release in kept[:1],
        kept=release in kept,
        before=next(iter(kept[kept.index(release) + 1 :]), None) if release in kept else None,
        run=known_runs(session, site.dag_id, [report["run_id"]]).get(report["run_id"]),
    )


@site_router.get("/releases/{release}/shards")
def shards_page(request: Request, site: SiteDep, release: str, q: str = "", sort: str = "key", p: int = 1) -> str:
    shards = _manifest(site, release).shards
    shown = page(matching(shards, q.strip()), SHARD_KEYS, sort=sort, number=p, first="key")
    sets = len({shard.set for shard in shards})
    return render(request, "shards.html", site=site, release=release, page=shown, q=q, sets=sets)


@site_router.get("/diff")
def diff_page(request: Request, site: SiteDep, old: str, new: str, sort: str = "key", p: int = 1) -> str:
    before, after = _manifest(site, old), _manifest(site, new)
    changes = compare(before, after)
    return render(
        request,
        "diff.html",
        site=site,
        old=old,
        new=new,
        counts={kind: sum(change.action == kind for change in changes) for kind in ACTIONS},
        sections=_sections(before, after),
        page=page(changes, CHANGE_KEYS, sort=sort, number=p, first="key"),
    )


@site_router.get("/diff/urls")
def urls_page(request: Request, site: SiteDep, old: str, new: str, files: str = "") -> str:
    """The URLs that differ in one file set, the first of them: a site has as many as it has pages."""
    before, after = _manifest(site, old), _manifest(site, new)
    sets = list(dict.fromkeys(shard.set for shard in (*after.shards, *before.shards)))
    chosen = files if files in sets else next(iter(sets), "")
    changes = url_changes(site.archive(), before, after, chosen)
    return render(
        request, "urls.html", site=site, old=old, new=new, sets=sets, chosen=chosen, changes=changes, most=MAX_CHANGES
    )


@dataclass(frozen=True)
class SectionChange:
    """The entries of a section in two releases; 0 where it is not in one."""

    name: str
    old: int
    new: int


def _sections(old: Manifest, new: Manifest) -> list[SectionChange]:
    names = dict.fromkeys([*old.sections, *new.sections])
    return [SectionChange(name, old.sections.get(name, 0), new.sections.get(name, 0)) for name in names]


def _manifest(site: ListedSite, release: str) -> Manifest:
    found = site.archive().manifest(release)
    if found is None:
        raise HTTPException(404, f"No release {release} of {site.site} is kept, or it was never published.")
    return found
