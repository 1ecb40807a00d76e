"""The built page."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import FileResponse, HTMLResponse, Response

from handwright.studio.build import PAGE
from handwright.studio.server.request_errors import TroubleError

router = APIRouter(include_in_schema=False)
_MISSING = """<!doctype html><title>handwright studio</title><body style="font:16px sans-serif;
max-width:40em;margin:4em auto"><h1>The page is not built</h1><p>The server runs, but its page has
not been built in this source tree. Run <code>make studio</code> and load this page again.</p>"""
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".wasm": "application/wasm",
    ".woff2": "font/woff2",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".ico": "image/x-icon",
    ".glb": "model/gltf-binary",
    ".hdr": "application/octet-stream",
    ".txt": "text/plain; charset=utf-8",
}


@router.get("/")
async def index() -> Response:
    """The page, or how to build it."""
    if not (PAGE / "index.html").is_file():
        return HTMLResponse(_MISSING, status_code=503)
    return _file(PAGE / "index.html", "no-cache")


@router.get("/{path:path}")
async def asset(path: str) -> Response:
    """A file of the page; names under ``assets`` change with their content."""
    root = PAGE.resolve()
    try:
        wanted = (root / path).resolve()
        is_there = wanted.is_relative_to(root) and wanted.is_file() and wanted.suffix in _KINDS
    except (OSError, ValueError):
        is_there = False  # No file can have such a name.
    if not is_there:
        raise TroubleError(404, "There is nothing at this address.")
    is_named_by_content = path.startswith("assets/")
    return _file(
        wanted, "public, max-age=31536000, immutable" if is_named_by_content else "no-cache"
    )


def _file(path: Path, caching: str) -> FileResponse:
    return FileResponse(path, media_type=_KINDS[path.suffix], headers={"Cache-Control": caching})
