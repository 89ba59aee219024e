"""A guard's stop reaches people through a notifier of one of Airflow's own providers, from a real run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from tests.releases import run, small_site
from tests.services.airflow import Airflow

pytestmark = [pytest.mark.integration, pytest.mark.airflow]

DAGS = """\
from pathlib import Path

from airflow.providers.amazon.aws.notifications.sns import SnsNotifier

from sitemap_ops.airflow.notifiers import on_guard_stop
from sitemap_ops.airflow.sites import site_dags

tell = SnsNotifier(
    aws_conn_id="seo_sns",
    region_name="us-east-1",
    target_arn="{topic}",
    subject="{{{{ dag.dag_id }}}} was stopped",
    message="{{{{ exception }}}}",
)
globals().update(site_dags(Path(__file__).with_name("sites"), on_failure_callback=on_guard_stop(tell), queue="seo"))
"""


@pytest.fixture
def aws() -> Iterator[tuple[str, Any]]:
    """An endpoint with SNS and SQS, and a maker of its clients."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    keys = {"aws_access_key_id": "a", "aws_secret_access_key": "b", "region_name": "us-east-1"}
    yield url, lambda service: boto3.client(service, endpoint_url=url, **keys)
    server.stop()


def test_a_guard_s_stop_is_told(airflow: Airflow, aws: tuple[str, Any]) -> None:
    """PUB-09: with the lines of docs/ui.md in dags/sitemaps.py, a stopped run tells its reason, once; others do not."""
    url, client = aws
    topic = client("sns").create_topic(Name="seo")["TopicArn"]
    queue = client("sqs").create_queue(QueueName="seo")["QueueUrl"]
    arn = client("sqs").get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    client("sns").subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn)
    airflow.add_connection("seo_sns", conn_type="aws", login="a", password="b", extra={"endpoint_url": url})
    (airflow.dags / "sitemaps.py").write_text(DAGS.format(topic=topic))
    site = small_site(airflow.dags / "sites")
    run(site, 1, 10)
    run(site, 2, 2)  # stopped, and leaves an inventory with which the next one is too
    tested = airflow.test_dag("sitemaps__shop", {}, {"conf": {"force": True}})
    assert [states["publish"] for states in tested.states()] == [["failed"], ["success"]], tested.output[-4000:]
    messages = client("sqs").receive_message(QueueUrl=queue, MaxNumberOfMessages=10).get("Messages", [])
    (told,) = (json.loads(message["Body"]) for message in messages)
    assert told["Subject"] == "sitemaps__shop was stopped"
    assert "max_drop" in told["Message"] and "The report and the rejects are in" in told["Message"]
