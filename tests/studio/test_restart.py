"""A server in a process of its own: killed, restarted, asked by many at once."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np
import pytest

from handwright.core.track import Track
from handwright.io.tracks_csv import save_tracks
from handwright.math.pose import Pose

from .conftest import PATIENCE

CODE = "import sys; from handwright.cli.main import main; sys.exit(main(sys.argv[1:]))"
NUM_CLIENTS, NUM_JOBS = 50, 200


@contextmanager
def started(root: Path):
    """A server and its address."""
    command = [
        sys.executable,
        "-c",
        CODE,
        "studio",
        str(root),
        "--no-browser",
        "--port",
        "0",
        "--jobs",
        "1",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        address = next(word for word in line.split() if word.startswith("http://"))
        for _ in range(int(20 * PATIENCE)):
            try:
                httpx.get(f"{address}api/about")
                break
            except httpx.TransportError:
                time.sleep(0.05)
        yield process, address
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def wait_for(ready):
    end = time.monotonic() + PATIENCE
    while not (found := ready()):
        assert time.monotonic() < end, "nothing happened for a long time"
        time.sleep(0.05)
    return found


def descendants(pid: int) -> set[int]:
    """Processes below one, from the system's table."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    found, waiting = set(), [pid]
    while waiting:
        above = waiting.pop()
        below = {child for child, parent in parents.items() if parent == above}
        found |= below
        waiting += below
    return found


def is_alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs the table of processes")
def test_a_killed_server_loses_no_finished_clip_and_leaves_nobody_behind(tmp_path):
    root = tmp_path / "clips"
    quick = {"scene": "milk_box_turn", "method": "scripted", "certify": False}
    long = {"scene": "milk_box_turn", "method": "sampling", "settings": {"num_solutions": 500}}
    with started(root) as (process, address), httpx.Client(base_url=address, timeout=600) as ask:
        first, second, third = (
            ask.post("api/jobs", json=job).raise_for_status().json()["id"]
            for job in (quick, long, quick)
        )
        wait_for(lambda: ask.get(f"api/jobs/{second}").json()["state"] == "running")
        job = ask.get(f"api/jobs/{first}").json()
        assert job["state"] == "done"
        assert ask.get(f"api/jobs/{third}").json()["state"] == "queued"
        below = descendants(process.pid)
        assert len(below) >= 2
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    # Helpers and workers notice that nobody listens any more.
    wait_for(lambda: not any(is_alive(pid) for pid in below))
    with started(root) as (process, address), httpx.Client(base_url=address, timeout=600) as ask:
        clips = ask.get("api/clips").json()
        assert [clip["id"] for clip in clips] == job["clips"]
        assert clips[0]["trouble"] is None
        # Jobs are the server's, and go with it.
        assert ask.get("api/jobs").json() == []
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) in (0, 130)


def tiny_tracks(path: Path) -> bytes:
    """A wrist and a body over four frames."""
    times = np.arange(4) / 30.0
    place = np.tile([0.0, 0.0, 1.0], (4, 1))
    wxyz = np.tile([1.0, 0.0, 0.0, 0.0], (4, 1))
    wrist = Pose(place - np.array([0.4, 0.0, 0.0]), wxyz)
    save_tracks({"wrist": Track(times, wrist), "prop": Track(times, Pose(place, wxyz))}, path)
    return path.read_bytes()


async def visit(address: str, number: int) -> list[str]:
    """One of many clients: asks for everything and adds its share of jobs."""
    made = []
    async with httpx.AsyncClient(base_url=address, timeout=600) as ask:
        async with ask.stream("GET", "api/events") as events:
            assert events.status_code == 200
            for path in ("api/about", "api/clips", "api/jobs", "api/shapes", "openapi.json"):
                (await ask.get(path)).raise_for_status()
            for seed in range(NUM_JOBS // NUM_CLIENTS):
                wanted = {"scene": "tiny", "method": "scripted", "certify": False}
                wanted["seed"] = 10 * number + seed
                answer = await ask.post("api/jobs", json=wanted)
                assert answer.status_code == 202, answer.text
                made.append(answer.json()["id"])
        (await ask.get(f"api/jobs/{made[0]}")).raise_for_status()
    return made


@pytest.mark.slow
@pytest.mark.scene
def test_fifty_clients_and_two_hundred_jobs_are_served(tmp_path):
    root = tmp_path / "clips"

    async def crowd(address: str) -> list[list[str]]:
        return await asyncio.gather(*(visit(address, number) for number in range(NUM_CLIENTS)))

    with started(root) as (_, address), httpx.Client(base_url=address, timeout=600) as ask:
        content = tiny_tracks(tmp_path / "tiny.csv")
        tracks = ask.post("api/uploads", params={"name": "tiny.csv"}, content=content).json()["id"]
        scene = {
            "name": "tiny", "tracks": tracks, "hand": "wrist", "body": "prop", "mesh": None,
            "shape": "box", "mass": 0.1, "friction": 0.5,
        }  # fmt: skip
        ask.post("api/scenes", json=scene).raise_for_status()
        jobs = [job for visitor in asyncio.run(crowd(address)) for job in visitor]
        assert len(set(jobs)) == NUM_JOBS

        def ended():
            states = [job["state"] for job in ask.get("api/jobs").json()]
            return states if not {"queued", "running"} & set(states) else None

        assert wait_for(ended) == ["done"] * NUM_JOBS
        assert len(ask.get("api/clips").json()) == NUM_JOBS
