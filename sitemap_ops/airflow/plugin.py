"""What Airflow loads from `plugins/`: the Sitemaps page, and the links from tasks to it.

Every Airflow process imports this, workers too, so it imports nothing heavy: the app is made on its first request.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from airflow.plugins_manager import AirflowPlugin

from sitemap_ops.airflow.links import IndexLink, ReleaseLink

PREFIX = "/sitemap-ops"
"""Where the app lies below Airflow's own address."""

Message = MutableMapping[str, Any]


class LazyApp:
    """An ASGI app that makes the real one when it is first asked: FastAPI and Airflow's security cost 0.7 s."""

    _app: Any = None

    async def __call__(
        self,
        scope: Message,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        if self._app is None:
            from sitemap_ops.airflow.ui.app import create_app

            self._app = create_app()
        await self._app(scope, receive, send)


class SitemapOpsPlugin(AirflowPlugin):
    """The plugin; Airflow reads these attributes."""

    name = "sitemap_ops"
    fastapi_apps = [{"name": "Sitemaps", "app": LazyApp(), "url_prefix": PREFIX}]  # noqa: RUF012
    external_views = [  # noqa: RUF012
        {
            "name": "Sitemaps",
            "href": f"{PREFIX.removeprefix('/')}/",  # relative: Airflow may lie below a path itself
            "destination": "nav",
            "category": "browse",
            "url_route": "sitemaps",
        }
    ]
    global_operator_extra_links = [ReleaseLink(), IndexLink()]  # noqa: RUF012
