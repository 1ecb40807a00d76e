"""What smoothing holds on to, from paths that are written by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from handwright.geometry.distance.sdf_build import signed_distance_field
from handwright.geometry.shapes import make_shape
from handwright.methods.sampling.finish.anchors import (
    HandPath,
    posture_anchors,
    rolled_anchors,
    search_anchors,
    touch_anchors,
)
from handwright.methods.sampling.finish.check import make_checked_motion
from handwright.methods.sampling.search.workspace import FLY, FREE, HOLD, copy_path, make_path

FRAMES, START, OFFSET, LINK = 6, 3, 5, 2
SIZES = SimpleNamespace(sizes={"J": 4, "D": 2, "C": 3})
LOCAL, TARGET = np.array([0.01, 0.0, 0.0]), np.array([0.31, 0.2, 0.1])


def held(modes):
    """One digit of a hand, the second of two, in the given modes.

    Its links stand still, such that LOCAL of link LINK is at TARGET.
    """
    path = make_path(SIZES, FRAMES)
    path.reached[:, 1] = modes
    path.kept[:, 1] = True
    path.link[:, 1] = LINK + OFFSET
    path.local[:, 1], path.target[:, 1] = LOCAL, TARGET
    positions = np.zeros((START + FRAMES, 4, 3))
    positions[:, LINK] = TARGET - LOCAL
    rotations = np.tile(np.eye(3), (START + FRAMES, 4, 1, 1))
    return HandPath(path, START, np.array([1]), OFFSET, rotations, positions)


def test_a_copied_path_shares_no_memory():
    path = make_path(SIZES, FRAMES)
    copied = copy_path(path)
    for column in path:
        column[...] = 1
    assert not any(column.any() for column in copied)
    assert path.shear.shape == (FRAMES, 3, 3)
    assert path.mode.shape == (FRAMES, 2)


def test_held_points_are_anchors_and_free_digits_have_none():
    found = search_anchors(held([FREE, HOLD, HOLD, HOLD, HOLD, HOLD]))
    own = found.weight == 1.0
    assert found.frame[own].tolist() == [START + t for t in range(1, FRAMES)]
    assert set(found.link.tolist()) == {LINK}
    assert set(found.digit.tolist()) == {0}
    np.testing.assert_allclose(found.target, np.tile(TARGET, (len(found.target), 1)))
    # The frame before the landing has the contact's point too, with little weight.
    assert found.frame[~own].tolist() == [START]
    assert (found.weight[~own] < 0.5).all()


def test_a_point_in_the_air_is_no_more_than_a_hint():
    found = search_anchors(held([HOLD, HOLD, FLY, FLY, HOLD, HOLD]))
    weight = {int(t): float(found.weight[found.frame == t].max()) for t in np.unique(found.frame)}
    assert weight[START + 1] == weight[START + 4] == 1.0
    assert weight[START + 2] < 0.5
    assert weight[START + 2] > found.weight[found.frame == START + 2].min() > 0.0


def test_a_point_that_the_search_missed_is_taken_where_it_was():
    hand = held([HOLD] * FRAMES)
    hand.path.target[2, 1] += [0.0, 0.002, 0.0]
    found = search_anchors(hand)
    np.testing.assert_allclose(found.target[found.frame == START + 2][0], TARGET)


def test_where_a_contact_rolls_the_old_point_counts_too():
    hand = held([HOLD] * FRAMES)
    hand.path.local[3:, 1] += [0.0, 0.001, 0.0]
    hand.path.target[3:, 1] += [0.0, 0.001, 0.0]
    found = search_anchors(hand)
    both = found.local[found.frame == START + 3]
    assert sorted(both[:, 1].tolist()) == [0.0, 0.001]


def test_links_are_held_where_the_search_had_them_by_three_points():
    found = posture_anchors(held([FREE, HOLD, HOLD, FREE, HOLD, HOLD]), np.array([2, 3]))
    assert found.frame.tolist() == [START + 2] * 3
    assert np.linalg.matrix_rank(found.local - found.local[0]) == 2
    np.testing.assert_allclose(found.target - found.local, np.tile(TARGET - LOCAL, (3, 1)))


def checked_contacts(rows):
    """Contacts (frame, capsule, point, slip) along x."""
    checked = make_checked_motion(START + FRAMES, 4)
    for n, (frame, capsule, point, slip) in enumerate(rows):
        checked.frame[n], checked.capsule[n], checked.point[n] = frame, capsule, point
        checked.slip[n, 0] = slip
        checked.normal[n] = [0.0, 0.0, -1.0]
    checked.num[0] = len(rows)
    return checked


def data_of(field=None):
    """Capsule 0 is on the digit's link, capsule 1 on the one before, capsule 2 on a palm."""
    table = SimpleNamespace(capsule_link=np.array([LINK, LINK - 1, 0]) + OFFSET)
    hands = SimpleNamespace(digit_of_capsule=np.array([1, 1, -1]), table=table)
    return SimpleNamespace(hands=hands, field=field)


def test_other_phalanges_that_touch_are_held_where_they_are():
    point = np.array([0.1, 0.2, 0.3])
    rows = [(4, 0, TARGET, 0.0), (4, 1, point, 0.0), (4, 1, point + 1.0, 0.0), (4, 2, point, 0.0)]
    rows += [(START + FRAMES - 1, -1, point, 0.0), (1, 1, point, 0.0)]
    found = touch_anchors(held([HOLD] * FRAMES), checked_contacts(rows), data_of())
    # Not the guiding point's own link, nor a face beside an edge, a palm, the ground, or a frame
    # before the search.
    assert found.frame.tolist() == [4]
    assert found.link.tolist() == [LINK - 1]
    np.testing.assert_allclose(found.target, [point])


@pytest.mark.parametrize(("slip", "rolls"), [(1e-3, True), (1e-5, False)])
def test_contacts_that_slip_roll_on_and_others_are_left_alone(slip, rolls):
    body = make_shape("box")
    top = float(body.bounds[1][2])
    target = np.array([0.0, 0.0, top])
    hand = held([HOLD] * FRAMES)
    hand.path.target[:, 1] = target
    hand.positions[:, LINK] = target - LOCAL
    anchors = search_anchors(hand)
    moved = target + np.array([0.001, 0.0, 0.0])
    checked = checked_contacts([(START + 2, 0, moved, slip)])
    field = signed_distance_field(body)
    found = rolled_anchors(anchors, hand, checked, data_of(field), 1e-4)
    if not rolls:
        for new, old in zip(found, anchors, strict=True):
            np.testing.assert_array_equal(new, old)
        return
    before, after = found.frame < START + 2, found.frame >= START + 2
    np.testing.assert_allclose(found.local[before], np.tile(LOCAL, (2, 1)))
    # The contact rolls in frame 2 and goes on from there.
    np.testing.assert_allclose(
        found.local[after], np.tile(LOCAL + np.array([0.001, 0.0, 0.0]), (4, 1))
    )
    np.testing.assert_allclose(found.target[after], np.tile(moved, (4, 1)), atol=2e-4)


def test_a_contact_that_slipped_to_a_new_point_goes_on_from_that_one():
    hand = held([HOLD] * FRAMES)
    hand.path.local[3:, 1] += [0.0, 0.001, 0.0]
    hand.path.target[3:, 1] += [0.0, 0.001, 0.0]
    hand.path.kept[3, 1] = False
    anchors = search_anchors(hand)
    checked = checked_contacts([(START + 1, 0, TARGET, 1e-3)])
    found = rolled_anchors(anchors, hand, checked, data_of(), 1e-4)
    assert found.frame.tolist() == [START + t for t in range(FRAMES)]
    np.testing.assert_allclose(found.local[:, 1], [0.0] * 3 + [0.001] * 3)
    np.testing.assert_allclose(found.target[:, 1] - TARGET[1], [0.0] * 3 + [0.001] * 3, atol=1e-12)
