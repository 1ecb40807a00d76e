"""Required wrenches against analytic motions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from handwright.core.body import RigidBody
from handwright.core.track import Track
from handwright.errors import InvalidValueError
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.mechanics import required_wrench, smoothed

INERTIA = np.array([[4e-4, 3e-5, 0.0], [3e-5, 6e-4, -5e-5], [0.0, -5e-5, 8e-4]])
TETRAHEDRON = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]], dtype=float)
BODY = RigidBody(
    name="block",
    vertices=TETRAHEDRON,
    faces=np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]),
    mass=0.5,
    center=np.array([0.02, -0.01, 0.03]),
    inertia=INERTIA,
    friction=0.5,
    sharp_edges=np.zeros((0, 2), dtype=np.int64),
)
WEIGHT = np.array([0.0, 0.0, 0.5 * 9.81])
START = rotation.normalize(np.array([0.8, 0.1, -0.5, 0.3]))


def track_of_center(times, center, wxyz):
    """A track of the body's frame whose centre of mass goes where it should."""
    return Track(times, Pose(center - rotation.rotate(wxyz, BODY.center), wxyz))


def tumbling(times):
    """Free flight, by integration to rounding."""

    def rate(_, state):
        wxyz, omega = state[:4], state[4:]
        spin = rotation.multiply(wxyz, np.concatenate([[0.0], omega]))
        return np.concatenate(
            [0.5 * spin, np.linalg.solve(INERTIA, np.cross(INERTIA @ omega, omega))]
        )

    state = np.concatenate([START, [5.0, -3.0, 4.0]])
    solution = solve_ivp(
        rate, (0.0, times[-1]), state, t_eval=times, rtol=1e-12, atol=1e-13, method="DOP853"
    )
    wxyz = rotation.normalize(solution.y[:4].T)
    t = times[:, None]
    center = [0.1, 0.2, 1.0] + t * [1.0, -0.5, 3.0] + 0.5 * t**2 * [0.0, 0.0, -9.81]
    return track_of_center(times, center, wxyz)


def test_free_flight_asks_for_nothing():
    errors = []
    for count in (61, 121, 241):
        found = required_wrench(tumbling(np.linspace(0.0, 0.5, count)), BODY)
        np.testing.assert_allclose(found.force, 0.0, atol=1e-8)
        errors.append(np.abs(found.moment).max())
    # The moment of a body that did not turn freely would be near omega x L = 5e-3 N m.
    assert errors[0] < 3e-4
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.25)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.15)


def swinging(times):
    """Any motion whose wrench has a formula: a fixed axis, an angle that swings."""
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    angle, speed, rate = 1.2 * np.sin(4 * times), 4.8 * np.cos(4 * times), -19.2 * np.sin(4 * times)
    wxyz = rotation.multiply(rotation.exp(angle[:, None] * axis), START)
    R = rotation.to_matrix(wxyz)
    inertia = R @ INERTIA @ np.swapaxes(R, 1, 2)
    omega = speed[:, None] * axis
    moment = inertia @ axis * rate[:, None] + np.cross(
        omega, np.einsum("tij,tj->ti", inertia, omega)
    )
    swing = np.array([3.0, 5.0, 2.0])
    center = 0.1 * np.sin(times[:, None] * swing)
    force = -0.1 * 0.5 * swing**2 * np.sin(times[:, None] * swing) + WEIGHT
    return track_of_center(times, center, wxyz), force, moment


@pytest.mark.parametrize("warp", [0.0, 0.1])
def test_halving_the_step_quarters_the_error(warp):
    errors = []
    for count in (101, 201, 401):
        even = np.linspace(0.0, 1.0, count)
        track, force, moment = swinging(even + warp * np.sin(2 * np.pi * even) / (2 * np.pi))
        found = required_wrench(track, BODY)
        errors.append([np.abs(found.force - force).max(), np.abs(found.moment - moment).max()])
    errors = np.array(errors)
    assert np.all(errors[0] < [0.05, 1e-3])
    np.testing.assert_allclose(errors[:-1] / errors[1:], 4.0, rtol=0.2)


def test_a_body_at_rest_asks_for_its_weight():
    times = np.array([0.0, 0.1, 0.15, 0.4])
    found = required_wrench(Track(times, Pose(np.ones((4, 3)), np.tile(START, (4, 1)))), BODY)
    np.testing.assert_allclose(found.force, np.tile(WEIGHT, (4, 1)), atol=1e-12)
    np.testing.assert_allclose(found.moment, 0.0, atol=1e-12)
    np.testing.assert_allclose(
        found.center, 1.0 + rotation.rotate(np.tile(START, (4, 1)), BODY.center)
    )
    np.testing.assert_array_equal(found.wrench, np.hstack([found.force, found.moment]))


def test_uneven_times_are_exact_on_a_parabola_and_three_frames_suffice():
    for times in (np.array([0.0, 0.02, 0.05]), np.array([0.0, 0.01, 0.05, 0.06, 0.1])):
        center = 0.5 * times[:, None] ** 2 * np.array([1.0, 2.0, 3.0])
        track = track_of_center(times, center, np.tile(START, (len(times), 1)))
        found = required_wrench(track, BODY, gravity=np.zeros(3))
        np.testing.assert_allclose(
            found.force, np.tile([0.5, 1.0, 1.5], (len(times), 1)), atol=1e-10
        )


def test_signs_of_quaternions_and_turns_of_the_world_do_not_matter():
    times = np.linspace(0.0, 0.5, 40)
    track, _, _ = swinging(times)
    signs = np.where(np.arange(40) % 3 == 0, -1.0, 1.0)[:, None]
    flipped = Track(times, Pose(track.pose.position, track.pose.wxyz * signs))
    world = Pose(np.array([1.0, 2.0, 3.0]), rotation.exp([0.0, 0.0, 1.0]))
    for cutoff in (None, 10.0):
        plain = required_wrench(track, BODY, cutoff_hz=cutoff)
        other = required_wrench(flipped, BODY, cutoff_hz=cutoff)
        np.testing.assert_allclose(other.wrench, plain.wrench, atol=1e-9)
        turned = required_wrench(track.moved(world), BODY, cutoff_hz=cutoff)
        np.testing.assert_allclose(turned.force, world.rotate(plain.force), atol=1e-8)
        np.testing.assert_allclose(turned.moment, world.rotate(plain.moment), atol=1e-8)


def test_smoothing_takes_noise_and_leaves_motion():
    rng = np.random.default_rng(0)
    times = np.arange(240) / 120.0
    track, force, moment = swinging(times)
    noisy = Track(
        times,
        Pose(
            track.pose.position + rng.normal(size=(240, 3)) * 2e-4,
            rotation.multiply(rotation.exp(rng.normal(size=(240, 3)) * 2e-3), track.pose.wxyz),
        ),
    )
    inner = slice(20, -20)
    raw = required_wrench(noisy, BODY)
    calm = required_wrench(noisy, BODY, cutoff_hz=8.0)
    for name, truth in (("force", force), ("moment", moment)):
        before = np.abs(getattr(raw, name) - truth)[inner].mean()
        after = np.abs(getattr(calm, name) - truth)[inner].mean()
        assert after < 0.1 * before
    np.testing.assert_array_equal(calm.center, raw.center)


def test_smoothing_keeps_straight_lines_and_has_no_lag():
    times = np.arange(120) / 120.0
    line = Track(times, Pose(times[:, None] * [1.0, 2.0, 3.0], np.tile(START, (120, 1))))
    np.testing.assert_allclose(smoothed(line, 8.0).pose.position, line.pose.position, atol=1e-7)
    bump = np.exp(-(((times - 0.5) / 0.1) ** 2))
    wave = Track(times, Pose(bump[:, None] * [1.0, 0, 0], np.tile(START, (120, 1))))
    assert np.argmax(smoothed(wave, 6.0).pose.position[:, 0]) == np.argmax(bump)


def test_tracks_that_cannot_be_used_are_refused():
    times = np.array([0.0, 0.1, 0.3, 0.4])
    poses = Pose(np.zeros((4, 3)), np.tile(START, (4, 1)))
    with pytest.raises(InvalidValueError, match="at least three"):
        required_wrench(Track(times[:2], poses[:2]), BODY)
    with pytest.raises(InvalidValueError, match="resampled"):
        required_wrench(Track(times, poses), BODY, cutoff_hz=1.0)
    for cutoff in (0.0, 5.0, np.nan):
        with pytest.raises(InvalidValueError, match="half the frame rate"):
            smoothed(Track(np.arange(4) * 0.1, poses), cutoff)
    with pytest.raises(InvalidValueError, match="gravity"):
        required_wrench(Track(times, poses), BODY, gravity=np.full(3, np.nan))
