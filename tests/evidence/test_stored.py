"""Forces stored with a clip: they must lie in their cones, balance the motion, and be there."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scripted_clips import lift_clip, throw_clip, with_judged_forces

from handwright.core.contact import ContactMode, ContactTrack
from handwright.evidence import Tolerances, certify

FRAME = 20


@pytest.fixture(scope="module")
def stored():
    """A lift with forces that are right, and its contacts one by one."""
    return with_judged_forces(lift_clip())


def spoilt(stored, change):
    """The clip with the contacts of one frame changed, given as a list."""
    clip, rows = stored
    here = [row for row in rows if row.frame == FRAME]
    others = [row for row in rows if row.frame != FRAME]
    return replace(clip, contacts=ContactTrack.of([*others, *change(here)]))


def test_the_judges_own_forces_are_accepted(stored):
    certificate = certify(stored[0])
    assert certificate.reasons == ()
    assert certificate.check("stored_balance").worst < 1e-6
    left = [frame.stored_residual for frame in certificate.frames]
    assert max(left) < 1e-6


def test_forces_of_the_first_and_the_last_frame_are_judged_less_strictly(stored):
    clip, _ = stored
    for frame in (0, clip.num_frames - 1):
        for share, reasons in ((0.95, ()), (0.5, ("stored_balance",))):
            force = clip.contacts.force.copy()
            force[clip.contacts.frame == frame] *= share
            weak = replace(clip, contacts=replace(clip.contacts, force=force))
            assert certify(weak).reasons == reasons


def test_a_pull_between_two_contacts_leaves_the_cones_but_keeps_the_balance(stored):
    def pull(rows):
        apart = rows[1].point - rows[0].point
        apart *= 20.0 / np.linalg.norm(apart)
        first = replace(rows[0], force=rows[0].force + apart)
        return [first, replace(rows[1], force=rows[1].force - apart), *rows[2:]]

    certificate = certify(spoilt(stored, pull))
    assert certificate.reasons == ("friction",)
    assert certificate.check("friction").frames == (FRAME,)


@pytest.mark.parametrize("share", [0.9, 1.1, 0.0])
def test_forces_in_their_cones_that_are_too_weak_or_too_strong_are_named(stored, share):
    weak = spoilt(stored, lambda rows: [replace(row, force=share * row.force) for row in rows])
    certificate = certify(weak)
    assert certificate.reasons == ("stored_balance",)
    assert certificate.check("stored_balance").frames == (FRAME,)
    assert certificate.frames[FRAME].stored_residual >= 0.09


def test_right_forces_at_wrong_points_miss_the_moment(stored):
    """Two forces exchanged: their sum stays, their moment does not."""

    def exchanged(rows):
        largest = sorted(rows, key=lambda row: -np.linalg.norm(row.force))[:1]
        one = largest[0]
        other = next(row for row in rows if row is not one)
        rest = [row for row in rows if row is not one and row is not other]
        return [replace(one, force=other.force), replace(other, force=one.force), *rest]

    assert "stored_balance" in certify(spoilt(stored, exchanged)).reasons


def test_a_force_where_nothing_touches_does_not_count(stored):
    def off_the_hand(rows):
        clip = stored[0]
        palm = clip.problem.hands["hand"].capsules.names.index("wrist")
        return [replace(row, part=palm) for row in rows]

    certificate = certify(spoilt(stored, off_the_hand))
    assert "stored_balance" in certificate.reasons
    assert "where nothing touches" in certificate.check("stored_balance").detail

    def off_the_ball(rows):
        return [replace(row, point=row.point - 0.005 * row.normal) for row in rows]

    assert "stored_balance" in certify(spoilt(stored, off_the_ball)).reasons


def test_a_normal_that_does_not_enter_the_body_is_outside_every_cone(stored):
    turned = spoilt(
        stored,
        lambda rows: [replace(rows[0], normal=-rows[0].normal, force=-rows[0].force), *rows[1:]],
    )
    assert certify(turned).check("friction").worst == pytest.approx(1.0)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_force_left_out_among_others_is_a_fault(stored, value):
    certificate = certify(
        spoilt(stored, lambda rows: [replace(rows[0], force=np.full(3, value)), *rows[1:]])
    )
    assert certificate.reasons == ("stored_balance",)
    check = certificate.check("stored_balance")
    assert check.frames == (FRAME,)
    assert check.detail == "1 of the contacts have no force (NaN)"
    assert certificate.frames[FRAME].stored_residual is None
    json.loads(certificate.to_json())


def test_one_unknown_force_does_not_hide_wrong_ones(stored):
    """Each frame has forces that are nothing like those needed, and one that is NaN."""
    clip, rows = stored
    first = {}
    for row in rows:
        first.setdefault(row.frame, row)
    wrong = [
        replace(row, force=np.full(3, np.nan) if row is first[row.frame] else 3.0 * row.force)
        for row in rows
    ]
    certificate = certify(replace(clip, contacts=ContactTrack.of(wrong)))
    assert certificate.reasons == ("stored_balance",)
    assert certificate.check("stored_balance").frames == tuple(sorted(first))


def test_a_clip_without_any_force_is_not_judged_and_it_says_so(stored):
    clip, rows = stored
    unknown = [replace(row, force=np.full(3, np.nan)) for row in rows]
    for bare in (lift_clip(), replace(clip, contacts=ContactTrack.of(unknown))):
        certificate = certify(bare)
        assert certificate.reasons == ()
        assert certificate.check("stored_balance").detail == "no forces are stored"
        whole = json.loads(certificate.to_json())
        assert whole["frames"][FRAME]["stored_residual"] is None


def test_the_tolerance_is_a_setting(stored):
    weak = spoilt(stored, lambda rows: [replace(row, force=0.9 * row.force) for row in rows])
    assert certify(weak, tolerances=Tolerances(stored_balance=0.2)).passed


def test_a_flight_with_a_stored_push_is_no_flight():
    """A thrown ball needs no force; one that the clip claims is one too many."""
    clip = throw_clip()
    _, rows = with_judged_forces(lift_clip(frames=3))
    pose = clip.bodies["ball"][5]
    push = replace(
        rows[0], frame=5, point=pose.apply(np.array([0.0, 0.0, 0.035])),
        normal=np.array([0.0, 0.0, -1.0]), force=np.array([0.0, 0.0, -1.0]),
        mode=ContactMode.COLLIDING,
    )  # fmt: skip
    certificate = certify(replace(clip, contacts=ContactTrack.of([push])))
    assert certificate.reasons == ("stored_balance",)


@pytest.mark.parametrize("mode", [ContactMode.SLIDING, ContactMode.COLLIDING])
def test_a_force_inside_the_body_is_not_there_whatever_its_mode(stored, mode):
    """One push through the middle balances the frame, but nothing touches where it acts."""

    def inside(rows):
        clip, push = stored[0], sum(row.force for row in rows)
        normal = push / np.linalg.norm(push)
        point = clip.bodies["ball"][FRAME].position - 0.01 * normal
        return [replace(rows[0], point=point, normal=normal, force=push, mode=mode)]

    certificate = certify(spoilt(stored, inside))
    assert certificate.reasons == ("stored_balance",)
    assert certificate.check("stored_balance").frames == (FRAME,)
    assert certificate.check("stored_balance").detail == "1 forces act where nothing touches"
