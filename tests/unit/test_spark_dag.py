"""The DAG of a site whose engine is Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitemap_ops.site import load_site

pytestmark = pytest.mark.airflow


def test_one_job_from_sources_to_shards(tmp_path: Path) -> None:
    """Issue 5 item 4: no task reads a section by itself; what follows the job is as ever."""
    from sitemap_ops.airflow.dag import add_tasks, empty_dag

    path = tmp_path / "shop.yaml"
    path.write_text(
        "site: shop\nbase_url: https://a.example/\ntarget: out/\nengine: spark\n"
        "sections: [{name: pages, source: {type: csv, path: pages.csv}}]\n"
    )
    site = load_site(path)
    dag = add_tasks(empty_dag(site, path), site, path)
    assert set(dag.task_ids) == {"prepare", "assemble", "publish", "cleanup"}
    assert dag.get_task("assemble").upstream_task_ids == {"prepare"}
    assert dag.get_task("publish").upstream_task_ids == {"prepare", "assemble"}
