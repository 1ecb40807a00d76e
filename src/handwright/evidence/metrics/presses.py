"""Which keys of a body a hand presses, and when, from the contacts of a clip."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.clip import Clip
from handwright.math import rotation

# Less than this is no press, N.
_LEAST = 0.02
# Farther from the middle of every key than this nothing is pressed, m.
_FARTHEST = 6e-3


class Press(NamedTuple):
    """A key that is held down for a while."""

    key: str | None
    """Its name; None where no key is."""
    start: float
    """s."""
    end: float
    force: float
    """The largest of one contact, N."""


def presses(
    clip: Clip, hand: str, body: str, keys: Mapping[str, Float[np.ndarray, "3"]]
) -> list[Press]:
    """Presses of a hand on a body, in their order.

    Args:
        clip: The motion.
        hand: Name of the hand.
        body: Name of the body.
        keys: Middle of every key in the body's frame, m.
    """
    found: list[Press] = []
    # The last press of every key, and the frame that it lasted to.
    latest: dict[str | None, tuple[int, int]] = {}
    names, positions = list(keys), np.array(list(keys.values())).reshape(-1, 3)
    for frame, time in enumerate(clip.times):
        contacts = [
            one
            for one in clip.contacts.at(frame)
            if one.toucher == hand and one.body == body and np.linalg.norm(one.force) > _LEAST
        ]
        for one in contacts:
            pose = clip.bodies[body]
            away = rotation.conjugate(pose.wxyz[frame])
            local = rotation.rotate(away, one.point - pose.position[frame])
            off = np.linalg.norm(positions - local, axis=1)
            nearest = int(off.argmin()) if len(off) else -1
            key = names[nearest] if len(off) and off[nearest] < _FARTHEST else None
            force = float(np.linalg.norm(one.force))
            number, last = latest.get(key, (-1, -2))
            if last >= frame - 1:
                kept = found[number]
                found[number] = kept._replace(end=float(time), force=max(kept.force, force))
            else:
                number = len(found)
                found.append(Press(key, float(time), float(time), force))
            latest[key] = number, frame
    return found
