"""The queue of jobs. Each is done by a process of its own, which a cancelled job ends."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import time
from collections import deque

from handwright.studio.jobs.helper_processes import Helper, Work
from handwright.studio.jobs.json_pipe import Child
from handwright.studio.library.clips import Library
from handwright.studio.library.folder import Folder
from handwright.studio.messages import JobInfo, JobRequest
from handwright.studio.server.events import Hub
from handwright.studio.server.request_errors import TroubleError, unknown

MAX_WAITING = 1000
"""Jobs that may wait; more are refused."""
_MAX_LISTED = 2000
_TELL_EVERY = 0.2
# A worker that has done this many jobs makes room for a fresh one.
_JOBS_OF_A_WORKER = 50


class Jobs:
    """Jobs, and the workers that do them."""

    def __init__(
        self, folder: Folder, library: Library, helper: Helper, hub: Hub, *, at_once: int | None
    ) -> None:
        self._folder, self._library, self._helper, self._hub = folder, library, helper, hub
        self._at_once = max(1, (os.cpu_count() or 2) // 2) if at_once is None else at_once
        self._jobs: dict[str, JobInfo] = {}
        self._waiting: deque[str] = deque()
        self._running: dict[str, Child | None] = {}
        self._told: dict[str, float] = {}
        self._woken = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begins to do jobs."""
        self._tasks = [asyncio.create_task(self._work()) for _ in range(self._at_once)]

    async def close(self) -> None:
        """Ends all workers; motions that were found stay."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def listed(self) -> list[JobInfo]:
        """All jobs, newest first."""
        return list(reversed(self._jobs.values()))

    def get(self, job: str) -> JobInfo:
        """A job by its identifier."""
        if job not in self._jobs:
            raise unknown("job", job)
        return self._jobs[job]

    async def add(self, request: JobRequest) -> JobInfo:
        """Checks a job and puts it at the end of the queue."""
        if len(self._waiting) >= MAX_WAITING:
            raise TroubleError(409, f"{MAX_WAITING} jobs are waiting. Cancel some, or wait.")
        checked = await self._helper.run(Work.CHECK_JOB, self._folder.hidden, request)
        name = secrets.token_hex(4)
        info = JobInfo(
            id=name,
            scene=request.scene,
            method=checked.method,
            seed=request.seed,
            state="queued",
            stage="waiting",
            wanted=checked.wanted,
            found=0,
            clips=[],
            statistics={},
            seconds=0.0,
            budget=None,
            created=time.time(),
            message="",
            request=request,
        )
        self._jobs[name] = info
        self._forget()
        self._waiting.append(name)
        self._woken.set()
        self._hub.tell_job(info)
        return info

    def cancel(self, job: str) -> JobInfo:
        """Ends a job that waits or runs; one that has ended stays as it is."""
        info = self.get(job)
        if info.state not in ("queued", "running"):
            return info
        if job in self._waiting:
            self._waiting.remove(job)
        info = self._change(job, state="cancelled", stage="cancelled")
        child = self._running.get(job)
        if child is not None:
            child.kill()
        return info

    def _forget(self) -> None:
        """Drops the oldest of those that have ended when there are too many."""
        for name in list(self._jobs):
            if len(self._jobs) <= _MAX_LISTED:
                return
            if self._jobs[name].state not in ("queued", "running"):
                del self._jobs[name]

    def _change(self, job: str, *, is_urgent: bool = True, **changes: object) -> JobInfo:
        info = self._jobs[job].model_copy(update=changes)
        self._jobs[job] = info
        now = time.monotonic()
        if is_urgent or now - self._told.get(job, 0.0) >= _TELL_EVERY:
            self._told[job] = now
            self._hub.tell_job(info)
        return info

    async def _work(self) -> None:
        """Takes jobs from the queue, one at a time, for ever."""
        child: Child | None = None
        done = 0
        try:
            while True:
                while not self._waiting:
                    self._woken.clear()
                    await self._woken.wait()
                job = self._waiting.popleft()
                self._running[job] = None
                self._change(job, state="running", stage="starting")
                try:
                    if child is None or not child.is_alive or done >= _JOBS_OF_A_WORKER:
                        if child is not None:
                            await child.end()
                        child, done = await Child.start("handwright.studio.jobs.worker"), 0
                    done += 1
                    self._running[job] = child
                    await self._follow(job, child)
                except (OSError, ValueError) as error:
                    # No process can be had, or it says what nobody understands; others go on.
                    self._change(job, state="failed", stage="failed", message=f"{error}")
                    if child is not None:
                        await child.end()
                del self._running[job]
                self._told.pop(job, None)
        finally:
            if child is not None:
                await child.end()

    async def _follow(self, job: str, child: Child) -> None:
        """Passes a job to a worker and what it says on to those who listen."""
        request = self._jobs[job].request
        if self._jobs[job].state == "cancelled":
            return
        stem = re.sub(r"[^A-Za-z0-9_-]", "_", request.scene)
        child.send(
            {
                "root": str(self._folder.root),
                "hidden": str(self._folder.hidden),
                "stem": f"{stem}_{job}",
                "request": request.model_dump(),
            }
        )
        async for message in child.messages():
            kind = message.pop("kind")
            if kind == "clip":
                clip = await self._library.add(message["file"], job)
                clips = [*self._jobs[job].clips, clip]
                self._change(job, clips=clips, found=len(clips))
            elif self._jobs[job].state == "cancelled":
                continue  # What was written just before it ended counts, the rest does not.
            elif kind == "progress":
                self._change(job, is_urgent=False, **message)
            else:
                stage = message.pop("stage", "failed")
                self._change(job, state=kind, stage=stage, budget=None, **message)
                return
        if self._jobs[job].state != "cancelled":
            text = "The process that worked on it ended by itself, perhaps for lack of memory."
            self._change(job, state="failed", stage="failed", message=text)
        # It has ended, or closed its output; the next job must not be given to it.
        await child.end()
