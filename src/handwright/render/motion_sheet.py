"""Several motions on one picture: rows are motions, columns are times."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import UInt8

from handwright.core.clip import Clip
from handwright.evidence.metrics.diversity import most_different, pose_track
from handwright.render.camera import Camera
from handwright.render.clip_scene import ClipScene, Overlay
from handwright.render.scene import Stage
from handwright.render.sheet import contact_sheet

ROWS, COLUMNS = 5, 6
"""What fits on a sheet that is still readable."""
_WIDTH, _HEIGHT = 300, 300
CAMERA = Camera(azimuth=math.radians(100.0), elevation=math.radians(30.0), margin=0.03)
"""Looks at the front of what a person holds, from above."""


def motion_sheet(
    clips: Sequence[Clip],
    *,
    rows: int = ROWS,
    columns: int = COLUMNS,
    camera: Camera = CAMERA,
    size: tuple[int, int] = (_WIDTH, _HEIGHT),
    is_still: bool = False,
) -> UInt8[np.ndarray, "H W 3"]:
    """A row for each of the motions that look least alike, and times across.

    The times are those at which hands touch. The first motion is always shown.

    Args:
        clips: The motions, one or more.
        rows: At most so many of them.
        columns: At most so many times.
        camera: Where to look from.
        size: Width and height of one picture, pixels.
        is_still: Whether the camera stays where it sees all of a motion, rather than go along.
    """
    images, labels = [], []
    # Motions may differ in length; they are compared at the times that are shown.
    seen = [
        pose_track(clip)[np.linspace(*touching_span(clip), columns).round().astype(int)]
        for clip in clips
    ]
    chosen = most_different(seen, rows)
    for number in chosen:
        clip = clips[number]
        frames = spread(*touching_span(clip), columns)
        images += pictures(clip, frames, camera, size, is_still=is_still)
        labels += [f"solution {number:02d}, {clip.times[frame]:.2f} s" for frame in frames]
    return contact_sheet(images, len(images) // len(chosen), labels)


def spread(first: int, last: int, most: int) -> list[int]:
    """Up to ``most`` different numbers, evenly from the first to the last."""
    count = min(most, last - first + 1)
    return [int(number) for number in np.linspace(first, last, count).round()]


def touching_span(clip: Clip) -> tuple[int, int]:
    """First and last frame in which a hand touches; the whole clip if none does."""
    contacts = clip.contacts
    hands = [row for row, name in enumerate(contacts.touchers) if name in clip.hands]
    frames = contacts.frame[np.isin(contacts.toucher, hands)]
    return (int(frames.min()), int(frames.max())) if len(frames) else (0, clip.num_frames - 1)


def pictures(
    clip: Clip,
    frames: Sequence[int],
    camera: Camera = CAMERA,
    size: tuple[int, int] = (_WIDTH, _HEIGHT),
    *,
    is_still: bool = False,
) -> list[UInt8[np.ndarray, "H W 3"]]:
    """Frames of a motion with forces; the camera goes along with hands and bodies, or stays."""
    scene = ClipScene(clip, Overlay(metres_per_newton=0.012))
    moving = [np.concatenate([item.vertices for item in scene.moving(frame)]) for frame in frames]
    width, height = size
    images = []
    with Stage(
        scene.items(frames[0]),
        width=width,
        height=height,
        samples=3,
        reach=np.concatenate(moving),
        max_markers=scene.max_markers,
    ) as stage:
        for frame, points in zip(frames, moving, strict=True):
            seen = np.concatenate(moving) if is_still else points
            stage.show(scene.items(frame), scene.markers(frame))
            images.append(stage.picture(camera.framing(seen, aspect=width / height)))
    return images
