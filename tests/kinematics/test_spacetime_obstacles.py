"""Smoothed motion keeps out of objects, surroundings and other digits."""

from __future__ import annotations

import numpy as np

from handwright.geometry.distance.environment import floor, pack_environment, table, wall
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.distance.sdf_build import signed_distance_field
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.hands.skin.build import skin_of
from handwright.kinematics import SpacetimeWeights, posed_capsules, posed_skin, smooth_digits
from handwright.kinematics.obstacles import Obstacles, seen_from, seen_over
from handwright.kinematics.skin.samples import skin_samples, vertex_capsules
from handwright.kinematics.spacetime.motion import no_anchors
from handwright.math import rotation
from handwright.math.pose import Pose

HUMAN = human()
# So dense that what the skin does between points is not seen.
FINE = skin_samples(HUMAN, 0.001)


def skin_depths(model, q, root, exact):
    """(T, D) how deep the drawn skin of each digit is, by exact distance, m."""
    skin = skin_of(model)
    owner = model.capsules.digit[vertex_capsules(model, skin)]
    points = posed_skin(model, skin, q, root)
    depth = -exact.signed_distance(points.reshape(-1, 3))[0].reshape(points.shape[:2])
    return np.stack([depth[:, owner == d].max(axis=1) for d in range(len(model.digits))], axis=1)


def test_a_free_finger_that_starts_inside_an_object_leaves_it():
    body = make_shape("box", width=0.16, depth=0.2, height=0.08)
    field, exact = signed_distance_field(body), ExactDistance.from_body(body)
    num_frames = 24
    half = 0.5 * np.ptp(body.vertices, axis=0)
    # The fingers lie over the upper side, their tips bent through it.
    root = Pose(
        np.tile([-half[0] - 0.06, 0.0, half[2] + 0.022], (num_frames, 1)),
        np.tile([1.0, 0.0, 0.0, 0.0], (num_frames, 1)),
    )
    flat = HUMAN.pose("open")
    q = np.tile(flat, (num_frames, 1))
    inside = slice(8, 16)
    for name in ("index", "middle", "ring", "little"):
        q[inside, HUMAN.joints.index(f"{name}_mcp_flexion")] += 0.35
    # The thumb hangs into the side of the block, and has no room to leave; it does not matter here.
    before = skin_depths(HUMAN, q, root, exact)
    assert before[inside, 1:].min() > 0.005
    assert before[:4, 1:].max() < 0.0
    weights = SpacetimeWeights(num_samples=2000, sweeps=8)
    around = Obstacles(field, samples=FINE)
    result = smooth_digits(
        HUMAN, root, q, no_anchors(),
        obstacles=around, reference=flat, weights=weights,
    )  # fmt: skip
    assert skin_depths(HUMAN, result.q, root, exact)[:, 1:].max() < 2e-4
    # Also when the posture asks for the inside: then it is the object that holds the finger.
    result = smooth_digits(
        HUMAN, root, q, no_anchors(),
        obstacles=around, reference=q, weights=weights,
    )  # fmt: skip
    after = skin_depths(HUMAN, result.q, root, exact)[:, 1:]
    assert after.max() < 2e-4
    assert after[inside].min() > -0.01


def test_fingers_keep_out_of_a_table_that_moves_in_the_frame_of_the_object():
    num_frames = 20
    ground = pack_environment([table(-0.035, thickness=0.2)])
    tilt = rotation.exp(np.linspace(0.0, 0.15, num_frames)[:, None] * np.array([0.0, 1.0, 0.0]))
    body = Pose(np.zeros((num_frames, 3)), tilt)
    environment = seen_over(ground, body)
    for frame in (0, 7, 19):
        one = seen_from(ground, Pose(body.position[frame], body.wxyz[frame]))
        np.testing.assert_allclose(environment.positions[frame], one.positions, atol=1e-15)
        np.testing.assert_allclose(environment.rotations[frame], one.rotations, atol=1e-15)
    planes = pack_environment([floor(0.1), wall(np.ones(3), np.array([0.0, 0.6, 0.8]))])
    for frame in (0, 7, 19):
        one = seen_from(planes, Pose(body.position[frame] + 0.2, body.wxyz[frame]))
        moved = seen_over(planes, Pose(body.position + 0.2, body.wxyz))
        np.testing.assert_allclose(moved.normals[frame], one.normals, atol=1e-15)
        np.testing.assert_allclose(moved.offsets[frame], one.offsets, atol=1e-15)
    root = body.inverse()
    bent = 0.6 * HUMAN.pose("open") + 0.4 * HUMAN.pose("closed")
    q = np.tile(bent, (num_frames, 1))
    skin = skin_of(HUMAN)
    owner = HUMAN.capsules.digit[vertex_capsules(HUMAN, skin)]
    depth = -0.035 - posed_skin(HUMAN, skin, q)[:, owner >= 0, 2].min()
    assert depth > 0.005
    result = smooth_digits(
        HUMAN, root, q, no_anchors(),
        obstacles=Obstacles(environment=environment, samples=FINE), reference=bent,
        weights=SpacetimeWeights(num_samples=2000),
    )  # fmt: skip
    # In the world the hand stands still, and so does the table.
    lowest = posed_skin(HUMAN, skin, result.q)[:, owner >= 0, 2].min()
    assert -0.035 - lowest < 2e-4


def least_gap(q, one, other):
    """Least distance of sampled points on the capsules of two digits, less their radii, m."""
    capsules = posed_capsules(HUMAN, q)
    share = np.linspace(0.0, 1.0, 60)[:, None, None]
    points = capsules.start + share * (capsules.end - capsules.start)
    return min(
        np.linalg.norm(points[:, None, a] - points[None, :, b], axis=-1).min()
        - capsules.radius[a]
        - capsules.radius[b]
        for a in np.flatnonzero(HUMAN.capsules.digit == one)
        for b in np.flatnonzero(HUMAN.capsules.digit == other)
    )


def test_digits_make_room_for_each_other():
    num_frames = 12
    q = np.tile(HUMAN.pose("open"), (num_frames, 1))
    q[:, HUMAN.joints.index("index_mcp_abduction")] -= 0.3
    q[:, HUMAN.joints.index("middle_mcp_abduction")] += 0.3
    q = HUMAN.joints.clamp(q)
    assert least_gap(q[5], 1, 2) < -0.004
    root = Pose.identity(num_frames)
    result = smooth_digits(
        HUMAN, root, q, no_anchors(), reference=q, weights=SpacetimeWeights(sweeps=6)
    )
    # A millimetre of overlap is allowed by the weights' default.
    gaps = [least_gap(pose, a, a + 1) for pose in result.q for a in (1, 2, 3)]
    assert min(gaps) > -0.00105
