"""What is counted while poses come in and frames go out."""

from __future__ import annotations

COUNTS: dict[str, str] = {
    "messages": "that were fed",
    "invalid": "poses with NaN, infinity, no rotation, or farther away than anything can be",
    "doubled": "poses of a moment that was known already; the first is kept",
    "earlier": "messages of a moment before one that came sooner; they are used",
    "late": "messages that came after a frame which would have looked at them",
    "stale": "messages that came too late for any frame; they are dropped",
    "astray": "messages whose time does not follow on what came before; they are dropped",
    "lost": "messages that never came, told by the usual time between two of them",
    "held": "frames in which something stood still for want of poses",
    "pauses": "silences after which frames stopped until messages came again",
    "jumps": "leaps of the sender's clock, after which it was followed anew",
    "restarts": "new senders, or the same one that came back",
    "swaps": "objects that took the place of another",
    "skipped": "frames left out because too many were due at once",
    "limited": "frames in which fingers were kept from leaping",
    "failed": "frames in which the model said no posture; the one before is kept",
    "frames": "that were given",
}
"""All counts by name."""


def no_counts() -> dict[str, int]:
    """Every count at zero."""
    return dict.fromkeys(COUNTS, 0)
