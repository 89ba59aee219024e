"""What all channels share: bounded requests, credentials, and that nothing of it can fail a publish."""

from __future__ import annotations

import ast
import json
import re
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from sitemap_ops.connections import EnvironmentConnections
from sitemap_ops.credentials import Credentials, base_url_of, parse_credentials
from sitemap_ops.errors import UsageError
from sitemap_ops.notify import client, notify
from sitemap_ops.notify.client import Api
from sitemap_ops.notify.published import Published
from sitemap_ops.storage.folder import FolderStore
from tests.notifying import INDEXES, Held, codes, site_of
from tests.services.engines import Engines, Reply, engines_service
from tests.services.shared import ROOT

ALL = {"robots": "publish", "indexnow": "a", "yandex": "b", "google": "c", "bing": "d"}


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waited: list[float] = []
    monkeypatch.setattr(client, "sleep", waited.append)
    return waited


@pytest.fixture
def engines() -> Iterator[Engines]:
    with engines_service() as service:
        yield service


class TestRetries:
    def test_retry_after_as_a_date(self, engines: Engines, pauses: list[float]) -> None:
        """RFC 9110: Retry-After may be a date; one that is past means now."""
        soon = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
        past = format_datetime(datetime.now(UTC) - timedelta(seconds=60), usegmt=True)
        engines.answer_next("bing", *[Reply(503, headers={"Retry-After": value}) for value in (soon, past)])
        assert Api("x", engines.url).json("POST", "/webmaster/api.svc/json/SubmitFeed", {}).status == 400
        assert 50 < pauses[0] <= 60 and pauses[1] == 0

    @pytest.mark.parametrize("value", ["soon", "-1", "1.5", "٣", "9" * 5, "Tue, 99 Foo 2026"])
    def test_retry_after_that_is_none(self, engines: Engines, pauses: list[float], value: str) -> None:
        """What can't be read is no wish; what asks for more than there is patience for ends the tries."""
        engines.answer_next("bing", *[Reply(503, headers={"Retry-After": value.encode().decode("latin-1")})] * 9)
        answer = Api("x", engines.url).json("POST", "/webmaster/api.svc/json/SubmitFeed", {})
        assert answer.status == 503
        assert pauses == ([] if value == "99999" else [1.0, 2.0, 4.0])

    def test_body_is_bounded(self, engines: Engines, monkeypatch: pytest.MonkeyPatch) -> None:
        """An endless answer is read to a limit."""
        monkeypatch.setattr(client, "MAX_BODY", 1_000)
        engines.answer_next("yandex", Reply(200, body=b"x" * 100_000))
        assert len(Api("x", engines.url).request("GET", "/v4/user").body) == 1_000


def test_machine_with_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind a proxy the APIs are reached through it, its password included; hosts of NO_PROXY are not."""
    seen: list[tuple[str, str | None]] = []

    class Proxy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append((self.path, self.headers.get("Proxy-Authorization")))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Silent."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        monkeypatch.setenv("http_proxy", f"http://me:s%40crt@127.0.0.1:{server.server_port}")
        monkeypatch.setenv("no_proxy", "direct.invalid")
        assert Api("x", "http://api.invalid").request("GET", "/v4/user").status == 204
        assert seen == [("http://api.invalid/v4/user", "Basic bWU6c0BjcnQ=")]
        assert (
            not hasattr(client._pool("http://direct.invalid"), "proxy_config")
            or not client._pool("http://direct.invalid").proxy
        )
        server.shutdown()


class TestCredentials:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("a-token", Credentials("c", token="a-token")),
            ('{"password": "p", "host": "http://api.example:8080/v4/"}',
             Credentials("c", "http://api.example:8080/v4", "p")),
            ('{"host": "api.example", "schema": "http", "port": 81}', Credentials("c", "http://api.example:81")),
            ('{"extra": {"site_url": "x"}}', Credentials("c", extra={"site_url": "x"})),
            ('{"extra": "{\\"site_url\\": \\"x\\"}"}', Credentials("c", extra={"site_url": "x"})),
            ('{"private_key": "k", "client_email": "e"}',
             Credentials("c", extra={"keyfile_dict": {"private_key": "k", "client_email": "e"}})),
        ],
    )  # fmt: skip
    def test_outside_of_airflow(self, monkeypatch: pytest.MonkeyPatch, text: str, expected: Credentials) -> None:
        """SITEMAP_OPS_CONN_<ID> is the key alone, Airflow's JSON, or the file that Google Cloud gives."""
        monkeypatch.setenv("SITEMAP_OPS_CONN_C", text)
        assert EnvironmentConnections().secret("c") == expected

    @pytest.mark.parametrize(
        "text",
        ["", "https://me:S3cr3t@host/", "{", "{1: 2}", '{"host": "ftp://S3cr3t"}', '{"port": "S3cr3t"}',
         '{"extra": [1]}', '{"host": "https://u:S3cr3t@api.example"}'],
    )  # fmt: skip
    def test_what_can_not_be_meant(self, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
        """A wrong value is a sentence with the variable's name, and without the value."""
        monkeypatch.setenv("SITEMAP_OPS_CONN_MY_KEY", text)
        with pytest.raises(UsageError, match="SITEMAP_OPS_CONN_MY_KEY") as raised:
            EnvironmentConnections().secret("my-key")
        assert "S3cr3t" not in str(raised.value)

    def test_address_of_an_api(self) -> None:
        """An Airflow connection keeps an address in up to three fields."""
        assert base_url_of(None, 1, "http") is None
        assert base_url_of("api.example") == "https://api.example"
        assert base_url_of("https://api.example:8443/x/", 99) == "https://api.example:8443/x"

    def test_what_is_secret(self) -> None:
        """Public parts of a connection can be shown, so that messages say whose key was refused; all others are not."""
        key = {"client_email": "me@project.example", "private_key": "-----BEGIN", "token_uri": "https://token.example/"}
        given = Credentials("c", None, "the-token", {"keyfile_dict": json.dumps(key), "site_url": "https://a.example/"})
        assert set(given.secrets()) == {"the-token", json.dumps(key), "-----BEGIN"}
        assert repr(parse_credentials("c", "the-token", "X")) == "Credentials(conn_id='c', base_url=None)"


class TestWhichIndexes:
    """An engine with a file set of its own is told of that one."""

    def told(self, tmp_path: Path, sets: dict[str, str], engine_sets: list[str]) -> dict[str, list[str]]:
        site = site_of(tmp_path, {}, engine_sets=engine_sets)
        store = FolderStore(tmp_path)
        published = Published(site, list(sets), lambda: iter(()), EnvironmentConnections(), store, store, sets)
        return {engine: published.indexes_for(engine) for engine in ("google", "yandex", "bing")}

    def test_own_set(self, tmp_path: Path) -> None:
        """Y-11: Yandex's own set takes the place of the main one for Yandex, and is no one else's."""
        sets = {"main.xml": "main", "text.xml": "txt", "yandex.xml": "yandex", "news.xml": "news", "fresh.xml": "fresh"}
        told = self.told(tmp_path, sets, ["yandex", "baidu"])
        assert told["yandex"] == ["yandex.xml", "news.xml", "fresh.xml"]
        assert told["google"] == told["bing"] == ["main.xml", "news.xml", "fresh.xml"]

    def test_text_alone(self, tmp_path: Path) -> None:
        """A site without XML tells of its text files' index."""
        assert self.told(tmp_path, {"text.xml": "txt"}, [])["google"] == ["text.xml"]

    def test_sets_that_nobody_named(self, tmp_path: Path) -> None:
        """Where nothing is known of sets, all are told of all."""
        site = site_of(tmp_path, {})
        store = FolderStore(tmp_path)
        published = Published(site, INDEXES, lambda: iter(()), EnvironmentConnections(), store, store)
        assert published.indexes_for("bing") == INDEXES


class TestNothingCanFailThePublish:
    @pytest.mark.parametrize(
        "fault",
        [RuntimeError("S3cr3t"), KeyError("x"), MemoryError(), UnicodeEncodeError("a", "b", 0, 1, "c")],
        ids=lambda each: type(each).__name__,
    )  # fmt: skip
    def test_whatever_goes_wrong(self, tmp_path: Path, pauses: list[float], fault: Exception) -> None:
        """C-107: a fault of any kind, in any channel, is a warning; the others are told nevertheless."""

        class Broken(FolderStore):
            def get(self, key: str) -> None:
                raise fault

        def changed() -> Iterator[str]:
            raise fault
            yield

        class Connections(Held):
            def secret(self, conn_id: str) -> Credentials:
                if conn_id == "b":
                    raise fault
                return Credentials(conn_id, "http://127.0.0.1:9", "0123456789abcdef")

        store = Broken(tmp_path / "public")
        results = notify(site_of(tmp_path, ALL), INDEXES, changed, Connections(), store, store)  # type: ignore[arg-type]
        assert [each["channel"] for each in results] == ["robots", "indexnow", "yandex", "google", "bing"]
        assert all(codes(each) == ["notify-failed"] and each["outcome"] == "failed" for each in results)
        assert {each["level"] for result in results for each in result["findings"]} == {"warning"}
        assert "S3cr3t" not in repr(results)
        assert json.loads(json.dumps(results)) == results

    def test_only_what_is_asked_for(self, tmp_path: Path) -> None:
        """C-106: every channel is opt-in; a site without `notify`, or without an index, is told nowhere."""
        store = FolderStore(tmp_path)
        refused: Callable[[], Iterator[str]] = lambda: pytest.fail("nobody asked what changed")  # noqa: E731
        for asked, indexes in (({}, INDEXES), (ALL, [])):
            assert notify(site_of(tmp_path, asked), indexes, refused, Held(), store, store) == []  # type: ignore[arg-type]
        without = site_of(tmp_path, None)
        assert notify(without, INDEXES, refused, Held(), store, store) == []  # type: ignore[arg-type]


def test_no_ping_endpoint_anywhere() -> None:
    """C-106: nothing in the package asks a ping address: Google's and Bing's are gone."""
    files = sorted((ROOT / "sitemap_ops").rglob("*.py"))
    assert any(path.name == "indexnow.py" for path in files)
    for path in files:
        texts = [
            node.value
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        assert not [text for text in texts if re.search(r"(?i)/ping\b|ping\?|webmaster/ping|\?sitemap=", text)], path
