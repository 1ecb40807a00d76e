"""How times are taken: one thread, best of several repeats."""

from __future__ import annotations

import time
from collections.abc import Callable


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
