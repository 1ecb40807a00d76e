"""Files that users bring, and scenes made of them."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query, Request

from handwright.io.atomic import written_whole
from handwright.studio.jobs.helper_processes import Work
from handwright.studio.messages import SceneFromTracks, SceneInfo, Upload
from handwright.studio.server.request_errors import TroubleError
from handwright.studio.server.routes_catalogue import TheStudio
from handwright.studio.server.state import Studio
from handwright.studio.uploads.files import MAX_BYTES, safe_name, upload_id

router = APIRouter()
_READING_TIME = 120.0
_BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.post("/uploads", openapi_extra=_BODY)
async def upload(
    studio: TheStudio, request: Request, name: Annotated[str, Query(min_length=1, max_length=255)]
) -> Upload:
    """Takes a mesh, a clip, tracks or a file of goals; the body is the file itself."""
    plain = safe_name(name)
    content = await _received(request)
    identifier = upload_id(plain, content)
    folder = studio.folder.part("uploads") / identifier
    was_there = folder.is_dir()
    await asyncio.to_thread(_keep, folder / plain, content)
    try:
        read: Upload = await studio.desk.run(
            Work.READ_UPLOAD, studio.folder.hidden, identifier, timeout=_READING_TIME
        )
    except TroubleError:
        # The same file may have been brought before, and be in use.
        if not was_there:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        raise
    if read.kind == "clip":
        await _join_wall(studio, plain, identifier, content)
    return read


@router.post("/scenes")
async def make_scene(studio: TheStudio, wanted: SceneFromTracks) -> SceneInfo:
    """Makes a scene of uploaded tracks and a body."""
    made: SceneInfo = await studio.desk.run(Work.MAKE_SCENE, studio.folder.hidden, wanted)
    return made


async def _received(request: Request) -> bytes:
    """The body of a request, unless it is too large."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MAX_BYTES:
            most = MAX_BYTES // 1024**2
            raise TroubleError(413, f"The file is larger than {most} MB. Make it smaller.")
        parts.append(part)
    if not size:
        raise TroubleError(422, "The file is empty. Choose another one.")
    return b"".join(parts)


def _keep(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as file:
        file.write(content)


async def _join_wall(studio: Studio, name: str, identifier: str, content: bytes) -> None:
    """Puts an uploaded clip beside the others."""
    path = studio.folder.root / name
    if path.exists():
        path = path.with_name(f"{path.stem}_{identifier[:8]}{path.suffix}")
    await asyncio.to_thread(_keep, path, content)
    await studio.library.add(path.name, None)
