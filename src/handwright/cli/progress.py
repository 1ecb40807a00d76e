"""How far a method has come, on one line of the terminal."""

from __future__ import annotations

import time
from typing import Self

from rich.console import Console
from rich.status import Status as Spinner

from handwright.core.result import Progress

_LINE_EVERY = 5.0


def progress_text(progress: Progress, *, wanted: int | None = None) -> str:
    """Progress in words.

    Args:
        progress: What a method told.
        wanted: How many solutions were asked for; None if nobody knows.
    """
    numbers, parts = progress.statistics, [progress.stage]
    if "solutions" in numbers:
        # One attempt may find more than are still wanted.
        found = numbers["solutions"] if wanted is None else min(numbers["solutions"], wanted)
        of = "" if wanted is None else f" of {wanted}"
        parts.append(f"{found:.0f}{of} found")
    if "dead_ends" in numbers:
        parts.append(f"{numbers['dead_ends']:.0f} dead ends")
    if "total_frames" in numbers:
        frames = numbers["total_frames"]
        parts.append(f"{frames:.0f} frames explored")
        if progress.seconds > 0.0:
            parts.append(f"{frames / progress.seconds:.0f} frames/s")
    if progress.budget is not None:
        parts.append(f"{max(progress.budget - progress.seconds, 0.0):.0f} s left")
    return ", ".join(parts)


class ProgressLine:
    """A watcher that shows progress on stderr while its ``with`` block lasts.

    A terminal shows one live line. Anything else gets a plain line when the stage changes, and
    after that every few seconds, so that a log stays short.

    Args:
        wanted: How many solutions were asked for; None if nobody knows.
        console: Where to write; stderr if None.
    """

    def __init__(self, *, wanted: int | None = None, console: Console | None = None) -> None:
        self._console = Console(stderr=True) if console is None else console
        self._wanted = wanted
        self._spinner: Spinner | None = None
        self._stage, self._written = "", -_LINE_EVERY

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._spinner = self._console.status("starting")
            self._spinner.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._spinner is not None:
            self._spinner.stop()

    def __call__(self, progress: Progress) -> None:
        """Shows how far the method has come."""
        text = progress_text(progress, wanted=self._wanted)
        if self._spinner is not None:
            self._spinner.update(text)
            return
        now = time.monotonic()
        if progress.stage != self._stage or now - self._written >= _LINE_EVERY:
            self._stage, self._written = progress.stage, now
            self._console.print(text, soft_wrap=True, highlight=False)
