"""Features against what they mean, computed in other ways: plain formulas and exact meshes."""

from __future__ import annotations

import numpy as np
import pytest
from sensed_motion import SensedMotion, at_rate

from handwright.core.body import RigidBody
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.mesh.rays import RayCaster
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.kinematics.fk import frame_poses, posed_sites
from handwright.math import rotation
from handwright.methods.neural.sensing import (
    FEATURES,
    JOINTS,
    HandView,
    assembled,
    finger_features,
    fixed_features,
    hand_view,
    pose_of,
    targets,
)

HAND = human("right")
FRAMES = np.array([0, 7, 45, 80, 100, 120])
MOMENTS = 6 * np.arange(6)
SHAPES = ("sphere", "box", "paper_cup")


def named(features: np.ndarray) -> dict[str, np.ndarray]:
    return {row.name: features[:, row.slice].reshape(-1, *row.shape) for row in FEATURES}


@pytest.fixture(scope="module")
def motion() -> SensedMotion:
    return at_rate(60.0, 2.0)


def read(view: HandView, motion: SensedMotion) -> dict[str, np.ndarray]:
    q = motion.postures(view.model)[FRAMES]
    return named(assembled(fixed_features(view, FRAMES), finger_features(view, FRAMES, q)))


@pytest.fixture(scope="module", params=SHAPES)
def sensed(request: pytest.FixtureRequest, motion: SensedMotion) -> tuple:
    body = make_shape(request.param)
    view = hand_view(HAND, body, motion.times, motion.wrist, motion.object, motion.other)
    return body, read(view, motion)


def later(frame: int, motion: SensedMotion) -> np.ndarray:
    """Frames of the six moments, held at the end."""
    return np.minimum(frame + MOMENTS, len(motion.times) - 1)


def joints_in_object(motion: SensedMotion) -> np.ndarray:
    """(N, 6, 22, 3): joints of the measured postures at the six moments, m."""
    rows = [HAND.frames.index(name) for name in JOINTS]
    return np.array([
        [
            motion.object[n].inverse().apply(frame_poses(HAND, q, motion.wrist[n]).position[rows])
            for n in later(frame, motion)
        ]
        for frame, q in zip(FRAMES, motion.postures(HAND)[FRAMES], strict=True)
    ])  # fmt: skip


def test_pose_is_that_of_the_joints(motion: SensedMotion, sensed: tuple) -> None:
    _, got = sensed
    q = motion.postures(HAND)[FRAMES]
    rows = [HAND.frames.index(name) for name in JOINTS]
    # The wrist frame is that of the root of a hand without an arm.
    poses = frame_poses(HAND, q)
    turn = rotation.to_matrix(poses.wxyz[:, rows])
    axes = np.concatenate([-turn[..., 2], turn[..., 1]], axis=-1)
    np.testing.assert_allclose(got["joint_position"], poses.position[:, rows], atol=1e-7)
    np.testing.assert_allclose(got["joint_rotation"], axes, atol=1e-6)
    both = np.concatenate(
        [got["joint_position"].reshape(-1, 66), got["joint_rotation"].reshape(-1, 132)], axis=1
    )
    np.testing.assert_array_equal(pose_of(HAND, q), both)


def test_trajectories_are_seen_from_the_wrist(motion: SensedMotion, sensed: tuple) -> None:
    body, got = sensed
    last = len(motion.times) - 1
    one, two = motion.object.wxyz[:-1], motion.object.wxyz[1:]
    turns = rotation.log(rotation.multiply(two, rotation.conjugate(one)))
    # Angular velocities that lead to each frame, and one more: still at both ends.
    rates = np.pad(60.0 * turns, ((1, 1), (0, 0)))
    for row, frame in enumerate(FRAMES):
        back = motion.wrist[frame].inverse()
        wanted = frame + 3 * np.arange(-10, 11)
        seen = np.clip(wanted, 0, last)
        turn = rotation.to_matrix((back @ motion.wrist[seen]).wxyz)
        center = back.apply(motion.object[seen].apply(body.center))
        away = motion.other.position[seen] - motion.wrist.position[frame]
        np.testing.assert_allclose(
            got["wrist_position"][row], back.apply(motion.wrist.position[seen]), atol=1e-7
        )
        np.testing.assert_allclose(
            got["wrist_rotation"][row],
            np.concatenate([turn[..., 0], turn[..., 2]], axis=-1),
            atol=1e-6,
        )
        np.testing.assert_allclose(got["object_center"][row], center, atol=1e-7)
        np.testing.assert_allclose(
            got["other_distance"][row], np.minimum(np.linalg.norm(away, axis=1), 1.0), atol=1e-7
        )
        # Of the steps before and after a sample, at both ends of the window the one within it.
        before = rates[np.clip(wanted, 0, last + 1)]
        after = rates[np.clip(wanted + 1, 0, last + 1)]
        before[0], after[-1] = after[0], before[-1]
        np.testing.assert_allclose(
            got["object_spin"][row], back.rotate(0.5 * (before + after)), atol=1e-5
        )


def test_distances_are_those_of_the_mesh(motion: SensedMotion, sensed: tuple) -> None:
    """0.4 mm near the body; farther than 2 cm off, where the coarse grid is in use, 0.6 mm."""
    body, got = sensed
    points = joints_in_object(motion)
    exact = ExactDistance.from_body(body).signed_distance(points.reshape(-1, 3))[0]
    wanted = np.clip(exact, -0.1, 0.1).reshape(points.shape[:-1])
    error = np.abs(got["signed_distance"] - wanted)
    assert error[np.abs(wanted) < 0.02].max() < 4e-4
    assert error.max() < 6e-4
    assert error.mean() < 5e-5
    assert got["signed_distance"].min() < -0.004, "some joint should be inside"


def test_a_ball_has_the_distances_and_normals_of_the_formula(motion: SensedMotion) -> None:
    ball = make_shape("sphere", radius=0.04)
    view = hand_view(HAND, ball, motion.times, motion.wrist, motion.object)
    got = read(view, motion)
    points = joints_in_object(motion)
    far = np.linalg.norm(points, axis=-1)
    # The mesh lies up to 0.1 mm inside the ball.
    np.testing.assert_allclose(got["signed_distance"], np.clip(far - 0.04, -0.1, 0.1), atol=7e-4)
    for row, frame in enumerate(FRAMES):
        out = motion.object[frame].rotate(points[row, 0] / far[row, 0][:, None])
        seen = motion.wrist[frame].inverse().rotate(out)
        # The flat faces of the mesh are five degrees wide; the coarse grid adds as much.
        near, clear = np.abs(far[row, 0] - 0.04) < 0.015, far[row, 0] > 0.01
        np.testing.assert_allclose(got["normal"][row][near], seen[near], atol=0.08)
        np.testing.assert_allclose(got["normal"][row][clear], seen[clear], atol=0.16)
    assert (got["other_distance"] == 1.0).all(), "without another hand it is far away"


def test_normals_of_a_box_are_those_of_its_faces(motion: SensedMotion) -> None:
    box = make_shape("box", width=0.07, depth=0.06, height=0.05)
    view = hand_view(HAND, box, motion.times, motion.wrist, motion.object)
    got = read(view, motion)
    half = np.array([0.035, 0.03, 0.025])
    points, count = joints_in_object(motion)[:, 0], 0
    for row, frame in enumerate(FRAMES):
        normals = (
            motion.object[frame].inverse().rotate(motion.wrist[frame].rotate(got["normal"][row]))
        )
        for point, normal in zip(points[row], normals, strict=True):
            beyond = np.abs(point) > half - 5e-3
            if beyond.sum() == 1 and np.abs(point).max() < 0.09:
                axis = int(np.argmax(beyond))
                face = np.sign(point[axis]) * np.eye(3)[axis]
                np.testing.assert_allclose(normal, face, atol=0.01)
                count += 1
    assert count > 10


def test_rays_end_where_they_meet_the_mesh(motion: SensedMotion, sensed: tuple) -> None:
    """Within 0.4 mm, unless rays beside it, half a spacing away, read something else."""
    body, got = sensed
    sites = [
        (motion.object[n].inverse(), posed_sites(HAND, q, motion.wrist[n]))
        for frame, q in zip(FRAMES, motion.postures(HAND)[FRAMES], strict=True)
        for n in later(frame, motion)
    ]
    origins = np.array([back.apply(site.position) for back, site in sites]).reshape(-1, 3)
    normals = np.array([back.rotate(site.normal) for back, site in sites]).reshape(-1, 3)
    wanted, is_clear = clear_readings(body, origins, normals)
    error = np.abs(got["proximity"].reshape(-1) - wanted)
    assert is_clear.mean() > 0.95
    assert error[is_clear].max() < 4e-4
    assert np.median(error) < 1e-5
    assert (np.abs(wanted) < 0.1).mean() > 0.2, "rays that hit"
    assert (wanted < 0.0).mean() > 0.02, "sensors inside"


def clear_readings(
    body: RigidBody, origins: np.ndarray, normals: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Exact readings of sensors, and whether those 0.4 mm beside them differ by less than 1.5 mm.

    What differs is a ray that grazes, or a sensor on the surface.
    """
    caster, exact = RayCaster(body), ExactDistance.from_body(body)

    def reading(points: np.ndarray) -> np.ndarray:
        return caster.proximity(points, normals, exact.is_inside(points))

    wanted = reading(origins)
    first = np.cross(normals, [0.3, 0.5, 0.8])
    first /= np.linalg.norm(first, axis=1)[:, None]
    second = np.cross(normals, first)
    beside = [reading(origins + 4e-4 * side) for side in (first, -first, second, -second)]
    return wanted, (np.abs(np.array(beside) - wanted) < 1.5e-3).all(axis=0)


def test_targets_are_pose_and_clamped_distances(motion: SensedMotion, sensed: tuple) -> None:
    body, got = sensed
    view = hand_view(HAND, body, motion.times, motion.wrist, motion.object)
    q = motion.postures(HAND)[FRAMES]
    answer = targets(view, FRAMES, q)
    np.testing.assert_array_equal(answer[:, :198], pose_of(HAND, q))
    clamped = np.clip(got["signed_distance"][:, 0], 0.0, 0.035)
    np.testing.assert_allclose(answer[:, 198:], clamped, atol=1e-7)
    assert answer[:, 198:].min() >= 0.0
    assert answer[:, 198:].max() == np.float32(0.035)
