"""Processes that work beside this one, for methods that make independent attempts."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context
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
            # Nobody waits for what they do now, and it may take long. One that is killed within a
            # result leaves half of it in the pipe; the reader learns that no more will come once
            # the last end to write to is closed, which is ours.
            for worker in set(active_children()) - others:
                worker.kill()
            pool._result_queue._writer.close()  # type: ignore[attr-defined]


def _start(start: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    # The process that started the workers decides what an interrupt means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    start(*arguments)
