"""What happens, for every page that listens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from handwright.studio.messages import ClipGone, ClipSummary, JobInfo, StudioEvent

HEARTBEAT = 15.0
"""s of silence after which a comment is sent, so that nobody takes the line for dead."""
_MAX_WAITING = 1000


class Hub:
    """Passes events on to whoever listens."""

    def __init__(self) -> None:
        self._listeners: set[asyncio.Queue[str | None]] = set()

    def tell_job(self, job: JobInfo) -> None:
        """A job is new or has changed."""
        self._tell(StudioEvent(kind="job", job=job))

    def tell_clip(self, clip: ClipSummary) -> None:
        """A clip is new or has changed."""
        self._tell(StudioEvent(kind="clip", clip=clip))

    def tell_gone(self, clip: str) -> None:
        """A clip is no longer there."""
        self._tell(StudioEvent(kind="clip_gone", clip_gone=ClipGone(id=clip)))

    def close(self) -> None:
        """Lets all listeners go."""
        for queue in self._listeners:
            queue.put_nowait(None)

    def _tell(self, event: StudioEvent) -> None:
        if not self._listeners:
            return
        text = f"event: {event.kind}\ndata: {event.model_dump_json()}\n\n"
        for queue in list(self._listeners):
            if queue.qsize() >= _MAX_WAITING:
                # It does not read; the page connects again and asks for everything.
                self._listeners.discard(queue)
                queue.put_nowait(None)
            else:
                queue.put_nowait(text)

    async def stream(self) -> AsyncIterator[str]:
        """Events as they happen, in the form of server-sent events."""
        queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._listeners.add(queue)
        try:
            yield ": hello\n\n"
            while True:
                try:
                    text = await asyncio.wait_for(queue.get(), HEARTBEAT)
                except TimeoutError:
                    text = ": still here\n\n"
                if text is None:
                    return
                yield text
        finally:
            self._listeners.discard(queue)
