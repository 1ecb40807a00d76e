"""Child processes that speak lines of JSON: the server's end and the child's end.

A child ends when the server closes its input, and so also when the server is killed. Children lead
a group of their own, so that a kill takes with them whatever they have started.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any, TextIO

_LIMIT = 64 * 1024**2


class Child:
    """The server's end."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, module: str) -> Child:
        """Starts a module of this package."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            module,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=_LIMIT,
            start_new_session=True,
        )
        return cls(process)

    @property
    def is_alive(self) -> bool:
        """Whether it has not ended."""
        return self._process.returncode is None

    def send(self, message: dict[str, Any]) -> None:
        """Sends a message; nothing happens if the child has ended."""
        assert self._process.stdin is not None
        if self.is_alive and not self._process.stdin.is_closing():
            self._process.stdin.write(json.dumps(message).encode() + b"\n")

    async def receive(self) -> dict[str, Any] | None:
        """The next message; None when there will be no more."""
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        return json.loads(line) if line.endswith(b"\n") else None

    async def messages(self) -> AsyncIterator[dict[str, Any]]:
        """Messages until the child ends."""
        while (message := await self.receive()) is not None:
            yield message

    def kill(self) -> None:
        """Ends it at once, and all that it has started."""
        # Also if it has ended itself: what it has started may live on in its group.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    async def end(self) -> None:
        """Ends it at once, and waits until it is gone."""
        self.kill()
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._process.wait()


class Parent:
    """The child's end; its output is for messages alone, what is printed goes to the errors."""

    def __init__(self) -> None:
        self._out: TextIO = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)

    def send(self, message: dict[str, Any]) -> None:
        """Sends a message."""
        self._out.write(json.dumps(message, allow_nan=False) + "\n")
        self._out.flush()

    def listen(self, heard: Callable[[dict[str, Any]], None]) -> None:
        """Calls a function with every message, from a thread; ends all when the server is gone."""

        def read() -> None:
            for line in sys.stdin:
                heard(json.loads(line))
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(os.getpgid(0), signal.SIGKILL)
            os._exit(1)

        threading.Thread(target=read, daemon=True).start()
