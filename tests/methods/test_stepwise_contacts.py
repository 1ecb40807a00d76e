"""Contacts of a frame: what limits them, what carries bodies, and how far they move."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from stepped_frame import resting_frame

import handwright as hw
from handwright.core.contact import ContactMode
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.methods.stepwise.contacts.contact_kernels import (
    ContactIndices,
    ContactKinematics,
    force_edges,
)
from handwright.methods.stepwise.contacts.contact_limits import (
    STILL_SPEED,
    ContactModes,
    contact_limits,
    least_speed,
)
from handwright.methods.stepwise.contacts.contact_state import (
    ContactState,
    contact_arrays,
    held_points,
)
from handwright.methods.stepwise.contacts.digit_separation import digit_limits
from handwright.methods.stepwise.contacts.ends import (
    contact_wrenches,
    frame_ends,
    motion_over_bodies,
    true_motion,
)
from handwright.methods.stepwise.contacts.proximity import (
    body_proximities,
    hand_contact,
    hand_proximities,
    support_contacts,
)
from handwright.methods.stepwise.contacts.resting_kernels import (
    InverseMass,
    SupportCorners,
    carrying_corners,
    is_lowest,
    support_impulses,
)
from handwright.methods.stepwise.contacts.transition_kernels import (
    energy_added,
    gaps_and_forces,
    in_body_axes,
    slip_figures,
)
from handwright.methods.stepwise.contacts.transitions import separating_contacts
from handwright.methods.stepwise.frame import Frame
from handwright.methods.stepwise.qp.step import StepSolution
from handwright.methods.stepwise.world import (
    BodyPoses,
    advance_hand,
    body_state,
    hand_state,
    make_world,
)

STEP = 1.0 / 30.0
UP = np.array([0.0, 0.0, 1.0])
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])
STATIC, SLIDING = int(ContactMode.STATIC), int(ContactMode.SLIDING)


@pytest.fixture(scope="module")
def problem() -> hw.Problem:
    """A hand beside a box that stands on the floor."""
    body = replace(hw.make_shape("box", width=0.06, depth=0.06, height=0.06, mass=0.3), name="box")
    return hw.Problem(
        "contacts",
        STEP * np.arange(3),
        {"right": hw.human("right")},
        {"box": body},
        start={
            "box": Pose(np.array([0.0, 0.0, 0.03]), UPRIGHT),
            "right": Pose(np.array([-0.20, 0.0, 0.06]), UPRIGHT),
        },
        environment=(hw.floor(0.0, friction=0.5),),
    )


@pytest.fixture(scope="module")
def world(problem):
    return make_world(problem)


@pytest.fixture
def frame(problem, world) -> Frame:
    return resting_frame(problem, world, time=0.0, step=STEP)


def one_contact(*, hand: int, mode: int = STATIC, gap: float = 0.0, **more) -> tuple:
    """Limits of one contact at rest over a floor whose toucher moves with the velocities."""
    kinematics = ContactKinematics(
        np.eye(3)[None], -gap * UP[None], UP[None], np.array([more.pop("curve", np.zeros(3))])
    )
    modes = ContactModes(
        np.array([hand]),
        np.array([more.pop("is_pinned", False)]),
        np.array([more.pop("is_stuck", False)]),
        np.array([mode]),
        np.array([more.pop("drag", np.zeros(3))]),
    )
    assert not more
    return contact_limits(kinematics, modes, STEP)


def allows(limits: tuple, velocity: list[float]) -> bool:
    matrix, low, _ = limits
    return bool((matrix @ np.array(velocity) >= low - 1e-12).all())


def test_a_gap_closes_within_a_frame_and_a_depth_is_undone_slowly():
    speed = least_speed(np.array([0.003, 0.0, -0.001, -1.0]), STEP)
    np.testing.assert_allclose(speed, [-0.003 / STEP, 0.0, 0.3 * 0.001 / STEP, 0.05])


def test_what_a_body_lies_on_may_come_as_near_as_it_is_and_may_go():
    limits = one_contact(hand=-1, gap=0.001)
    # The normal points into the body: what touches comes nearer along it.
    assert allows(limits, [0.0, 0.0, 0.99 * 0.001 / STEP])
    assert not allows(limits, [0.0, 0.0, 1.01 * 0.001 / STEP])
    assert allows(limits, [5.0, 5.0, -5.0])
    assert limits[2].tolist() == [1]


def test_a_static_contact_of_a_hand_does_not_slide_but_may_part():
    limits = one_contact(hand=0)
    assert allows(limits, [0.9 * STILL_SPEED, -0.9 * STILL_SPEED, -5.0])
    for way in ([1.1, 0.0, 0.0], [-1.1, 0.0, 0.0], [0.0, 1.1, 0.0], [0.0, -1.1, 0.0]):
        assert not allows(limits, [STILL_SPEED * part for part in way])
    assert limits[2].tolist() == [2, 2, 2, 2]


def test_a_sliding_contact_of_a_hand_does_not_turn_back():
    limits = one_contact(hand=0, mode=SLIDING, drag=np.array([1.0, 0.0, 0.0]))
    assert allows(limits, [0.1, 3.0, 3.0])
    assert not allows(limits, [-0.1, 0.0, 0.0])


def test_a_pinned_contact_may_not_part_and_a_stuck_one_may_not_slide():
    pinned = one_contact(hand=-1, is_pinned=True)
    assert allows(pinned, [1.0, 0.0, 0.0])
    assert not allows(pinned, [0.0, 0.0, -1e-3])
    assert not allows(one_contact(hand=-1, is_stuck=True), [1.0, 0.0, 0.0])


def test_what_curves_add_to_a_motion_counts_as_motion():
    limits = one_contact(hand=-1, gap=0.001, curve=np.array([0.0, 0.0, 0.02]))
    assert allows(limits, [0.0, 0.0, 0.001 / STEP - 0.021])
    assert not allows(limits, [0.0, 0.0, 0.001 / STEP - 0.019])


def test_a_force_lies_on_the_cone_of_its_mode():
    mode = np.array([STATIC, SLIDING, int(ContactMode.COLLIDING)])
    drag = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.4], [0.0, 0.0, 0.0]])
    edges, owner = force_edges(mode, np.array([0.5, 0.5, 0.5]), drag, np.tile(UP, (3, 1)))
    assert owner.tolist() == [0, 0, 0, 0, 1, 2]
    np.testing.assert_allclose(edges @ UP, 1.0)
    np.testing.assert_allclose(np.linalg.norm(edges[:4, :2], axis=1), 0.5)
    np.testing.assert_allclose(edges[:4].sum(axis=0), [0.0, 0.0, 4.0], atol=1e-15)
    np.testing.assert_allclose(edges[4], [0.5, 0.0, 1.0])
    np.testing.assert_allclose(edges[5], UP)


def test_the_outermost_and_the_deepest_corners_carry():
    x, y = np.meshgrid(np.linspace(-1.0, 1.0, 9), np.linspace(-1.0, 1.0, 9))
    arms = np.column_stack([x.ravel(), y.ravel(), np.zeros(81)])
    gap = np.full(81, 1e-5)
    gap[40] = -1e-5
    chosen = carrying_corners(arms, np.tile(UP, (81, 1)), gap)
    assert 40 in chosen
    assert len(chosen) <= 7
    # Their hull holds the middle, or the body would tip.
    assert np.ptp(arms[chosen, 0]) == pytest.approx(2.0)
    assert np.ptp(arms[chosen, 1]) == pytest.approx(2.0)
    assert is_lowest(np.array([0.0, 4e-4, 6e-4, 1.0])).tolist() == [True, True, False, False]


def box_corners(gap: float) -> SupportCorners:
    arm = np.array([[a, b, -0.03] for a in (-0.03, 0.03) for b in (-0.03, 0.03)])
    return SupportCorners(arm, np.full(4, gap), np.tile(UP, (4, 1)), np.full(4, 0.5))


def supported(speed: float, gap: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Velocity and sum of impulses of a 2 kg cube that moves along x and has begun to fall."""
    inertia = 2.0 / 12.0 * 2.0 * 0.06**2
    body = InverseMass(2.0, np.eye(3) / inertia)
    free = np.array([speed, 0.0, -9.81 * STEP, 0.0, 0.0, 0.0])
    velocity, _, impulse = support_impulses(
        body, free, box_corners(gap), np.zeros((4, 3)), 2.0 * 9.81 * STEP, STEP
    )
    return velocity, impulse.sum(axis=0)


def test_a_resting_box_is_carried_by_its_weight():
    velocity, impulse = supported(0.0)
    # Sweeps end when no impulse changes by more than 1e-7 of the weight's.
    np.testing.assert_allclose(velocity, 0.0, atol=1e-5)
    np.testing.assert_allclose(impulse, 2.0 * 9.81 * STEP * UP, atol=1e-6)


def test_a_sliding_box_is_braked_by_coulombs_law():
    velocity, impulse = supported(1.0)
    assert impulse[0] == pytest.approx(-0.5 * impulse[2], rel=1e-3)
    assert velocity[0] == pytest.approx(1.0 - 0.5 * 9.81 * STEP, rel=1e-2)


def test_a_box_in_the_air_falls_freely():
    velocity, impulse = supported(0.3, gap=0.05)
    np.testing.assert_allclose(velocity, [0.3, 0.0, -9.81 * STEP, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(impulse, 0.0)


def test_figures_of_slips_and_energy():
    force, normal = np.array([[3.0, 0.0, 4.0]]), UP[None]
    slip, drag = np.array([[0.2, 0.0, 0.0]]), np.array([[0.0, 1.0, 0.0]])
    mean = np.array([[0.0, 0.5, 0.0]])
    figures = slip_figures(force, normal, slip, mean, drag)
    np.testing.assert_allclose(figures, [[4.0, 3.0, 0.2, 0.5, 0.0, 0.5]])
    gap, along = gaps_and_forces(np.array([[0.1, 0.0, -0.002]]), normal, force)
    assert gap[0] == pytest.approx(0.002)
    assert along[0] == pytest.approx(4.0)
    here = (normal, slip, np.array([0.5]))
    sliding, static = np.array([SLIDING]), np.array([STATIC])
    # Friction along the slip of what touches brakes it; against it, it would drive it.
    assert energy_added(force, *here, np.array([0]), sliding, 1e-3, STEP) == 0.0
    driven = energy_added(-force, *here, np.array([0]), sliding, 1e-3, STEP)
    assert driven == pytest.approx(STEP * 3.0 * 0.2)
    # A body that leaves what it lies on may not be pushed any more.
    pushed = energy_added(force, *here, np.array([-1]), static, 1e-3, STEP)
    assert pushed == pytest.approx(STEP * 0.5 * 4.0)


def test_vectors_in_body_axes():
    turn = rotation.to_matrix(rotation.exp(np.array([0.3, -0.2, 0.9])))
    vector = np.array([[1.0, 2.0, 3.0]])
    found = in_body_axes(vector, np.array([1]), np.stack([np.eye(3), turn]))
    np.testing.assert_allclose(found[0], turn.T @ vector[0])


def test_a_contact_pushes_one_body_and_the_other_back():
    force, point = np.array([[1.0, -2.0, 0.5]]), np.array([[0.2, 0.1, 0.4]])
    center = np.array([[0.0, 0.0, 0.1], [0.5, 0.0, 0.0]])
    wrench = contact_wrenches(force, point, np.array([0]), np.array([1]), center)
    np.testing.assert_allclose(wrench[0], [*force[0], *np.cross(point[0] - center[0], force[0])])
    np.testing.assert_allclose(wrench[1], [*-force[0], *np.cross(point[0] - center[1], -force[0])])


def test_bodies_that_move_as_one_do_not_slip():
    turn = rotation.to_matrix(rotation.exp(np.array([0.2, 0.4, -0.3])))
    center = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0]])
    before = BodyPoses(center, np.tile(np.eye(3), (2, 1, 1)))
    after = BodyPoses(center @ turn.T + [0.0, 0.3, 0.0], np.tile(turn, (2, 1, 1)))
    which = ContactIndices(*(np.array([n]) for n in (0, -1, 1, -1)))
    point = np.array([[0.05, 0.01, 0.0]])
    moved = np.zeros((1, 3))
    motion_over_bodies(which, point, point - center[:1], before, after, moved)
    np.testing.assert_allclose(moved, 0.0, atol=1e-15)
    # On the floor the same point has moved, and the floor over it the other way.
    floor = which._replace(other=np.array([-1]))
    motion_over_bodies(floor, point, point - center[:1], before, after, moved)
    np.testing.assert_allclose(moved[0], point[0] - (turn @ point[0] + [0.0, 0.3, 0.0]))


def test_a_box_on_the_floor_meets_it_with_its_lower_corners(frame):
    (near,) = body_proximities(frame)
    assert (near.body, near.other, near.surface) == (0, -1, 0)
    assert len(near.gap) == 4
    np.testing.assert_allclose(near.gap, 0.0, atol=1e-9)
    np.testing.assert_allclose(near.normal, np.tile(UP, (4, 1)))
    contacts = support_contacts(frame, [near])
    assert {contact.friction for contact in contacts} == {0.5}
    assert all(contact.mode == ContactMode.STATIC and contact.hand < 0 for contact in contacts)


def test_corners_that_come_fast_are_seen_from_farther(frame):
    high = body_state(frame.world.bodies[0], Pose(np.array([0.0, 0.0, 0.1]), UPRIGHT))
    still = Frame.begin(frame.world, frame.hands, [high], time=0.0, step=STEP)
    assert body_proximities(still) == []
    high.velocity = np.array([0.0, 0.0, -3.0])
    assert len(body_proximities(still)) == 1


def test_a_contact_of_skin_is_where_skin_and_body_are_nearest(frame):
    # The box is put against the pad of the index finger.
    hand, state = frame.world.hands[0], frame.hands[0]
    pad = hand.model.digit("index").pad
    tip = state.links.position[pad.link] + state.links.rotation[pad.link] @ pad.position
    out = state.links.rotation[pad.link] @ pad.normal
    axis = int(np.abs(out).argmax())
    shift = np.zeros(3)
    shift[axis] = np.sign(out[axis]) * (0.03 + 0.002)
    now = body_state(frame.world.bodies[0], Pose(tip + shift, UPRIGHT))
    near = Frame.begin(frame.world, frame.hands, [now], time=0.0, step=STEP)
    meeting = next(m for m in hand_proximities(near) if m.body == 0)
    part = int(meeting.nearest.gap.argmin())
    contact = hand_contact(near, meeting, part, ContactMode.STATIC)
    link = near.hands[0].links
    skin = link.position[contact.link] + link.rotation[contact.link] @ contact.local
    np.testing.assert_allclose(skin, meeting.nearest.point[part], atol=1e-12)
    on_box = now.center + contact.anchor
    gap = meeting.nearest.gap[part]
    assert np.linalg.norm(skin - on_box) == pytest.approx(abs(gap), abs=1e-9)
    assert np.abs(contact.anchor).max() == pytest.approx(0.03, abs=2e-4)
    _, apart = held_points(near, [contact])
    np.testing.assert_allclose(apart[0], [gap, 0.0], atol=1e-6)


def test_velocities_at_contacts_are_those_of_their_points(frame):
    hand, body = frame.world.hands[0], frame.bodies[0]
    pad = hand.model.digit("index").pad
    anchor = np.array([0.01, -0.02, 0.03])
    contacts = [
        ContactState(body=0, hand=0, part=0, link=int(pad.link), anchor=anchor, normal=UP),
        ContactState(body=0, part=0, local=body.center + anchor, anchor=anchor, normal=UP),
    ]
    # The point of the hand that is where the body is touched.
    links = frame.hands[0].links
    point = body.center + anchor
    contacts[0].local = links.rotation[pad.link].T @ (point - links.position[pad.link])
    rows = contact_arrays(frame, contacts)
    np.testing.assert_allclose(rows.point, np.tile(point, (2, 1)))
    np.testing.assert_allclose(rows.offset, 0.0, atol=1e-15)
    rng = np.random.default_rng(0)
    velocity = rng.normal(size=frame.world.num_velocities)
    moved = rows.motion(velocity).moved
    tiny = 1e-7
    ahead = frame.hands[0].copy()
    advance_hand(hand, ahead, velocity[hand.slice], tiny)
    there = ahead.links.position[pad.link] + ahead.links.rotation[pad.link] @ contacts[0].local
    own = velocity[frame.world.bodies[0].slice]
    of_body = own[:3] + np.cross(own[3:], anchor)
    np.testing.assert_allclose(moved[0], (there - point) / tiny - of_body, atol=1e-5)
    np.testing.assert_allclose(moved[1], -of_body, atol=1e-12)
    np.testing.assert_allclose(rows.motion(velocity).slip @ UP, 0.0, atol=1e-12)
    np.testing.assert_allclose(rows.motion(velocity).along, moved @ UP)


def test_true_motion_is_the_linear_one_for_slow_frames(frame):
    anchor = np.array([0.03, 0.0, 0.0])
    contact = ContactState(body=0, part=0, local=frame.bodies[0].center + anchor, anchor=anchor)
    contact.normal = np.array([-1.0, 0.0, 0.0])
    rows = contact_arrays(frame, [contact])
    rng = np.random.default_rng(1)
    world = frame.world
    force = rng.normal(size=(1, 3))
    moment = np.cross(anchor, force[0])
    inertia = world.bodies[0].body.inertia
    velocity = np.zeros(world.num_velocities)
    own = world.bodies[0].slice
    lift = force[0] + world.body_weights[0]
    velocity[own] = [
        *(STEP * lift / world.bodies[0].body.mass),
        *(STEP * np.linalg.solve(inertia, moment)),
    ]
    none = np.zeros(world.num_hand_velocities)
    solved = StepSolution(velocity, force, none, 0.0, 1)
    ends = frame_ends(frame, rows, solved, np.zeros((1, 6)))
    np.testing.assert_allclose(ends.bodies[0].velocity, velocity[own][:3], atol=1e-12)
    linear = rows.motion(velocity).moved[0]
    curved = true_motion(frame, rows, ends)[0]
    # Points move on curves: the difference is of the second order.
    turn = STEP * np.linalg.norm(velocity[own][3:])
    assert np.linalg.norm(curved - linear) < 2.0 * turn * np.linalg.norm(linear) + 1e-9
    assert np.linalg.norm(linear) > 1e-3


def test_a_contact_that_parts_while_it_pushes_is_told(frame):
    anchor = np.array([0.0, 0.0, -0.03])
    contact = ContactState(
        body=0, part=0, local=frame.bodies[0].center + anchor, anchor=anchor, normal=UP
    )
    rows = contact_arrays(frame, [contact])
    velocity = np.zeros(frame.world.num_velocities)
    velocity[frame.world.bodies[0].first + 2] = 0.1

    def told(push: float) -> list[int]:
        none = np.zeros(frame.world.num_hand_velocities)
        solved = StepSolution(velocity, push * UP[None], none, 0.0, 1)
        return separating_contacts([contact], rows, solved, 3.0, STEP)

    assert told(1.0) == [0]
    assert told(0.0) == []
    contact.is_pinned = True
    assert told(1.0) == []


def test_limits_of_digits_are_the_speeds_of_their_gaps(problem, world):
    hand = world.hands[0]
    q = hand.model.joints.clamp(hand.model.pose("rest"))
    # Index and middle finger side by side.
    for name in ("index_mcp_abduction", "middle_mcp_abduction"):
        if name in hand.model.joints.names:
            q[hand.model.joints.index(name)] = 0.0
    state = hand_state(hand, q, problem.start["right"])
    width = world.num_velocities
    rows, gaps = digit_limits(hand.digits, hand.chain(state.links), width)
    assert len(gaps) > 0
    rng = np.random.default_rng(3)
    velocity, tiny = rng.normal(size=hand.count), 1e-7
    ahead = state.copy()
    advance_hand(hand, ahead, velocity, tiny)
    _, later = digit_limits(hand.digits, hand.chain(ahead.links), width)
    assert len(later) == len(gaps)
    np.testing.assert_allclose(rows[:, hand.slice] @ velocity, (later - gaps) / tiny, atol=1e-4)
