"""Which machines an audit may talk to: public addresses only, unless the site file allows private ones.

Sitemaps and redirects name any host, and a name may resolve to a neighbour of this machine. So a connection is made to
an address that was checked, never to a name: what a second look-up would say (DNS rebinding) does not matter.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NameResolutionError, NewConnectionError
from urllib3.util.connection import create_connection

from sitemap_ops.audit.watch import Watch

Resolve = Callable[..., list[Any]]
"""As `socket.getaddrinfo`."""

_UNICAST = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")


class Refused(HTTPError):
    """An address that may not be asked. No kind of error that urllib3 would try again."""


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Whether an address is everyone's: not loopback, private, link-local, shared, multicast, reserved or a test's.

    An IPv6 address that stands for an IPv4 one is as public as that.
    """
    if isinstance(address, IPv4Address):
        return address.is_global and not address.is_multicast
    inner = address.ipv4_mapped or address.sixtofour
    if inner is None and address in _NAT64:
        inner = IPv4Address(int(address) & 0xFFFFFFFF)
    if inner is not None:
        return is_public(inner)
    return address in _UNICAST and address.is_global


class Guard:
    """resolve: how names are looked up; by the machine's own resolver by default."""

    def __init__(self, allow_private: bool = False, resolve: Resolve | None = None) -> None:
        self._allow_private, self._resolve = allow_private, resolve or socket.getaddrinfo

    def addresses(self, host: str, port: int) -> list[str]:
        """Every address of a host, in the order to try them. Raises Refused where one is private, OSError for none."""
        found = self._resolve(host.strip("[]"), port, type=socket.SOCK_STREAM)
        texts = list(dict.fromkeys(str(each[4][0]) for each in found))
        private = [text for text in texts if "%" in text or not is_public(ip_address(text))]
        if private and not self._allow_private:
            raise Refused(f"{host} is {private[0]}, a private address, which audit.allow_private has to allow")
        return texts

    def connect(self, connection: HTTPConnection) -> socket.socket:
        """A connected socket. Raises what urllib3's own connections raise, and Refused."""
        host, port = connection.host, connection.port or connection.default_port
        error: OSError | None = None
        try:
            for address in self.addresses(host, port):
                try:
                    return create_connection(
                        (address, port), connection.timeout, socket_options=connection.socket_options
                    )
                except OSError as failed:
                    error = failed
        except (socket.gaierror, UnicodeError) as failed:
            unknown = failed if isinstance(failed, socket.gaierror) else socket.gaierror("the name is malformed")
            raise NameResolutionError(host, connection, unknown) from None
        if isinstance(error, TimeoutError):
            raise ConnectTimeoutError(connection, f"no connection to {host} within {connection.timeout} seconds")
        raise NewConnectionError(connection, f"{error or 'it has no address'}")


def guarded_pools(guard: Guard, watch: Watch, **options: Any) -> urllib3.PoolManager:
    """A pool manager whose connections the guard makes, and whose waiting the watch can end."""

    class Plain(HTTPConnection):
        def _new_conn(self) -> socket.socket:
            return guard.connect(self)

        def getresponse(self) -> Any:
            watch.note(self.sock)
            return super().getresponse()

    class Secure(HTTPSConnection):
        def _new_conn(self) -> socket.socket:
            return guard.connect(self)

        def getresponse(self) -> Any:
            watch.note(self.sock)
            return super().getresponse()

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class SecurePool(HTTPSConnectionPool):
        ConnectionCls = Secure

    manager = urllib3.PoolManager(**options)
    manager.pool_classes_by_scheme = {"http": PlainPool, "https": SecurePool}
    return manager
