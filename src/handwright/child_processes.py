"""Processes that work for this one: deaf to interrupts, which are its own, and gone with it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from multiprocessing import resource_tracker
from multiprocessing.context import SpawnContext, SpawnProcess

_SIGNALS = signal.SIGINT, signal.SIGTERM


class _DeafProcess(SpawnProcess):
    """Hears no interrupt even while it starts; ``stay_with_parent`` makes that last."""

    def start(self) -> None:
        if not hasattr(signal, "pthread_sigmask"):
            super().start()  # Windows has no such masks.
            return
        # The tracker, which the first start would start, takes the mask away.
        resource_tracker.ensure_running()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        try:
            super().start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


class ChildContext(SpawnContext):
    """Starts processes that are to call ``stay_with_parent`` first."""

    Process = _DeafProcess


def stay_with_parent() -> None:
    """Has this process ignore interrupts, and end when its parent is gone, however that went."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    parent = multiprocessing.parent_process()
    assert parent is not None  # it was started by one

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
