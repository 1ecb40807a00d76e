"""``python -m tools.soak``: a studio with many clients, killed processes and a disk that fills up.

At the end nothing that the server said was saved may be missing, no answer may have been an error
of the server's own, its log may hold no traceback, and its memory may not have grown. Everything
stays on this machine. Ends with exit code 1 if anything was wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from handwright.core.track import Track
from handwright.folders import cache_dir
from handwright.io.clip.file import save_clip
from handwright.io.tracks_csv import save_tracks
from handwright.math.pose import Pose
from handwright.methods import Scripted
from handwright.scenes import load_scene
from handwright.synthesis import synthesize
from tools.soak.clients import SCENE, Client
from tools.soak.disk import SmallDisk
from tools.soak.ledger import Ledger
from tools.soak.processes import Server

_FIRST_LOOK = 300.0
"""s after which the memory is first looked at."""
_GROWTH = 0.1
"""By how much of it memory may have grown at the end."""
_DISK_MB = 200
_TOO_FULL = 0.6
_FULL_FOR = 20.0
"""s."""
_SAMPLE_EVERY = 15.0
_PATIENCE = 600.0


class Soak:
    """A run: the server, its clients, and all that is done to it."""

    def __init__(self, folder: Path, seconds: float, clients: int, seed: int) -> None:
        self._seconds, self._clients = seconds, clients
        self._random = random.Random(seed)
        self._log, self._small_clip = folder / "server.log", folder / "brought.npz"
        self._disk = SmallDisk(folder / "disk", _DISK_MB)
        root = self._disk.folder / "clips"
        root.mkdir(exist_ok=True)
        self._judged = self._disk.folder / "judged"
        self._judged.mkdir(exist_ok=True)
        self._ledger = Ledger(root)
        self._make_files(folder)
        self._server = Server(root, self._log, _environment(folder, self._judged))
        self._begin = time.monotonic()
        self._counts = {"server_kills": 0, "process_kills": 0, "fills": 0}
        self._samples: list[list[float]] = []
        self._may_run = asyncio.Event()

    def _make_files(self, folder: Path) -> None:
        clip = synthesize(load_scene("milk_box_turn"), Scripted(pose="open"), certify=False).best
        save_clip(clip, self._small_clip)
        times, upright = np.arange(4) / 30.0, np.tile([1.0, 0.0, 0.0, 0.0], (4, 1))
        place = np.tile([0.0, 0.0, 1.0], (4, 1))
        wrist = Pose(place - np.array([0.4, 0.0, 0.0]), upright)
        tracks = {"wrist": Track(times, wrist), "prop": Track(times, Pose(place, upright))}
        save_tracks(tracks, folder / "tiny.csv")
        self._tracks = (folder / "tiny.csv").read_bytes()

    async def run(self) -> dict[str, Any]:
        """Lets everything happen, and says how it was."""
        try:
            await self._make_scene()
            self._begin = time.monotonic()
            before = min(_FIRST_LOOK, self._seconds / 4)
            self._may_run.set()
            clients = [
                Client(n, self._server, self._ledger, self._small_clip)
                for n in range(self._clients)
            ]
            pause = min(4.0, self._seconds / 40), min(20.0, self._seconds / 10)
            tasks = [asyncio.create_task(c.run(self._may_run, pause)) for c in clients]
            tasks.append(asyncio.create_task(self._sample()))
            await asyncio.sleep(before)
            first = await self._quiet_memory()
            end = time.monotonic() + self._seconds - before
            await self._mistreat(end - 0.3 * self._seconds)
            await asyncio.sleep(max(end - time.monotonic(), 0.0))
            last = await self._quiet_memory()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            code = await asyncio.to_thread(self._server.end, signal.SIGINT)
            if code != 130:
                self._ledger.wrong(f"the server ended with {code} instead of 130")
            await asyncio.to_thread(self._ledger.check_all)
            return self._outcome(first, last)
        finally:
            if self._server.is_alive:
                self._server.end(signal.SIGKILL)
            self._disk.close()

    async def _make_scene(self) -> None:
        async with httpx.AsyncClient(base_url=self._server.address, timeout=_PATIENCE) as ask:
            await self._answers(ask)
            params = {"name": "tiny.csv"}
            sent = await ask.post("/api/uploads", params=params, content=self._tracks)
            scene = {
                "name": SCENE, "tracks": sent.raise_for_status().json()["id"], "hand": "wrist",
                "body": "prop", "mesh": None, "shape": "box", "mass": 0.1, "friction": 0.5,
            }  # fmt: skip
            (await ask.post("/api/scenes", json=scene)).raise_for_status()

    async def _answers(self, ask: httpx.AsyncClient) -> None:
        """Waits until the server does."""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            with contextlib.suppress(httpx.TransportError):
                if (await ask.get("/api/about")).status_code == 200:
                    return
            await asyncio.sleep(0.2)
        self._ledger.wrong("the server does not answer")

    async def _quiet_memory(self) -> float:
        """MB of server and helpers once all is quiet and each has done everything once."""
        self._may_run.clear()
        try:
            async with httpx.AsyncClient(base_url=self._server.address, timeout=_PATIENCE) as ask:
                await self._answers(ask)
                rounds = 3 if self._seconds > _FIRST_LOOK else 1
                for _ in range(rounds):
                    await asyncio.gather(*(self._warm(ask) for _ in range(rounds)))
                end = time.monotonic() + _PATIENCE
                while time.monotonic() < end:
                    jobs, clips = (await ask.get("/api/jobs")).json(), await ask.get("/api/clips")
                    busy = [job for job in jobs if job["state"] in ("queued", "running")]
                    waiting = [c for c in clips.json() if not c["verdict"] and not c["trouble"]]
                    if not busy and not waiting:
                        break
                    await asyncio.sleep(1.0)
                await asyncio.sleep(3.0)
                return sum(self._server.family().values()) / 1e6
        finally:
            self._may_run.set()

    async def _warm(self, ask: httpx.AsyncClient) -> None:
        job = {"scene": SCENE, "method": "scripted", "certify": False}
        await ask.post("/api/jobs", json=job)
        for path in ("scenes", "methods", "shapes", f"scenes/{SCENE}/model.glb"):
            await ask.get(f"/api/{path}")
        await ask.post("/api/uploads", params={"name": "tiny.csv"}, content=self._tracks)
        clips = [clip["id"] for clip in (await ask.get("/api/clips")).json()][:2]
        for clip in clips:
            await ask.get(f"/api/clips/{clip}/timeline")
            for kind in ("glb", "bvh", "npz"):
                await ask.get(f"/api/clips/{clip}/export", params={"format": kind})

    async def _mistreat(self, end: float) -> None:
        """Kills and fills, one thing after the other; the last third of the run is in peace."""
        step = self._seconds / 60.0
        turns = 0
        while time.monotonic() < end:
            await asyncio.sleep(self._random.uniform(0.5, 1.5) * step)
            turns += 1
            if turns % 9 == 0:
                await self._kill_server()
            elif turns % 3 == 0:
                await self._fill()
            else:
                self._kill_process()

    async def _kill_server(self) -> None:
        number = self._random.choice((signal.SIGKILL, signal.SIGTERM))
        before = self._server.family()
        code = await asyncio.to_thread(self._server.end, number)
        self._counts["server_kills"] += 1
        if number is signal.SIGTERM and code != 130:
            self._ledger.wrong(f"SIGTERM ended the server with {code} instead of 130")
        await asyncio.sleep(5.0)
        for pid in before:
            with contextlib.suppress(OSError):
                stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                if stat[0] != "Z":
                    self._ledger.wrong(f"process {pid} outlived the server")
        await asyncio.to_thread(self._server.start)

    def _kill_process(self) -> None:
        helpers = self._server.helpers()
        if helpers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._random.choice(helpers), signal.SIGKILL)
                self._counts["process_kills"] += 1

    async def _fill(self) -> None:
        self._disk.fill(self._server.family())
        self._counts["fills"] += 1
        await asyncio.sleep(min(_FULL_FOR, self._seconds / 20))
        self._disk.free(self._server.family())

    async def _sample(self) -> None:
        """Notes memory, and makes room for new results."""
        while True:
            sizes = self._server.family()
            self._samples.append(
                [
                    round(time.monotonic() - self._begin, 1),
                    round(sizes.get(self._server.pid, 0) / 1e6, 1),
                    round(sum(sizes.values()) / 1e6, 1),
                    round(self._disk.share_used, 3),
                ]
            )
            if self._disk.share_used > _TOO_FULL:
                folders = sorted(self._judged.iterdir(), key=lambda path: path.stat().st_mtime)
                for path in folders[: len(folders) // 2]:
                    shutil.rmtree(path, ignore_errors=True)
            await asyncio.sleep(_SAMPLE_EVERY)

    def _outcome(self, first: float, last: float) -> dict[str, Any]:
        ledger, log = self._ledger, self._log.read_text(errors="replace")
        growth = last / first - 1.0
        faults = [*ledger.lost, *ledger.broken, *ledger.unexpected]
        return {
            "is_good": not faults and "Traceback" not in log and growth <= _GROWTH,
            "seconds": round(time.monotonic() - self._begin, 1),
            "clients": self._clients,
            "requests": sum(ledger.statuses.values()),
            **self._counts,
            "disk": "memory of its own" if self._disk.is_mounted else "limit on files",
            "clips_said_to_be_saved": ledger.num_said,
            "clips_checked": ledger.checked,
            "lost": ledger.lost,
            "broken": ledger.broken,
            "unexpected": ledger.unexpected,
            "tracebacks": log.count("Traceback"),
            "memory_first_mb": round(first, 1),
            "memory_last_mb": round(last, 1),
            "memory_growth": round(growth, 4),
            "statuses": dict(sorted(ledger.statuses.items())),
            "samples": {
                "columns": ["s", "server MB", "all MB", "disk used"],
                "rows": self._samples,
            },
        }


def _environment(folder: Path, judged: Path) -> dict[str, str]:
    """A cache whose verdicts are on the small disk, and which shares all else with the user's."""
    cache, own = folder / "cache", cache_dir()
    cache.mkdir(exist_ok=True)
    own.mkdir(parents=True, exist_ok=True)
    for path in [*own.iterdir(), judged]:
        with contextlib.suppress(FileExistsError):
            if path is judged or path.name != judged.name:
                (cache / path.name).symlink_to(path.resolve())
    kernels = os.environ.get("NUMBA_CACHE_DIR", str(own / "kernels"))
    return {**os.environ, "HANDWRIGHT_CACHE": str(cache), "NUMBA_CACHE_DIR": kernels}


def main(arguments: list[str] | None = None) -> int:
    """Runs it as the command line says; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--folder", type=Path, help="an empty folder to work in")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args(arguments)
    with contextlib.ExitStack() as stack:
        folder = given.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        run = Soak(folder.resolve(), 60.0 * given.minutes, given.clients, given.seed)
        outcome = asyncio.run(run.run())
    if given.json:
        sys.stdout.write(json.dumps(outcome) + "\n")
    else:
        for name, value in outcome.items():
            if name != "samples":
                sys.stdout.write(f"{name}: {value}\n")
    return 0 if outcome["is_good"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
