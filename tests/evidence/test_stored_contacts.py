"""Listed contacts measured anew: planted gaps, slips, missing and impossible forces."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scripted_clips import lift_clip, shifted, with_body, with_hand, with_judged_forces

from handwright.evidence import certify
from handwright.evidence.certificate.stored_contacts import carrying_contacts, unbalanced


@pytest.fixture(scope="module")
def clip():
    """A lift with forces that the judge has found, exact and complete."""
    return with_judged_forces(lift_clip(frames=21))[0]


@pytest.fixture(scope="module")
def certificate(clip):
    return certify(clip)


def test_good_contacts_have_small_errors(clip):
    found = carrying_contacts(clip)
    size = np.linalg.norm(clip.contacts.force, axis=1)
    weight = clip.problem.bodies["ball"].mass * 9.81
    np.testing.assert_array_equal(found.frame, clip.contacts.frame[size > 1e-3 * weight])
    assert found.is_hand.all()
    assert found.gap.max() < 1e-3
    assert found.slip.max() < 1e-6
    assert found.cone.max() < 1e-4


def test_forces_of_the_judge_leave_nothing(clip, certificate):
    left = unbalanced(clip, certificate, "ball")
    np.testing.assert_array_equal(left.frame, np.arange(1, 20))
    assert left.force.max() < 1e-3
    assert left.moment.max() < 1e-4


def test_a_missing_force_is_missed(clip, certificate):
    force = clip.contacts.force.copy()
    row = int(np.flatnonzero(clip.contacts.frame == 7)[0])
    lost = np.array([0.0, 0.3, -0.4])
    force[row] += lost
    left = unbalanced(
        replace(clip, contacts=replace(clip.contacts, force=force)), certificate, "ball"
    )
    ball = clip.problem.bodies["ball"]
    center = clip.bodies["ball"][7].apply(ball.center)
    turning = np.linalg.norm(np.cross(clip.contacts.point[row] - center, lost))
    assert left.force[6] == pytest.approx(0.5 / (ball.mass * 9.81), rel=1e-2)
    assert left.moment[6] == pytest.approx(turning, abs=1e-4)
    assert np.delete(left.force, 6).max() < 1e-3


def test_a_hand_that_lets_go_leaves_gaps(clip):
    found = carrying_contacts(with_hand(clip, root=shifted(clip.hands["hand"].root, [0, 0, 0.004])))
    before = carrying_contacts(clip)
    assert found.gap.max() > before.gap.max() + 1e-3
    # Farther away than contacts are looked for.
    away = carrying_contacts(with_hand(clip, root=shifted(clip.hands["hand"].root, [0, 0, 0.5])))
    assert away.gap.min() >= 0.01


def test_a_point_off_the_body_is_a_gap(clip):
    point = clip.contacts.point - 0.002 * clip.contacts.normal
    found = carrying_contacts(replace(clip, contacts=replace(clip.contacts, point=point)))
    assert found.gap.min() == pytest.approx(2e-3, abs=2e-4)


def test_a_ball_that_moves_through_the_hand_slips(clip):
    speed = 0.03
    drift = np.outer(clip.times, [0.0, speed, 0.0])
    found = carrying_contacts(with_body(clip, shifted(clip.bodies["ball"], drift)))
    # At the pads whose normals are across the way it is all of the speed.
    assert found.slip.max() == pytest.approx(speed, rel=0.2)


def test_a_force_beyond_its_cone_is_seen(clip):
    contacts = clip.contacts
    force = contacts.force.copy()
    row = int(np.linalg.norm(force, axis=1).argmax())
    normal = contacts.normal[row]
    across = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
    across /= np.linalg.norm(across)
    friction = clip.problem.bodies["ball"].friction
    force[row] = normal + 1.5 * friction * across
    found = carrying_contacts(replace(clip, contacts=replace(contacts, force=force)))
    assert found.cone.max() == pytest.approx(0.5 / np.hypot(1.0, 1.5 * friction), rel=1e-6)
    assert np.sum(found.cone > 1e-4) == 1
