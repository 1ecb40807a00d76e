"""Honest motions as a camera saw them: every track trembles, and the judge is told to smooth."""

from __future__ import annotations

import numpy as np
from scripted_clips import minimum_jerk

from attacks.clips import alone, clip_of, fist, frames, path, pinch, pinched, rising
from attacks.rows import Neighbour
from handwright.core.tolerances import Tolerances
from handwright.geometry import floor
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.math.pose import Pose

FPS = 120.0
_QUIET = 12
RECORDED = Tolerances(smoothing_hz=6.0)


def trembling(pose: Pose, size, seed=1) -> Pose:
    """Poses that are off by a random way in every frame, m.

    They are quiet for a few frames at either end, where no low-pass has both sides.
    """
    noise = np.random.default_rng(seed).normal(scale=size, size=pose.position.shape)
    noise[:_QUIET] = noise[-_QUIET:] = 0.0
    return Pose(pose.position + noise, pose.wxyz)


def stands_before_a_camera(count=121):
    """A box stands on the floor; its track trembles by 0.15 mm."""
    times = frames(count, FPS)
    pose = trembling(path(np.zeros(count), 0.0, 0.0304), 1.5e-4)
    return alone(make_shape("box"), pose, times, environment=(floor(),))


def shaky_camera_above(count=121):
    """A box stands on the floor; its track trembles by 0.1 mm, and by 0.25 mm up and down."""
    times = frames(count, FPS)
    pose = trembling(path(np.zeros(count), 0.0, 0.03), [1e-4, 1e-4, 2.5e-4], seed=2)
    return alone(make_shape("box"), pose, times, environment=(floor(),))


def held_before_a_camera(count=121):
    """A ball is lifted in a fist; ball and wrist tremble by 0.05 mm, each by itself."""
    times = frames(count, FPS)
    pose = path(0.0, 0.0, 1.0 + rising(times))
    model, root, q = fist(pose)
    return clip_of(
        times,
        hands={"hand": (model, trembling(root, 5e-5, seed=3), q)},
        bodies={"ball": (make_shape("sphere"), trembling(pose, 5e-5, seed=4))},
    )


def pinched_before_a_camera(count=97):
    """A block is lifted in a pinch that follows every tremble of its track, of 0.2 mm."""
    times = frames(count, FPS)
    pose = trembling(path(0.0, 0.0, 1.0 + rising(times, 0.15)), 2e-4)
    return clip_of(times, hands={"hand": pinch(pose)}, bodies={"block": (pinched()[0], pose)})


def waves_before_a_camera(count=121):
    """A hand waves to and fro; its track trembles by 3 mm."""
    times, model = frames(count, FPS), human()
    x = 0.2 * np.sin(2.0 * np.pi * minimum_jerk(times / times[-1]))
    root = trembling(path(x, 1.0, 1.2), 3e-3)
    box = path(np.zeros(count), 0.0, 0.03)
    return clip_of(
        times,
        hands={"hand": (model, root, model.pose("rest"))},
        bodies={"box": (make_shape("box"), box)},
        environment=(floor(),),
    )


NEIGHBOURS = tuple(
    Neighbour(make, tolerances=RECORDED)
    for make in (
        stands_before_a_camera,
        shaky_camera_above,
        held_before_a_camera,
        pinched_before_a_camera,
        waves_before_a_camera,
    )
)
