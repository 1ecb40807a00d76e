"""Clips: the list, what is played and shown, comparisons, downloads."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from handwright.studio.jobs.helper_processes import Work
from handwright.studio.labels import well_formed
from handwright.studio.library.export_options import MEDIA, ExportOptions
from handwright.studio.messages import ClipSummary, Comparison, FavouriteRequest, Timeline
from handwright.studio.server.request_errors import TroubleError
from handwright.studio.server.routes_catalogue import GLB, GLB_ANSWER, TheStudio
from handwright.studio.server.state import Studio

router = APIRouter()
_FILM_TIME = 1200.0


@router.get("/clips")
async def clips(studio: TheStudio) -> list[ClipSummary]:
    """All clips, newest first."""
    return studio.library.listed()


@router.get("/clips/{clip}")
async def clip_summary(studio: TheStudio, clip: str) -> ClipSummary:
    """A clip."""
    return studio.library.summary(studio.library.entry(clip))


@router.get("/clips/{clip}/model.glb", response_class=FileResponse, responses=GLB_ANSWER)
async def clip_model(studio: TheStudio, request: Request, clip: str) -> Response:
    """What is played: hands, bodies and surroundings."""
    return _result(request, await studio.library.model(clip), GLB)


@router.get("/clips/{clip}/timeline", response_model=Timeline)
async def clip_timeline(studio: TheStudio, request: Request, clip: str) -> Response:
    """What is shown under a stage; the clip is judged if it was not."""
    return _result(request, await studio.library.timeline(clip), "application/json")


def _result(request: Request, path: Path, kind: str) -> Response:
    """What was made of a clip, unless the page has it already; its folder is named by content."""
    headers = {"Cache-Control": "no-cache", "ETag": f'"{path.parent.name}"'}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    return FileResponse(path, media_type=kind, headers=headers)


@router.put("/clips/{clip}/favourite")
async def favourite(studio: TheStudio, clip: str, wish: FavouriteRequest) -> ClipSummary:
    """A clip is, or is no longer, a favourite."""
    return studio.library.set_favourite(clip, wish.is_favourite)


@router.delete("/clips/{clip}", status_code=204)
async def delete_clip(studio: TheStudio, clip: str) -> Response:
    """Puts a clip away, into the folder ``.handwright/deleted``."""
    await studio.library.delete(clip)
    return Response(status_code=204)


@router.get("/compare")
async def compare(studio: TheStudio, first: str, second: str) -> Comparison:
    """How two clips of one length differ."""
    paths = [_readable(studio, name) for name in (first, second)]
    found: Comparison = await studio.desk.run(Work.COMPARE_CLIPS, *paths, first, second)
    return found


@router.get(
    "/clips/{clip}/export",
    response_class=FileResponse,
    responses={200: {"content": {kind: {} for kind in MEDIA.values()}, "description": "A file."}},
)
async def export(
    studio: TheStudio,
    clip: str,
    format: Literal["glb", "bvh", "usd", "npz", "csv", "mp4", "gif", "png"],
    fps: Annotated[float | None, Query(gt=0.0, le=1000.0)] = None,
    skeleton: Literal["openxr", "unity", "unreal"] | None = None,
    environment: bool = True,
    contacts: bool = True,
    forces: bool = True,
) -> FileResponse:
    """A clip as a file of another format."""
    options = ExportOptions(format, fps, skeleton, environment, contacts, forces)
    options.check()
    source = _readable(studio, clip)
    stem = well_formed(Path(studio.library.entry(clip).found.file).stem)
    handle, name = tempfile.mkstemp(suffix=f".{format}", dir=studio.folder.part("exports"))
    Path(name).unlink()
    with open(handle, "rb"):
        pass  # Only the name is wanted; the helper writes the file whole.
    target = Path(name)
    try:
        await studio.desk.run(Work.EXPORT_CLIP, source, target, options, timeout=_FILM_TIME)
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    return FileResponse(
        target,
        media_type=MEDIA[format],
        filename=f"{stem}.{format}",
        headers={"Cache-Control": "no-store"},
        background=BackgroundTask(target.unlink, missing_ok=True),
    )


def _readable(studio: Studio, clip: str) -> Path:
    entry = studio.library.entry(clip)
    if entry.trouble is not None:
        raise TroubleError(422, entry.trouble)
    return studio.library.path(entry)
