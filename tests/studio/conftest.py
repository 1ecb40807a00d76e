"""A server on loopback with a folder of small clips, in a thread of the tests' own process."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import uvicorn

from handwright.core.problem import Problem
from handwright.core.track import Track
from handwright.geometry.shapes import make_shape
from handwright.hands import trident
from handwright.io.clip.file import save_clip
from handwright.math.pose import Pose
from handwright.methods import Scripted
from handwright.studio.library.folder import Folder
from handwright.studio.server.app import make_app
from handwright.studio.server.guard import Access
from handwright.synthesis import synthesize

PATIENCE = 120.0
"""s that something may take on a busy machine before a test gives up."""


def small_clip(rise: float = 0.1, name: str = "hold_a_ball", frames: int = 8):
    """A ball that rises far from a hand: quick to judge, and never certified."""
    times = np.linspace(0.0, 0.5, frames)
    up = np.stack([0.0 * times, 0.0 * times, rise * times], axis=-1)
    wxyz = np.tile([1.0, 0.0, 0.0, 0.0], (frames, 1))
    problem = Problem(
        name=name,
        times=times,
        hands={"hand": trident()},
        bodies={"ball": make_shape("sphere")},
        tracks={
            "hand": Track(times, Pose(up - np.array([0.5, 0.0, 0.0]), wxyz)),
            "ball": Track(times, Pose(up, wxyz)),
        },
    )
    return synthesize(problem, Scripted(), certify=False).best


@dataclass
class Served:
    """A running server and a client for it."""

    root: Path
    host: str
    port: int
    token: str | None
    client: httpx.Client = field(repr=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.client.get(path, **options)

    def wait(self, ready: Callable[[], Any]) -> Any:
        """What a function gives once it gives something."""
        end = time.monotonic() + PATIENCE
        while not (found := ready()):
            assert time.monotonic() < end, "nothing happened for a long time"
            time.sleep(0.05)
        return found

    def job(self, name: str, *states: str) -> dict[str, Any]:
        """A job once it is in one of some states."""

        def ready() -> dict[str, Any] | None:
            info = self.get(f"/api/jobs/{name}").raise_for_status().json()
            return info if info["state"] in states else None

        return self.wait(ready)

    def clip(self, file: str) -> dict[str, Any]:
        """A clip by its file."""
        clips = self.get("/api/clips").raise_for_status().json()
        return next(clip for clip in clips if clip["file"] == file)


@contextlib.contextmanager
def serving(
    root: Path,
    access: Access | None = None,
    jobs_at_once: int | None = 1,
    judged: Path | None = None,
    fingers: str = "shipped",
) -> Iterator[Served]:
    """A server; results of judging are not shared with other tests."""
    access = Access("127.0.0.1", None) if access is None else access
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    folder = Folder(
        root.resolve(), root.parent / f"{root.name}_judged" if judged is None else judged
    )
    app = make_app(folder, access, jobs_at_once=jobs_at_once, fingers=fingers)
    config = uvicorn.Config(
        app, log_level="warning", ws="websockets-sansio", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    end = time.monotonic() + PATIENCE
    while not server.started:
        assert thread.is_alive()
        assert time.monotonic() < end
        time.sleep(0.02)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE) as client:
            yield Served(root, "127.0.0.1", port, access.token, client)
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
    tasks = asyncio.all_tasks(server.servers[0].get_loop()) if thread.is_alive() else set()
    assert not thread.is_alive(), "\n".join(map(str, tasks))


@pytest.fixture(scope="session")
def served(tmp_path_factory) -> Iterator[Served]:
    """A server that does jobs, with three clips, of which one is in a folder, and one broken."""
    root = tmp_path_factory.mktemp("studio") / "clips"
    (root / "more").mkdir(parents=True)
    save_clip(small_clip(), root / "ball_0.npz")
    save_clip(small_clip(0.2), root / "ball_1.npz")
    save_clip(small_clip(0.1, frames=9), root / "more" / "ball_2.npz")
    (root / "broken.npz").write_bytes(b"PK\x03\x04 not a clip")
    with serving(root) as server:
        yield server
