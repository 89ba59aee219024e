"""A proxy in front of a real S3 API that lets single requests go wrong. It keeps Host, so signatures stay valid."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal
from urllib.parse import urlsplit

from tests.services.s3 import S3Service

Kind = Literal["answer", "lose", "flip", "truncate", "corrupt"]


@dataclass
class Fault:
    """What happens to the next `times` requests of a method whose path contains `path`.

    answer: the proxy answers `status` and `code` itself. lose: the request is done, its answer is lost. flip: one bit
    of the body changes on its way. truncate: the second half of the answer's body is lost. corrupt: one bit of the
    answer's body changes.
    """

    kind: Kind
    method: str
    path: str = ""
    times: int = 1
    status: int = 500
    code: str = "InternalError"


@dataclass
class FaultProxy:
    """`faults` are used up in order; `log` holds (method, path, fault's kind or None) of each request."""

    endpoint_url: str
    upstream: str
    faults: list[Fault] = field(default_factory=list)
    log: list[tuple[str, str, str | None]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, method: str, path: str) -> Fault | None:
        with self.lock:
            for fault in self.faults:
                if fault.times and fault.method == method and fault.path in path:
                    fault.times -= 1
                    self.log.append((method, path, fault.kind))
                    return fault
            self.log.append((method, path, None))
            return None


@contextmanager
def faulty(service: S3Service) -> Iterator[FaultProxy]:
    """A proxy on a free loopback port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    proxy = FaultProxy(f"http://127.0.0.1:{server.server_port}", urlsplit(service.endpoint_url).netloc)
    server.proxy = proxy  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def _any(self) -> None:
        proxy: FaultProxy = self.server.proxy  # type: ignore[attr-defined]
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        fault = proxy.take(self.command, self.path)
        if fault and fault.kind == "answer":
            text = f'<?xml version="1.0"?><Error><Code>{fault.code}</Code><Message>injected</Message></Error>'.encode()
            self._send(fault.status, [("Content-Type", "application/xml"), ("Content-Length", str(len(text)))], text)
            return
        if fault and fault.kind == "flip":
            body = bytes([body[0] ^ 1]) + body[1:]
        upstream = http.client.HTTPConnection(proxy.upstream, timeout=30)
        upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() not in ("expect", "connection"):
                upstream.putheader(name, value)
        upstream.endheaders(body)
        answer = upstream.getresponse()
        content = answer.read()
        upstream.close()
        if fault and fault.kind == "lose":
            self.close_connection = True
            return
        headers = [(k, v) for k, v in answer.getheaders() if k.lower() not in ("transfer-encoding", "connection")]
        if "content-length" not in {name.lower() for name, _ in headers}:
            headers.append(("Content-Length", str(len(content))))
        cut = bool(fault and fault.kind == "truncate")
        if fault and fault.kind == "corrupt":
            content = content[:-1] + bytes([content[-1] ^ 1])
        self._send(answer.status, headers, content[: len(content) // 2] if cut else content)
        self.close_connection = cut

    def _send(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = _any

    def log_message(self, format: str, *args: object) -> None:
        pass
