"""Where a wrist has to be: the search, its parts, and what it stores."""

from __future__ import annotations

import numpy as np
import pytest

from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.kinematics import posed_pads
from tools.scenes.files import load_holds, save_holds
from tools.scenes.fitting import fit_wrist
from tools.scenes.gripping import (
    carrying_wrenches,
    hold_from,
    holding_force,
    wrists_around,
)
from tools.scenes.task import Task, comfortable_pose, mirrored, opposed


@pytest.fixture(scope="module")
def task() -> Task:
    body = make_shape("cylinder", radius=0.03, height=0.12, mass=0.3).with_friction(0.8)
    heights = (0.02, 0.03, 0.01, -0.01, -0.03)
    spots = np.array([(0.0, 0.03 if d else -0.03, z) for d, z in enumerate(heights)])
    return Task(
        human("right"),
        body,
        np.zeros((1, 3)),
        carrying_wrenches(body),
        spots,
        digits=(True, True, True, True, False),
        palm_gap=(0.005, 0.012),
        lowest=-0.06,
    )


@pytest.fixture(scope="module")
def start():
    return wrists_around(
        ((-0.13, 0.98, 0.05), (0.98, 0.14, -0.06)),
        grip=((0.10, 0.0, -0.085), (0.10, 0.0, -0.085)),
        at=((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
        count=1,
    )[0]


def test_a_hand_finds_its_way_to_a_rod(task, start):
    hold = hold_from(task, start)
    assert np.isfinite(hold.cost)
    assert hold.touching[:4].all()
    # Pads lie on the rod, thumb and fingers across from each other.
    radii = np.linalg.norm(hold.points[hold.touching, :2], axis=1)
    assert np.abs(radii - 0.03).max() < 1e-3
    assert hold.points[0, 1] < 0.0 < hold.points[1:4, 1].min()
    pads = posed_pads(task.model, hold.q[0], hold.wrist).position
    assert np.linalg.norm(pads - hold.points, axis=1)[:4].max() < 6e-3


def test_fitting_lowers_what_it_minimises(task, start):
    assert (
        fit_wrist(task, start, max_steps=30).cost < 0.5 * fit_wrist(task, start, max_steps=1).cost
    )


def test_a_swap_turns_the_wrist_about_the_vertical_only(task, start):
    swapped = Task(
        task.model, task.body, task.turns, task.wrenches, task.spots, digits=task.digits, swaps=True
    )
    found = fit_wrist(swapped, start, max_steps=10).wrist
    before, after = (pose.rotate(np.eye(3))[:, 2] for pose in (start, found))
    assert np.abs(before - after).max() < 1e-9


def test_two_fingers_on_a_line_hold_what_their_friction_allows(task):
    points = np.array([(0.0, -0.03, 0.0), (0.0, 0.03, 0.0)])
    outward = np.array([(0.0, -1.0, 0.0), (0.0, 1.0, 0.0)])
    # Two contacts with 0.8 of the friction 0.8 lift m (g + 2): force is that over friction.
    force = holding_force(_only(task, task.wrenches[:1]), points, outward)
    assert force == pytest.approx((9.81 + 2.0) / 9.81 / 0.64, rel=1e-4)
    # One side alone holds nothing.
    assert holding_force(_only(task, task.wrenches[:1]), points[:1], outward[:1]) == np.inf


def _only(task: Task, wrenches: np.ndarray) -> Task:
    return Task(task.model, task.body, task.turns, wrenches, task.spots)


def test_mirrored_holds_are_mirror_images():
    hold = load_holds()["big_box_side"]
    other = mirrored(hold)
    right = posed_pads(human("right"), hold.q[1], hold.wrist)
    left = posed_pads(human("left"), other.q[1], other.wrist)
    flip = np.array([-1.0, 1.0, 1.0])
    assert np.abs(right.position * flip - left.position).max() < 1e-9
    assert np.abs(right.normal * flip - left.normal).max() < 1e-9
    again = mirrored(other)
    assert np.abs(again.wrist.matrix() - hold.wrist.matrix()).max() < 1e-12


def test_holds_come_back_from_their_file(tmp_path):
    holds = load_holds()
    save_holds(holds, tmp_path)
    again = load_holds(tmp_path)
    assert set(again) == set(holds)
    for name, hold in holds.items():
        assert np.isfinite(hold.cost)
        assert hold.touching[0]
        assert hold.touching[1:].sum() >= 2
        assert np.abs(again[name].wrist.matrix() - hold.wrist.matrix()).max() < 1e-6
        assert np.array_equal(again[name].q, hold.q)


@pytest.mark.parametrize("style", ["precision", "wrap", "flat"])
def test_comfortable_postures_are_within_limits(style):
    for side in ("right", "left"):
        model = human(side)
        for q in (comfortable_pose(model, style), opposed(model, "open")):
            assert np.all(q >= model.joints.lower - 1e-12)
            assert np.all(q <= model.joints.upper + 1e-12)
