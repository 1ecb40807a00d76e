"""A clip at other times."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
from jaxtyping import Float

from handwright.core.clip import Clip, HandMotion
from handwright.core.contact import ContactTrack
from handwright.core.read_limits import read_limits
from handwright.core.track import Track
from handwright.errors import InvalidValueError


def frame_times(clip: Clip, fps: float | None) -> Float[np.ndarray, " N"]:
    """Times of the frames at a rate (1/s), s; the clip's own if None. First and last are kept."""
    if fps is None:
        return clip.times
    if not (np.isfinite(fps) and fps > 0.0):
        raise InvalidValueError(f"fps is {fps}; expected a rate above zero, such as 30.")
    start, end = float(clip.times[0]), float(clip.times[-1])
    count = int(np.floor((end - start) * fps + 1e-6)) + 1
    if count >= read_limits().frames:
        raise InvalidValueError(
            f"{end - start:g} s at {fps:g} fps are {count} frames; expected at most "
            f"{read_limits().frames}. Choose a lower rate."
        )
    times = np.minimum(start + np.arange(count) / fps, end)
    if end - times[-1] > 1e-3 / fps:
        return np.append(times, end)
    if count > 1:
        times[-1] = end
    return times


def resampled(clip: Clip, times: Float[np.ndarray, " N"]) -> Clip:
    """The same motion at other times within it.

    Poses move straight and turn the shortest way between frames, joint values change evenly;
    contacts are those of the nearest frame.

    Args:
        clip: The motion.
        times: s, increasing.
    """
    if np.array_equal(times, clip.times):
        return clip
    hands = {
        name: HandMotion(
            Track(clip.times, motion.root).at(times),
            np.stack([np.interp(times, clip.times, column) for column in motion.q.T], axis=1)
            if motion.q.shape[1]
            else np.zeros((len(times), 0)),
        )
        for name, motion in clip.hands.items()
    }
    bodies = {name: Track(clip.times, pose).at(times) for name, pose in clip.bodies.items()}
    between = 0.5 * (clip.times[1:] + clip.times[:-1])
    contacts = _picked(clip.contacts, np.searchsorted(between, times))
    return replace(clip, times=times, hands=hands, bodies=bodies, contacts=contacts)


def _picked(contacts: ContactTrack, frames: np.ndarray) -> ContactTrack:
    """The contacts of the given frames, which become frames 0, 1, 2, ..."""
    first = np.searchsorted(contacts.frame, frames, side="left")
    count = np.searchsorted(contacts.frame, frames, side="right") - first
    within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    rows = np.repeat(first, count) + within
    columns = {
        item.name: getattr(contacts, item.name)[rows]
        for item in fields(contacts)
        if item.name not in ("touchers", "bodies", "frame")
    }
    return replace(contacts, frame=np.repeat(np.arange(len(frames)), count), **columns)
