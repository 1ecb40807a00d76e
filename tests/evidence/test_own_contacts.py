"""The judge's own slip, shear, edges, torques and leaps, held against those that methods use."""

from __future__ import annotations

import numpy as np
import pytest

from handwright.contact import edges as methods_edges
from handwright.contact import shear as methods_shear
from handwright.contact.leaps import jumping_steps
from handwright.contact.sliding import relative_velocity
from handwright.evidence.certificate.jumps import _is_leap
from handwright.evidence.certificate.torques import force_to_torque, weight_torques
from handwright.evidence.contacts.edges import side_contacts
from handwright.evidence.contacts.slip import LinkMotion, SkinShear, across, material_slips
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.kinematics.fk import link_poses
from handwright.math.pose import Pose
from handwright.mechanics.torques import gravity_torques, torque_maps

TIMES = np.cumsum(np.r_[0.0, np.tile([0.01, 0.02], 6)])


def wandering(rng):
    """Poses that move and turn by a few millimetres and degrees from frame to frame."""
    position = np.cumsum(rng.normal(scale=3e-3, size=(len(TIMES), 3)), axis=0)
    wxyz = np.array([1.0, 0.0, 0.0, 0.0]) + np.cumsum(
        rng.normal(scale=0.02, size=(len(TIMES), 4)), axis=0
    )
    return Pose.normalized(position, wxyz)


def some_points(rng, num_links, count=40):
    frame = np.sort(rng.integers(0, len(TIMES), count))
    return frame, rng.integers(0, num_links, count), rng.normal(scale=0.1, size=(count, 3))


@pytest.fixture
def moving_hand(rng):
    model = human("right")
    low, high = model.joints.lower, model.joints.upper
    q = rng.uniform(low, high, (len(TIMES), model.num_joints))
    root = wandering(rng)
    return model, q, root, LinkMotion(*link_poses(model, q, root))


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def test_material_velocities_agree_at_all_frames(moving_hand, rng):
    model, _, _, links = moving_hand
    body = wandering(rng)
    frame, link, point = some_points(rng, model.num_links)
    assert {0, len(TIMES) - 1} <= set(frame)
    ours = material_slips(TIMES, links, body, frame, link, point).mean
    theirs = relative_velocity(TIMES, *links, body, frame, link, point)
    np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_material_that_moves_with_the_body_does_not_slip(rng):
    body = wandering(rng)
    frame, _, point = some_points(rng, 1)
    velocity = material_slips(TIMES, LinkMotion.of_body(body), body, frame, 0 * frame, point).mean
    np.testing.assert_allclose(velocity, 0.0, atol=1e-12)


@pytest.mark.parametrize("limit", [0.0, 1e-3, 4e-3])
def test_shears_and_slips_agree(rng, limit):
    shape = (len(TIMES), 5, 3)
    normal = np.array([0.0, 0.0, 1.0]) + rng.normal(scale=0.2, size=shape)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    velocity = rng.normal(scale=0.1, size=shape)
    velocity -= np.einsum("tci,tci->tc", velocity, normal)[..., None] * normal
    touches = rng.random(shape[:2]) < 0.8
    ours = SkinShear.along(velocity, normal, touches, TIMES, limit)
    before = methods_shear.skin_shears(velocity, normal, touches, TIMES, limit)
    np.testing.assert_allclose(ours.before, before, atol=1e-12)
    frame, part = np.nonzero(touches)
    still = Pose(np.zeros((len(TIMES), 3)), np.tile([1.0, 0.0, 0.0, 0.0], (len(TIMES), 1)))
    slips = ours.slips(velocity[frame, part], frame, part, still, TIMES)
    lasts = methods_shear.frame_durations(TIMES)[frame]
    theirs = methods_shear.slip_velocity(velocity[frame, part], before[frame, part], lasts, limit)
    np.testing.assert_allclose(slips, theirs, atol=1e-12)
    if limit > 0.0:
        assert 0 < np.sum(np.linalg.norm(slips, axis=1) > 1e-9) < len(frame)


def test_every_face_that_methods_find_beside_an_edge_is_found(rng):
    body = make_shape("box")
    exact = ExactDistance.from_body(body)
    corners = body.vertices[body.sharp_edges]
    share = rng.random((len(corners), 1))
    on_edge = share * corners[:, 0] + (1.0 - share) * corners[:, 1]
    near = on_edge + rng.normal(scale=6e-4, size=on_edge.shape)
    _, points, face, _ = exact.signed_distance(near)
    normals, gap = -exact.face_normals(face), np.full(len(points), 2e-4)
    ours = side_contacts(points, normals, gap, exact, touching=1e-3)
    theirs = methods_edges.edge_sides(points, normals, gap, exact, touching=1e-3)
    assert len(theirs.owner) > 10
    for owner, point, normal in zip(theirs.owner, theirs.points, theirs.normals, strict=True):
        mine = (ours.owner == owner) & (np.linalg.norm(ours.points - point, axis=1) < 1e-9)
        assert np.any(mine & (ours.normals @ normal > 0.999))
    # Each is on the surface and on another face than its owner.
    assert np.abs(exact.signed_distance(ours.points)[0]).max() <= 1e-5
    assert np.einsum("ni,ni->n", ours.normals, normals[ours.owner]).max() < 0.8


def test_a_contact_far_from_edges_touches_one_face():
    body = make_shape("box")
    exact = ExactDistance.from_body(body)
    top = body.vertices[:, 2].max()
    point, normal = np.array([[0.0, 0.0, top]]), np.array([[0.0, 0.0, -1.0]])
    assert len(side_contacts(point, normal, np.zeros(1), exact, touching=1e-3).owner) == 0


def test_torques_agree(moving_hand, rng):
    model, q, root, links = moving_hand
    frame, link, point = some_points(rng, model.num_links)
    ours = force_to_torque(model, links, frame, link, point)
    theirs = torque_maps(model, q[frame], link, point, root[frame])
    np.testing.assert_allclose(ours, theirs, atol=1e-12)
    gravity = np.array([0.3, -0.2, -9.81])
    weight = weight_torques(model, links, gravity)
    np.testing.assert_allclose(weight, gravity_torques(model, q, gravity, root), atol=1e-9)
    assert np.abs(weight).max() > 0.01


@pytest.mark.parametrize("count", [2, 3, 5, 40])
def test_leaps_agree(rng, count):
    times = np.cumsum(np.r_[0.0, rng.uniform(0.01, 0.02, count)])
    speed = rng.uniform(0.0, 0.3, count)
    speed[count // 2] = 5.0
    ours = _is_leap(speed, times, 1.0)
    np.testing.assert_array_equal(ours, jumping_steps(speed, times, 1.0))
    assert bool(ours.any()) == (count >= 3)


def test_what_lies_across_a_normal_is_square_to_it(rng):
    velocity, normal = rng.normal(size=(2, 7, 3))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    flat = across(velocity, normal)
    np.testing.assert_allclose(np.einsum("ni,ni->n", flat, normal), 0.0, atol=1e-12)
