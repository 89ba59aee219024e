"""No audit can be made to ask a neighbour: which addresses are asked, whoever names them."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
import urllib3
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st

from sitemap_ops.audit import addresses, audit
from sitemap_ops.audit.addresses import Guard, Refused, guarded_pools, is_public
from sitemap_ops.audit.fetch import Fetcher, Unreached
from sitemap_ops.audit.watch import Watch
from sitemap_ops.errors import UsageError
from sitemap_ops.site import Audit
from tests.auditing import found, name_hosts, site_of
from tests.services.web import Answer, WebService, web_service

PUBLIC = "93.184.215.14"
PRIVATE = [
    "127.0.0.1", "127.9.9.9", "0.0.0.0", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.0.1", "169.254.169.254",
    "100.64.0.1", "192.0.2.1", "198.18.0.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
    "::", "::1", "fe80::1", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1", "2001:db8::1", "100::1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b:1::1",
    "2002:7f00:1::", "2002:c0a8:1::1", "2001:0:7f00:1::",
]  # fmt: skip


@pytest.fixture
def web() -> Iterator[WebService]:
    with web_service() as service:
        yield service


@pytest.mark.parametrize("address", PRIVATE)
def test_private_addresses(address: str) -> None:
    """SSRF: loopback, private, link-local (a cloud's metadata), shared, reserved, and IPv6 that stands for such."""
    assert not is_public(ip_address(address))


@pytest.mark.parametrize(
    "address", [PUBLIC, "1.1.1.1", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101", "2002:101:101::1"]
)
def test_public_addresses(address: str) -> None:
    """What is everyone's may be asked, also by way of NAT64 or 6to4."""
    assert is_public(ip_address(address))


@given(st.ip_addresses(v=6))
def test_ipv6_outside_of_the_global_range(address: Any) -> None:
    """Whatever lies outside of 2000::/3 is public only as the clothing of a public IPv4 address."""
    clothed = address.ipv4_mapped is not None or address in addresses._NAT64
    assert clothed or not is_public(address) or address in addresses._UNICAST


@pytest.mark.parametrize("host", ["localhost", "2130706433", "0x7f.1", "017700000001", "127.1", "[::1]"])
def test_names_and_odd_forms_of_loopback(host: str) -> None:
    """U-26: the resolver reads them as 127.0.0.1; it is its answer that is judged, not the spelling."""
    with pytest.raises(Refused, match="a private address, which"):
        Guard().addresses(host, 80)
    assert Guard(allow_private=True).addresses(host, 80)


def resolver(*answers: list[str]) -> Any:
    """A resolver that answers differently each time; the last answer stays."""
    left = list(answers)

    def resolve(host: str, port: int, **_: Any) -> list[Any]:
        found = left.pop(0) if len(left) > 1 else left[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

    return resolve


def test_one_private_address_among_several() -> None:
    """SSRF: a name with a public and a private address is refused as a whole, not tried one by one."""
    with pytest.raises(Refused):
        Guard(resolve=resolver([PUBLIC, "10.0.0.1"])).addresses("a.example", 80)


def test_connection_goes_to_the_address_that_was_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """DNS rebinding: the look-up that is judged is the one that is connected to; a later one is not made."""
    connected: list[tuple[str, int]] = []

    def connect(address: tuple[str, int], *_: Any, **__: Any) -> socket.socket:
        connected.append(address)
        raise ConnectionRefusedError("no")

    monkeypatch.setattr(addresses, "create_connection", connect)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: pytest.fail("a second look-up"))
    guard = Guard(resolve=resolver([PUBLIC, "1.1.1.1"], ["127.0.0.1"]))
    with Watch() as watch, pytest.raises(Unreached, match="private address"):
        Fetcher(guarded_pools(guard, watch), watch).get("http://rebinding.example/")
    # The first try meets the first answer's two addresses, the second try looks up anew, and is refused.
    assert connected == [(PUBLIC, 80), ("1.1.1.1", 80)]


def test_name_that_turns_private_during_the_audit(
    tmp_path: Path, web: WebService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DNS rebinding: a site that is public when the audit starts, and then a neighbour: that one is not asked."""
    port = int(web.url.rstrip("/").rpartition(":")[2])
    monkeypatch.setattr(socket, "getaddrinfo", resolver([PUBLIC], [PUBLIC], ["127.0.0.1"]))
    root = f"http://turncoat.example:{port}/"
    report = audit(site_of(tmp_path, root), [f"{root}sitemap.xml"], Audit()).report
    assert web.asked == []
    assert found(report) == {(f"{root}sitemap.xml", "unreachable"): 1}
    assert "is 127.0.0.1, a private address" in report["findings"][0]["message"]


def test_site_at_a_private_address(tmp_path: Path, web: WebService) -> None:
    """A site file that names one needs to say so, and says it once; nothing is asked before."""
    site = site_of(tmp_path, web.url)
    with pytest.raises(
        UsageError, match=r"is 127\.0\.0\.1, a private address, which audit\.allow_private has to allow"
    ):
        audit(site, [f"{web.url}sitemap.xml"], Audit())
    assert web.asked == []
    assert audit(site, [f"{web.url}sitemap.xml"], Audit(allow_private=True)).validation.worst == "error"
    assert "/sitemap.xml" in web.asked


def test_what_files_and_pages_name_is_not_asked(
    tmp_path: Path, web: WebService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SSRF: neither a listed file or page on another host, nor the target of a redirect there, is ever asked."""
    with web_service() as neighbour:
        looked_up = name_hosts(monkeypatch, {"www.shop.example": "127.0.0.1"})
        root = web.url.replace("127.0.0.1", "www.shop.example")
        web.answers["/sitemap.xml"] = sitemap("sitemapindex", f"{root}a.xml", f"{neighbour.url}b.xml")
        web.answers["/a.xml"] = sitemap("urlset", f"{root}p", f"{neighbour.url}secret", "http://neighbour.example/x")
        web.answers["/p"] = Answer(b"", 302, {"Location": f"{neighbour.url}secret"})
        web.answers["/robots.txt"] = Answer(b"", 302, {"Location": "/r.txt"})
        site = site_of(tmp_path, root)
        report = audit(site, [f"{root}sitemap.xml"], Audit(allow_private=True)).report
        assert neighbour.asked == []
        assert set(looked_up) <= {"www.shop.example", "127.0.0.1"}
        assert report["pages"]["statuses"] == {"302": 1}
        assert found(report)[f"{root}p", "loc-redirects"] == 1


def sitemap(root: str, *locs: str) -> Answer:
    entry = "url" if root == "urlset" else "sitemap"
    entries = "".join(f"<{entry}><loc>{loc}</loc></{entry}>" for loc in locs)
    body = f'<{root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</{root}>'.encode()
    return Answer(body, 200, {"Content-Type": "application/xml", "Cache-Control": "max-age=300"})


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a" * 70 + ".example", "-.example", "xn--.example"])
def test_host_that_is_none(host: str) -> None:
    """What can't be resolved is a page that can't be reached, whatever is wrong with its name."""
    with Watch() as watch, pytest.raises(Unreached, match="can't be reached"):
        Fetcher(guarded_pools(Guard(), watch), watch).get(f"http://{host}/")


@pytest.mark.parametrize(
    "path", ["a b", "\r\nHost: x", "\x00", "ü?ü#ü", "%", "a" * 5_000, "\u202e", "?" * 50, "//x/../.."]
)
def test_odd_urls_reach_the_server_as_one_request(web: WebService, path: str) -> None:
    """Whatever a sitemap lists, it is one request line to the site, and nothing breaks."""
    with Watch() as watch:
        page = Fetcher(guarded_pools(Guard(allow_private=True), watch), watch).get(web.url + path)
    assert page.status == 404
    (asked,) = web.asked
    assert asked.isascii() and not set(asked) & set(" \r\n\x00")


def test_tls_goes_by_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection is to an address, the certificate is checked for the name: the right one is taken alone."""
    name_hosts(monkeypatch, {"www.shop.example": "127.0.0.1", "other.example": "127.0.0.1"})
    certificate = self_signed(tmp_path, "www.shop.example")
    with tls_service(certificate) as port, Watch() as watch:
        fetcher = Fetcher(guarded_pools(Guard(allow_private=True), watch, ca_certs=str(certificate)), watch)
        assert fetcher.get(f"https://www.shop.example:{port}/").body == b"www.shop.example"
        for host in ("other.example", "127.0.0.1"):
            with pytest.raises(Unreached, match="can't be reached"):
                fetcher.get(f"https://{host}:{port}/")


def self_signed(folder: Path, name: str) -> Path:
    """Key and certificate of a name in one PEM file."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    path = folder / "tls.pem"
    path.write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + certificate.public_bytes(pem)
    )
    return path


@contextmanager
def tls_service(certificate: Path) -> Iterator[int]:
    """Answers every request with the name that TLS was asked for (SNI); gives the port."""
    asked: list[str] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.sni_callback = lambda sock, name, context: asked.append(name or "")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(asked[-1].encode())

        def log_message(self, *_: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


def test_pools_keep_their_connections(web: WebService) -> None:
    """A page whose answer was read to its end leaves its connection for the next."""
    web.answers["/a"] = Answer(b"x" * 1_000)
    with Watch() as watch:
        pools: urllib3.PoolManager = guarded_pools(Guard(allow_private=True), watch)
        fetcher = Fetcher(pools, watch)
        for _ in range(3):
            assert fetcher.get(f"{web.url}a").size == 1_000
        assert pools.connection_from_url(web.url).num_connections == 1
