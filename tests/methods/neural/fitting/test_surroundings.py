"""Fingers stay out of tables and walls, which networks do not see."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("onnxruntime", reason="the extra neural is not installed")

from stand_in_networks import TrackNetwork
from taught_grasps import taught_grasp

from handwright.core.surface import HalfSpace, Surface
from handwright.geometry.distance.environment import (
    environment_value_gradient,
    pack_environment,
    resized,
    table,
    wall,
)
from handwright.geometry.distance.surface_distance import surface_distance
from handwright.hands import human
from handwright.hands.scaled import scaled
from handwright.kinematics import posed_capsules
from handwright.kinematics.obstacles import no_object
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.methods.neural.fitting import FittedHand, body_view, corrected, seen_at
from handwright.methods.neural.fitting.joint_table import joint_table
from handwright.methods.neural.fitting.surroundings import Surroundings
from handwright.methods.neural.fitting.touch_terms import touch_table, touch_terms
from handwright.methods.neural.motion import learned_motion
from handwright.methods.neural.sensing.features import pose_of
from handwright.methods.neural.sensing.view import hand_views
from tests.methods.neural.fitting.half_gradients import assert_derivatives
from tests.methods.neural.fitting.held_bodies import held

_TABLE = table(0.0, size=(1.0, 1.0))


def _around(wrist: Pose, *surfaces: Surface) -> Surroundings:
    turn = rotation.to_matrix(wrist.wxyz)[None]
    return Surroundings(pack_environment(surfaces), turn, wrist.position[None])


def _alone(wrist: Pose, *surfaces: Surface):
    """A hand beside some surfaces, and nothing to hold."""
    return body_view(no_object(), np.eye(3), np.zeros(3), _around(wrist, *surfaces))


def _deepest(model, q, wrist: Pose, surface: Surface, digits=range(5)) -> float:
    """Of the ends of the capsules of some digits, m."""
    capsules = posed_capsules(model, q, wrist)
    gap = surface_distance(surface, capsules.end)[0] - capsules.radius
    return -float(gap[np.isin(model.capsules.digit, digits)].min())


def _pose_that_is_meant(model, q):
    """What a network says that wants the hand like this, and far from everything."""
    return np.concatenate([pose_of(model, q[None])[0], np.full(22, 0.035)])


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("surface", [_TABLE, HalfSpace(np.array([0.0, 0.0, 1.0]), 0.0)])
def test_fingers_that_point_into_a_table_come_out(side, surface):
    model = human(side)
    # Palm down, 4 cm over the table, fingers bent into it.
    wrist = Pose(np.array([0.0, 0.0, 0.04]), np.array([1.0, 0.0, 0.0, 0.0]))
    q = model.pose("rest")
    assert _deepest(model, q, wrist, surface) > 0.005
    moved = corrected(
        FittedHand(model), _alone(wrist, surface), _pose_that_is_meant(model, q), q, "contact"
    )
    assert _deepest(model, moved, wrist, surface) < 1e-3
    # Digits that are not in the table are left alone.
    for digit in range(5):
        if _deepest(model, q, wrist, surface, [digit]) < 0.0:
            own = list(model.digits[digit].joints)
            np.testing.assert_allclose(moved[own], q[own], atol=1e-9)


def test_without_surroundings_nothing_changes():
    model = human()
    wrist = Pose(np.array([0.0, 0.0, 0.04]), np.array([1.0, 0.0, 0.0, 0.0]))
    q = model.pose("rest")
    output = _pose_that_is_meant(model, q)
    moved = corrected(FittedHand(model), _alone(wrist), output, q, "contact")
    np.testing.assert_allclose(moved, q, atol=1e-9)


def test_a_hand_that_holds_a_body_is_kept_out_of_a_wall_beside_it():
    scene = held("ball")
    place = posed_capsules(scene.model, scene.q, scene.wrist).end
    little = scene.model.capsules.digit == 4
    beside = wall(place[little].mean(axis=0), np.array([0.0, 1.0, 0.0]))
    assert _deepest(scene.model, scene.q, scene.wrist, beside) > 0.003
    view = scene.view()._replace(around=_around(scene.wrist, beside))
    output = scene.output(scene.q, scene.q)
    moved = corrected(FittedHand(scene.model), view, output, scene.q, "contact")
    assert _deepest(scene.model, moved, scene.wrist, beside, [1, 2, 3, 4]) < 1.5e-3
    assert min(scene.digit_gaps(moved, digit).min() for digit in range(1, 5)) > -2e-3


def test_derivatives_of_being_pushed_out():
    model, rng = human("left"), np.random.default_rng(3)
    turn = rotation.exp(rng.normal(size=3))
    view = _alone(Pose(np.array([0.02, -0.01, 0.05]), turn), wall(np.zeros(3), rng.normal(size=3)))
    touch = touch_table(model, joint_table(model), push=1.5, depth=-1.0)
    q = model.joints.random(rng)

    def terms(rig, links, work, digit):
        return touch_terms(rig, touch, links, digit, view, 0, work, 0)

    assert_derivatives(model, q, terms)


def test_surroundings_grow_with_the_scene():
    corner = pack_environment([_TABLE, wall(np.array([0.3, 0.0, 0.1]), np.array([-1.0, 0.2, 0.0]))])
    larger = resized(corner, 1.25)
    for point in np.random.default_rng(0).normal(0.0, 0.5, (50, 3)):
        before = environment_value_gradient(corner, *point)
        after = environment_value_gradient(larger, *(1.25 * point))
        assert after[0] == pytest.approx(1.25 * before[0], abs=1e-12)
        np.testing.assert_allclose(after[1:], before[1:], atol=1e-12)


def test_a_view_of_a_problem_has_its_table_in_the_size_of_the_taught_hand():
    problem = replace(taught_grasp(3).problem, environment=(_TABLE,))
    hand = scaled(human(), 1.25)
    views = hand_views(replace(problem, hands={"right": hand}))
    np.testing.assert_allclose(
        views["right"].surroundings.half_extents, [_TABLE.half_extents / 1.25]
    )
    seen = seen_at(views["right"], np.arange(3))
    wrist = problem.track("right").at(problem.times)
    np.testing.assert_allclose(1.25 * seen.around.position, wrist.position[:3], atol=1e-9)


def test_a_motion_over_a_table_stays_out_of_it_also_in_its_first_frame():
    problem = taught_grasp(3).problem
    # The table cuts through the closed hand, just below its palm.
    wrist = problem.track("right").at(problem.times)
    height = float(wrist.position[:, 2].min()) - 0.05
    desk = table(height, size=(2.0, 2.0))
    free, kept = (
        learned_motion(replace(problem, environment=surfaces), TrackNetwork())
        for surfaces in ((), (desk,))
    )
    depth = [depth_below(clip, desk) for clip in (free, kept)]
    assert depth[0].max() > 0.01
    assert depth[1].max() < 2e-3


def depth_below(clip, surface):
    """How deep the deepest end of a digit's capsule is in each frame, m."""
    model, motion = clip.problem.hands["right"], clip.hands["right"]
    return np.array(
        [_deepest(model, q, motion.root[frame], surface) for frame, q in enumerate(motion.q)]
    )
