"""A motion that is still going on is sensed as one that is known from its start to its end."""

from __future__ import annotations

import numpy as np
import pytest
from sensed_motion import SensedMotion, at_rate

from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.math.pose import Pose
from handwright.methods.neural.sensing import (
    NOW,
    HandView,
    LiveView,
    assembled,
    finger_features,
    fixed_features,
    hand_view,
)

MOTION = at_rate(60.0, 1.5)
LAST = len(MOTION.times) - 1
CUP = make_shape("paper_cup")


def whole(model: object, motion: SensedMotion = MOTION) -> HandView:
    return hand_view(model, CUP, motion.times, *motion.poses)


def stream(view: LiveView, frames: range) -> None:
    """Frames beyond the last one hold it."""
    for n in frames:
        view.advance(*(pose[min(n, LAST)] for pose in MOTION.poses))


def measured(view: LiveView, q: np.ndarray) -> np.ndarray:
    return assembled(fixed_features(view, NOW), finger_features(view, NOW, q[None]))[0]


@pytest.mark.parametrize("side", ["right", "left"])
def test_stream_equals_batch(side: str) -> None:
    model = human(side)
    q = MOTION.postures(model)
    view = whole(model)
    frames = np.arange(LAST + 1)
    batch = assembled(fixed_features(view), finger_features(view, frames, q))
    live = LiveView(model, CUP)
    stream(live, range(30))
    for frame in frames:
        stream(live, range(frame + 30, frame + 31))
        np.testing.assert_allclose(measured(live, q[frame]), batch[frame], atol=1e-6)


def test_postures_one_by_one_equal_a_batch() -> None:
    view = whole(human("right"))
    q = MOTION.postures(view.model)
    frames = np.array([5, 5, 80, 3])
    rows = [finger_features(view, frames[n : n + 1], q[n : n + 1])[0] for n in range(4)]
    np.testing.assert_array_equal(finger_features(view, frames, q[:4]), rows)
    np.testing.assert_array_equal(fixed_features(view, frames), fixed_features(view)[frames])


def test_a_window_is_all_that_a_frame_depends_on() -> None:
    """Half a second to either side: what is later or earlier changes nothing."""
    model = human("right")
    q = MOTION.postures(model)[40:41]
    cut = slice(10, 71)
    window = hand_view(model, CUP, MOTION.times[cut], *(pose[cut] for pose in MOTION.poses))
    view = whole(model)
    np.testing.assert_array_equal(fixed_features(window, NOW), fixed_features(view, [40]))
    np.testing.assert_array_equal(finger_features(window, NOW, q), finger_features(view, [40], q))


def test_the_object_can_be_swapped() -> None:
    model, ball = human("right"), make_shape("sphere")
    q = MOTION.postures(model)[0]
    live, other = LiveView(model, CUP), LiveView(model, ball)
    stream(live, range(40))
    stream(other, range(40))
    before = measured(live, q)
    live.sense(ball)
    np.testing.assert_array_equal(measured(live, q), measured(other, q))
    assert np.abs(measured(live, q) - before).max() > 0.05


def test_another_hand_may_come_and_go() -> None:
    model = human("right")
    live = LiveView(model, CUP)
    far = slice(189, 210)
    wrist, held = MOTION.wrist[0], MOTION.object[0]
    live.advance(wrist, held)
    assert (fixed_features(live, NOW)[0, far] == 1.0).all()
    near = Pose(wrist.position + np.array([0.0, 0.3, 0.0]), wrist.wxyz)
    live.advance(wrist, held, near)
    np.testing.assert_allclose(fixed_features(live, NOW)[0, far], 0.3, atol=1e-6)
    live.advance(wrist, held)
    assert (fixed_features(live, NOW)[0, far] == 1.0).all()
