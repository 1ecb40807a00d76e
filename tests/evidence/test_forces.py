"""Forces, required wrenches and gaps against closed forms and other solvers."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from handwright.evidence.certificate.dynamics import required_wrench
from handwright.evidence.certificate.forces import (
    SLIDES,
    STICKS,
    ContactSet,
    ForceSolver,
    HandLimits,
    Loads,
    tangents,
)
from handwright.evidence.contacts.probes import capsule_gaps
from handwright.evidence.contacts.skin_probe import skin_gaps
from handwright.evidence.low_pass import LowPass
from handwright.geometry import EnvironmentBox, floor
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.distance.surface_distance import surface_distance
from handwright.geometry.shapes import make_shape
from handwright.hands import human, skin_of
from handwright.kinematics import posed_skin
from handwright.kinematics.skin.samples import vertex_capsules
from handwright.math import rotation
from handwright.math.pose import Pose

UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])
DOWN = np.array([0.0, 0.0, -9.81])


def contact_set(point, normal, friction, *, sliding=None, slip=None):
    count = len(point)
    sliding = np.zeros(count, dtype=bool) if sliding is None else np.asarray(sliding)
    slip = np.zeros((count, 3)) if slip is None else np.asarray(slip, dtype=float)
    none = np.zeros(count, dtype=int)
    return ContactSet(
        np.asarray(point, float), np.asarray(normal, float), np.full(count, friction),
        np.where(sliding, SLIDES, STICKS),
        slip, none, none - 1,
    )  # fmt: skip


def one_body(force, moment, center, *, weight, gyration):
    rows = (np.asarray(part, float)[None] for part in (force, moment, center))
    return Loads(*rows, np.array([weight]), np.array([gyration]))


def solve_forces(contacts, force, moment, center, *, weight, gyration, limits=None):
    loads = one_body(force, moment, center, weight=weight, gyration=gyration)
    found = ForceSolver().solve(contacts, loads, limits)
    return SimpleNamespace(
        force=found.force,
        force_residual=found.force_residual.item(),
        moment_residual=found.moment_residual.item(),
    )


def random_contacts(rng, count, friction):
    point = rng.normal(size=(count, 3))
    point /= np.linalg.norm(point, axis=1, keepdims=True)
    normal = -point + 0.3 * rng.normal(size=(count, 3))
    return contact_set(point, normal / np.linalg.norm(normal, axis=1, keepdims=True), friction)


@settings(max_examples=40)
@given(st.integers(0, 2**31), st.integers(1, 8), st.floats(0.1, 1.0))
def test_forces_inside_cones_are_found_and_none_smaller(seed, count, friction):
    rng = np.random.default_rng(seed)
    contacts = random_contacts(rng, count, friction)
    first, second = tangents(contacts.normal)
    angle, share = rng.uniform(0, 2 * np.pi, count), rng.uniform(0, 0.95, count)
    side = np.cos(angle)[:, None] * first + np.sin(angle)[:, None] * second
    known = rng.uniform(0.1, 2.0, count)[:, None] * (
        contacts.normal + friction * share[:, None] * side
    )
    center = 0.1 * rng.normal(size=3)
    force = known.sum(axis=0)
    moment = np.cross(contacts.point - center, known).sum(axis=0)
    found = solve_forces(contacts, force, moment, center, weight=2.0, gyration=0.5)
    assert found.force_residual < 1e-6
    assert found.moment_residual < 1e-6
    np.testing.assert_allclose(found.force.sum(axis=0), force, atol=1e-5)
    normal = np.einsum("ni,ni->n", found.force, contacts.normal)
    across = np.linalg.norm(found.force - normal[:, None] * contacts.normal, axis=1)
    assert np.all(across <= friction * normal + 1e-5)
    assert (found.force**2).sum() <= (known**2).sum() + 1e-5


@settings(max_examples=30)
@given(st.integers(0, 2**31))
def test_feasibility_agrees_with_cones_of_many_edges(seed):
    """Non-negative least squares over 64-edge cones from inside and outside brackets the answer."""
    rng = np.random.default_rng(seed)
    contacts = random_contacts(rng, 4, 0.5)
    wrench = rng.normal(size=6)
    found = solve_forces(contacts, wrench[:3], wrench[3:], np.zeros(3), weight=1.0, gyration=1.0)
    total = np.hypot(found.force_residual, found.moment_residual)
    bounds, sizes = [], []
    angle = 2 * np.pi * np.arange(64) / 64
    first, second = tangents(contacts.normal)
    for mu in (0.5, 0.5 / np.cos(np.pi / 64)):
        side = np.cos(angle)[:, None, None] * first + np.sin(angle)[:, None, None] * second
        edges = (contacts.normal + mu * side).reshape(-1, 3)
        arms = np.tile(contacts.point, (64, 1))
        found_by, rest = nnls(np.concatenate([edges, np.cross(arms, edges)], axis=1).T, wrench)
        bounds.append(rest)
        sizes.append(found_by.sum())
    # The elastic solution is not the least-squares one, but is zero exactly when that is.
    assert total >= bounds[1] - 1e-5
    if bounds[0] < 1e-9 and sizes[0] < 50.0:
        assert total < 1e-4
    if bounds[1] > 1e-3:
        assert total > 1e-4


def test_a_sliding_contact_pushes_along_its_slip_at_the_edge_of_the_cone():
    contacts = contact_set(
        [[0.0, 0.0, 0.0]], [[0.0, 0.0, 1.0]], 0.4, sliding=[True], slip=[[1.0, 0.0, 0.0]]
    )
    found = solve_forces(
        contacts, np.array([0.4, 0.0, 1.0]), np.zeros(3), np.zeros(3), weight=1.0, gyration=1.0
    )
    np.testing.assert_allclose(found.force, [[0.4, 0.0, 1.0]], atol=1e-6)
    wrong = solve_forces(
        contacts, np.array([-0.4, 0.0, 1.0]), np.zeros(3), np.zeros(3), weight=1.0, gyration=1.0
    )
    assert wrong.force_residual > 0.1


def test_a_pinch_needs_half_the_weight_over_the_friction():
    """Two opposite walls of friction mu hold a weight w: each gives w/2 up and w/(2 mu) inwards."""
    contacts = contact_set([[-1.0, 0, 0], [1.0, 0, 0]], [[1.0, 0, 0], [-1.0, 0, 0]], 0.5)
    found = solve_forces(
        contacts, np.array([0, 0, 3.0]), np.zeros(3), np.zeros(3), weight=3.0, gyration=1.0
    )
    np.testing.assert_allclose(found.force, [[3.0, 0, 1.5], [-3.0, 0, 1.5]], atol=1e-5)


def test_without_contacts_the_whole_wrench_is_missing():
    none = contact_set(np.zeros((0, 3)), np.zeros((0, 3)), 0.5)
    found = solve_forces(
        none, np.array([0, 0, 2.0]), np.array([0.1, 0, 0]), np.zeros(3), weight=2.0, gyration=0.1
    )
    assert found.force_residual == pytest.approx(1.0)
    assert found.moment_residual == pytest.approx(0.5)


def test_the_wrench_of_a_tumbling_body_converges_with_the_square_of_the_frame_time():
    """Free motion of an asymmetric top by a fine Runge-Kutta run needs no moment."""
    body = make_shape("hammer")
    inertia = body.inertia

    def rate(state):
        wxyz, omega = state[:4], state[4:]
        spin = np.linalg.solve(inertia, -np.cross(omega, inertia @ omega))
        turn = 0.5 * rotation.multiply(wxyz, np.concatenate([[0.0], omega]))
        return np.concatenate([turn, spin])

    state, fine, path = np.array([1.0, 0, 0, 0, 2.0, 3.0, 0.5]), 1.0 / 4800, []
    for _ in range(1200):
        path.append(state[:4] / np.linalg.norm(state[:4]))
        a = rate(state)
        b = rate(state + 0.5 * fine * a)
        c = rate(state + 0.5 * fine * b)
        d = rate(state + fine * c)
        state = state + fine / 6 * (a + 2 * b + 2 * c + d)
    errors = []
    for stride in (80, 40, 20):
        wxyz = np.array(path[::stride])
        times = np.arange(len(wxyz)) * fine * stride
        pose = Pose(-rotation.rotate(wxyz, body.center), wxyz)
        wrench = required_wrench(body, pose, times, DOWN)
        errors.append(np.abs(wrench.moment[1:-1]).max())
        np.testing.assert_allclose(
            wrench.force, np.tile(-body.mass * DOWN, (len(times), 1)), atol=1e-9
        )
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.2)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.2)


def test_smoothing_removes_noise_and_keeps_a_straight_path():
    rng, times = np.random.default_rng(0), np.arange(240) / 120.0
    path = times[:, None] * np.array([0.1, 0.2, 0.3])
    upright = np.array([1.0, 0, 0, 0])
    kept = LowPass.at(times, 6.0).poses(Pose(path, upright))
    np.testing.assert_allclose(kept.position, path, atol=1e-12)
    trembling = Pose(path + 1e-3 * rng.normal(size=path.shape), upright)
    noisy = LowPass.at(times, 6.0).poses(trembling)
    assert np.abs(noisy.position - path)[20:-20].std() < 0.5e-3


def test_capsule_gaps_to_a_ball_are_those_of_a_sphere():
    body, rng = make_shape("sphere"), np.random.default_rng(1)
    start = rng.uniform(-0.08, 0.08, (60, 3))
    end = start + rng.uniform(-0.04, 0.04, (60, 3))
    radius = rng.uniform(0.004, 0.01, 60)
    found = capsule_gaps(ExactDistance.from_body(body), start, end, radius, reach=0.02)
    share = np.linspace(0.0, 1.0, 2001)[:, None, None]
    nearest = np.linalg.norm(start + share * (end - start), axis=-1).min(axis=0)
    expected = nearest - 0.035 - radius
    is_near = np.isfinite(found.gap)
    # The mesh lies up to 0.1 mm inside its ball.
    np.testing.assert_allclose(found.gap[is_near], expected[is_near], atol=2e-4)
    assert np.all(expected[~is_near] > 0.02 - 2e-4)
    assert is_near.sum() > 10


@settings(max_examples=30)
@given(st.integers(0, 2**31))
def test_distances_to_a_box_are_those_of_its_nearest_point(seed):
    rng = np.random.default_rng(seed)
    half = rng.uniform(0.1, 0.5, 3)
    pose = Pose(rng.normal(size=3), rotation.random(rng))
    points = pose.apply(rng.uniform(-0.8, 0.8, (40, 3)))
    distance, normal = surface_distance(EnvironmentBox(pose, half), points)
    local = pose.inverse().apply(points)
    inside = np.all(np.abs(local) <= half, axis=1)
    outside = np.linalg.norm(local - np.clip(local, -half, half), axis=1)
    np.testing.assert_allclose(distance[~inside], outside[~inside], atol=1e-12)
    np.testing.assert_allclose(distance[inside], -(half - np.abs(local[inside])).min(axis=1))
    stepped, _ = surface_distance(EnvironmentBox(pose, half), points + 1e-7 * normal)
    np.testing.assert_allclose(stepped - distance, 1e-7, rtol=1e-4)
    above = surface_distance(floor(0.2), np.array([[1.0, 2.0, 0.5]]))[0]
    assert above[0] == pytest.approx(0.3)


def test_limits_of_a_hand_hold_and_change_nothing_where_they_do_not_bind():
    """Four posts carry a plate; one of them may give but little, two together not much."""
    corner = np.array([[1.0, 1, 0], [1, -1, 0], [-1, 1, 0], [-1, -1, 0]])
    contacts = contact_set(corner, np.tile([0.0, 0.0, 1.0], (4, 1)), 0.5)
    load = {"force": np.array([0.0, 0, 4.0]), "moment": np.zeros(3), "center": np.zeros(3)}
    load |= {"weight": 4.0, "gyration": 1.0}
    plain = solve_forces(contacts, **load)
    np.testing.assert_allclose(plain.force[:, 2], 1.0, atol=1e-6)
    torque = np.zeros((1, 4, 3))
    torque[0, 0, 2] = 2.0
    none = np.full(4, -1)
    loose = solve_forces(contacts, **load, limits=HandLimits(torque, np.array([3.0]), none, 1.0))
    np.testing.assert_allclose(loose.force, plain.force, atol=1e-5)
    tight = solve_forces(contacts, **load, limits=HandLimits(torque, np.array([1.2]), none, 1.0))
    assert tight.force_residual < 1e-6
    # The moment about the centre must vanish: opposite corners give the same.
    np.testing.assert_allclose(tight.force[:, 2], [0.6, 1.4, 1.4, 0.6], atol=1e-4)
    digit = np.array([0, 0, 1, 1])
    few = HandLimits(np.zeros((0, 4, 3)), np.zeros(0), digit, 1.5)
    missing = solve_forces(contacts, **load, limits=few)
    assert missing.force_residual == pytest.approx(0.25, abs=1e-4)
    pressed = np.linalg.norm(missing.force, axis=1)
    assert pressed[:2].sum() <= 1.5 + 1e-5
    assert pressed[2:].sum() <= 1.5 + 1e-5


def test_two_bodies_push_on_each_other_with_opposite_forces():
    """A block of 2 N on one of 1 N: below, the ground gives 3 N and the block between passes 2."""
    contacts = ContactSet(
        np.array([[0.0, 0, 0], [0, 0, 1.0]]), np.array([[0.0, 0, 1], [0, 0, -1.0]]),
        np.array([0.5, 0.5]), np.full(2, STICKS), np.zeros((2, 3)), np.array([0, 0]),
        np.array([-1, 1]),
    )  # fmt: skip
    loads = Loads(
        np.array([[0.0, 0, 1], [0, 0, 2.0]]), np.zeros((2, 3)),
        np.array([[0.0, 0, 0.5], [0, 0, 1.5]]), np.array([1.0, 2.0]), np.array([0.3, 0.4]),
    )  # fmt: skip
    found = ForceSolver().solve(contacts, loads)
    np.testing.assert_allclose(found.force, [[0, 0, 3.0], [0, 0, -2.0]], atol=1e-5)
    assert found.force_residual.max() < 1e-6
    assert found.moment_residual.max() < 1e-6


@pytest.mark.parametrize("shape", ["mug", "box"])
def test_skin_gaps_are_those_of_all_vertices_in_every_frame(shape):
    """What is skipped for speed is never the nearest: a fist that opens and passes a body."""
    model, body = human(), make_shape(shape)
    skin, exact = skin_of(model), ExactDistance.from_body(body)
    owner = vertex_capsules(model, skin)
    share = np.linspace(0.0, 1.0, 12)[:, None]
    q = (1.0 - share) * model.pose("closed") + share * model.pose("open")
    root = Pose(np.array([-0.16, 0.0, 0.03]) + share * np.array([0.12, 0.03, 0.01]), UPRIGHT)
    still = Pose(np.zeros((12, 3)), UPRIGHT)
    found = skin_gaps(model, skin, owner, q, root, still, exact, reach=2e-3)
    assert np.isfinite(found.gap).sum() > 12
    world = posed_skin(model, skin, q, root)
    for t in range(12):
        distance = exact.signed_distance(world[t])[0]
        assert found.depth[t] == pytest.approx(max(0.0, -distance.min()), abs=1e-12)
        for c in range(len(model.capsules)):
            least = distance[owner == c].min(initial=np.inf)
            expected = least if least <= 2e-3 else np.inf
            assert found.gap[t, c] == pytest.approx(expected, abs=1e-12)
