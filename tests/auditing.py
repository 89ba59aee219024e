"""What the tests of the audit share: a site file for a site on loopback that has a public name."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sitemap_ops.site import Site


def site_of(folder: Path, base_url: str, **more: Any) -> Site:
    data = {
        "site": "shop",
        "base_url": base_url,
        "target": "public",
        "sections": [{"name": "pages", "source": {"type": "csv", "path": "pages.csv"}}],
    }
    return Site.model_validate(data | more, context={"folder": folder})


def name_hosts(monkeypatch: pytest.MonkeyPatch, hosts: Mapping[str, str]) -> list[str]:
    """Let names stand for addresses, as a resolver of one's own would; gives the names that were looked up."""
    asked: list[str] = []
    real = socket.getaddrinfo

    def resolve(host: Any, *arguments: Any, **options: Any) -> Any:
        asked.append(str(host))
        return real(hosts.get(host, host), *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return asked


def found(report: Mapping[str, Any]) -> dict[tuple[str, str], int]:
    """How many findings there are of each code in each place."""
    counted: dict[tuple[str, str], int] = {}
    for each in report["findings"]:
        key = each["location"], each["code"]
        counted[key] = counted.get(key, 0) + 1
    return counted
