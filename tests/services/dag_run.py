"""`dag.test()` of one DAG of the configured folder; what came of it is in the metadata database.

    python -m tests.services.dag_run DAG_ID [--conf JSON] [--no-logical-date]

`airflow dags test` always sets a logical date, which runs by asset or API need not have.
"""

from __future__ import annotations

import argparse
import json
import os
import sys


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("dag_id")
    parser.add_argument("--conf", type=json.loads, default=None)
    parser.add_argument("--no-logical-date", action="store_true")
    options = parser.parse_args()

    from airflow.dag_processing.dagbag import DagBag

    bag = DagBag(os.environ["AIRFLOW__CORE__DAGS_FOLDER"])
    if options.dag_id not in bag.dags:
        sys.exit(f"no DAG {options.dag_id}; import errors: {bag.import_errors}")
    logical_date = {"logical_date": None} if options.no_logical_date else {}
    run = bag.dags[options.dag_id].test(run_conf=options.conf, **logical_date)
    return 0 if run.state == "success" else 1


if __name__ == "__main__":
    sys.exit(main())
