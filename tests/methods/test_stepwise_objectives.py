"""Objectives of a frame: references of goals, postures, values, and what hands expect."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from stepped_frame import resting_frame

import handwright as hw
from handwright.core.clip import Provenance
from handwright.core.contact import ContactMode
from handwright.core.goal import Feature, Goal
from handwright.grasping import GRIP_STYLES, Grasp, ReachPath
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.methods.stepwise.contacts.contact_kernels import ContactKinematics
from handwright.methods.stepwise.contacts.contact_state import ContactState, contact_arrays
from handwright.methods.stepwise.contacts.followed_contacts import FollowedContacts
from handwright.methods.stepwise.frame import Frame
from handwright.methods.stepwise.objectives.anticipation import Expectation
from handwright.methods.stepwise.objectives.horizon import VelocityObjectives
from handwright.methods.stepwise.objectives.integrator_value import integrator_values
from handwright.methods.stepwise.objectives.joint_effort import (
    acceleration_cost,
    block,
    kept_rows,
    position_cost,
    put_block,
    weighted_errors,
)
from handwright.methods.stepwise.objectives.planned_grasps import PlannedGrasp
from handwright.methods.stepwise.objectives.posture_targets import (
    FixedPosture,
    FollowedPosture,
    body_objectives,
    posture_objectives,
)
from handwright.methods.stepwise.objectives.pursuit import (
    POSITION_WEIGHT,
    begin_pursuit,
    feature_now,
    join_objectives,
)
from handwright.methods.stepwise.objectives.pursuits import Pursuits
from handwright.methods.stepwise.objectives.references import (
    aligned,
    passing,
    reaching_rate,
    speeding,
    toward,
)
from handwright.methods.stepwise.settings import Settings
from handwright.methods.stepwise.world import make_world

STEP = 1.0 / 30.0
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])
MASS = 0.4


@pytest.fixture(scope="module")
def problem() -> hw.Problem:
    body = hw.make_shape("box", width=0.06, depth=0.06, height=0.06, mass=MASS)
    return hw.Problem(
        "objectives",
        STEP * np.arange(3),
        {"right": hw.human("right")},
        {"box": body},
        start={
            "box": Pose(np.array([0.0, 0.0, 0.5]), UPRIGHT),
            "right": Pose(np.array([-0.2, 0.0, 0.5]), UPRIGHT),
        },
    )


@pytest.fixture(scope="module")
def world(problem):
    return make_world(problem)


@pytest.fixture
def frame(problem, world) -> Frame:
    return resting_frame(problem, world, time=1.0, step=STEP)


def test_a_reach_takes_the_time_that_it_is_given():
    shares = np.linspace(0.0, 1.0, 20001)
    time = np.trapezoid([1.0 / reaching_rate(share) for share in shares], shares)
    assert time == pytest.approx(1.0, rel=1e-3)
    assert reaching_rate(0.4) > 5.0 * reaching_rate(0.0) > 0.0
    assert reaching_rate(-1.0) == reaching_rate(0.0)


def test_a_way_is_covered_in_time_and_held_at_its_end():
    way, place, time = np.array([0.3, -0.4, 0.0]), np.zeros(3), 0.0
    while time < 1.2:
        error, velocity = toward(place, way, 1.0, 2e-3)
        np.testing.assert_allclose(np.cross(velocity, way), 0.0, atol=1e-12)
        place, time = place + 1e-3 * velocity, time + 1e-3
    assert np.linalg.norm(place - way) < 2e-3 + 1e-4
    error, velocity = toward(way + np.array([0.0, 0.0, 1e-3]), way, 1.0, 2e-3)
    np.testing.assert_allclose(error, [0.0, 0.0, 1e-3])
    np.testing.assert_allclose(velocity, 0.0)
    # Off the way, the error is what leads back to it.
    error, _ = toward(0.5 * way + np.array([0.0, 0.0, 0.05]), way, 1.0, 2e-3)
    np.testing.assert_allclose(error, [0.0, 0.0, 0.05], atol=1e-12)


def test_a_place_is_passed_at_its_time_with_its_velocity():
    goal, wanted = np.array([0.2, 0.1]), np.array([0.5, -0.3])
    place, velocity, left, step = np.zeros(2), np.array([0.0, 0.4]), 0.8, 1e-3
    while left > 3.0 * step:
        error, velocity = passing(goal - place, velocity, wanted, left, step)
        np.testing.assert_allclose(error, 0.0)
        place, left = place + step * velocity, left - step
    np.testing.assert_allclose(place + left * velocity, goal, atol=2e-3)
    np.testing.assert_allclose(velocity, wanted, atol=2e-2)


def test_an_axis_turns_by_the_shortest_way_and_a_velocity_is_come_to_smoothly():
    error, velocity = aligned(np.array([0.0, 0.0, 0.5]), 1.0, 2.0, 0.02)
    np.testing.assert_allclose(error, 0.0, atol=1e-15)
    assert velocity[2] == pytest.approx(reaching_rate(0.5) / 2.0)
    error, velocity = aligned(np.array([0.01, 0.0, 0.0]), 1.0, 2.0, 0.02)
    np.testing.assert_allclose(error, [-0.01, 0.0, 0.0])
    assert not velocity.any()
    first, wanted = np.zeros(1), np.ones(1)
    assert speeding(first, wanted, 0.0, 0.6) is None
    speeds = [float(speeding(first, wanted, 1.0, until)[0]) for until in (0.5, 0.25, 0.0, -1.0)]
    assert speeds == pytest.approx([0.0, 0.5, 1.0, 1.0])


def test_the_value_of_an_integrator_obeys_bellmans_equation():
    stage = np.array([1.0, 0.2, 0.05])
    (value,) = integrator_values(np.array([3.0]), stage)
    moved = np.array([[1.0, 1.0, 1.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]])
    control = np.ones(3)
    gain = moved.T @ value @ control / (1.0 + control @ value @ control)
    next_value = (
        np.diag(3.0 * stage)
        + moved.T @ value @ moved
        - np.outer(gain, gain) * (1.0 + control @ value @ control)
    )
    np.testing.assert_allclose(next_value, value, rtol=1e-9)


def test_costs_of_positions_are_sums_of_squares():
    rng = np.random.default_rng(0)
    kept, matrix = rng.normal(size=(3, 5)), rng.normal(size=(4, 5))
    matrix[0, [0, 1, 4]] = 0.0
    off, error, weight, wanted = (rng.normal(size=n) for n in (3, 4, 4, 4))
    weight = weight**2
    hessian = position_cost(kept, 7.0, matrix, weight)
    expected = 7.0 * kept.T @ kept + matrix.T @ (weight[:, None] * matrix)
    np.testing.assert_allclose(hessian - np.diag(np.diag(hessian)),
                               expected - np.diag(np.diag(expected)), atol=1e-12)  # fmt: skip
    assert (np.diag(hessian) > np.diag(expected)).all()
    position, velocity = weighted_errors(kept, off, 7.0, matrix, error, weight, wanted)
    np.testing.assert_allclose(position, 7.0 * kept.T @ off + matrix.T @ (weight * error))
    np.testing.assert_allclose(velocity, matrix.T @ (weight * wanted))
    own = np.array([4, 1])
    part = block(hessian, own)
    np.testing.assert_allclose(part, hessian[np.ix_(own, own)])
    put_block(hessian, own, 2.0 * part)
    np.testing.assert_allclose(hessian[np.ix_(own, own)], 2.0 * part)


def test_sliding_contacts_are_kept_along_their_normal_more_than_across_it():
    up = np.array([0.0, 0.0, 1.0])
    contacts = ContactKinematics(
        np.tile(np.eye(3), (3, 1, 1)),
        np.tile([0.1, 0.0, 0.2], (3, 1)),
        np.tile(up, (3, 1)),
        np.zeros((3, 3)),
    )
    rows, error = kept_rows(contacts, np.array([1.0, 0.03, -1.0]), STEP)
    np.testing.assert_allclose(rows[:3], np.eye(3))
    np.testing.assert_allclose(rows[3:], np.diag([0.03, 0.03, 1.0]))
    np.testing.assert_allclose(error, [0.1, 0.0, 0.2, 0.003, 0.0, 0.2])


def test_effort_of_a_held_body_is_that_of_its_mass_in_the_hand():
    # One joint that pushes one body along a line: together they weigh 2 + 3.
    held = np.zeros((1, 3, 2))
    held[0, 0] = [1.0, -1.0]
    effort = acceleration_cost(held, np.array([[2.0]]), np.array([[3.0]]), 1.0)
    together = np.array([1.0, 1.0])
    assert together @ effort @ together == pytest.approx(25.0, rel=1e-3)


def test_a_posture_pulls_back_by_its_weights(frame):
    hand, settings = frame.world.hands[0], Settings()
    q = np.array(frame.hands[0].q)
    above = frame.hands[0].position + np.array([0.0, 0.0, 0.02])
    target = FixedPosture(q + 0.1, Pose(above, UPRIGHT))
    rows = posture_objectives(frame, 0, target, settings)
    np.testing.assert_allclose(rows.error[6:], -0.1)
    np.testing.assert_allclose(rows.error[:3], [0.0, 0.0, -0.02])
    np.testing.assert_allclose(rows.target_velocity, 0.0)
    np.testing.assert_allclose(rows.weight[6:], settings.finger_weight)
    np.testing.assert_allclose(rows.matrix[:, hand.slice], np.eye(hand.count))
    # A hand with goals keeps its fingers' posture only.
    led = posture_objectives(frame, 0, target, settings, is_led=True)
    assert not led.error[:6].any()
    np.testing.assert_allclose(led.error[6:], -0.1)


class Reaching(FixedPosture):
    """A posture that is followed closely."""

    def tracks_tightly(self, time: float) -> bool:
        return True


def test_a_reach_is_followed_more_tightly_than_a_posture_is_kept(frame):
    q, root = frame.hands[0].q, Pose(frame.hands[0].position, UPRIGHT)
    loose = posture_objectives(frame, 0, FixedPosture(q, root), Settings())
    tight = posture_objectives(frame, 0, Reaching(q, root), Settings())
    np.testing.assert_allclose(tight.weight[6:], 100.0 * loose.weight[6:])


TIMES = np.array([0.0, 1.0, 1.0 + STEP, 2.0])


def followed_clip(frame: Frame, problem: hw.Problem) -> hw.Clip:
    """The box is shoved and turned within a frame; the index finger pushes it at 1 s."""
    turned = rotation.exp(np.array([0.0, 0.0, 0.3]))
    wxyz = np.array([UPRIGHT, UPRIGHT, turned, turned])
    position = np.array([[0.0, 0.0, 0.5], [0.01, 0.0, 0.5], [0.03, 0.0, 0.5], [0.03, 0.0, 0.5]])
    pad = problem.hands["right"].capsules.names.index("index_distal")
    contact = hw.Contact(
        frame=1,
        toucher="right",
        part=pad,
        body="box",
        point=np.array([-0.02, 0.0, 0.5]),
        normal=np.array([1.0, 0.0, 0.0]),
        gap=0.0,
        force=np.array([2.0, 0.0, 0.5]),
        mode=ContactMode.STATIC,
    )
    hand = hw.HandMotion(
        Pose(np.tile(frame.hands[0].position, (4, 1)), np.tile(UPRIGHT, (4, 1))),
        np.tile(frame.hands[0].q, (4, 1)) + 0.01 * np.arange(4)[:, None],
    )
    return hw.Clip(
        problem,
        TIMES,
        {"right": hand},
        {"box": Pose(position, wxyz)},
        hw.ContactTrack.of([contact]),
        Provenance("objectives", "test"),
    )


def test_a_followed_body_is_led_along_its_motion(frame, problem):
    rows = body_objectives(frame, 0, followed_clip(frame, problem))
    np.testing.assert_allclose(rows.error, [-0.01, 0.0, 0.0, 0.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(rows.target_velocity[:3], [0.02 / STEP, 0.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(rows.target_velocity[3:], [0.0, 0.0, 0.3 / STEP], atol=1e-9)
    assert rows.weight[0] == POSITION_WEIGHT


def test_contacts_of_a_followed_motion_are_known_by_time(frame, problem):
    clip, hand = followed_clip(frame, problem), frame.world.hands[0]
    followed = FollowedContacts(clip, frame.world)
    pad = hand.model.capsules.names.index("index_distal")
    assert list(followed.at(1.0)) == [(0, pad, 0)]
    np.testing.assert_allclose(followed.at(1.0)[0, pad, 0].force, [2.0, 0.0, 0.5])
    assert followed.at(0.2) == {}
    # Around its time the plan says whether the finger touches; long before, nothing does.
    assert followed.governed(1.15) == {(0, pad, 0)}
    assert followed.governed(0.2) == set()
    busy = followed.busy(hand, 0, 1.0)
    names = hand.model.joints.names
    assert busy[names.index("index_pip_flexion")]
    assert not busy[names.index("middle_pip_flexion")]
    contact = ContactState(body=0, hand=0, part=pad)
    (target,) = followed.force_targets(frame, [ContactState(body=0), contact])
    assert target.contacts.tolist() == [False, True]
    np.testing.assert_allclose(target.total, [2.0, 0.0, 0.5])


def test_a_followed_hand_is_interpolated_and_gives_way_where_it_holds(frame, problem):
    clip, hand = followed_clip(frame, problem), frame.world.hands[0]
    busy = partial(FollowedContacts(clip, frame.world).busy, hand, 0)
    target = FollowedPosture(clip, "right", busy)
    q, _ = target.at(1.0 + 0.25 * STEP)
    np.testing.assert_allclose(q, clip.hands["right"].q[1] + 0.0025)
    tight = target.tracks_tightly(1.0)
    names = hand.model.joints.names
    assert not tight[names.index("index_pip_flexion")]
    assert tight[names.index("middle_pip_flexion")]


def test_a_planned_grasp_is_reached_before_it_holds(frame):
    grip = hw.Grip("right", "box", "precision", 0.0, 1.0)
    q = np.array(frame.hands[0].q)
    root = Pose(frame.hands[0].position, UPRIGHT)
    grasp = Grasp(GRIP_STYLES["precision"], q + 0.4, root, (), 1.0, 0.0)
    both = Pose(np.tile(root.position, (2, 1)), np.tile(UPRIGHT, (2, 1)))
    path = ReachPath(np.array([0.0, 1.0]), np.array([q, q + 0.4]), both, 0.0)
    planned = PlannedGrasp(grip, 0, 0, grasp, path)
    assert planned.tracks_tightly(0.5)
    assert not planned.releases_arm(0.5)
    assert not planned.tracks_tightly(1.0)
    assert planned.releases_arm(1.0)
    np.testing.assert_allclose(planned.at(0.0)[0], q)
    np.testing.assert_allclose(planned.at(0.425)[0], q + 0.2)
    # The hand follows a little behind, so the end is wanted before the grip holds.
    np.testing.assert_allclose(planned.at(0.86)[0], q + 0.4)
    np.testing.assert_allclose(planned.at(5.0)[0], q + 0.4)


def lift(height: float) -> Goal:
    return Goal(Feature("box"), 3.0, 4.0, position=np.array([0.0, 0.0, 0.5 + height]))


def test_a_goal_leads_its_feature_towards_it(frame):
    goal = lift(0.2)
    now = feature_now(frame, goal)
    np.testing.assert_allclose(now.point, [0.0, 0.0, 0.5])
    rows = begin_pursuit(frame, goal, now, is_replaced=False).rows(frame, now)
    np.testing.assert_allclose(rows.error, 0.0)
    assert rows.target_velocity[2] == pytest.approx(0.2 * reaching_rate(0.0) / 2.0)
    # The rows are the velocity of the feature.
    velocity = np.zeros(frame.world.num_velocities)
    velocity[frame.world.bodies[0].slice] = [1.0, 2.0, 3.0, 0.0, 0.0, 0.0]
    np.testing.assert_allclose(rows.matrix @ velocity, [1.0, 2.0, 3.0])
    both = join_objectives([rows, rows], frame.world.num_velocities)
    assert len(both.error) == 2 * len(rows.error)
    none = join_objectives([], frame.world.num_velocities)
    assert isinstance(none, VelocityObjectives)
    assert none.matrix.shape == (0, frame.world.num_velocities)


def test_a_goal_of_a_body_is_pursued_once_it_is_held_and_begins_a_lift(frame):
    pursuits = Pursuits()
    expectation = Expectation(hw.Grip("right", "box", "precision", 0.0, 0.0), 0, 0)
    assert pursuits.rows(frame, [lift(0.2)], set(), [expectation]) == []
    assert not pursuits
    assert expectation.lift_weight == 0.0
    assert len(pursuits.rows(frame, [lift(0.2)], {"box"}, [expectation])) == 1
    assert pursuits
    assert expectation.lift_weight > 0.0


def pinch(frame: Frame) -> list[ContactState]:
    """Two contacts of the hand on opposite sides of the box."""
    return [
        ContactState(
            body=0,
            hand=0,
            part=n,
            anchor=np.array([side * 0.03, 0.0, 0.0]),
            normal=np.array([-side, 0.0, 0.0]),
            friction=0.5,
            force=np.array([-side, 0.0, 1.0]),
        )
        for n, side in enumerate((-1.0, 1.0))
    ]


def expected_by(**believed: float) -> Expectation:
    return Expectation(hw.Grip("right", "box", "precision", 0.0, 0.0, **believed), 0, 0)


def test_a_grip_is_as_firm_as_the_believed_mass_and_friction_ask_for(frame):
    friction = frame.world.bodies[0].body.friction

    def cap(**believed: float) -> float:
        contacts = pinch(frame)
        expected_by(**believed).limit(frame, contacts, contact_arrays(frame, contacts))
        assert contacts[0].cap == pytest.approx(contacts[1].cap, rel=1e-3)
        return contacts[0].cap

    # Twice what friction needs to carry the weight between two fingers.
    assert cap() == pytest.approx(2.0 * 0.5 * MASS * 9.81 / friction, rel=1e-3)
    assert cap(believed_mass=0.5) == pytest.approx(0.5 * cap(), rel=1e-3)
    assert cap(believed_friction=2.0) == pytest.approx(0.5 * cap(), rel=1e-3)


def test_a_body_that_is_heavier_than_believed_slips(frame):
    for mass, slips in ((1.0, False), (0.2, True)):
        contacts, expectation = pinch(frame), expected_by(believed_mass=mass)
        rows = contact_arrays(frame, contacts)
        expectation.limit(frame, contacts, rows)
        changed = expectation.allow_slip(frame, contacts, rows, np.zeros(3))
        assert changed == slips == expectation.is_losing
        modes = {contact.mode for contact in contacts}
        assert modes == {ContactMode.SLIDING if slips else ContactMode.STATIC}


def test_expectations_fade(frame):
    expectation = expected_by()
    expectation.begin_lift()
    contacts = pinch(frame)
    (target,) = expectation.force_targets(frame, contacts)
    np.testing.assert_allclose(target.total, [0.0, 0.0, MASS * 9.81])
    expectation.disturb(contacts)
    hold = expectation.force_targets(frame, contacts)[1]
    np.testing.assert_allclose(hold.total, [0.0, 0.0, 2.0])
    before = expectation.slack
    for _ in range(600):
        expectation.learn(1.0)
    assert expectation.force_targets(frame, contacts) == []
    assert expectation.slack > 20.0 > before
