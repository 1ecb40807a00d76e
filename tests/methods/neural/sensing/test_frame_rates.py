"""Tracks of other frame rates give the features of 60 frames a second, within stated bounds.

The bounds are those of the table in docs/derivations/learned-fingers.md: for wrists of 0.8 m/s and
objects that turn by up to 9 rad/s.
"""

from __future__ import annotations

import numpy as np
import pytest
from sensed_motion import SensedMotion, at_rate

from handwright.core.track import Track
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.methods.neural.sensing import (
    FEATURES,
    assembled,
    finger_features,
    fixed_features,
    hand_view,
)

DURATION = 2.0
FRAMES = np.arange(0, 121, 3)
TORUS = make_shape("torus")
HAND = human("right")
BOUNDS = {
    "wrist_position": 4e-4,
    "wrist_rotation": 4e-3,
    "other_distance": 4e-4,
    "object_center": 4e-4,
    "object_spin": 0.2,
    "signed_distance": 5e-4,
}
"""Largest differences, of all frames."""
SHARES = {"ambient": 5e-3, "proximity": 5e-4, "normal": 0.05}
"""Differences that 99 of 100 numbers keep; the others leap where a ray or a cell just touches."""


def features(motion: SensedMotion, q: np.ndarray) -> np.ndarray:
    view = hand_view(HAND, TORUS, motion.times, *motion.poses)
    return assembled(fixed_features(view, FRAMES), finger_features(view, FRAMES, q))


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("fps", [24.0, 25.0, 30.0, 48.0, 59.94, 72.0, 90.0, 100.0, 120.0])
def test_features_do_not_depend_on_the_frame_rate(fps: float, seed: int) -> None:
    # Tracks that end a little later than the frames that are looked at, whatever their rate.
    exact = SensedMotion(np.arange(126) / 60.0, seed)
    q = exact.postures(HAND)[FRAMES]
    count = int(np.ceil(125.0 / 60.0 * fps)) + 1
    error = np.abs(features(SensedMotion(np.arange(count) / fps, seed), q) - features(exact, q))
    # Frames whose window ends with the track may see it end at another time.
    error = error[FRAMES < 126 - 30 - 3]
    # Errors of the curve fall with the cube of the time between frames; the grids' leap remains.
    finer = max((24.0 / fps) ** 3, 0.02)
    for row in FEATURES:
        if row.name in BOUNDS:
            slack = 1.0 if row.name == "signed_distance" else finer
            assert error[:, row.slice].max() < BOUNDS[row.name] * slack, row.name
        elif row.name in SHARES:
            assert np.percentile(error[:, row.slice], 99.0) < SHARES[row.name] * finer, row.name


def test_twice_the_rate_gives_the_same_numbers() -> None:
    exact, double = at_rate(60.0, DURATION), at_rate(120.0, DURATION)
    q = exact.postures(HAND)[FRAMES]
    np.testing.assert_allclose(features(double, q), features(exact, q), atol=1e-6)


def test_straight_lines_would_not_keep_the_bounds() -> None:
    """What the curves are for; ``Track.at`` goes straight from frame to frame."""
    exact, coarse = at_rate(60.0, DURATION), at_rate(24.0, DURATION)
    wanted = hand_view(HAND, TORUS, exact.times, *exact.poses)
    straight = hand_view(
        HAND,
        TORUS,
        exact.times,
        *(Track(coarse.times, pose).at(exact.times) for pose in coarse.poses),
    )
    error = np.abs(straight.wrist_position - wanted.wrist_position).max()
    assert error > BOUNDS["wrist_position"]
