"""Pushes that a held body is given, to see whether the hold is firm."""

from __future__ import annotations

import numpy as np

from handwright.core.clip import Clip
from handwright.core.contact import ENVIRONMENT
from handwright.core.events import Push
from handwright.errors import InvalidValueError

_LENGTH, _EVERY = 0.2, 0.5
"""s."""


def random_pushes(clip: Clip, *, size: float = 0.25, seed: int = 0) -> tuple[Push, ...]:
    """Pushes at the tips of the bodies that hands touch, in the second half of a motion.

    Each lasts 0.2 s, one begins every 0.5 s, and each goes in a direction of its own. The tip is
    the point that is farthest from the centre of mass.

    Args:
        clip: The motion.
        size: Of each push, N.
        seed: Of the directions.
    """
    if not (np.isfinite(size) and size >= 0.0):
        raise InvalidValueError(f"size of pushes is {size}; expected newtons, 0 or more.")
    rng = np.random.default_rng(seed)
    first, last = float(clip.times[0]), float(clip.times[-1])
    starts = np.arange(0.5 * (first + last), last - _LENGTH + 1e-9, _EVERY)
    contacts = clip.contacts
    touched = {
        contacts.bodies[body]
        for toucher, body in set(
            zip(contacts.toucher.tolist(), contacts.body.tolist(), strict=True)
        )
        if contacts.touchers[toucher] != ENVIRONMENT
    }
    pushes = []
    for name in sorted(touched):
        body = clip.problem.bodies[name]
        arm = body.vertices - body.center
        tip = body.vertices[int(np.argmax(np.linalg.norm(arm, axis=1)))]
        for start in starts:
            direction = rng.standard_normal(3)
            force = size * direction / np.linalg.norm(direction)
            pushes.append(Push(name, float(start), float(start) + _LENGTH, tip, force))
    return tuple(pushes)
