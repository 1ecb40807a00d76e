"""Files that users bring, and scenes made of them."""

from __future__ import annotations

import asyncio
import os
import secrets
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
MAX_UPLOADS = 4
"""Uploads at the same time; what has arrived of each is kept on the disk."""
_READING_TIME = 120.0
_SILENCE = 30.0
"""s without a byte after which an upload is given up."""
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
    if len(studio.arriving) >= MAX_UPLOADS:
        raise TroubleError(429, f"{MAX_UPLOADS} files are arriving already. Wait a little.")
    part = studio.folder.part("uploads") / f".{secrets.token_hex(8)}.part"
    studio.arriving.add(part)
    try:
        await _receive(request, part)
        return await _take_in(studio, part, plain)
    finally:
        studio.arriving.discard(part)
        part.unlink(missing_ok=True)


@router.post("/scenes")
async def make_scene(studio: TheStudio, wanted: SceneFromTracks) -> SceneInfo:
    """Makes a scene of uploaded tracks and a body."""
    made: SceneInfo = await studio.desk.run(Work.MAKE_SCENE, studio.folder.hidden, wanted)
    return made


async def _receive(request: Request, path: Path) -> None:
    """Writes the body of a request to a file, unless it is too large."""
    stream, size = request.stream(), 0
    with path.open("wb") as file:
        while True:
            try:
                async with asyncio.timeout(_SILENCE):
                    block = await anext(stream, None)
            except TimeoutError as error:
                text = f"Nothing has arrived for {_SILENCE:.0f} s. Send the file again."
                raise TroubleError(408, text) from error
            if block is None:
                break
            size += len(block)
            if size > MAX_BYTES:
                most = MAX_BYTES // 1024**2
                raise TroubleError(413, f"The file is larger than {most} MB. Make it smaller.")
            file.write(block)
        if not size:
            raise TroubleError(422, "The file is empty. Choose another one.")
        file.flush()
        await asyncio.to_thread(os.fsync, file.fileno())


async def _take_in(studio: Studio, part: Path, name: str) -> Upload:
    """Finds out what a file that has arrived is, and keeps it if it is of any use."""
    identifier = await asyncio.to_thread(upload_id, name, part)
    folder = studio.folder.part("uploads") / identifier
    was_there = folder.is_dir()
    folder.mkdir(exist_ok=True)
    part.replace(folder / name)
    try:
        read: Upload = await studio.desk.run(
            Work.READ_UPLOAD, studio.folder.hidden, identifier, timeout=_READING_TIME
        )
        if read.kind == "clip":
            await _join_wall(studio, folder / name, identifier)
    except BaseException:
        # The same file may have been brought before, and be in use.
        if not was_there:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    return read


async def _join_wall(studio: Studio, clip: Path, identifier: str) -> None:
    """Puts an uploaded clip beside the others."""
    path = studio.folder.root / clip.name
    if path.exists():
        path = path.with_name(f"{path.stem}_{identifier[:8]}{path.suffix}")
    await asyncio.to_thread(_copy, clip, path)
    await studio.library.add(path.name, None)


def _copy(source: Path, target: Path) -> None:
    with source.open("rb") as file, written_whole(target) as copy:
        shutil.copyfileobj(file, copy)
