"""Clients of the studio: they list, watch, open, ask for jobs, cancel, upload, hang up and step."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import websockets
from websockets.typing import Origin

from tools.soak.ledger import Ledger
from tools.soak.processes import Server

SCENE = "tiny"
LIVE_SCENE = "lift_expected"
_GRACE = 60.0
"""s around a start or an end of the server in which requests may fail to get through."""
_PATIENCE = 180.0
_MANY_CLIPS = 24
_TINY_JOB = {"scene": SCENE, "method": "scripted", "certify": False}
_LONG_JOB = {"scene": "milk_box_turn", "method": "sampling", "settings": {"num_solutions": 900}}
_FILES = {
    "cube.obj": b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    "noise.stl": b"\x01\x02 no mesh" * 50,
    "noise.npz": b"PK\x03\x04 no clip",
    "track.csv": b"time,x\n0,1\n",
    "goals.yaml": b"name: [",
}
_NOWHERE = ("clips/0123456789abcdef", "jobs/nothing", "scenes/nowhere/model.glb", "nothing")


class Client:
    """One of many; what it does next is random."""

    def __init__(self, number: int, server: Server, ledger: Ledger, clip: Path) -> None:
        self._random = random.Random(number)
        self._server, self._ledger, self._clip = server, ledger, clip
        self._ask = httpx.AsyncClient(base_url=f"{server.address}/api/", timeout=_PATIENCE)

    async def run(self, may_run: asyncio.Event, pause: tuple[float, float]) -> None:
        """Does one thing after the other, while it may, for ever.

        Args:
            may_run: Cleared while all have to be quiet.
            pause: Shortest and longest time between two things, s.
        """
        actions: list[tuple[Callable[[], Awaitable[None]], float]] = [
            (self._list, 5), (self._watch, 2), (self._open, 5), (self._compare, 1),
            (self._job, 3), (self._cancel, 0.2), (self._upload, 1.5), (self._upload_clip, 0.7),
            (self._hang_up, 1), (self._live, 0.15), (self._favourite, 1), (self._tidy, 2),
            (self._nonsense, 1),
        ]  # fmt: skip
        chosen, weights = zip(*actions, strict=True)
        async with self._ask:
            while True:
                await may_run.wait()
                action = self._random.choices(chosen, weights)[0]
                await self._do(action)
                await asyncio.sleep(self._random.uniform(*pause))

    async def _do(self, action: Callable[[], Awaitable[None]]) -> None:
        name = action.__name__.strip("_")
        try:
            await action()
        except (httpx.TransportError, OSError, websockets.WebSocketException) as error:
            self._ledger.statuses[f"{name} broken off"] += 1
            if time.monotonic() - self._server.changed > _GRACE and self._server.is_alive:
                self._ledger.wrong(f"{name}: {type(error).__name__}: {error}")
        except Exception as error:
            self._ledger.wrong(f"{name}: {type(error).__name__}: {error}")

    async def _request(self, method: str, path: str, **options: Any) -> httpx.Response:  # noqa: ANN401  httpx's own
        answer = await self._ask.request(method, path, **options)
        kind = path.partition("/")[0]
        self._ledger.statuses[f"{method} {kind} {answer.status_code}"] += 1
        if answer.status_code >= 500 and answer.status_code != 507:
            self._ledger.wrong(f"{method} {path}: {answer.status_code} {answer.text[:300]}")
        return answer

    async def _clips(self) -> list[dict[str, Any]]:
        clips: list[dict[str, Any]] = (await self._request("GET", "clips")).json()
        return clips

    async def _list(self) -> None:
        for path in ("about", "clips", "jobs", self._random.choice(("methods", "shapes"))):
            await self._request("GET", path)

    async def _watch(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._random.uniform(1, 20)):
                async with self._ask.stream("GET", "events") as events:
                    async for _ in events.aiter_lines():
                        pass

    async def _open(self) -> None:
        clips = await self._clips()
        if clips:
            clip = self._random.choice(clips)["id"]
            for part in ("", "/model.glb", "/timeline"):
                await self._request("GET", f"clips/{clip}{part}")

    async def _compare(self) -> None:
        clips = [clip["id"] for clip in await self._clips()]
        if len(clips) > 1:
            first, second = self._random.sample(clips, 2)
            await self._request("GET", "compare", params={"first": first, "second": second})
            await self._request("GET", f"clips/{first}/export", params={"format": "csv"})

    async def _job(self) -> None:
        answer = await self._request("POST", "jobs", json=_TINY_JOB)
        if answer.status_code != 202:
            return
        job = answer.json()["id"]
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            answer = await self._request("GET", f"jobs/{job}")
            if answer.status_code == 404:
                return  # The server was started anew.
            info = answer.json()
            for number in range(info["found"]):
                self._ledger.saved(f"{SCENE}_{job}_{number:02d}.npz")
            if info["state"] not in ("queued", "running"):
                return
            await asyncio.sleep(1.0)

    async def _cancel(self) -> None:
        answer = await self._request("POST", "jobs", json=_LONG_JOB)
        if answer.status_code == 202:
            await asyncio.sleep(self._random.uniform(0, 4))
            await self._request("DELETE", f"jobs/{answer.json()['id']}")

    async def _upload(self) -> None:
        name = self._random.choice(list(_FILES))
        await self._request("POST", "uploads", params={"name": name}, content=_FILES[name])

    async def _upload_clip(self) -> None:
        name = f"brought_{self._random.getrandbits(40):x}.npz"
        content = await asyncio.to_thread(self._clip.read_bytes)
        answer = await self._request("POST", "uploads", params={"name": name}, content=content)
        if answer.status_code == 200:
            self._ledger.saved(name)

    async def _hang_up(self) -> None:
        _, writer = await asyncio.open_connection("127.0.0.1", self._server.port)
        path = self._random.choice(("uploads?name=a.obj", "jobs"))
        head = f"POST /api/{path} HTTP/1.1\r\nHost: 127.0.0.1:{self._server.port}\r\n"
        writer.write(f"{head}Content-Length: 5000000\r\n\r\n".encode() + b"v 0 0 0\n" * 5000)
        await asyncio.sleep(self._random.uniform(0, 2))
        writer.close()
        self._ledger.statuses["hung up"] += 1

    async def _live(self) -> None:
        """Steps a scene, pushes, saves, and goes away without a word."""
        address = self._server.address
        url = f"{address.replace('http', 'ws')}/api/live"
        async with (
            asyncio.timeout(_PATIENCE),
            websockets.connect(url, origin=Origin(address)) as line,
        ):
            await line.send(json.dumps({"kind": "start", "scene": LIVE_SCENE}))
            frames = 0
            async for text in line:
                frame = json.loads(text)
                if frame["kind"] == "trouble":
                    self._ledger.statuses["live trouble"] += 1
                    return
                frames += frame["kind"] == "frame"
                if frames == 10:
                    push = {"kind": "push", "body": "box", "point": [0, 0, 0], "force": [1, 0, 0]}
                    await line.send(json.dumps(push))
                if frames == 30:
                    await line.send(json.dumps({"kind": "save"}))
                    frames += 1
                if frame["kind"] == "saved":
                    clip = await self._request("GET", f"clips/{frame['clip']}")
                    if clip.status_code == 200:
                        self._ledger.saved(clip.json()["file"])
                    self._ledger.statuses["live saved"] += 1
                    return

    async def _favourite(self) -> None:
        clips = await self._clips()
        if clips:
            wish = {"is_favourite": self._random.random() < 0.5}
            clip = self._random.choice(clips)["id"]
            await self._request("PUT", f"clips/{clip}/favourite", json=wish)

    async def _tidy(self) -> None:
        """Deletes the oldest clips when there are many."""
        for clip in (await self._clips())[_MANY_CLIPS:]:
            file = clip["file"]
            # Also if no answer comes: it may have been deleted all the same.
            self._ledger.deleted.add(file)
            answer = await self._request("DELETE", f"clips/{clip['id']}")
            if answer.status_code == 204:
                await asyncio.to_thread(self._ledger.drop, file)

    async def _nonsense(self) -> None:
        await self._request("GET", self._random.choice(_NOWHERE))
        await self._request("POST", "jobs", content=b"{" * self._random.randrange(50))
        settings = {"num_workers": 100_000}
        await self._request("POST", "jobs", json={**_LONG_JOB, "settings": settings})
