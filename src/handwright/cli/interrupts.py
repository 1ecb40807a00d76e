"""Ctrl-C and SIGTERM, which ask a command to end."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ExtensionFileLoader
from types import FrameType
from typing import Any, ClassVar, Self

INTERRUPTED = 130
"""Exit code of a command that the user has stopped."""
_SIGNALS = signal.SIGINT, signal.SIGTERM
_SOON = 0.05
"""s."""
_LOADER = "<frozen importlib._bootstrap_external>"


class Interrupts:
    """While it lasts, SIGTERM does what Ctrl-C does; both wait for what must not be cut in two."""

    _heard: ClassVar[int] = 0

    def __init__(self) -> None:
        self._heard_before = Interrupts._heard
        self._is_held, self._is_pending = False, False
        self._before: dict[signal.Signals, Any] = {}
        self._hook = sys.unraisablehook

    @property
    def came(self) -> bool:
        """Whether there was one, perhaps within a block inside this one."""
        return Interrupts._heard > self._heard_before

    def __enter__(self) -> Self:
        # Only the main thread may say what a signal does.
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                self._before[number] = signal.signal(number, self._interrupt)
            self._hook, sys.unraisablehook = sys.unraisablehook, self._unraisable
        return self

    def __exit__(self, *_: object) -> None:
        if self._before:
            sys.unraisablehook = self._hook
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _interrupt(self, _number: int, frame: FrameType | None) -> None:
        Interrupts._heard += 1
        if self._is_held:
            self._is_pending = True
        elif _is_loading(frame):
            _come_again()  # Compiled modules that are cut off while they load crash.
        else:
            raise KeyboardInterrupt

    def _unraisable(self, told: sys.UnraisableHookArgs) -> None:
        """An interrupt that came where Python drops errors, as in a destructor, comes again."""
        if issubclass(told.exc_type, KeyboardInterrupt):
            _come_again()
        else:
            self._hook(told)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Puts interrupts off to the end of the block."""
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False
        if self._is_pending:
            self._is_pending = False
            raise KeyboardInterrupt


def _is_loading(frame: FrameType | None) -> bool:
    """Whether a compiled module is being imported."""
    while frame is not None:
        if frame.f_code.co_filename == _LOADER and isinstance(
            frame.f_locals.get("self"), ExtensionFileLoader
        ):
            return True
        frame = frame.f_back
    return False


def _come_again() -> None:
    main = threading.main_thread().ident
    assert main is not None  # it runs
    # Sent to its thread, for it may be asleep; Windows can only set a mark.
    kill = getattr(signal, "pthread_kill", lambda _thread, number: signal.raise_signal(number))
    again = threading.Timer(_SOON, kill, (main, signal.SIGINT))
    again.daemon = True
    again.start()


def ignore_interrupts() -> None:
    """From now on nothing interrupts this process."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
