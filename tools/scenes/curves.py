"""How people move things: smooth phases that overlap, small slow variation, arcs.

A coordinate is a sum of phases, each from rest to rest with continuous acceleration (minimum jerk,
early or late in its span), and of slow variation that fades in and out. So nothing moves at a
constant rate, and whatever is at rest is exactly at rest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.math import rotation
from handwright.math.pose import Pose

FPS = 30.0
"""Frames a second of every scene."""
_MAX_HZ = 2.4
_NUM_SINES = 3
_ZYX = np.eye(3)[::-1]


def frame_times(num_frames: int) -> Float[np.ndarray, " T"]:
    """s, from zero."""
    return np.arange(num_frames) / FPS


class Phase(NamedTuple):
    """A change of one coordinate from rest to rest."""

    start: float
    """Frame at which it begins."""
    end: float
    """Frame at which it is over."""
    change: float
    """In the coordinate's unit."""
    skew: float = 0.0
    """Above 0 the fastest moment comes early, below 0 late; between -0.6 and 0.6."""


def ramp(num_frames: int, start: float, end: float, skew: float = 0.0) -> Float[np.ndarray, " T"]:
    """From 0 to 1 between two frames: velocity and acceleration are zero at both ends."""
    share = np.clip((np.arange(num_frames) - start) / (end - start), 0.0, 1.0)
    share = share + skew * share * (1.0 - share)
    return share**3 * (10.0 + share * (-15.0 + 6.0 * share))


def phases(num_frames: int, *parts: Phase, start: float = 0.0) -> Float[np.ndarray, " T"]:
    """A coordinate that begins at ``start`` and goes through phases, which may overlap."""
    value = np.full(num_frames, start)
    for part in parts:
        value = value + part.change * ramp(num_frames, part.start, part.end, part.skew)
    return value


def window(
    num_frames: int, start: float, end: float, fade: float = 10.0
) -> Float[np.ndarray, " T"]:
    """One inside a span of frames, zero outside, with smooth edges of ``fade`` frames inside it."""
    return ramp(num_frames, start, start + fade) - ramp(num_frames, end - fade, end)


def variation(rng: np.random.Generator, num_frames: int, size: float) -> Float[np.ndarray, " T"]:
    """Slow variation of about ``size``: a few sines below 2.4 Hz with random phases."""
    times = frame_times(num_frames)
    hertz = rng.uniform(0.3, _MAX_HZ, _NUM_SINES)
    # Slow parts are larger, as in recorded hands; so accelerations stay small.
    share = 1.0 / (1.0 + hertz**2)
    angle = 2.0 * np.pi * (hertz[:, None] * times + rng.uniform(0.0, 1.0, (_NUM_SINES, 1)))
    return size * (share[:, None] * np.sin(angle)).sum(axis=0) / share.sum()


def turns(rotvec: Float[np.ndarray, "T 3"]) -> Float[np.ndarray, "T 4"]:
    """Quaternions of rotation vectors given in degrees."""
    return rotation.exp(np.radians(rotvec))


def aimed(
    yaw: Float[np.ndarray, " T"], pitch: Float[np.ndarray, " T"], roll: Float[np.ndarray, " T"]
) -> Float[np.ndarray, "T 4"]:
    """Quaternions of a thing that points along its x axis.

    Args:
        yaw: Of that axis about the vertical, degrees.
        pitch: Down, degrees.
        roll: About the axis, degrees.
    """
    parts = (
        turns(np.outer(angle, axis)) for angle, axis in zip((yaw, pitch, roll), _ZYX, strict=True)
    )
    first, second, third = parts
    return rotation.multiply(rotation.multiply(first, second), third)


def turn_about(
    pivot: Float[np.ndarray, "3"],
    rotvec: Float[np.ndarray, "T 3"],
    shift: Float[np.ndarray, "T 3"] | None = None,
) -> Pose:
    """(T,) turns about a fixed point, with an optional shift.

    Args:
        pivot: m.
        rotvec: Degrees.
        shift: m.
    """
    wxyz = turns(rotvec)
    place = pivot - rotation.rotate(wxyz, pivot)
    return Pose(place if shift is None else place + shift, wxyz)


def columns(*parts: Float[np.ndarray, " T"]) -> Float[np.ndarray, "T N"]:
    """Coordinates side by side."""
    return np.stack(parts, axis=-1)
