"""Bodies that cross each other are found; bodies that rest on, in or beside each other are not."""

from __future__ import annotations

import numpy as np
import pytest
from moving_things import block, far_hand, moving, poses

from handwright.evidence.contacts.crossings import bodies_cross
from handwright.evidence.contacts.probes import exact_distance
from handwright.geometry.shapes import make_shape
from handwright.math import rotation
from handwright.math.pose import Pose

ALLOWED = 1e-3


def crossing(one, two, pose, *, seed=0):
    """Depth of two bodies in each other, the second at poses in the first one's frame."""
    count = len(pose.position)
    rng = np.random.default_rng(seed)
    world = Pose(rng.normal(size=3), rotation.exp(rng.normal(size=3)))
    clip = moving(
        0.1 * np.arange(count),
        bodies={"one": (one, world @ poses(np.zeros((count, 3)))), "two": (two, world @ pose)},
        hands=far_hand(count),
    )
    exact = {name: exact_distance(body) for name, body in clip.problem.bodies.items()}
    depth = bodies_cross(clip, "one", "two", exact)
    other = bodies_cross(clip, "two", "one", exact)
    np.testing.assert_allclose(depth > ALLOWED, other > ALLOWED)
    return depth


def turned(turn, *places):
    return Pose(np.array(places, dtype=float), rotation.exp(np.array(turn, dtype=float)))


ROD = block(0.2, 0.002, 0.002)


@pytest.mark.parametrize("seed", range(6))
def test_rods_that_cross_are_found_and_rods_that_lie_on_each_other_are_not(seed):
    rng = np.random.default_rng(seed)
    across = [0.0, 0.0, rng.uniform(0.3, 2.8)]
    place = rng.uniform(-0.05, 0.05)
    deep = crossing(ROD, ROD, turned(across, [place, 0.0, 0.0], [place, 0.0, 0.0005]), seed=seed)
    assert (deep > 1.4e-3).all()
    # A rod that is 0.9 mm in another may be there.
    touching = turned(across, [place, 0.0, 0.0011], [place, 0.0, 0.002], [place, 0.0, 0.01])
    assert (crossing(ROD, ROD, touching, seed=seed) <= ALLOWED).all()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("thickness", [2e-4, 1e-3, 3e-3])
def test_plates_that_cross_and_a_rod_through_a_plate_are_found(seed, thickness):
    rng = np.random.default_rng(seed)
    plate = block(0.2, 0.15, thickness)
    blade = block(0.1, 0.05, thickness)
    turn = [rng.uniform(0.6, 2.5), 0.0, 0.0]
    place = [rng.uniform(-0.03, 0.03), rng.uniform(-0.02, 0.02), 0.0]
    assert crossing(plate, blade, turned(turn, place), seed=seed).min() > ALLOWED
    through = turned([0.0, np.pi / 2 + rng.uniform(-0.5, 0.5), 0.3], place)
    assert crossing(plate, ROD, through, seed=seed).min() > ALLOWED


def test_round_rods_of_many_faces_that_cross_are_found():
    stick = make_shape("cylinder", radius=0.002, height=0.2)
    assert crossing(stick, stick, turned([1.2, 0.0, 0.0], [0.0, 0.0, 0.0])).min() > ALLOWED
    beside = turned([1.2, 0.0, 0.0], [0.0033, 0.0, 0.0], [0.0045, 0.0, 0.0])
    assert (crossing(stick, stick, beside) <= ALLOWED).all()


@pytest.mark.parametrize("seed", range(10))
def test_boxes_that_stand_on_each_other_are_let_pass_up_to_the_tolerance(seed):
    rng = np.random.default_rng(seed)
    large, small = block(0.2, 0.2, 0.05), block(*rng.uniform(0.02, 0.3, 3))
    low = 0.5 * float(np.ptp(small.vertices[:, 2])) + 0.025
    spin = [0.0, 0.0, rng.uniform(-3.0, 3.0)]
    sunk = np.array([0.0, 1e-4, 5e-4, 9.5e-4])
    place = np.tile([*rng.uniform(-0.1, 0.1, 2), 0.0], (4, 1))
    place[:, 2] = low - sunk
    assert (crossing(large, small, turned(spin, *place), seed=seed) <= ALLOWED).all()


@pytest.mark.parametrize("seed", range(10))
def test_a_box_on_its_edge_or_corner_in_a_thin_or_thick_board_is_let_pass(seed):
    rng = np.random.default_rng(seed)
    small = block(0.05, 0.03, 0.08)
    turn = rng.normal(size=3)
    low = float(rotation.rotate(rotation.exp(turn), small.vertices)[:, 2].min())
    for thickness in (0.001, 0.03):
        board = block(0.3, 0.3, thickness)
        place = [0.0, 0.0, 0.5 * thickness - low - 9e-4]
        assert crossing(board, small, turned(turn, place), seed=seed).max() <= ALLOWED


def test_nested_bodies_and_a_spoon_in_a_mug_are_let_pass():
    mug = make_shape("mug")
    low, high = mug.bounds
    spoon = make_shape("cylinder", radius=0.004, height=0.15)
    inside = 0.5 * (low + high) + [0.0, 0.0, 0.04]
    lean = turned([0.1, 0.0, 0.0], inside)
    assert crossing(mug, spoon, lean).max() <= ALLOWED
    assert exact_distance(mug).signed_distance(inside[None])[0] > 0.01
    # Through the wall it is found.
    through = turned([0.0, np.pi / 2, 0.0], inside - [0.0, 0.0, 0.04])
    assert crossing(mug, spoon, through).max() > ALLOWED


def test_a_body_that_moves_through_another_is_deep_only_while_it_is_in_it():
    height = np.linspace(-0.1, 0.1, 41)
    path = poses(height[:, None] * [0.0, 0.0, 1.0])
    small = block(0.05, 0.05, 0.05)
    depth = crossing(block(0.2, 0.2, 0.02), small, path)
    apart = np.abs(height) > 0.035
    assert (depth[apart] <= 1e-9).all()
    assert (depth[np.abs(height) < 0.03] > ALLOWED).all()
    # It lies still for a while, and is looked at again when it goes on.
    waits = poses(np.repeat([[0.0, 0.0, 0.0], [0.0, 0.0, 0.2], [0.0, 0.0, 0.01]], 5, axis=0))
    assert (crossing(block(0.2, 0.2, 0.02), small, waits) > ALLOWED).tolist() == (
        [True] * 5 + [False] * 5 + [True] * 5
    )
