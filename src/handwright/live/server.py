"""The websocket: one client at a time, on an address that only this machine can reach."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from handwright.errors import require
from handwright.listening import LOOPBACK_NAMES, listening_socket
from handwright.live.conversation import Conversation
from handwright.live.messages import Answer, Error, FrameOut
from handwright.live.stage import LiveStage

if TYPE_CHECKING:
    from websockets.asyncio.server import ServerConnection
    from websockets.http11 import Request, Response

HOST = "127.0.0.1"
DEFAULT_PORT = 8765
_NUM_PORTS = 20
LARGEST_MESSAGE = 16_384
"""Bytes of a message that is read."""
MOST_UNSENT = 8
"""Frames that wait for a client that is slow to read; older ones are dropped."""
SEAT_WITHIN = 1.0
"""How long a client waits for the one before it to leave, s: it may be the same, come back."""
HELLO_WITHIN = 10.0
"""Time for the first message, s."""
IDLE_AFTER = 60.0
"""Silence after which a client makes room for the next one, s."""
# How often frames that are overdue are looked for, s.
_TICK = 1.0 / 120.0
# Waiting for room in the line, bytes: a frame or two.
_WRITE_LIMIT = 32_768
# Codes of RFC 6455.
_POLICY, _TRY_LATER = 1008, 1013
_SIGNALS = signal.SIGINT, signal.SIGTERM


def listen(port: int | None) -> socket.socket:
    """A socket that listens on this machine only; says what is wrong if it cannot.

    Args:
        port: To listen on; the first free one from ``DEFAULT_PORT`` on if None.
    """
    require("websockets", extra="live", feature="'handwright live'")
    ports = range(DEFAULT_PORT, DEFAULT_PORT + _NUM_PORTS) if port is None else [port]
    return listening_socket(HOST, ports, remedy="Choose another with --port.")


def serve(stage: LiveStage, listener: socket.socket) -> None:
    """Serves clients until it is interrupted, and then raises ``KeyboardInterrupt``.

    Args:
        stage: What is served.
        listener: From ``listen``.
    """
    server = LiveServer(stage)

    async def run() -> None:
        with _signals_call(server.stop_soon):
            await server.run(listener)

    asyncio.run(run())
    raise KeyboardInterrupt


@contextlib.contextmanager
def _signals_call(stop: Callable[[], None]) -> Iterator[None]:
    """While it lasts, Ctrl-C and SIGTERM ask for an end instead of cutting a message in two."""

    def ask(_number: int, _frame: FrameType | None) -> None:
        stop()

    # Only the main thread may say what a signal does.
    is_main = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, ask) for number in _SIGNALS} if is_main else {}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class LiveServer:
    """Lets in one client after another."""

    def __init__(self, stage: LiveStage) -> None:
        """Serves nobody yet.

        Args:
            stage: What is served.
        """
        self._stage = stage
        self._seat = asyncio.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop = asyncio.Event()

    def stop_soon(self) -> None:
        """Ends ``run``; may be called from a signal handler or another thread."""
        if self._loop is None:
            self._stop.set()
        else:
            self._loop.call_soon_threadsafe(self._stop.set)

    async def run(self, listener: socket.socket) -> None:
        """Serves until it is stopped; clients are told that the server goes away.

        Args:
            listener: From ``listen``.
        """
        from websockets.asyncio.server import serve as serve_websockets

        self._loop = asyncio.get_running_loop()
        async with serve_websockets(
            self._welcome,
            sock=listener,
            process_request=_guard,
            max_size=LARGEST_MESSAGE,
            max_queue=16,
            write_limit=_WRITE_LIMIT,
            compression=None,
            close_timeout=2.0,
            server_header=None,
        ):
            await self._stop.wait()

    async def _welcome(self, client: ServerConnection) -> None:
        from websockets.exceptions import ConnectionClosed

        with contextlib.suppress(ConnectionClosed):
            try:
                async with asyncio.timeout(SEAT_WITHIN):
                    await self._seat.acquire()
            except TimeoutError:
                told: Error = {
                    "type": "error",
                    "message": "Another client is served. Try again when it has left.",
                    "closing": True,
                }
                await client.send(_text(told))
                await client.close(_TRY_LATER, "busy")
                return
            try:
                await Line(client, self._stage).run()
            finally:
                self._seat.release()


class Line:
    """A client that is served: messages in, frames out."""

    def __init__(self, client: ServerConnection, stage: LiveStage) -> None:
        """Nothing was said yet.

        Args:
            client: The connection.
            stage: What is served.
        """
        self._client = client
        self._conversation = Conversation(stage)
        self._news = asyncio.Event()
        self._unsent: deque[FrameOut] = deque()
        self._has_frames = asyncio.Event()

    async def run(self) -> None:
        """Serves until the client is gone or sent away."""
        tasks = [asyncio.create_task(part()) for part in (self._read, self._compute, self._write)]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for task in done:
            task.result()

    async def _read(self) -> None:
        """Takes in messages, and sends answers; ends when the client is to be sent away."""
        while True:
            patience = IDLE_AFTER if self._conversation.is_greeted else HELLO_WITHIN
            try:
                async with asyncio.timeout(patience):
                    text = await self._client.recv()
            except TimeoutError:
                await self._send_away(f"Nothing came for {patience:g} s; expected poses.")
                return
            answer = self._conversation.hear(text)
            if answer is not None:
                # A client that does not read waits here, and is not read from meanwhile.
                await self._client.send(_text(answer))
                if answer["type"] == "error" and answer.get("closing"):
                    await self._client.close(_POLICY, "mistakes")
                    return
            self._news.set()

    async def _send_away(self, message: str) -> None:
        told: Error = {"type": "error", "message": message, "closing": True}
        await self._client.send(_text(told))
        await self._client.close(_POLICY, "silence")

    async def _compute(self) -> None:
        """Computes what is due after every message, and now and then where messages are missing."""
        while True:
            for frame in self._conversation.frames():
                if len(self._unsent) >= MOST_UNSENT:
                    self._unsent.popleft()
                    self._conversation.counts["unsent"] += 1
                self._unsent.append(frame)
                self._has_frames.set()
                # Messages are read between any two frames.
                await asyncio.sleep(0)
            self._news.clear()
            patience = _TICK if self._conversation.is_running else None
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(patience):
                    await self._news.wait()

    async def _write(self) -> None:
        """Sends frames as fast as the client reads them."""
        while True:
            await self._has_frames.wait()
            while self._unsent:
                await self._client.send(_text(self._unsent.popleft()))
            self._has_frames.clear()


def _text(answer: Answer) -> str:
    return json.dumps(answer, separators=(",", ":"))


def _guard(client: ServerConnection, request: Request) -> Response | None:
    """Refuses pages of other sites, and names that were made to point here (DNS rebinding)."""
    if request.path.partition("?")[0] != "/":
        return client.respond(404, "Live fingers are at the path '/'.\n")
    hosts, origins = request.headers.get_all("Host"), request.headers.get_all("Origin")
    if len(hosts) != 1 or len(origins) > 1 or not _is_here(f"//{hosts[0]}"):
        return client.respond(403, "The request was not for this machine.\n")
    if origins and not _is_here(origins[0]):
        return client.respond(403, "A page of another site may not use this server.\n")
    return None


def _is_here(address: str) -> bool:
    try:
        return (urlsplit(address).hostname or "").lower() in LOOPBACK_NAMES
    except ValueError:
        return False
