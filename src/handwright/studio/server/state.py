"""All that the server holds, started and ended with it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

from starlette.requests import HTTPConnection

from handwright.studio.jobs.helper_processes import Helper, Work
from handwright.studio.jobs.queue import Jobs
from handwright.studio.library.clips import Library
from handwright.studio.library.folder import Folder
from handwright.studio.server.events import Hub


@dataclass(frozen=True, slots=True)
class Studio:
    """The parts of a running server."""

    folder: Folder
    hub: Hub
    desk: Helper
    """For what pages wait for."""
    library: Library
    jobs: Jobs
    judge: Helper
    """For what nobody waits for."""
    fingers: str
    """Folder of the network for learned fingers, or ``shipped``."""
    live: set[str] = field(default_factory=set)
    """Scenes that are stepped live."""
    arriving: set[Path] = field(default_factory=set)
    """Uploads that are not whole yet."""

    def let_go(self) -> None:
        """Gives everybody who waits an answer: the server is ending."""
        self.hub.close()
        self.desk.close()
        self.judge.close()


@contextlib.asynccontextmanager
async def running_studio(
    folder: Folder, *, jobs_at_once: int | None, fingers: str
) -> AsyncIterator[Studio]:
    """Starts everything, and ends it with the block.

    Args:
        folder: With the clips.
        jobs_at_once: Processes that do jobs; half the cores if None.
        fingers: Folder of the network for learned fingers, or ``shipped``.
    """
    hub, desk, judge = Hub(), Helper(2), Helper(1, niceness=10)
    library = Library(folder, desk, judge, hub)
    jobs = Jobs(folder, library, desk, hub, at_once=jobs_at_once)
    await library.start()
    jobs.start()
    # The first look at the scenes takes a while on a new machine; nobody needs to wait for it.
    early = asyncio.create_task(_look_early(desk, folder))
    studio = Studio(folder, hub, desk, library, jobs, judge, fingers)
    try:
        yield studio
    finally:
        early.cancel()
        await jobs.close()
        await library.close()
        studio.let_go()


async def _look_early(desk: Helper, folder: Folder) -> None:
    # Whoever asks for the scenes is told what is wrong.
    with contextlib.suppress(Exception):
        await desk.run(Work.LIST_SCENES, folder.hidden)


def studio_of(connection: HTTPConnection) -> Studio:
    """The parts of the server that a request or a websocket came to."""
    studio: Studio = connection.app.state.studio
    return studio
