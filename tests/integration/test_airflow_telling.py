"""A guard's stop reaches people through a notifier of one of Airflow's own providers, from a real run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from tests.releases import run, small_site
from tests.services.airflow import Airflow
from tests.services.shared import ROOT

pytestmark = [pytest.mark.integration, pytest.mark.airflow]

REGION = "eu-central-1"


def documented() -> str:
    """The dags/sitemaps.py of docs/ui.md."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/ui.md").read_text(encoding="utf-8"), re.DOTALL)
    (block,) = (each for each in blocks if "on_guard_stop" in each)
    return block


@pytest.fixture
def aws() -> Iterator[tuple[str, Any]]:
    """An endpoint with SNS and SQS, and a maker of its clients."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    keys = {"aws_access_key_id": "a", "aws_secret_access_key": "b", "region_name": REGION}
    yield url, lambda service: boto3.client(service, endpoint_url=url, **keys)
    server.stop()


def test_a_guard_s_stop_is_told(airflow: Airflow, aws: tuple[str, Any]) -> None:
    """PUB-09: with the lines of docs/ui.md in dags/sitemaps.py, a stopped run tells its reason, once; others do not."""
    url, client = aws
    topic = client("sns").create_topic(Name="seo")["TopicArn"]
    queue = client("sqs").create_queue(QueueName="seo")["QueueUrl"]
    arn = client("sqs").get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    client("sns").subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn)
    airflow.add_connection("aws_default", conn_type="aws", login="a", password="b", extra={"endpoint_url": url})
    assert topic in documented()
    (airflow.dags / "sitemaps.py").write_text(documented())
    site = small_site(airflow.dags / "sites")
    run(site, 1, 10)
    run(site, 2, 2)  # stopped, and leaves an inventory with which the next one is too
    tested = airflow.test_dag("sitemaps__shop", {}, {"conf": {"force": True}})
    assert [states["publish"] for states in tested.states()] == [["failed"], ["success"]], tested.output[-4000:]
    messages = client("sqs").receive_message(QueueUrl=queue, MaxNumberOfMessages=10).get("Messages", [])
    (told,) = (json.loads(message["Body"]) for message in messages)
    assert told["Subject"] == "sitemaps__shop was stopped"
    assert "max_drop" in told["Message"] and "The report and the rejects are in" in told["Message"]
