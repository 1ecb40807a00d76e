"""A server of its own that meets a full disk, pages that go away, and Ctrl-C; its log stays clean.

A limit on the size of files stands for the full disk: what is written beyond it fails likewise.
"""

from __future__ import annotations

import contextlib
import resource
import signal
import socket
import subprocess
import sys
import threading

import httpx

from handwright.io.clip.file import save_clip
from handwright.studio.server.routes_uploads import MAX_UPLOADS

from .conftest import PATIENCE, small_clip
from .test_restart import CODE, wait_for

LARGEST = 1 << 20


@contextlib.contextmanager
def limited(root, log):
    """A server that can write no file beyond a size, its address, and its process."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST, LARGEST))

    command = [sys.executable, "-c", CODE, "studio", str(root), "--no-browser", "--port=0"]
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [*command, "--jobs=1"], stdout=subprocess.PIPE, stderr=errors, text=True,
            preexec_fn=limit,
        )  # fmt: skip
    assert process.stdout is not None
    try:
        words = process.stdout.readline().split()
        yield next(word for word in words if word.startswith("http://")), process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def begun_upload(address: str, size: int = 10_000_000) -> socket.socket:
    """A request that promises much and sends little."""
    host, port = address.removeprefix("http://").strip("/").split(":")
    line = socket.create_connection((host, int(port)), timeout=PATIENCE)
    head = f"POST /api/uploads?name=a.obj HTTP/1.1\r\nHost: {host}:{port}\r\n"
    line.sendall(f"{head}Content-Length: {size}\r\n\r\n".encode() + b"v 0 0 0\n" * 1000)
    return line


def test_a_full_disk_pages_that_go_away_and_an_interrupt_leave_the_log_clean(tmp_path):
    root, log = tmp_path / "clips", tmp_path / "log.txt"
    root.mkdir()
    save_clip(small_clip(), root / "ball.npz")
    with (
        limited(root, log) as (address, process),
        httpx.Client(base_url=address, timeout=PATIENCE) as ask,
    ):
        uploads = root / ".handwright" / "uploads"
        large = ask.post("api/uploads", params={"name": "a.obj"}, content=b" " * (2 * LARGEST))
        assert large.status_code == 507
        assert "File too large" in large.json()["message"]
        assert "Free some space" in large.json()["message"]
        assert list(uploads.iterdir()) == []

        # Half of a file, then nothing; only so many at the same time.
        lines = [begun_upload(address) for _ in range(MAX_UPLOADS)]
        wait_for(lambda: len(list(uploads.iterdir())) == MAX_UPLOADS)
        refused = ask.post("api/uploads", params={"name": "b.obj"}, content=b"v 0 0 0")
        assert refused.status_code == 429
        for line in lines:
            line.close()
        wait_for(lambda: list(uploads.iterdir()) == [])
        small = ask.post("api/uploads", params={"name": "b.obj"}, content=b"v 0 0 0")
        assert small.status_code == 422

        # A tab that is open listens.
        listens = threading.Event()

        def listen() -> None:
            with (
                contextlib.suppress(httpx.TransportError),
                httpx.stream("GET", f"{address}api/events", timeout=PATIENCE) as events,
            ):
                for _ in events.iter_lines():
                    listens.set()

        page = threading.Thread(target=listen)
        page.start()
        assert listens.wait(PATIENCE)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        page.join(PATIENCE)
        assert not page.is_alive()
    told = log.read_text()
    assert "Traceback" not in told
    assert "Exception" not in told
    assert told.splitlines() == ["handwright: interrupted; nothing was left half written."]


def test_an_upload_that_falls_silent_is_given_up(served, monkeypatch):
    from handwright.studio.server import routes_uploads

    monkeypatch.setattr(routes_uploads, "_SILENCE", 0.2)
    with begun_upload(f"http://127.0.0.1:{served.port}") as line:
        assert line.recv(4096).startswith(b"HTTP/1.1 408 ")
