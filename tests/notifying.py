"""What the tests of notifying share: a site that asks for channels, connections that hold credentials, and the call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sitemap_ops.credentials import Credentials
from sitemap_ops.notify import notify
from sitemap_ops.site import Site
from sitemap_ops.storage import Store
from sitemap_ops.storage.folder import FolderStore
from tests.services.engines import BING_KEY, INDEXNOW_KEY, YANDEX_TOKEN, Engines, service_account

INDEXES = ["https://www.example.com/sitemap.xml", "https://www.example.com/sitemap-2.xml"]


def site_of(folder: Path, notify: Mapping[str, str] | None, **more: Any) -> Site:
    data = {
        "site": "shop",
        "base_url": "https://www.example.com/",
        "target": "public",
        "sections": [{"name": "pages", "source": {"type": "csv", "path": "pages.csv"}}],
        "notify": notify,
    }
    return Site.model_validate(data | more, context={"folder": folder})


@dataclass
class Held:
    """Connections by id."""

    credentials: dict[str, Credentials] = field(default_factory=dict)

    def secret(self, conn_id: str) -> Credentials:
        return self.credentials[conn_id]


def credentials_of(engines: Engines, **changed: Any) -> Held:
    """Right credentials for every API, each at the local server; `changed` replaces some."""
    held = {
        "indexnow": Credentials("indexnow", engines.url, INDEXNOW_KEY),
        "yandex": Credentials("yandex", engines.url, YANDEX_TOKEN),
        "google": Credentials("google", engines.url, None, {"keyfile_dict": service_account(engines)}),
        "bing": Credentials("bing", engines.url, BING_KEY),
    }
    return Held(held | changed)


def told(
    folder: Path,
    engines: Engines,
    channel: str,
    *,
    changed: Iterable[str] = (),
    target: Store | None = None,
    held: Held | None = None,
    indexes: list[str] | None = None,
    entries: int | None = None,
    **site: Any,
) -> dict[str, Any]:
    """The result of one channel, told of a release."""
    asked = site_of(folder, {channel: channel}, **site)
    target = target or FolderStore(folder / "public")
    engines.key_file = lambda location: file_at(target, location)
    results = notify(
        asked,
        INDEXES if indexes is None else indexes,
        lambda: iter(changed),
        held or credentials_of(engines),  # type: ignore[arg-type]
        target,
        FolderStore(folder / "state"),
        entries=entries,
    )
    (result,) = results
    assert result["channel"] == channel
    return result


def file_at(target: Store, location: str) -> bytes | None:
    """What a crawler finds at an address: the target's file, with the headers of text."""
    found = target.get(location.removeprefix("https://www.example.com/"))
    return found[0] if found else None


def codes(result: Mapping[str, Any]) -> list[str]:
    return sorted(each["code"] for each in result["findings"])
