"""Processes beside the server that do what takes time, so that the server answers at once.

What they may do are the functions named in ``Work``, never anything that a request says. The names
are looked up in the helper, so that the server need not load what they need. A process that dies,
or takes too long, is replaced; the server lives on.
"""

from __future__ import annotations

import asyncio
import importlib
import os
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from enum import Enum
from typing import Any, NamedTuple

from handwright.child_processes import ChildContext, stay_with_parent
from handwright.io.guarded import limit_memory
from handwright.studio.server.request_errors import TroubleError, trouble_of


class Work(Enum):
    """What helpers can do: modules of the studio and their functions."""

    MAKE_MODEL = "library.judging:make_model"
    JUDGE_CLIP = "library.judging:judge_clip"
    CLUSTER_CLIPS = "library.judging:cluster_clips"
    COMPARE_CLIPS = "library.comparing:compare_clips"
    EXPORT_CLIP = "library.exporting:export_clip"
    LIST_SCENES = "uploads.catalogue:list_scenes"
    LIST_METHODS = "uploads.catalogue:list_methods"
    LIST_SHAPES = "uploads.catalogue:list_shapes"
    MAKE_SCENE_MODEL = "uploads.catalogue:make_scene_model"
    DESCRIBE_SCENE = "uploads.catalogue:describe_scene"
    CHECK_JOB = "jobs.planning:check_job"
    READ_UPLOAD = "uploads.inspect:read_upload"
    MAKE_SCENE = "uploads.inspect:make_scene"
    LIST_PROPS = "live.fingers.models:list_props"
    MAKE_PROP_MODEL = "live.fingers.models:make_prop_model"


class _Failure(NamedTuple):
    """What a helper tells instead of a result; errors themselves may not survive the way."""

    status: int
    message: str


class Helper:
    """A few processes for pieces of work."""

    def __init__(self, num_processes: int, *, niceness: int = 0) -> None:
        """Processes are started when they are first needed.

        Args:
            num_processes: At most.
            niceness: By how much they give way to others.
        """
        self._num_processes, self._niceness = num_processes, niceness
        self._pool: ProcessPoolExecutor | None = None
        self._is_closed = False
        # Nothing waits within the pool: time counts from when a process takes the work, and a pool
        # that is dropped takes no waiting work with it.
        self._free = asyncio.Semaphore(num_processes)

    async def run(self, work: Work, *arguments: object, timeout: float = 300.0) -> Any:  # noqa: ANN401
        """Does a piece of work in a helper and returns its result.

        Args:
            work: Which.
            *arguments: What pickle can take.
            timeout: s of work after which the helper is ended.

        Raises:
            TroubleError: The work said what is wrong, took too long, or ended its process; or the
                server is ending.
        """
        async with self._free:
            for is_last in (False, True):
                pool = self._started()
                try:
                    # wait_for would lose a cancellation that comes just as the pool breaks, and the
                    # work would begin anew in a server that is ending.
                    async with asyncio.timeout(timeout):
                        result = await asyncio.wrap_future(pool.submit(_call, work, arguments))
                except BrokenProcessPool as error:
                    # Another piece of work may have broken it: everybody gets a second chance.
                    self._drop(pool)
                    if is_last:
                        text = "The process that worked on this ended by itself; it may be damaged."
                        raise TroubleError(422, text) from error
                    continue
                except TimeoutError as error:
                    self._drop(pool)
                    text = (
                        f"This took more than {timeout:.0f} s and was given up. Try a smaller one."
                    )
                    raise TroubleError(422, text) from error
                if isinstance(result, _Failure):
                    raise TroubleError(result.status, result.message)
                return result
        raise AssertionError("the loop returns or raises")

    def close(self) -> None:
        """Ends the processes, whatever they do; there will be no others."""
        self._is_closed = True
        if self._pool is not None:
            self._drop(self._pool)

    def _started(self) -> ProcessPoolExecutor:
        if self._is_closed:
            raise TroubleError(409, "The studio is ending.")
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                self._num_processes,
                ChildContext(),
                _start,
                (self._niceness,),
            )
        return self._pool

    def _drop(self, pool: ProcessPoolExecutor) -> None:
        if self._pool is pool:
            self._pool = None
        for process in list((pool._processes or {}).values()):
            process.kill()
        pool.shutdown(wait=False, cancel_futures=True)


def _start(niceness: int) -> None:
    """The first thing that a helper does."""
    stay_with_parent()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if hasattr(os, "nice"):
        os.nice(niceness)
    # Clips come from anywhere; those that ask for more fail with a message.
    limit_memory()


def _call(work: Work, arguments: tuple[object, ...]) -> Any:  # noqa: ANN401  what the work gives
    try:
        module, _, name = work.value.partition(":")
        return getattr(importlib.import_module(f"handwright.studio.{module}"), name)(*arguments)
    except Exception as error:
        trouble = trouble_of(error)
        return _Failure(trouble.status, trouble.message)
