"""Processes that work beside this one, for methods that make independent attempts."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context, queues
from types import FrameType
from typing import Any

from handwright.errors import InvalidValueError


@contextmanager
def started_workers(
    num_workers: int, start: Callable[..., None], arguments: tuple[Any, ...]
) -> Iterator[ProcessPoolExecutor | None]:
    """Processes beside this one; None for one worker, which is this one alone.

    They end with the ``with`` block, whatever they do then.

    Args:
        num_workers: How many.
        start: Called in each when it starts; a function of a module.
        arguments: Handed to it.
    """
    if num_workers == 1:
        yield None
        return
    others = set(active_children())
    with ProcessPoolExecutor(num_workers, get_context("spawn"), _start, (start, arguments)) as pool:
        try:
            yield pool
        except BrokenProcessPool as error:
            raise InvalidValueError(
                f"A worker of num_workers={num_workers} ended by itself. Put the call of "
                "a script under \"if __name__ == '__main__':\", free memory, or use num_workers=1."
            ) from error
        finally:
            # Nobody waits for what they do now, and it may take long.
            for worker in set(active_children()) - others:
                worker.terminate()


# A worker that is handing a result over when it is told to end does so this many times later, s
# apart; after that nobody reads any more.
_NUM_DELAYS, _DELAY = 25, 0.02
_delays: list[float] = []


def _start(start: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    # The process that started the workers decides what an interrupt means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGTERM, _leave)
        signal.signal(signal.SIGALRM, _leave)
    start(*arguments)


def _leave(_signal: int, frame: FrameType | None) -> None:
    """Ends this process, but not in the middle of a result: the reader would wait for the rest."""
    while frame is not None:
        if frame.f_globals.get("__name__") == queues.__name__ and frame.f_code.co_name == "put":
            if len(_delays) == _NUM_DELAYS:
                break
            _delays.append(_DELAY)
            signal.setitimer(signal.ITIMER_REAL, _DELAY)
            return
        frame = frame.f_back
    os._exit(0)
