"""The studio's server under load, and while twelve clips are played."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.bars import bars_met, bars_table
from benchmarks.studio.picture import find_browser, picture_seconds
from benchmarks.studio.process_seconds import family_seconds
from handwright.core.track import Track
from handwright.errors import InvalidValueError, require
from handwright.io.clip.file import save_clip
from handwright.io.clip.resample import resampled
from handwright.io.tracks_csv import save_tracks
from handwright.math.pose import Pose
from handwright.methods import Scripted
from handwright.scenes import load_scene
from handwright.synthesis import synthesize

if TYPE_CHECKING:
    from rich.table import Table

BARS: dict[str, tuple[str, float]] = {
    "errors": ("<=", 0.0),
    "jobs_done": (">=", 200.0),
    "playing_cpu_percent": ("<=", 2.0),
    "models_s": ("<=", 3.0),
    "first_picture_s": ("<=", 3.0),
}
_MEANINGS = {
    "start_s": "from the command to the first answer, s",
    "clips_ms": "first byte of the list of clips, ms",
    "made_s": "making the twelve models in the background, s, until the last is there",
    "models_s": "fetching the page's data and the twelve models once they are made, s",
    "models_mb": "size of the twelve models, MB",
    "first_picture_s": "from opening the page in Chromium, which draws by the processor, to a view",
    "all_pictures_s": "the same until all twelve views are seen, s",
    "playing_cpu_percent": "CPU of server and helpers while they are played, %",
    "requests": "requests of fifty clients at the same time",
    "requests_per_s": "the same for each second",
    "request_ms": "median time of an answer to one of fifty clients, ms",
    "slowest_ms": "slowest of their answers, ms",
    "jobs_done": "jobs of two hundred that were done",
    "jobs_s": "from the first of them to the end of the last, s",
    "errors": "requests and jobs that failed",
}
_NUM_CLIPS, _FRAMES = 12, 230
_NUM_CLIENTS, _NUM_JOBS = 50, 200
_PLAYED = 10.0
_PATIENCE = 900.0
_CODE = "import sys; from handwright.cli.main import main; sys.exit(main(sys.argv[1:]))"


def run() -> dict[str, Any]:
    """Serves a folder on loopback from a process of its own and measures it.

    The wall clock counts everything that the machine does beside it.
    """
    for module in ("httpx", "selenium"):
        require(module, extra="dev", feature="'handwright bench studio'")
    browser, service = find_browser()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "clips"
        root.mkdir()
        _write_clips(root)
        figures = _measured(root, Path(folder), browser, service)
    return {**figures, "bars": BARS, "bars_met": bars_met(figures, BARS)}


def describe(result: dict[str, Any]) -> Table:
    """The figures as a table."""
    figures = {name: result[name] for name in _MEANINGS}
    return bars_table("The studio's server", figures, _MEANINGS, BARS)


def _write_clips(root: Path) -> None:
    clip = synthesize(load_scene("spatula"), Scripted(pose="open"), certify=False).best
    times = np.linspace(clip.times[0], clip.times[-1], _FRAMES)
    for number in range(_NUM_CLIPS):
        save_clip(resampled(clip, times), root / f"clip_{number:02d}.npz")


@contextmanager
def _served(root: Path) -> Iterator[tuple[int, str]]:
    """Process and address of a server."""
    command = [sys.executable, "-c", _CODE, "studio", str(root), "--no-browser", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        words = process.stdout.readline().split()
        yield process.pid, next(word for word in words if word.startswith("http://"))
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def _measured(root: Path, folder: Path, browser: str, service: str) -> dict[str, float]:
    import httpx

    begin = time.perf_counter()
    with _served(root) as (pid, address), httpx.Client(base_url=address, timeout=_PATIENCE) as ask:
        clips = _first_answer(ask)
        start = time.perf_counter() - begin
        figures = {"start_s": start, "clips_ms": _milliseconds(ask, "api/clips")}
        begin = time.perf_counter()
        for clip in clips:
            ask.get(f"api/clips/{clip['id']}/model.glb").raise_for_status()
        figures["made_s"] = time.perf_counter() - begin
        begin, size = time.perf_counter(), 0
        for path in ("api/about", "api/clips", "api/jobs"):
            ask.get(path).raise_for_status()
        for clip in clips:
            size += len(ask.get(f"api/clips/{clip['id']}/model.glb").raise_for_status().content)
        figures |= {"models_s": time.perf_counter() - begin, "models_mb": size / 1e6}
        _wait(lambda: all(c["cluster"] is not None for c in ask.get("api/clips").json()))
        figures |= picture_seconds(address, browser, service)
        figures["playing_cpu_percent"] = _playing(pid)
        _make_tiny_scene(ask, folder)
        figures |= asyncio.run(_crowd(address))
        figures |= _finish_jobs(ask, figures.pop("begun"), figures.pop("failed"))
    return figures


def _first_answer(ask: Any) -> list[dict[str, Any]]:
    import httpx

    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        try:
            found: list[dict[str, Any]] = ask.get("api/clips").raise_for_status().json()
            return found
        except httpx.TransportError:
            time.sleep(0.02)
    raise InvalidValueError("The studio's server did not answer. Run 'handwright studio' by hand.")


def _milliseconds(ask: Any, path: str) -> float:
    begin = time.perf_counter()
    with ask.stream("GET", path) as answer:
        next(answer.iter_bytes())
        return 1e3 * (time.perf_counter() - begin)


def _wait(is_ready: Any) -> None:
    end = time.monotonic() + _PATIENCE
    while not is_ready():
        if time.monotonic() > end:
            raise InvalidValueError(f"Nothing happened for {_PATIENCE:.0f} s. Is the machine busy?")
        time.sleep(0.5)


def _playing(pid: int) -> float:
    """CPU while pages play what they have fetched and nothing is asked for, %."""
    before, begin = family_seconds(pid), time.perf_counter()
    time.sleep(_PLAYED)
    return 100.0 * (family_seconds(pid) - before) / (time.perf_counter() - begin)


def _make_tiny_scene(ask: Any, folder: Path) -> None:
    """A scene of four frames, for jobs that take next to no time."""
    times, upright = np.arange(4) / 30.0, np.tile([1.0, 0.0, 0.0, 0.0], (4, 1))
    place = np.tile([0.0, 0.0, 1.0], (4, 1))
    tracks = {
        "wrist": Track(times, Pose(place - np.array([0.4, 0.0, 0.0]), upright)),
        "prop": Track(times, Pose(place, upright)),
    }
    path = folder / "tiny.csv"
    save_tracks(tracks, path)
    sent = ask.post("api/uploads", params={"name": path.name}, content=path.read_bytes())
    scene = {
        "name": "tiny", "tracks": sent.raise_for_status().json()["id"], "hand": "wrist",
        "body": "prop", "mesh": None, "shape": "box", "mass": 0.1, "friction": 0.5,
    }  # fmt: skip
    ask.post("api/scenes", json=scene).raise_for_status()


async def _crowd(address: str) -> dict[str, float]:
    """Fifty clients that listen, ask and add jobs, all at the same time."""
    seconds: list[float] = []
    failed = 0
    begin = time.perf_counter()

    async def visit(number: int) -> None:
        nonlocal failed
        import httpx

        async with (
            httpx.AsyncClient(base_url=address, timeout=_PATIENCE) as ask,
            ask.stream("GET", "api/events"),
        ):
            paths = ["api/about", "api/clips", "api/jobs", "api/methods", "api/shapes"]
            for path in 2 * paths:
                since = time.perf_counter()
                failed += (await ask.get(path)).status_code != 200
                seconds.append(time.perf_counter() - since)
            for seed in range(_NUM_JOBS // _NUM_CLIENTS):
                wanted = {"scene": "tiny", "method": "scripted", "certify": False}
                wanted |= {"seed": 10 * number + seed}
                since = time.perf_counter()
                failed += (await ask.post("api/jobs", json=wanted)).status_code != 202
                seconds.append(time.perf_counter() - since)

    await asyncio.gather(*(visit(number) for number in range(_NUM_CLIENTS)))
    total = time.perf_counter() - begin
    return {
        "requests": float(len(seconds)),
        "requests_per_s": len(seconds) / total,
        "request_ms": 1e3 * median(seconds),
        "slowest_ms": 1e3 * max(seconds),
        "begun": begin,
        "failed": float(failed),
    }


def _finish_jobs(ask: Any, begun: float, failed: float) -> dict[str, float]:
    jobs: list[dict[str, Any]] = []

    def are_done() -> bool:
        jobs[:] = ask.get("api/jobs").raise_for_status().json()
        return not {"queued", "running"} & {job["state"] for job in jobs}

    _wait(are_done)
    done = sum(job["state"] == "done" for job in jobs)
    return {
        "jobs_done": float(done),
        "jobs_s": time.perf_counter() - begun,
        "errors": failed + _NUM_JOBS - done,
    }
