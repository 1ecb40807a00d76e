"""The server's application: routes by topic, refusals as ``Trouble``, and the page."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from importlib.metadata import version

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from handwright.errors import HandwrightError
from handwright.studio.library.folder import Folder
from handwright.studio.messages import Trouble
from handwright.studio.server import (
    routes_catalogue,
    routes_clips,
    routes_jobs,
    routes_live,
    routes_page,
    routes_uploads,
)
from handwright.studio.server.guard import Access, Guard
from handwright.studio.server.request_errors import trouble_of
from handwright.studio.server.state import running_studio
from handwright.studio.server.validation_text import refusal

REFUSALS = (400, 401, 403, 404, 405, 408, 409, 413, 415, 422, 429, 507)


def make_app(
    folder: Folder, access: Access, *, jobs_at_once: int | None = None, fingers: str = "shipped"
) -> FastAPI:
    """The application for a folder of clips.

    Args:
        folder: With the clips.
        access: Who may ask.
        jobs_at_once: Processes that do jobs; half the cores if None.
        fingers: Folder of the network for learned fingers, or ``shipped``.
    """

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        running = running_studio(folder, jobs_at_once=jobs_at_once, fingers=fingers)
        async with running as studio:
            app.state.studio = studio
            yield

    app = FastAPI(
        title="handwright studio",
        version=version("handwright"),
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        responses={status: {"model": Trouble} for status in REFUSALS},
    )
    app.add_exception_handler(HandwrightError, _trouble)
    app.add_exception_handler(OSError, _trouble)
    app.add_exception_handler(ClientDisconnect, _gone)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _refused)
    for routes in (routes_catalogue, routes_clips, routes_jobs, routes_uploads, routes_live):
        app.include_router(routes.router, prefix="/api")
    app.include_router(routes_page.router)
    app.add_middleware(Guard, access=access)
    return app


def _answer(status: int, message: str) -> JSONResponse:
    return JSONResponse(Trouble(message=message).model_dump(), status)


async def _trouble(_request: Request, error: Exception) -> JSONResponse:
    trouble = trouble_of(error)
    return _answer(trouble.status, trouble.message)


async def _gone(_request: Request, _error: Exception) -> JSONResponse:
    return _answer(400, "The request was broken off.")  # Nobody hears it.


async def _invalid(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    return _answer(422, refusal(error.errors()))


async def _refused(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    texts = {404: "There is nothing at this address.", 405: "This address takes no such request."}
    answer = _answer(error.status_code, texts.get(error.status_code, str(error.detail)))
    answer.headers.update(error.headers or {})
    return answer
