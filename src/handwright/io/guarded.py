"""Work on files of others within limits of memory and time.

A clip can ask for more than a machine has, in ways that no check foresees. Then the work must end
with a message, and not with a machine that swaps: the operating system refuses memory beyond a
limit, and a timer interrupts. A kernel that is running is interrupted when it returns.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from handwright.errors import HandwrightError, InvalidValueError

try:
    import resource
except ImportError:  # Windows has no limits of this kind; there the timer is missing too.
    resource = None  # type: ignore[assignment]

MEMORY_GB = 8.0
"""What a command or a helper of the studio may have, in gigabytes."""
SECONDS = 600.0
"""What a command may take over a clip."""
# Some libraries wait for ever for memory that they need to start.
_LEAST_GB = 1.0


class LimitError(HandwrightError):
    """Work that needs more memory or time than it was given."""


def limit_memory(gigabytes: float = MEMORY_GB) -> None:
    """Bounds the memory of this process from now on; a lower limit that holds already is kept."""
    if resource is None:
        return
    # Of data, not of addresses: libraries reserve many of these and use few.
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    asked = int(gigabytes * 1024**3)
    held = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min([asked, *held]), hard))


@contextmanager
def guarded(*, memory_gb: float = MEMORY_GB, seconds: float = SECONDS) -> Iterator[None]:
    """Runs a block within limits; both end with it.

    Args:
        memory_gb: Gigabytes of data that this process may have.
        seconds: Of the clock; the timer works in the main thread only.

    Raises:
        LimitError: The block needed more.
    """
    if not (memory_gb >= _LEAST_GB and seconds > 0.0):
        raise InvalidValueError(
            f"The limits are {memory_gb:g} GB and {seconds:g} s; expected at least {_LEAST_GB:g} "
            "GB, which the libraries need for themselves, and more than no time."
        )
    before = resource.getrlimit(resource.RLIMIT_DATA) if resource is not None else None
    has_timer = resource is not None and threading.current_thread() is threading.main_thread()

    def stop(_: int, __: FrameType | None) -> None:
        raise LimitError(
            f"This took more than {seconds:g} s and was given up. Cut the clip, or give it longer "
            "with --limit-seconds."
        )

    if has_timer:
        earlier = signal.signal(signal.SIGALRM, stop)
        # The timer counts in 32 bits on some machines.
        signal.setitimer(signal.ITIMER_REAL, min(seconds, 2.0**30))
    try:
        limit_memory(memory_gb)
        yield
    except MemoryError as error:
        raise LimitError(
            f"This needs more than {memory_gb:g} GB of memory. Cut the clip, or allow more with "
            "--limit-memory-gb."
        ) from error
    finally:
        if has_timer:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, earlier)
        if before is not None:
            resource.setrlimit(resource.RLIMIT_DATA, before)
