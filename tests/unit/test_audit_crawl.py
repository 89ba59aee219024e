"""Asking for pages: every wait has an end, robots.txt is obeyed, a server in trouble is left alone."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sitemap_ops.audit import audit, crawl, fetch, pace, watch
from sitemap_ops.audit.addresses import Guard, guarded_pools
from sitemap_ops.audit.fetch import MAX_BYTES, Fetcher, Unreached
from sitemap_ops.audit.head import HEAD_BYTES
from sitemap_ops.audit.watch import Watch
from sitemap_ops.connections import EnvironmentConnections
from sitemap_ops.site import Audit
from sitemap_ops.steps import audit as step
from tests.auditing import found, name_hosts, site_of
from tests.services.web import Answer, WebService, web_service
from tests.unit.test_audit_addresses import sitemap

HTML = {"Content-Type": "text/html"}


@pytest.fixture
def web() -> Iterator[WebService]:
    with web_service() as service:
        yield service


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same waits, shorter."""
    monkeypatch.setattr(fetch, "READ_SECONDS", 0.5)
    monkeypatch.setattr(fetch, "PAGE_SECONDS", 1.0)
    monkeypatch.setattr(watch, "LOOK_SECONDS", 0.05)


@contextmanager
def talking(talk: Callable[[socket.socket], Any]) -> Iterator[str]:
    """A server that says to each connection what `talk` sends; gives its URL."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=one, args=(connection,), daemon=True).start()

        def one(connection: socket.socket) -> None:
            with connection:
                try:
                    connection.recv(65_536)
                    talk(connection)
                except OSError:
                    return

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        server.shutdown(socket.SHUT_RDWR)


@contextmanager
def fetching() -> Iterator[Fetcher]:
    with Watch() as watching:
        yield Fetcher(guarded_pools(Guard(allow_private=True), watching), watching)


def drip(connection: socket.socket, start: bytes, piece: bytes) -> None:
    connection.sendall(start)
    for _ in range(400):
        connection.sendall(piece)
        time.sleep(0.05)


class TestEveryWaitHasAnEnd:
    @pytest.mark.parametrize(
        ("start", "piece"),
        [
            (b"", b"H"),
            (b"HTTP/1.1 200 OK\r\nX: ", b"x"),
            (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9999\r\n\r\n", b"x"),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
            (b"HTTP/1.1 200 OK\r\n\r\n", b"x"),
        ],
        ids=["status line", "header", "body", "chunks", "body without end"],
    )
    def test_server_that_drips(self, impatient: None, start: bytes, piece: bytes) -> None:
        """A byte now and then keeps any socket awake; the page's own time ends all the same."""
        server = talking(lambda connection: drip(connection, start, piece))
        with server as url, fetching() as fetcher, pytest.raises(Unreached, match="did not finish within 1 seconds"):
            fetcher.get(url)

    def test_server_that_says_nothing(self, impatient: None) -> None:
        """A server that accepts and stays silent is given up after the read time-out."""
        server = talking(lambda connection: time.sleep(3))
        with server as url, fetching() as fetcher, pytest.raises(Unreached, match="does not answer within"):
            fetcher.get(url)

    def test_broken_connection_is_tried_once_more(self) -> None:
        """A fault on the way is no fault of the page; a second one is told."""
        answers = [b"", b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok", b"", b""]
        with talking(lambda connection: connection.sendall(answers.pop(0))) as url, fetching() as fetcher:
            assert fetcher.get(url).body == b"ok"
            with pytest.raises(Unreached, match="can't be reached"):
                fetcher.get(url)
        assert answers == []

    @pytest.mark.parametrize(
        "answer",
        [b"SSH-2.0-OpenSSH\r\n", b"HTTP/1.1 banana\r\n\r\n", b"\x00" * 100,
         b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 200 + b"\r\n",
         b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope",
         b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
         b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"],
        ids=["SSH", "no status", "zeros", "200 headers", "no gzip", "cut short", "no chunk"],
    )  # fmt: skip
    def test_answers_that_are_none(self, answer: bytes) -> None:
        """Whatever a server sends, it becomes a sentence."""
        server = talking(lambda connection: connection.sendall(answer))
        with server as url, fetching() as fetcher, pytest.raises(Unreached):
            fetcher.get(url)


class TestBoundedReading:
    def test_endless_page(self) -> None:
        """A body without end is read to the limit, and its connection dropped."""
        sent = 0

        def talk(connection: socket.socket) -> None:
            nonlocal sent
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                sent += connection.send(b"x" * 65_536)

        with talking(talk) as url, fetching() as fetcher:
            page = fetcher.get(url)
            assert page.size == MAX_BYTES + 1
        assert sent < 4 * MAX_BYTES

    def test_bomb(self) -> None:
        """A gzip bomb is unpacked to the limit only."""
        import gzip

        bomb = gzip.compress(b"\0" * (200 << 20), 1)
        head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(bomb)}\r\n\r\n".encode()
        with talking(lambda connection: connection.sendall(head + bomb)) as url, fetching() as fetcher:
            assert fetcher.get(url).size == MAX_BYTES + 1

    def test_large_file_that_tells_its_size(self, web: WebService) -> None:
        """Of a file whose size is told, no more is read than its head needs."""
        web.answers["/a"] = Answer(b"x" * (3 << 20), 200, HTML)
        with fetching() as fetcher:
            page = fetcher.get(f"{web.url}a")
        assert (page.size, len(page.body)) == (3 << 20, HEAD_BYTES + 1)


def audited(
    tmp_path: Path, web: WebService, monkeypatch: pytest.MonkeyPatch, *paths: str, **asked: Any
) -> dict[str, Any]:
    """The report on pages of a site that lists them in one sitemap."""
    name_hosts(monkeypatch, {"www.shop.example": "127.0.0.1"})
    root = web.url.replace("127.0.0.1", "www.shop.example")
    web.answers["/sitemap.xml"] = sitemap("urlset", *(f"{root}{path}" for path in paths))
    web.answers.setdefault("/robots.txt", Answer(f"Sitemap: {root}sitemap.xml".encode()))
    settings = Audit.model_validate({"allow_private": True, "rate": 1e6, "concurrency": 1} | asked)
    report = audit(site_of(tmp_path, root), [f"{root}sitemap.xml"], settings).report
    report["root"] = root
    return report


class TestRedirects:
    @pytest.mark.parametrize(
        ("location", "told"),
        [
            ("/b", "It answers 301 and points to {root}b, which answers 200."),
            ("gone", "It answers 301 and points to {root}gone, which answers 404."),
            ("/a", "It answers 301 and points to {root}a, which answers 301."),
            (
                "https://elsewhere.example/x",
                "It answers 301 and points to https://elsewhere.example/x, on another host.",
            ),
            ("javascript:alert(1)", "It answers 301 and points to javascript:alert(1), on another host."),
            ("http://[", "It answers 301 and points to http://[, on another host."),
        ],
    )
    def test_one_step(
        self, tmp_path: Path, web: WebService, monkeypatch: pytest.MonkeyPatch, location: str, told: str
    ) -> None:
        """P-06: where it leads to and what that answers, one step far, on the site's own host."""
        web.answers |= {"/a": Answer(b"", 301, {"Location": location}), "/b": Answer(b"<p>", 200, HTML)}
        report = audited(tmp_path, web, monkeypatch, "a")
        (finding,) = [each for each in report["findings"] if each["code"] == "loc-redirects"]
        assert finding["message"] == told.format(root=report["root"])
        assert (finding["level"], finding["rule"]) == ("warning", "P-06")
        assert report["pages"]["asked"] == 1


class TestRobots:
    def test_forbidden_pages_are_not_asked_for(
        self, tmp_path: Path, web: WebService, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Y-14: what robots.txt forbids to one of the site's engines is told, and left alone."""
        web.answers["/robots.txt"] = Answer(b"User-agent: bingbot\nDisallow: /a\n\nUser-agent: Yeti\nDisallow: /b")
        web.answers["/b"] = Answer(b"<p>", 200, HTML)
        report = audited(tmp_path, web, monkeypatch, "a", "b")
        assert "/a" not in web.asked and "/b" in web.asked
        (finding,) = [each for each in report["findings"] if each["code"] == "robots-disallowed"]
        assert (finding["value"], finding["level"]) == ("bingbot", "error")

    @pytest.mark.parametrize("status", [404, 403, 410, 401])
    def test_none(self, tmp_path: Path, web: WebService, monkeypatch: pytest.MonkeyPatch, status: int) -> None:
        """RFC 9309: 4xx is a site without rules."""
        web.answers |= {"/robots.txt": Answer(b"Disallow: /", status), "/a": Answer(b"<p>", 200, HTML)}
        assert audited(tmp_path, web, monkeypatch, "a")["pages"]["statuses"] == {"200": 1}

    def test_server_fault(self, tmp_path: Path, web: WebService, monkeypatch: pytest.MonkeyPatch) -> None:
        """RFC 9309: 5xx shuts crawlers out; so no page is asked for, and each says why."""
        web.answers |= {"/robots.txt": Answer(b"", 503), "/a": Answer(b"<p>", 200, HTML)}
        report = audited(tmp_path, web, monkeypatch, "a")
        assert "/a" not in web.asked
        (finding,) = [each for each in report["findings"] if each["code"] == "page-unreachable"]
        assert finding["message"].endswith("which shuts crawlers out. It answers 503.")

    def test_redirects(self, tmp_path: Path, web: WebService, monkeypatch: pytest.MonkeyPatch) -> None:
        """RFC 9309: five redirects are followed; a circle is no robots.txt."""
        web.answers |= {
            "/robots.txt": Answer(b"", 301, {"Location": "/1"}), "/1": Answer(b"", 302, {"Location": "/2"}),
            "/2": Answer(b"User-agent: *\nDisallow: /a"), "/a": Answer(b"<p>", 200, HTML),
        }  # fmt: skip
        assert audited(tmp_path, web, monkeypatch, "a")["pages"]["statuses"] == {"none": 1}
        web.answers["/1"] = Answer(b"", 302, {"Location": "/robots.txt"})
        assert audited(tmp_path, web, monkeypatch, "a")["pages"]["statuses"] == {"200": 1}


class TestServerInTrouble:
    def test_busy_server_is_given_time(self, tmp_path: Path, web: WebService, monkeypatch: pytest.MonkeyPatch) -> None:
        """Issue 6: 429 and 503 ask for patience, by Retry-After; the page is asked once more, then told."""
        slept: list[float] = []
        monkeypatch.setattr(pace.Pace, "pause", lambda self, seconds: not slept.append(seconds))
        web.answers["/a"] = Answer(b"", 429, {"Retry-After": "7"})
        web.answers["/b"] = Answer(b"", 503, {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"})
        report = audited(tmp_path, web, monkeypatch, "a", "b")
        assert sorted(slept) == [crawl.DEFAULT_PAUSE, 7.0]
        assert (web.asked.count("/a"), web.asked.count("/b")) == (2, 2)
        assert report["pages"]["statuses"] == {"429": 1, "503": 1}

    def test_failing_server_is_left_alone(
        self, tmp_path: Path, web: WebService, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A server that fails page after page is not asked for the rest, and the report says so."""
        monkeypatch.setattr(crawl, "MAX_IN_A_ROW", 5)
        paths = [f"p{number}" for number in range(100)]
        web.answers |= {f"/{path}": Answer(b"", 500) for path in paths}
        report = audited(tmp_path, web, monkeypatch, *paths)
        assert 5 <= report["pages"]["asked"] <= 5 + 2
        assert "The last 5 pages failed" in report["pages"]["stopped"]

    def test_single_failures_stop_nothing(
        self, tmp_path: Path, web: WebService, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Failures here and there are findings."""
        monkeypatch.setattr(crawl, "MAX_IN_A_ROW", 100)
        paths = [f"p{number}" for number in range(100)]
        web.answers |= {f"/{path}": Answer(b"<p>", 500 if path.endswith("3") else 200, HTML) for path in paths}
        report = audited(tmp_path, web, monkeypatch, *paths, concurrency=8)
        assert (report["pages"]["asked"], report["pages"]["stopped"]) == (100, None)
        assert report["pages"]["statuses"] == {"200": 90, "500": 10}


def test_rate_is_kept(tmp_path: Path, web: WebService, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 6: requests for pages come at the site's rate, however many threads there are."""
    slept: list[float] = []
    monkeypatch.setattr(pace.Pace.__init__, "__defaults__", (lambda: 0.0, slept.append))
    paths = [f"p{number}" for number in range(10)]
    web.answers |= {f"/{path}": Answer(b"<p>", 200, HTML) for path in paths}
    audited(tmp_path, web, monkeypatch, *paths, rate=2, concurrency=4)
    assert sorted(slept) == [position / 2 for position in range(1, 10)]


def test_report_has_figures(tmp_path: Path, web: WebService, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report says what was read and asked for, and is the same for the same site."""
    paths = [f"p{number}" for number in range(30)]
    web.answers |= {f"/{path}": Answer(b"<p>", 404 if path == "p7" else 200, HTML) for path in paths}
    first, second = (audited(tmp_path, web, monkeypatch, *paths, sample=20, concurrency=4) for _ in range(2))
    assert (first["kind"], first["site"], first["files"], first["urls"]) == ("audit", "shop", 1, 30)
    assert first["pages"]["asked"] == sum(first["pages"]["statuses"].values()) == 20
    assert first["pages"]["seconds"].keys() == {"median", "p95", "most"}
    assert found(first) == found(second)
    other = audited(tmp_path, web, monkeypatch, *paths, sample=30)
    assert found(other)[f"{other['root']}p7", "page-status"] == 1


def test_files_alone(tmp_path: Path, web: WebService, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sample of none asks for no page."""
    report = audited(tmp_path, web, monkeypatch, "a", sample=0)
    assert "/a" not in web.asked
    assert report["pages"] == {
        "asked": 0, "seed": 1, "statuses": {}, "seconds": {"median": None, "p95": None, "most": None}, "stopped": None,
    }  # fmt: skip


def test_reports_are_kept_in_state(tmp_path: Path, web: WebService, monkeypatch: pytest.MonkeyPatch) -> None:
    """A report lies under its run's time; a retry of the run writes the same one; old ones go."""
    monkeypatch.setattr(step, "KEPT", 2)
    site = site_of(tmp_path, web.url, state=str(tmp_path / "state"), audit={"allow_private": True, "sample": 0})
    for day in (1, 2, 3, 3):
        as_of = datetime(2026, 1, day, tzinfo=UTC)
        audited, uri = step.audit(site, EnvironmentConnections(), run_id="run", as_of=as_of)
    names = sorted(path.name for path in (tmp_path / "state" / "audits").iterdir())
    assert [name[:8] for name in names] == ["20260102", "20260103"]
    assert uri.endswith(f"/state/audits/{names[-1]}")
    kept = json.loads((tmp_path / "state" / "audits" / names[-1]).read_text())
    assert kept == audited.report
    assert kept["indexes"] == [f"{web.url}sitemap.xml"]
