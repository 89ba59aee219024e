"""Runs of one DAG of the configured folder by `dag.test()`.

    python -m tests.services.dag_run DAG_ID [RUN...]

RUN: a JSON object with `conf` (object) and `logical_date` (false: none, as runs by asset or API may have, where
`airflow dags test` always sets one); by default one run with neither. They run one after the other. For each a line of
JSON, the list of its task instances, is appended to `$AIRFLOW_HOME/runs.jsonl` (a run without a logical date makes
`dag.test()` clear those of all runs before it). The exit code is 1 where a run failed.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

FIELDS = ("task_id", "map_index", "rendered_map_index", "state", "try_number")


def main(dag_id: str, *runs: str) -> int:
    from airflow.dag_processing.dagbag import DagBag

    states = set()
    with Path(os.environ["AIRFLOW_HOME"], "runs.jsonl").open("a") as out:
        for asked in [json.loads(text) for text in runs] or [{}]:
            bag = DagBag(os.environ["AIRFLOW__CORE__DAGS_FOLDER"])  # anew: a run's conf stays in a DAG's params
            if dag_id not in bag.dags:
                sys.exit(f"no DAG {dag_id}; import errors: {bag.import_errors}")
            logical_date: dict[str, Any] = {} if asked.get("logical_date", True) else {"logical_date": None}
            run = bag.dags[dag_id].test(run_conf=asked.get("conf"), **logical_date)
            tasks = [{name: getattr(each, name) for name in FIELDS} for each in run.get_task_instances()]
            out.write(json.dumps(tasks) + "\n")
            states.add(run.state)
    return 0 if states == {"success"} else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
