"""How times are taken: one thread, best of several repeats; and how long work may take."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


def best_seconds(work: Callable[[], object], *, repeats: int = 7, calls: int = 1) -> float:
    """Least time of one call, s, over repeats of so many calls; one untimed call goes first.

    The least is taken because other work on the machine only ever adds time.
    """
    work()
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(calls):
            work()
        best = min(best, (time.perf_counter() - start) / calls)
    return best


@dataclass(slots=True)
class Alarm:
    """Whether the time of a block was up."""

    has_rung: bool = False


@contextmanager
def interrupted_after(seconds: float) -> Iterator[Alarm]:
    """Interrupts a block as Ctrl-C would, once it has had so much time of the processor, s.

    Time in which other work has the processor does not count, so that what a method comes to does
    not depend on how busy the machine is. For the main thread.
    """
    alarm = Alarm()

    def ring(_number: int, _frame: object) -> None:
        alarm.has_rung = True
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield alarm
    except KeyboardInterrupt:
        if not alarm.has_rung:
            raise
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)
