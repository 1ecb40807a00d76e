"""Bodies are held where an artist says: by the handle, from inside, from outside, in a ball."""

from __future__ import annotations

import numpy as np
import pytest

import handwright as hw
from handwright.errors import InvalidValueError
from handwright.evidence import certify
from handwright.geometry.mesh.rays import RayCaster
from handwright.geometry.regions.parts import faces_of_part
from handwright.geometry.shapes import make_shape
from handwright.kinematics import posed_capsules
from handwright.methods.sampling import Ball, ForbiddenBall, GraspRegion, Pin
from handwright.methods.sampling.constraints.regions import (
    PART_TOLERANCE,
    find_held_parts,
    region_of,
)
from handwright.methods.sampling.setup.intervals import CarryInterval
from handwright.scenes import load_scene

THREE = {"num_solutions": 3, "time_budget": 120.0}


def solved(scene, **constraints):
    result = hw.synthesize(load_scene(scene), hw.ContactSampling(**THREE, **constraints), seed=1)
    assert len(result.clips) == 3, result.message
    assert all(certify(clip).passed for clip in result.clips)
    return result.clips


def held_rows(clip, digit):
    """Frames in which a digit bears force, each with all contacts of that digit."""
    (hand,) = clip.hands
    contacts, model = clip.contacts, clip.problem.hands[hand]
    of_hand = np.array(contacts.touchers)[contacts.toucher] == hand
    number = [each.name for each in model.digits].index(digit)
    own = of_hand & (model.capsules.digit[np.where(of_hand, contacts.part, 0)] == number)
    bears = np.linalg.norm(contacts.force, axis=1) > 0.01
    frames = np.unique(contacts.frame[own & bears]).tolist()
    return [(t, own & (contacts.frame == t)) for t in frames]


def held_at(clip, digit):
    """For each frame in which a digit bears force, all points at which it touches the body, m."""
    (name,) = clip.bodies
    pose = clip.bodies[name]
    return [pose[t].inverse().apply(clip.contacts.point[own]) for t, own in held_rows(clip, digit)]


def handle_distance(body, points):
    """How far points are from the middles of the handle's faces, m, less the size of a face."""
    corners = body.vertices[body.faces[faces_of_part(body, "handle")]]
    middle = corners.mean(axis=1)
    size = np.linalg.norm(corners - middle[:, None], axis=2).max(axis=1)
    return (np.linalg.norm(points[:, None] - middle, axis=2) - size).min(axis=1)


def looks_outward(clip, digit):
    """Per frame in which a digit bears force, how much the surface it touches looks away from the
    middle of a round body: -1 on the inner wall, 1 on the outer one, 0 on top of the rim."""
    (name,) = clip.bodies
    pose, shares = clip.bodies[name], []
    for t, own in held_rows(clip, digit):
        point = pose[t].inverse().apply(clip.contacts.point[own])
        outward = -pose[t].inverse().rotate(clip.contacts.normal[own])
        radial = point[:, :2] / np.linalg.norm(point[:, :2], axis=1, keepdims=True)
        shares.append(np.einsum("ni,ni->n", radial, outward[:, :2]))
    return shares


def pierced(clip):
    """Whether the axis of any capsule of a hand goes through the surface of the body."""
    (name,) = clip.bodies
    caster = RayCaster(clip.problem.bodies[name])
    for hand, motion in clip.hands.items():
        root = clip.bodies[name].inverse() @ motion.root
        posed = posed_capsules(clip.problem.hands[hand], motion.q, root)
        along = posed.end - posed.start
        length = np.linalg.norm(along, axis=-1)
        hit = caster.cast(posed.start, along / length[..., None])[0]
        if np.any(hit < length):
            return True
    return False


ALL = ("thumb", "index", "middle", "ring", "little")


@pytest.mark.slow
@pytest.mark.scene
def test_a_mug_is_held_by_its_handle():
    clips = solved("mug_by_handle", grasp_region="handle")
    for clip in clips:
        (body,) = clip.problem.bodies.values()
        frames = [points for digit in ALL for points in held_at(clip, digit)]
        assert len(frames) > 20
        for points in frames:
            assert handle_distance(body, points).min() < PART_TOLERANCE + 1e-4
    assert not any(pierced(clip) for clip in clips)


@pytest.mark.slow
@pytest.mark.scene
def test_a_beaker_is_held_over_its_rim():
    clips = solved("beaker_by_rim", grasp_region="inside")
    for clip in clips:
        thumb = looks_outward(clip, "thumb")
        fingers = [share for digit in ALL[1:] for share in looks_outward(clip, digit)]
        assert min(len(thumb), len(fingers)) > 20
        assert all(share.min() < 0.5 for share in thumb)
        assert all(share.max() > -0.5 for share in fingers)
        # Most of the time on the walls themselves, not on the rim.
        assert np.median([share.min() for share in thumb]) < -0.9
        assert np.median([share.max() for share in fingers]) > 0.9
    assert not any(pierced(clip) for clip in clips)


@pytest.mark.slow
def test_a_mug_is_held_from_outside():
    clips = solved("mug", grasp_region="outside")
    for clip in clips:
        frames = [share for digit in ALL for share in looks_outward(clip, digit)]
        assert len(frames) > 20
        assert all(share.max() > -0.5 for share in frames)
    assert not any(pierced(clip) for clip in clips)


@pytest.mark.slow
def test_single_digits_are_told_where():
    ball = Ball([-0.010, -0.031, 0.030], 0.020)
    constraints = (GraspRegion("outside", ("thumb",)), GraspRegion(ball, ("index",)))
    clips = solved("mug", grasp_regions=constraints)
    for clip in clips:
        for points in held_at(clip, "index"):
            away = np.linalg.norm(points - np.array(ball.center), axis=1) - ball.radius
            assert away.min() < PART_TOLERANCE
        assert all(share.max() > -0.5 for share in looks_outward(clip, "thumb"))
    assert sum(len(held_at(clip, "index")) for clip in clips) > 20


def told(scene, **constraints):
    """Regions that a method gives the digits of a scene's hand."""
    problem = load_scene(scene)
    ((name, body),) = problem.bodies.items()
    interval = CarryInterval(name, dict(problem.hands), 0, 10)
    return find_held_parts(body, interval, hw.ContactSampling(**THREE, **constraints))


def test_what_is_said_of_a_digit_goes_before_what_is_said_of_all():
    ball = Ball((0.0, 0.03, 0.0), 0.02)
    parts = told(
        "mug",
        grasp_region="inside",
        grasp_regions=(GraspRegion("handle", ("thumb",)), GraspRegion(ball, ("thumb",))),
    )
    assert [region.where for region in parts.regions[0]] == ["handle", ball]
    for row in parts.regions[1:]:
        assert [region.where for region in row] == ["inside", "outside"]
    assert parts.split == (1, 2, 3, 4)
    # A box has no handle; with all digits told otherwise nobody asks for one.
    parts = told("milk_box_turn", grasp_region="handle", grasp_regions=(GraspRegion(ball),))
    assert all([region.where for region in row] == [ball] for row in parts.regions)


def test_thin_walls_have_two_sides():
    body = make_shape("mug", wall=0.0025)
    inside = region_of(body, "inside")
    corners = body.vertices[body.faces]
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal = cross / np.linalg.norm(cross, axis=1, keepdims=True)
    faces = faces_of_part(body, "outside")
    middle = corners[faces].mean(axis=1)
    # Of the outer wall all points are nearer to the inner one than a finger's pad is exact.
    wall = np.abs(normal[faces][:, 2]) < 0.3
    assert (inside.distance(middle[wall]) <= PART_TOLERANCE).mean() > 0.8
    near = inside.distance(middle[wall], normal[faces][wall]) <= PART_TOLERANCE
    assert near.mean() < 0.02


def test_a_pin_beside_the_part_of_its_digit_is_told():
    problem = load_scene("mug")
    pin = Pin("thumb", (0.0, 0.04, 0.0), 1.0)
    constraints = {"pins": (pin,), "grasp_regions": (GraspRegion("handle", ("thumb",)),)}
    result = hw.synthesize(problem, hw.ContactSampling(**THREE, **constraints), seed=0)
    assert not result.clips
    assert "lies beside the part" in result.message


@pytest.mark.parametrize(
    ("scene", "constraints", "text"),
    [
        ("beaker_by_rim", {"grasp_region": "handle"}, "'beaker' has no handle"),
        ("milk_box_turn", {"grasp_region": "inside"}, "'milk_box' has no inside"),
        ("mug", {"grasp_region": "inside", "treat_as_solid": True}, "Leave treat_as_solid off"),
        (
            "mug",
            {"grasp_regions": (GraspRegion(Ball((1.0, 0.0, 0.0), 0.01)),)},
            "no point of body 'mug'",
        ),
        (
            "mug",
            {"grasp_regions": (GraspRegion(Ball((1.0, 0.0, 0.0), 0.01), ("index",)),)},
            r"was found in Ball\(center=\(1.0",
        ),
    ],
)
def test_wishes_that_a_body_cannot_meet_are_refused(scene, constraints, text):
    with pytest.raises(InvalidValueError, match=text):
        hw.synthesize(load_scene(scene), hw.ContactSampling(**THREE, **constraints), seed=0)


@pytest.mark.parametrize("where", [ForbiddenBall((0.0, 0.0, 0.0), 0.1), np.zeros(3), "rim"])
def test_what_is_no_place_to_hold_is_refused(where):
    with pytest.raises(InvalidValueError, match="expected one of handle, inside, outside"):
        GraspRegion(where)
