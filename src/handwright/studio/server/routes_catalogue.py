"""What there is: the server itself, scenes, methods, shapes."""

from __future__ import annotations

import importlib.util
from importlib.metadata import version
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response
from fastapi.responses import StreamingResponse

from handwright.studio.jobs.helper_processes import Work
from handwright.studio.messages import About, MethodInfo, SceneInfo, ShapeInfo
from handwright.studio.server.state import Studio, studio_of

router = APIRouter()
TheStudio = Annotated[Studio, Depends(studio_of)]
GLB = "model/gltf-binary"
GLB_ANSWER: dict[int | str, dict[str, Any]] = {
    200: {"content": {GLB: {}}, "description": "A .glb file."}
}


@router.get("/about")
async def about(studio: TheStudio) -> About:
    """The server."""
    return About(
        version=version("handwright"),
        folder=studio.folder.root.name,
        has_films=importlib.util.find_spec("imageio_ffmpeg") is not None,
        has_usd=importlib.util.find_spec("pxr") is not None,
    )


@router.get("/scenes")
async def scenes(studio: TheStudio) -> list[SceneInfo]:
    """Every scene."""
    found: list[SceneInfo] = await studio.desk.run(Work.LIST_SCENES, studio.folder.hidden)
    return found


@router.get("/scenes/{name}/model.glb", response_class=Response, responses=GLB_ANSWER)
async def scene_model(studio: TheStudio, name: str) -> Response:
    """A scene on its tracks, or as it starts, with fingers that nobody has moved yet."""
    content = await studio.desk.run(Work.MAKE_SCENE_MODEL, studio.folder.hidden, name)
    return Response(content, media_type=GLB, headers={"Cache-Control": "no-cache"})


@router.get("/methods")
async def methods(studio: TheStudio) -> list[MethodInfo]:
    """Every method, with a form for its settings."""
    found: list[MethodInfo] = await studio.desk.run(Work.LIST_METHODS)
    return found


@router.get("/shapes")
async def shapes(studio: TheStudio) -> list[ShapeInfo]:
    """Every parametric body."""
    found: list[ShapeInfo] = await studio.desk.run(Work.LIST_SHAPES)
    return found


@router.get(
    "/events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}, "description": "StudioEvent messages."}},
)
async def events(studio: TheStudio) -> StreamingResponse:
    """What happens, as server-sent events; the data of each is a StudioEvent."""
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(studio.hub.stream(), media_type="text/event-stream", headers=headers)
