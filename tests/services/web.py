"""A web server on loopback that answers as it is told, and remembers what it was asked."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Answer:
    """headers: sent as they are; Content-Length is the body's where they say none."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class WebService:
    """url: of its root, with a slash. answers: by path and query; what is not there answers 404."""

    url: str
    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)


@contextmanager
def web_service(host: str = "127.0.0.1") -> Iterator[WebService]:
    """The server, on a free port, until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            service.asked.append(self.path)
            answer = service.answers.get(self.path, Answer(b"no such file", 404, {"Content-Type": "text/plain"}))
            self.send_response(answer.status)
            for name, value in {"Content-Length": str(len(answer.body)), **answer.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer.body)
            self.close_connection = "Content-Length" in answer.headers

        def log_message(self, *_: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer((host, 0), Handler)
    service = WebService(f"http://{host}:{server.server_port}/")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
