"""Poses of wrist and object at 60 frames a second: the form that the sensing kernels take.

Before its first frame and after its last one a motion stands still.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from handwright.kernels.decorators import inlined, kernel
from handwright.math.vec3 import Vec3

RATE = 60.0
"""Frames a second."""


class Motion(NamedTuple):
    """Tracks of a wrist and of the object that its hand senses, in the world."""

    wrist_rotation: np.ndarray
    """(T, 3, 3), maps wrist to world."""
    wrist_position: np.ndarray
    """(T, 3), m."""
    object_rotation: np.ndarray
    """(T, 3, 3), maps object to world."""
    object_position: np.ndarray
    """(T, 3), m."""
    other_position: np.ndarray
    """(T, 3) of the other hand's wrist, m; zeros if there is none."""
    spin: np.ndarray
    """(T, 3) angular velocity of the object from each frame to the next, rad/s, world axes; zero
    after the last frame."""
    has_other: bool
    """Whether there is another hand."""


@inlined
def turn_rate(rotation: np.ndarray, first: int, second: int) -> Vec3:
    """Angular velocity, rad/s, that leads from one frame's rotation to that of the next.

    Turns of half a turn a frame and more cannot be told from slower ones.
    """
    # Of R = B A^T only the trace and the antisymmetric part are needed.
    xx = yy = zz = x = y = z = 0.0
    for j in range(3):
        a0, a1, a2 = rotation[first, 0, j], rotation[first, 1, j], rotation[first, 2, j]
        b0, b1, b2 = rotation[second, 0, j], rotation[second, 1, j], rotation[second, 2, j]
        xx += b0 * a0
        yy += b1 * a1
        zz += b2 * a2
        x += b2 * a1 - b1 * a2
        y += b0 * a2 - b2 * a0
        z += b1 * a0 - b0 * a1
    sine = 0.5 * math.sqrt(x * x + y * y + z * z)
    angle = math.atan2(sine, 0.5 * (xx + yy + zz - 1.0))
    scale = 0.5 * RATE * (angle / sine if sine > 0.0 else 1.0)
    return scale * x, scale * y, scale * z


@kernel
def fill_spin(rotation: np.ndarray, spin: np.ndarray) -> None:
    """Writes the angular velocity from each frame to the next."""
    last = rotation.shape[0] - 1
    for n in range(last):
        spin[n, 0], spin[n, 1], spin[n, 2] = turn_rate(rotation, n, n + 1)
    spin[last, 0], spin[last, 1], spin[last, 2] = 0.0, 0.0, 0.0


@inlined
def held(motion: Motion, frame: int) -> int:
    """The frame whose poses hold at a frame that may lie outside the motion."""
    return min(max(frame, 0), motion.wrist_position.shape[0] - 1)


@kernel
def place_wrist(motion: Motion, frame: int, turn: np.ndarray, shift: np.ndarray) -> None:
    """Writes how wrist coordinates become those of the object at a frame: turn x + shift."""
    n = held(motion, frame)
    for i in range(3):
        shift[i] = 0.0
        for j in range(3):
            away = motion.wrist_position[n, j] - motion.object_position[n, j]
            shift[i] += motion.object_rotation[n, j, i] * away
            turn[i, j] = 0.0
            for k in range(3):
                turn[i, j] += motion.object_rotation[n, k, i] * motion.wrist_rotation[n, k, j]
