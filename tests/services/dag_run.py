"""`dag.test()` of one DAG of the configured folder; what came of it is in the metadata database.

    python -m tests.services.dag_run DAG_ID [RUN...]

RUN: a JSON object with `conf` (object) and `logical_date` (false: none, as runs by asset or API may have); by default
one run with neither. They run one after the other, and the exit code is 1 where one of them failed.
`airflow dags test` would set a logical date always.
"""

from __future__ import annotations

import json
import os
import sys


def main(dag_id: str, *runs: str) -> int:
    from airflow.dag_processing.dagbag import DagBag

    bag = DagBag(os.environ["AIRFLOW__CORE__DAGS_FOLDER"])
    if dag_id not in bag.dags:
        sys.exit(f"no DAG {dag_id}; import errors: {bag.import_errors}")
    states = []
    for run in [json.loads(text) for text in runs] or [{}]:
        logical_date = {} if run.get("logical_date", True) else {"logical_date": None}
        states.append(bag.dags[dag_id].test(run_conf=run.get("conf"), **logical_date).state)
    return 0 if set(states) == {"success"} else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
