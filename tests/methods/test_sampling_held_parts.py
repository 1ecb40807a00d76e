"""Bodies are held where an artist says: by the handle, from inside, from outside, in a ball."""

from __future__ import annotations

import numpy as np
import pytest

import handwright as hw
from handwright.errors import InvalidValueError
from handwright.evidence import certify
from handwright.geometry.parts import faces_of_part
from handwright.geometry.rays import RayCaster
from handwright.kinematics import posed_capsules
from handwright.methods.sampling import Ball, HeldBy
from handwright.methods.sampling.held_parts import PART_TOLERANCE
from handwright.scenes import load_scene

THREE = {"num_solutions": 3, "time_budget": 120.0}


def solved(scene, **wishes):
    result = hw.synthesize(load_scene(scene), hw.ContactSampling(**THREE, **wishes), seed=1)
    assert len(result.clips) == 3, result.message
    assert all(certify(clip).passed for clip in result.clips)
    return result.clips


def held_at(clip, digit):
    """For each frame in which a digit bears force, all points at which it touches the body, m."""
    (name,), (hand,) = clip.bodies, clip.hands
    contacts, model = clip.contacts, clip.problem.hands[hand]
    of_hand = np.array(contacts.touchers)[contacts.toucher] == hand
    number = [one.name for one in model.digits].index(digit)
    own = of_hand & (model.capsules.digit[np.where(of_hand, contacts.part, 0)] == number)
    bears = np.linalg.norm(contacts.force, axis=1) > 0.01
    pose = clip.bodies[name]
    return [
        pose[t].inverse().apply(contacts.point[own & (contacts.frame == t)])
        for t in np.unique(contacts.frame[own & bears]).tolist()
    ]


def distance_from(body, part, points):
    """How far points are from the middles of the faces of a part, m, less the size of a face."""
    corners = body.vertices[body.faces[faces_of_part(body, part)]]
    middle = corners.mean(axis=1)
    size = np.linalg.norm(corners - middle[:, None], axis=2).max(axis=1)
    return (np.linalg.norm(points[:, None] - middle, axis=2) - size).min(axis=1)


def check_held(clips, digits, part):
    """Digits that bear force touch the part; one at least does, in every motion."""
    for clip in clips:
        (body,) = clip.problem.bodies.values()
        spans = {digit: held_at(clip, digit) for digit in digits}
        assert sum(len(frames) for frames in spans.values()) > 20
        for frames in spans.values():
            for points in frames:
                assert distance_from(body, part, points).min() < PART_TOLERANCE + 1e-4


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
def test_a_mug_is_held_by_its_handle():
    clips = solved("mug_by_handle", hold="handle")
    check_held(clips, ALL, "handle")
    assert not any(pierced(clip) for clip in clips)


@pytest.mark.slow
def test_a_beaker_is_held_over_its_rim():
    clips = solved("beaker_by_rim", hold="inside")
    check_held(clips, ("thumb",), "inside")
    check_held(clips, ALL[1:], "outside")
    assert not any(pierced(clip) for clip in clips)


@pytest.mark.slow
def test_a_mug_is_held_from_outside():
    clips = solved("mug", hold="outside")
    check_held(clips, ALL, "outside")
    assert not any(pierced(clip) for clip in clips)


def test_single_digits_are_told_where():
    ball = Ball((0.0, 0.032, 0.0), 0.04)
    wishes = (HeldBy("outside", ("thumb",)), HeldBy(ball, ("index",)))
    for clip in solved("mug", held_by=wishes):
        for points in held_at(clip, "index"):
            away = np.linalg.norm(points - np.array(ball.center), axis=1) - ball.radius
            assert away.min() < PART_TOLERANCE


@pytest.mark.parametrize(
    ("scene", "wishes", "text"),
    [
        ("beaker_by_rim", {"hold": "handle"}, "'beaker' has no handle"),
        ("milk_box_turn", {"hold": "inside"}, "'milk_box' has no inside"),
        ("mug", {"hold": "inside", "fills_hollows": True}, "Leave fills_hollows off"),
        ("mug", {"held_by": (HeldBy(Ball((1.0, 0.0, 0.0), 0.01)),)}, "no place of body 'mug'"),
    ],
)
def test_wishes_that_a_body_cannot_meet_are_refused(scene, wishes, text):
    with pytest.raises(InvalidValueError, match=text):
        hw.synthesize(load_scene(scene), hw.ContactSampling(**THREE, **wishes), seed=0)
