"""Scenes that are simulated while they are watched."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
from typing import Annotated

from fastapi import APIRouter, Path, Response, WebSocket, WebSocketDisconnect
from fastapi.responses import FileResponse
from pydantic import ValidationError

from handwright.studio.jobs.helper_processes import Work
from handwright.studio.jobs.json_pipe import Child
from handwright.studio.library.folder import clip_id
from handwright.studio.live_messages import LiveCommand, LiveFrame
from handwright.studio.server.request_errors import trouble_of, unknown
from handwright.studio.server.routes_catalogue import GLB, GLB_ANSWER, TheStudio
from handwright.studio.server.state import Studio
from handwright.studio.server.validation_text import refusal

router = APIRouter()
MAX_LIVE = 4
"""Pages that may step scenes at the same time; each is a process."""
_MAX_TEXT = 10_000
_MAX_UNSEEN = 4
"""Frames under way to a page that says which it has seen; others would only come late."""
_GONE = WebSocketDisconnect, RuntimeError, KeyError
"""What is raised where the page is gone, or sends what is no text."""


@router.get("/live/{name}/model.glb", response_class=FileResponse, responses=GLB_ANSWER)
async def live_model(
    studio: TheStudio, name: Annotated[str, Path(pattern="^[0-9a-f]{16}$")]
) -> FileResponse:
    """The first frame of a live scene."""
    path = studio.folder.part("live") / f"{name}.glb"
    if not path.is_file():
        raise unknown("live scene", name)
    return FileResponse(path, media_type=GLB, headers={"Cache-Control": "no-store"})


@router.get("/props")
async def props(studio: TheStudio) -> list[str]:
    """Names of what hands with learned fingers can handle."""
    found: list[str] = await studio.desk.run(Work.LIST_PROPS)
    return found


@router.get("/props/{name}/model.glb", response_class=Response, responses=GLB_ANSWER)
async def prop_model(studio: TheStudio, name: str) -> Response:
    """A prop alone; made ready for sensing, so that it can be swapped in at once."""
    content = await studio.desk.run(Work.MAKE_PROP_MODEL, name)
    return Response(content, media_type=GLB, headers={"Cache-Control": "no-cache"})


@router.websocket("/live")
async def live(socket: WebSocket, studio: TheStudio) -> None:
    """Takes LiveCommand messages, sends LiveFrame messages."""
    session = secrets.token_hex(8)
    try:
        await socket.accept()
        if len(studio.live) >= MAX_LIVE:
            text = f"{MAX_LIVE} scenes are live already. Close one of them."
            await _send(socket, LiveFrame(kind="trouble", message=text))
            await socket.close()
            return
        studio.live.add(session)
        await _Live(socket, studio, session).run()
    except _GONE:
        pass
    finally:
        studio.live.discard(session)
        with contextlib.suppress(OSError):
            (studio.folder.part("live") / f"{session}.glb").unlink(missing_ok=True)


class _Live:
    """A page and the process that steps for it."""

    def __init__(self, socket: WebSocket, studio: Studio, session: str) -> None:
        self._socket, self._studio, self._session = socket, studio, session
        self._child: Child | None = None
        self._passing: asyncio.Task[None] | None = None
        self._unseen: int | None = None
        """Frames that the page has not seen; None if it does not say."""

    async def run(self) -> None:
        """Passes messages both ways until the page is gone."""
        try:
            while True:
                text = await self._socket.receive_text()
                try:
                    command = LiveCommand.model_validate_json(text[:_MAX_TEXT])
                except ValidationError as error:
                    await self._trouble(refusal(error.errors()))
                    continue
                if command.kind == "seen":
                    self._unseen = max((self._unseen or 0) - 1, 0)
                    continue
                try:
                    await self._pass(command)
                except OSError as error:
                    await self._trouble(trouble_of(error).message)
        finally:
            if self._passing is not None:
                self._passing.cancel()
            if self._child is not None:
                await self._child.end()

    async def _pass(self, command: LiveCommand) -> None:
        if self._child is None or not self._child.is_alive:
            if command.kind not in ("start", "fingers", "throwing"):
                await self._trouble("Nothing has been started. Choose a scene first.")
                return
            self._child = await Child.start("handwright.studio.live.worker")
            folder = self._studio.folder
            self._child.send(
                {
                    "root": str(folder.root),
                    "hidden": str(folder.hidden),
                    "model": str(folder.part("live") / f"{self._session}.glb"),
                    "address": f"/api/live/{self._session}/model.glb",
                    "fingers": self._studio.fingers,
                }
            )
            await _send(self._socket, LiveFrame(kind="preparing", message="starting"))
            self._passing = asyncio.create_task(self._pass_back(self._child))
        self._child.send(command.model_dump())

    async def _pass_back(self, child: Child) -> None:
        with contextlib.suppress(*_GONE):
            async for message in child.messages():
                if message["kind"] == "frame" and self._unseen is not None:
                    if self._unseen >= _MAX_UNSEEN:
                        continue
                    self._unseen += 1
                if message["kind"] == "saved":
                    await self._studio.library.add(message["clip"], None)
                    message["clip"] = clip_id(message["clip"])
                await self._socket.send_text(json.dumps(message))
            await self._trouble("The simulation ended by itself. Start again.")

    async def _trouble(self, message: str) -> None:
        await _send(self._socket, LiveFrame(kind="trouble", message=message))


async def _send(socket: WebSocket, frame: LiveFrame) -> None:
    await socket.send_text(frame.model_dump_json())
