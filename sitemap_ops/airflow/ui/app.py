"""The app itself: who may see what, what a browser may do with it, and what a failure looks like.

Airflow mounts a plugin's app without any protection of its own (apache/airflow#72655). Here every route, those of
style and script too, depends on Airflow's `get_user`; pages of a site also on the permission to read its DAG's runs.
There are only GET routes, and none of them changes anything.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.core_api.security import get_user
from fastapi import Depends, FastAPI, HTTPException, Request, Response
from fastapi.exception_handlers import http_exception_handler
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from starlette.exceptions import HTTPException as StarletteHTTPException

from sitemap_ops.airflow.ui import routes
from sitemap_ops.airflow.ui.rendering import render
from sitemap_ops.errors import SitemapOpsError

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; form-action 'self'; base-uri 'none';"
        " frame-ancestors 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
}

TITLES = {403: "Not allowed", 404: "Not found"}


def create_app() -> FastAPI:
    """The app to mount. Airflow's auth manager has to be there: make it on the first request, not before."""
    app = FastAPI(
        title="Sitemaps",
        dependencies=[Depends(get_user)],
        docs_url=None, redoc_url=None, openapi_url=None,  # `dependencies` would not cover these three
    )  # fmt: skip
    app.state.auth_manager = get_auth_manager()  # Airflow's dependencies look for it on the app that they run in
    app.include_router(routes.router)
    app.include_router(routes.site_router)
    app.middleware("http")(_with_headers)
    app.exception_handler(StarletteHTTPException)(_refused)
    app.exception_handler(SitemapOpsError)(_unreadable)
    return app


async def _with_headers(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    response = await call_next(request)
    for name, value in HEADERS.items():
        response.headers[name] = value
    response.headers.setdefault("Cache-Control", "no-store")
    return response


async def _refused(request: Request, error: Exception) -> Response:
    """A browser is asked to log in, or told on a page; a program gets the JSON that Airflow's own API would give."""
    assert isinstance(error, HTTPException | StarletteHTTPException)
    if not _wants_page(request):
        return await http_exception_handler(request, error)
    if error.status_code == 401:
        return RedirectResponse(get_auth_manager().get_url_login(next_url=_asked_for(request)))
    title = TITLES.get(error.status_code, f"Error {error.status_code}")
    return HTMLResponse(render(request, "error.html", title=title, told=error.detail), error.status_code)


async def _unreadable(request: Request, error: Exception) -> Response:
    """What a site's records could not be read for; the sentence says what to do and holds no secret."""
    if not _wants_page(request):
        return JSONResponse({"detail": str(error)}, 502)
    return HTMLResponse(render(request, "error.html", title="Not readable", told=str(error)), 502)


def _wants_page(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "")


def _asked_for(request: Request) -> str:
    """Path and query only: behind a proxy the host that this server sees is not the browser's."""
    query = request.url.query
    return request.url.path + (f"?{query}" if query else "")
