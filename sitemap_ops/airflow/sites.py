"""The DAGs of a folder of site files: a file that is wrong is told, and stops no other.

Airflow keeps import errors by Python file, and takes all DAGs of a file that has one out of service. So the DAGs come
from one file of the DAG folder (`sitemaps.py`), and what is wrong with site files is raised by another
(`site_file_errors.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from airflow.sdk import DAG, get_parsing_context

from sitemap_ops.airflow.dag import add_tasks, empty_dag
from sitemap_ops.errors import SiteFileError, SitemapOpsError
from sitemap_ops.site import Site, load_site


@dataclass
class Sites:
    """The good sites of a folder by DAG id, each with its empty DAG and its file, and what is wrong with the others."""

    good: dict[str, tuple[DAG, Site, Path]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def read_sites(folder: Path) -> Sites:
    """Reads all `*.yaml` and `*.yml` of a folder, by name; hidden files are none of them. Raises nothing."""
    sites = Sites()
    loaded: list[tuple[Site, Path]] = []
    for path in sorted(folder.iterdir() if folder.is_dir() else ()):
        if path.suffix in (".yaml", ".yml") and not path.name.startswith("."):
            try:
                loaded.append((load_site(path), path))
            except SitemapOpsError as error:
                sites.problems.append(str(error))
    clashes = _clashes(loaded)
    sites.problems += clashes.values()
    for site, path in loaded:
        if path not in clashes:
            try:
                sites.good[site.dag_id] = (empty_dag(site, path), site, path)
            except Exception as error:  # what Airflow refuses
                sites.problems.append(f"{path.name}: Airflow can't make a DAG of it: {error}")
    return sites


def _clashes(loaded: list[tuple[Site, Path]]) -> dict[Path, str]:
    """What site files claim that another has, by the file that gets no DAG for it.

    Of several with the same site the one that is called after it has the DAG, if just one is: the others are copies.
    """
    clashes: dict[Path, str] = {}
    published: dict[str, Path] = {}
    for site, path in loaded:
        same = [other for found, other in loaded if found.dag_id == site.dag_id]
        named = [other for other in same if other.stem == site.site]
        owner = named[0] if len(named) == 1 else None
        if len(same) > 1 and path != owner:
            other = owner or next(each for each in same if each != path)
            clashes[path] = f"{path.name} names the same site as {other.name}, and " + (
                "has no DAG until it has a `site` of its own."
                if owner
                else "neither has a DAG until each has a `site` of its own."
            )
            continue
        index = f"{site.target}{site.index}"
        if published.setdefault(index, path) != path:
            clashes[path] = (
                f"{path.name} publishes {index}, and so does {published[index].name}: it has no DAG until it has a"
                " target or an `index` of its own."
            )
    return clashes


def site_dags(folder: Path, **arguments: Any) -> dict[str, DAG]:
    """The DAGs of the good sites by id; in a task's process only the one that the task is of.

    arguments: of every task, as Airflow's operators take them, such as pool, queue or on_failure_callback.
    """
    wanted = get_parsing_context().dag_id
    good = read_sites(folder).good
    return {dag_id: add_tasks(*found, **arguments) for dag_id, found in good.items() if wanted in (None, dag_id)}


def raise_problems(folder: Path) -> None:
    """Raises SiteFileError, a sentence a line, where a site file is wrong."""
    if problems := read_sites(folder).problems:
        raise SiteFileError("\n".join(problems))
