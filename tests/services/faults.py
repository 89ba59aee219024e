"""A proxy in front of a real S3 API that lets requests go wrong, by plan or at random. It keeps Host, so signatures
stay valid.

| kind     | what happens                                                                                   |
|----------|------------------------------------------------------------------------------------------------|
| answer   | the proxy answers `status` and `code` itself                                                   |
| lose     | the request is done, its answer is lost: the connection ends                                   |
| reset    | the connection is reset in the middle of the request's body; nothing is done                   |
| stall    | the request is taken and never answered; nothing is done                                       |
| flip     | one bit of the request's body, somewhere, changes on its way                                   |
| truncate | the second half of the answer's body is lost                                                   |
| corrupt  | one bit of the answer's body, somewhere, changes                                               |
| drip     | the answer's body comes in small pieces with pauses between them                               |
| strip    | the conditions of a write get lost (for a server that asks for no signature)                   |
| unquote  | If-Match is compared as Ceph 16 does, without its quotes (for a server that asks for no signature) |
"""

from __future__ import annotations

import http.client
import random
import select
import socket
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal
from urllib.parse import urlsplit

from tests.services.s3 import S3Service

Kind = Literal[
    "answer", "lose", "reset", "stall", "flip", "truncate", "corrupt", "drip", "strip", "unquote"
]  # fmt: skip

_DRIPS = 10
_DRIP_SECONDS = 0.02


@dataclass
class Fault:
    """What happens to the next `times` requests of a method (`*`: any) whose path contains `path`."""

    kind: Kind
    method: str
    path: str = ""
    times: int = 1
    status: int = 500
    code: str = "InternalError"

    def fits(self, method: str, path: str) -> bool:
        return self.times > 0 and self.method in (method, "*") and self.path in path


ANYTHING: tuple[Fault, ...] = (
    Fault("answer", "*", status=500, code="InternalError"),
    Fault("answer", "*", status=503, code="SlowDown"),
    Fault("answer", "*", status=403, code="AccessDenied"),
    Fault("answer", "PUT", status=409, code="ConditionalRequestConflict"),
    *(Fault(kind, "*") for kind in ("lose", "reset", "stall", "drip")),  # type: ignore[arg-type]
    Fault("flip", "PUT"),
    Fault("truncate", "GET"),
    Fault("corrupt", "GET"),
)
"""One of each kind that a real line or store can have."""


@dataclass
class FaultProxy:
    """`faults` are used up in order; then those of `at_random`, if set, come by chance.

    `log` holds (method, path, fault's kind or None) of each request.
    """

    endpoint_url: str
    upstream: str
    faults: list[Fault] = field(default_factory=list)
    log: list[tuple[str, str, str | None]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    closed: threading.Event = field(default_factory=threading.Event)
    _bits: random.Random = field(default_factory=lambda: random.Random(0))
    _chance: tuple[random.Random, float, Sequence[Fault]] | None = None

    def at_random(self, seed: int, share: float, faults: Sequence[Fault] = ANYTHING) -> None:
        """From now on this share of the requests meets one of these faults; a share of 0 is none."""
        with self.lock:
            self._chance = (random.Random(seed), share, faults)

    def take(self, method: str, path: str) -> Fault | None:
        with self.lock:
            fault = next((fault for fault in self.faults if fault.fits(method, path)), None)
            if fault:
                fault.times -= 1
            elif self._chance and self._chance[0].random() < self._chance[1]:
                fitting = [fault for fault in self._chance[2] if fault.fits(method, path)]
                fault = self._chance[0].choice(fitting) if fitting else None
            self.log.append((method, path, fault.kind if fault else None))
            return fault

    def flipped(self, body: bytes) -> bytes:
        """The bytes with one bit changed."""
        changed = bytearray(body)
        if changed:
            with self.lock:
                changed[self._bits.randrange(len(changed))] ^= 1 << self._bits.randrange(8)
        return bytes(changed)


@contextmanager
def faulty(service: S3Service) -> Iterator[FaultProxy]:
    """A proxy on a free loopback port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients that give up are this proxy's trade
    proxy = FaultProxy(f"http://127.0.0.1:{server.server_port}", urlsplit(service.endpoint_url).netloc)
    server.proxy = proxy  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.closed.set()
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each answer with a body waits 40 ms for the client's ACK of its headers

    def _any(self) -> None:
        proxy: FaultProxy = self.server.proxy  # type: ignore[attr-defined]
        fault = proxy.take(self.command, self.path)
        kind = fault.kind if fault else None
        length = int(self.headers.get("Content-Length", 0))
        if kind == "reset":
            self.rfile.read(length // 2)
            return self._reset()
        body = self.rfile.read(length)
        if kind == "stall":
            return self._stall(proxy)
        if fault and kind == "answer":
            return self._answer(fault.status, fault.code)
        if kind == "unquote" and self.headers.get("If-Match", "").startswith('"'):
            return self._answer(412, "PreconditionFailed")
        if kind == "flip":
            body = proxy.flipped(body)
        answer, content = self._forward(proxy.upstream, body, kind)
        if kind == "lose":
            self.close_connection = True
            return None
        if kind == "corrupt":
            content = proxy.flipped(content)
        headers = [(k, v) for k, v in answer.getheaders() if k.lower() not in ("transfer-encoding", "connection")]
        if "content-length" not in {name.lower() for name, _ in headers}:
            headers.append(("Content-Length", str(len(content))))
        self._send(answer.status, headers, content[: len(content) // 2] if kind == "truncate" else content, kind)
        self.close_connection = kind == "truncate"
        return None

    def _forward(self, host: str, body: bytes, kind: Kind | None) -> tuple[http.client.HTTPResponse, bytes]:
        left_out = {"expect", "connection"} | ({"if-match", "if-none-match"} if kind == "strip" else set())
        upstream = http.client.HTTPConnection(host, timeout=30)
        upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() not in left_out:
                quoted = kind == "unquote" and name.lower() == "if-match"
                upstream.putheader(name, f'"{value}"' if quoted else value)
        upstream.endheaders(body)
        answer = upstream.getresponse()
        content = answer.read()
        upstream.close()
        return answer, content

    def _answer(self, status: int, code: str) -> None:
        text = f'<?xml version="1.0"?><Error><Code>{code}</Code><Message>injected</Message></Error>'.encode()
        headers = [("Content-Type", "application/xml"), ("Content-Length", str(len(text)))]
        self._send(status, headers, b"" if self.command == "HEAD" else text, "answer")

    def _send(self, status: int, headers: list[tuple[str, str]], body: bytes, kind: Kind | None) -> None:
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        size = -(-len(body) // _DRIPS) if kind == "drip" and body else len(body) or 1
        for start in range(0, len(body), size):
            self.wfile.write(body[start : start + size])
            if kind == "drip":
                time.sleep(_DRIP_SECONDS)

    def _reset(self) -> None:
        """Close with RST: zero seconds of lingering."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True

    def _stall(self, proxy: FaultProxy) -> None:
        """Until the client has had enough and closes the connection."""
        while not proxy.closed.is_set() and not select.select([self.connection], [], [], 0.05)[0]:
            pass
        self.close_connection = True

    do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = _any

    def log_message(self, format: str, *args: object) -> None:
        pass
