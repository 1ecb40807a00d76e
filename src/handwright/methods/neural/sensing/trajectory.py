"""Trajectory features: where wrist, other wrist and object were and will be (section 6.1)."""

from __future__ import annotations

import math

import numpy as np

from handwright.kernels.decorators import inlined, kernel
from handwright.math.vec3 import Vec3
from handwright.methods.neural.sensing.motion import Motion, held

NUM_SAMPLES = 21
"""Moments over one second, the measured frame in their middle."""
SAMPLE_STEP = 3
"""Frames from one moment to the next."""
HALF = NUM_SAMPLES // 2
HALF_WINDOW = HALF * SAMPLE_STEP
"""Frames that features look back and ahead: half a second."""
FARTHEST_WRIST = 1.0
"""Largest distance of the other wrist that is told apart, m."""
TRAJECTORY_SIZE = 16 * NUM_SAMPLES
"""How many numbers these features are."""

# Where each kind begins.
_ROTATION = 3 * NUM_SAMPLES
_OTHER = 9 * NUM_SAMPLES
_CENTER = 10 * NUM_SAMPLES
_SPIN = 13 * NUM_SAMPLES


@inlined
def _seen(turn: np.ndarray, frame: int, mirror: float, v: Vec3) -> Vec3:
    """A direction of the world in the wrist frame of a frame, of a left hand in the mirror."""
    return (
        turn[frame, 0, 0] * v[0] + turn[frame, 1, 0] * v[1] + turn[frame, 2, 0] * v[2],
        mirror * (turn[frame, 0, 1] * v[0] + turn[frame, 1, 1] * v[1] + turn[frame, 2, 1] * v[2]),
        turn[frame, 0, 2] * v[0] + turn[frame, 1, 2] * v[1] + turn[frame, 2, 2] * v[2],
    )


@inlined
def _store(out: np.ndarray, at: int, v: Vec3) -> None:
    out[at], out[at + 1], out[at + 2] = v


@inlined
def _spin_at(motion: Motion, frame: int, sample: int) -> Vec3:
    """Angular velocity of the object at a sample, from frames of the window alone.

    The mean of the steps before and after; at the two ends of the window the one that lies in it.
    """
    last = motion.spin.shape[0] - 1
    before = 1.0 if 0 <= frame - 1 < last else 0.0
    after = 1.0 if 0 <= frame < last else 0.0
    if sample == 0:
        share, other = 0.0, 1.0
    elif sample == NUM_SAMPLES - 1:
        share, other = 1.0, 0.0
    else:
        share, other = 0.5, 0.5
    a, b = share * before, other * after
    i, j = held(motion, frame - 1), held(motion, frame)
    spin = motion.spin
    return (
        a * spin[i, 0] + b * spin[j, 0],
        a * spin[i, 1] + b * spin[j, 1],
        a * spin[i, 2] + b * spin[j, 2],
    )


@kernel
def write_trajectory(
    motion: Motion, frame: int, mirror: float, center: np.ndarray, out: np.ndarray
) -> None:
    """Writes the trajectory features of one frame.

    Args:
        motion: Tracks at 60 frames a second.
        frame: The measured frame; everything is seen in its wrist frame.
        mirror: 1 for a right hand, -1 for a left one.
        center: Centre of mass in the object's frame, m.
        out: (336,), written.
    """
    turn, place = motion.wrist_rotation, motion.wrist_position
    x, y, z = place[frame, 0], place[frame, 1], place[frame, 2]
    for sample in range(NUM_SAMPLES):
        wanted = frame + SAMPLE_STEP * (sample - HALF)
        n = held(motion, wanted)
        away = place[n, 0] - x, place[n, 1] - y, place[n, 2] - z
        _store(out, 3 * sample, _seen(turn, frame, mirror, away))
        along = turn[n, 0, 0], turn[n, 1, 0], turn[n, 2, 0]
        dorsal = turn[n, 0, 2], turn[n, 1, 2], turn[n, 2, 2]
        _store(out, _ROTATION + 6 * sample, _seen(turn, frame, mirror, along))
        _store(out, _ROTATION + 6 * sample + 3, _seen(turn, frame, mirror, dorsal))
        distance = FARTHEST_WRIST
        if motion.has_other:
            other = motion.other_position
            ox, oy, oz = other[n, 0] - x, other[n, 1] - y, other[n, 2] - z
            distance = min(math.sqrt(ox * ox + oy * oy + oz * oz), FARTHEST_WRIST)
        out[_OTHER + sample] = distance
        R, p = motion.object_rotation, motion.object_position
        cx, cy, cz = center[0], center[1], center[2]
        middle = (
            p[n, 0] + R[n, 0, 0] * cx + R[n, 0, 1] * cy + R[n, 0, 2] * cz - x,
            p[n, 1] + R[n, 1, 0] * cx + R[n, 1, 1] * cy + R[n, 1, 2] * cz - y,
            p[n, 2] + R[n, 2, 0] * cx + R[n, 2, 1] * cy + R[n, 2, 2] * cz - z,
        )
        _store(out, _CENTER + 3 * sample, _seen(turn, frame, mirror, middle))
        # An axial vector is reflected and reversed.
        spin = _seen(turn, frame, mirror, _spin_at(motion, wanted, sample))
        _store(out, _SPIN + 3 * sample, (mirror * spin[0], mirror * spin[1], mirror * spin[2]))
