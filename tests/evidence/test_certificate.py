"""The certificate passes what is right and names what is wrong, and only that."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scripted_clips import (
    GRASP_ROOT,
    UPRIGHT,
    creeping,
    floating,
    grasp,
    lift_clip,
    make_clip,
    shifted,
    sinking,
    throw_clip,
    with_body,
    with_hand,
    with_judged_forces,
)

from benchmarks.verify import carried_ball, planted_faults
from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import Contact, ContactMode, ContactTrack
from handwright.core.problem import Problem
from handwright.errors import InvalidValueError
from handwright.evidence import Tolerances, certify
from handwright.evidence.certificate.findings import _widest_gaps
from handwright.evidence.contacts.slip import Slips
from handwright.evidence.contacts.table import FoundContacts, contact_table
from handwright.geometry import floor
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.kinematics import posed_capsules
from handwright.math import rotation
from handwright.math.pose import Pose


@pytest.fixture(scope="module")
def lift():
    return lift_clip()


@pytest.fixture(scope="module")
def lift_certificate(lift):
    return certify(lift)


def test_a_scripted_lift_is_certified(lift_certificate):
    assert lift_certificate.reasons == ()
    assert lift_certificate.passed
    assert lift_certificate.verdict == "certified"
    assert all(not record.failed for record in lift_certificate.frames)


def test_the_forces_do_what_the_motion_needs_inside_the_cones(lift, lift_certificate):
    body = lift.problem.bodies["ball"]
    for record in lift_certificate.frames[1:-1]:
        ball = record.bodies["ball"]
        center = lift.bodies["ball"][record.frame].apply(body.center)
        force = sum(contact.force for contact in ball.contacts)
        moment = sum(np.cross(c.point - center, c.force) for c in ball.contacts)
        # Newton, with the acceleration of the track by an independent second difference.
        path = lift.bodies["ball"].apply(body.center)[record.frame - 1 : record.frame + 2]
        step = lift.times[1] - lift.times[0]
        needed = body.mass * (np.diff(path, n=2, axis=0)[0] / step**2 + [0.0, 0.0, 9.81])
        np.testing.assert_allclose(force, needed, atol=1e-6)
        np.testing.assert_allclose(moment, ball.required_moment, atol=1e-8)
        for c in ball.contacts:
            normal = c.force @ c.normal
            across = np.linalg.norm(c.force - normal * c.normal)
            assert across <= body.friction * normal + 1e-6


def test_a_throw_is_certified_without_any_contact():
    certificate = certify(throw_clip())
    assert certificate.reasons == ()
    assert all(record.bodies["ball"].is_free for record in certificate.frames)


def test_a_body_at_rest_on_the_floor_is_carried_by_it():
    body = make_shape("box")
    height = -body.vertices[:, 2].min()
    pose = Pose(np.tile([0.0, 0.0, height], (5, 1)), UPRIGHT)
    times = np.arange(5) / 30.0
    root, q = Pose(np.tile([0.0, 0.5, 0.5], (5, 1)), UPRIGHT), np.tile(human().pose("rest"), (5, 1))
    certificate = certify(make_clip(times, root, q, pose, body=body, environment=(floor(),)))
    assert certificate.reasons == ()
    contacts = certificate.frames[2].bodies["ball"].contacts
    assert {contact.toucher for contact in contacts} == {"environment"}
    total = sum(contact.force for contact in contacts)
    np.testing.assert_allclose(total, [0.0, 0.0, 9.81 * body.mass], atol=1e-6)


def hovering(clip):
    """The whole grip 4 mm too wide: the ball has shrunk within it."""
    small = make_shape("sphere", radius=0.031, mass=clip.problem.bodies["ball"].mass)
    return replace(clip, problem=replace(clip.problem, bodies={"ball": small}))


def slipping(clip):
    """The ball turns in the grip at 3 cm/s: friction would stop it."""
    angle = 0.03 / 0.035 * clip.times
    spin = rotation.exp(angle[:, None] * np.array([1.0, 0.0, 0.0]))
    pose = clip.bodies["ball"]
    return with_body(clip, Pose(pose.position, rotation.multiply(pose.wxyz, spin)))


def teleporting(clip):
    position = clip.bodies["ball"].position.copy()
    position[20] += [0.1, 0.0, 0.0]
    return with_body(clip, Pose(position, clip.bodies["ball"].wxyz))


def both_teleporting(clip):
    offset = np.where(np.arange(clip.num_frames)[:, None] >= 20, 0.1, 0.0) * [1.0, 0.0, 0.0]
    there = with_body(clip, shifted(clip.bodies["ball"], offset))
    return with_hand(there, root=shifted(clip.hands["hand"].root, offset))


def jumping_finger(clip):
    q = clip.hands["hand"].q.copy()
    joint = clip.problem.hands["hand"].joints.index("index_mcp_flexion")
    q[20, joint] += 0.4
    return with_hand(clip, q=q)


def bent_back(clip):
    q = clip.hands["hand"].q.copy()
    model = clip.problem.hands["hand"]
    joint = model.joints.index("little_mcp_flexion")
    q[:, joint] = model.joints.lower[joint] - np.radians(2.0)
    return with_hand(clip, q=q)


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        (floating, "force_residual"),
        (hovering, "gap"),
        (sinking, "penetration"),
        (creeping, "slip"),
        (slipping, "slip"),
        (teleporting, "jump"),
        (both_teleporting, "jump"),
        (jumping_finger, "jump"),
    ],
)
def test_each_planted_fault_fails_the_check_that_names_it_and_no_other(lift, fault, name):
    certificate = certify(fault(lift))
    assert certificate.reasons == (name,), str(certificate)
    assert not certificate.passed
    assert name in certificate.verdict


def test_joints_beyond_their_limits_are_named():
    clip = bent_back(throw_clip())
    certificate = certify(clip)
    assert certificate.reasons == ("joint_limits",)
    assert certificate.check("joint_limits").worst == pytest.approx(np.radians(2.0))
    assert "little_mcp_flexion" in certificate.check("joint_limits").detail


def test_a_finger_frozen_through_another_is_named():
    model = human()
    q = model.pose("rest").copy()
    # Index and middle knuckles turned towards each other as far as they go, one bent more.
    q[model.joints.index("index_mcp_abduction")] = -0.35
    q[model.joints.index("middle_mcp_abduction")] = 0.3
    certificate = certify(throw_clip(q=model.joints.clamp(q)))
    assert certificate.reasons == ("finger_finger",), str(certificate)
    assert "index" in certificate.check("finger_finger").detail


def test_a_static_label_on_a_sliding_contact_is_slip(lift):
    """The ball rolls off: a stored contact that moves at 3 cm/s is not static."""
    clip = throw_clip()
    point = clip.bodies["ball"].position[5] + np.array([0.0, 0.0, 0.035])
    contact = Contact(
        5, "hand", 1, "ball", point, np.array([0.0, 0.0, -1.0]), 0.0, np.full(3, np.nan),
        ContactMode.STATIC,
    )  # fmt: skip
    certificate = certify(replace(clip, contacts=ContactTrack.of([contact])))
    assert certificate.reasons == ("slip",)
    assert "contacts stored as static slide, at up to" in certificate.check("slip").detail
    sliding = replace(contact, mode=ContactMode.SLIDING)
    assert certify(replace(clip, contacts=ContactTrack.of([sliding]))).reasons == ()


def test_the_row_of_slip_says_why_it_fails(lift):
    """Only drift is measured in its column; what else fails it must be said in words."""
    turning, creep = certify(slipping(lift)).check("slip"), certify(creeping(lift)).check("slip")
    assert "contacts slide that would have to hold: hand." in turning.detail
    assert "on 'ball', at " in turning.detail
    assert "mm/s, allowed 5 mm/s" in turning.detail
    assert creep.worst > creep.allowed
    assert creep.detail.startswith("hand.")
    assert creep.detail.endswith(" on 'ball' creeps")


def row_of(certificate, name):
    return next(line for line in str(certificate).splitlines() if line.startswith(name))


def test_no_row_of_the_table_fails_with_a_figure_within_its_limit(lift):
    row = row_of(certify(slipping(lift)), "slip").split()
    assert row[:4] == ["slip", "FAILS", "-", "-"]


def test_a_thin_body_is_held_against_its_own_limit_and_the_row_says_so():
    card, count = make_shape("playing_card"), 10
    low = -float(card.vertices[:, 2].min()) - 0.0009
    pose = Pose(np.tile([0.0, 0.0, low], (count, 1)), UPRIGHT)
    times = np.arange(count) / 30.0
    root = Pose(np.tile([0.0, 1.0, 1.2], (count, 1)), UPRIGHT)
    q = np.tile(human().pose("rest"), (count, 1))
    clip = make_clip(times, root, q, pose, body=card, environment=(floor(),))
    check = certify(clip).check("penetration")
    assert check.worst == pytest.approx(0.9e-3)
    assert check.allowed == pytest.approx(0.4 * np.ptp(card.vertices, axis=0).min())
    assert check.detail == ("'ball' in the surroundings (less is allowed for the size of 'ball')")
    assert str(check).startswith("penetration is 0.0009 m, allowed 0.000")


@pytest.mark.parametrize(
    ("fault", "name", "whose"),
    [
        (floating, "force_residual", "'ball' has no contact"),
        (sinking, "penetration", "in 'ball'"),
        (creeping, "slip", "on 'ball'"),
    ],
)
def test_a_row_that_fails_names_body_and_finger(lift, fault, name, whose):
    check = certify(fault(lift)).check(name)
    assert whose in check.detail
    assert fault is floating or check.detail.startswith("hand.")


def test_a_low_pass_that_lets_everything_through_is_refused(lift):
    limit = 0.5 * lift.fps
    for cutoff in (limit, 500.0):
        with pytest.raises(InvalidValueError, match=f"expected below {limit:g} Hz, half the frame"):
            certify(lift, tolerances=Tolerances(smoothing_hz=cutoff))
    assert certify(lift, tolerances=Tolerances(smoothing_hz=0.9 * limit)).passed


def test_other_tolerances_are_stated_in_the_verdict(lift):
    deep = sinking(lift)
    soft = certify(deep, tolerances=Tolerances(soft_tissue=0.005))
    assert soft.passed
    assert "under soft_tissue 5 mm (default 0 mm)" in soft.verdict
    assert "soft_tissue 5 mm, " in str(soft)


def turned(clip, way):
    """The ball turns in the grip until its surface has gone so far, m, in a fifth of a second."""
    share = np.clip((clip.times - 0.3) / 0.2, 0.0, 1.0)
    spin = rotation.exp((way / 0.035 * share)[:, None] * np.array([1.0, 0.0, 0.0]))
    pose = clip.bodies["ball"]
    return with_body(clip, Pose(pose.position, rotation.multiply(pose.wxyz, spin)))


def test_skin_gives_way_so_far_and_no_farther(lift):
    soft = Tolerances(skin_stretch=0.003)
    assert certify(turned(lift, 0.0015)).reasons == ("slip",)
    given = certify(turned(lift, 0.0015), tolerances=soft)
    assert given.passed
    assert "under skin_stretch 3 mm (default 0 mm)" in given.verdict
    assert certify(turned(lift, 0.006), tolerances=soft).reasons == ("slip",)
    # Creeping counts as well: a contact's life is as long as it touches.
    assert certify(creeping(lift), tolerances=soft).passed
    assert certify(creeping(lift), tolerances=Tolerances(skin_stretch=1e-3)).reasons == ("slip",)


def test_contacts_stored_as_static_may_shear_as_far(lift):
    clip, rows = with_judged_forces(lift)
    clip = replace(turned(lift, 0.0015), contacts=clip.contacts)
    assert all(row.mode is ContactMode.STATIC for row in rows)
    strict = certify(clip).check("slip")
    assert "contacts stored as static slide" in strict.detail
    soft = certify(clip, tolerances=Tolerances(skin_stretch=0.003)).check("slip")
    assert (soft.passed, soft.detail) == (True, "")


def test_the_problem_given_decides_the_shapes(lift):
    assert certify(sinking(lift), lift.problem).passed


def test_table_and_json_say_the_same(lift):
    certificate = certify(floating(lift))
    text, whole = str(certificate), json.loads(certificate.to_json())
    assert "force_residual" in text
    assert "FAILS" in text
    assert whole["passed"] is False
    assert whole["reasons"] == ["force_residual"]
    assert len(whole["frames"]) == lift.num_frames
    assert whole["tolerances"]["gap"] == 1e-3
    assert "frames" not in json.loads(certificate.to_json(frames=False))


def test_a_single_frame_is_looked_at_as_at_rest_but_is_too_coarse_for_a_verdict():
    pose = Pose(np.zeros((1, 3)), UPRIGHT)
    clip = make_clip(np.zeros(1), pose @ GRASP_ROOT, grasp().q[None], pose)
    certificate = certify(clip)
    assert certificate.reasons == ("resolution",)
    assert certificate.verdict.startswith("too coarse to judge: there are 1 frames")
    assert certificate.frames[0].bodies["ball"].force_residual < 1e-6


def test_tolerances_must_make_sense():
    with pytest.raises(InvalidValueError, match="gap is -1"):
        Tolerances(gap=-1.0)
    with pytest.raises(InvalidValueError, match="contact_distance"):
        Tolerances(contact_distance=1e-4)


def away(count):
    root = Pose(np.tile([0.0, 1.0, 1.0], (count, 1)), UPRIGHT)
    return root, np.tile(human().pose("rest"), (count, 1))


@pytest.mark.parametrize(
    ("share", "reasons"), [(1.0, ()), (2.3, ("force_residual",)), (0.0, ("slip",))]
)
def test_a_sliding_box_slows_down_as_friction_says(share, reasons):
    body, friction = make_shape("box"), 0.3
    times = np.linspace(0.0, 0.25, 31)
    path = np.zeros((31, 3))
    path[:, 0] = 2.0 * times - 0.5 * share * friction * 9.81 * times**2
    path[:, 2] = -body.vertices[:, 2].min()
    ground = (floor(friction=friction),)
    clip = make_clip(times, *away(31), Pose(path, UPRIGHT), body=body, environment=ground)
    assert certify(clip).reasons == reasons


@pytest.mark.parametrize("height", [0.3, 0.31, 0.32, 0.33])
def test_a_ball_may_bounce_between_two_frames(height):
    times = np.arange(36) / 60.0
    landing = np.sqrt(2.0 * height / 9.81)
    down = height - 0.5 * 9.81 * times**2
    after = times - landing
    up = 0.8 * 9.81 * landing * after - 0.5 * 9.81 * after**2
    path = np.zeros((36, 3))
    path[:, 2] = 0.035 + np.where(after < 0.0, down, up)
    clip = make_clip(times, *away(36), Pose(path, UPRIGHT), environment=(floor(),))
    certificate = certify(clip)
    assert certificate.reasons == (), str(certificate)
    # Stored with the clip, the forces of the impact are believed although the frames straddle it.
    stored, rows = with_judged_forces(clip)
    hits = [row for row in rows if row.mode == ContactMode.COLLIDING]
    assert max(row.gap for row in hits) > Tolerances().gap
    certificate = certify(stored)
    assert certificate.reasons == (), str(certificate)
    assert certificate.check("stored_balance").detail == ""
    # Without the floor the same path is no free flight.
    bare = replace(clip, problem=replace(clip.problem, environment=()))
    assert certify(bare).reasons == ("force_residual",)


def test_the_clip_of_the_benchmark_passes_and_its_faults_do_not():
    clip = carried_ball(12)
    certificate = certify(clip)
    assert certificate.reasons == ()
    assert min(len(frame.bodies["ball"].contacts) for frame in certificate.frames) >= 10
    for name, bad in planted_faults(clip).items():
        assert certify(bad).reasons == (name,)


def test_an_impact_excuses_its_own_gap_and_no_other():
    """Frame 0 has an impact and a far contact, frame 1 an impact alone, frame 2 a near contact."""
    frame, gap = np.array([0, 0, 1, 2]), np.array([0.02, 0.005, 0.02, 0.0004])
    none, up = np.zeros((4, 3)), np.tile([0.0, 0.0, 1.0], (4, 1))
    impact = np.array([0, -1, 1, -1])
    part = np.zeros(4, dtype=np.int64)
    pushes = np.ones(4, dtype=bool)
    found = FoundContacts(frame, part, none, up, gap, impact, pushes, np.ones(4))
    table = contact_table("hand", found, Slips(none, none, none), 0.005)
    widest = _widest_gaps(table, np.ones(4, dtype=bool), (3, 1), 0.001)
    np.testing.assert_array_equal(widest[:, 0], [0.005, 0.001, 0.0004])


def test_a_thin_bar_through_the_palm_is_penetration_though_no_skin_is_deep():
    model, times = human(), np.arange(5) / 30.0
    rod = make_shape("cylinder", radius=0.0008, height=0.2)
    still = Pose(np.zeros((5, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (5, 1)))
    capsules = posed_capsules(model, model.pose("rest")[None], still[:1])
    palm = int(np.flatnonzero(model.capsules.digit < 0)[0])
    middle = 0.5 * (capsules.start + capsules.end)[0, palm]
    depths = {}
    for name, place in (("through", middle), ("beside", middle + np.array([0.0, 0.3, 0.0]))):
        root = Pose(np.tile(-place, (5, 1)), still.wxyz)
        problem = Problem("rod", times, {"hand": model}, {"rod": rod}, gravity=np.zeros(3))
        q = np.tile(model.pose("rest"), (5, 1))
        clip = Clip(
            problem, times, {"hand": HandMotion(root, q)}, {"rod": still},
            ContactTrack.empty(), Provenance("rod", "scripted"),
        )  # fmt: skip
        depths[name] = certify(clip).check("penetration")
    assert not depths["through"].passed
    assert depths["through"].worst > model.capsules.radius[palm] - 0.004 - 1e-9
    assert depths["beside"].passed


def test_a_face_beside_an_edge_slides_with_the_material_of_its_own_contact():
    up, side = np.array([[0.0, 0.0, -1.0]]), np.array([[-1.0, 0.0, 0.0]])
    zero, one = np.zeros(1, dtype=np.int64), np.ones(1)
    over_the_edge = np.array([[0.02, 0.0, 0.0]])
    found = FoundContacts(zero, zero, np.zeros((1, 3)), side, 0.0 * one, zero - 1, one > 0.0, one)
    slips = Slips(over_the_edge, over_the_edge, over_the_edge)
    alone = contact_table("hand", found, slips, 0.005)
    beside = contact_table("hand", found, slips, 0.005, up)
    assert alone.mode[0] == int(ContactMode.STATIC)
    assert beside.mode[0] == int(ContactMode.SLIDING)
    np.testing.assert_allclose(beside.velocity, over_the_edge)
