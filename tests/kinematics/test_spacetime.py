"""Smooth motion through contacts: terms, optima, contacts, bounds and mistakes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import least_squares, lsq_linear

from handwright.errors import InvalidValueError
from handwright.geometry.distance.environment import floor, pack_environment, wall
from handwright.geometry.distance.sdf import field_value, make_field
from handwright.hands import human, trident
from handwright.kinematics import (
    DigitTargets,
    IkWeights,
    link_poses,
    posed_pads,
    solve_ik,
)
from handwright.kinematics.obstacles import Obstacles, seen_over
from handwright.kinematics.skin.samples import skin_samples
from handwright.kinematics.spacetime.band import make_band
from handwright.kinematics.spacetime.motion import (
    Anchors,
    JointBounds,
    SpacetimeWeights,
    bending_rows,
    make_problem,
    motion_around,
    motion_links,
    motion_workspace,
    no_anchors,
    smooth_digits,
)
from handwright.kinematics.spacetime.terms import Motion, fill_band, motion_cost
from handwright.math import rotation
from handwright.math.pose import Pose

HUMAN = human()
NOTHING = dict.fromkeys(
    ("acceleration", "coupling", "posture", "object", "environment", "digits"), 0.0
)


def ball_field(center, radius):
    """A ball as a field, exact at the nodes."""
    axis = np.linspace(-0.2, 0.3, 101)
    grid = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1)
    return make_field(np.linalg.norm(grid - center, axis=-1) - radius, np.full(3, -0.2), 0.005)


def pad_anchors(model, targets, digits, frames, weight=1.0):
    """The pads of some digits at some frames; targets are (T, D, 3)."""
    digit, frame = (grid.ravel() for grid in np.meshgrid(digits, frames, indexing="ij"))
    pads = [model.digits[d].pad for d in digit]
    return Anchors(
        digit,
        frame,
        np.array([pad.link for pad in pads]),
        np.array([pad.position for pad in pads]),
        targets[frame, digit],
        np.full(len(digit), weight),
    )


def wave(model, num_frames, rng, size=0.25):
    """A smooth motion well inside the joint limits."""
    middle = 0.5 * (model.pose("rest") + model.joints.clamp(model.pose("rest") + 0.2))
    phase = rng.uniform(0.0, 2.0 * np.pi, model.num_joints)
    speed = rng.uniform(0.5, 1.5, model.num_joints)
    s = np.linspace(0.0, 3.0, num_frames)[:, None]
    return model.joints.clamp(middle + size * np.sin(speed * s + phase))


def turning_root(num_frames, size=0.3):
    s = np.linspace(0.0, 1.0, num_frames)[:, None]
    return Pose(
        0.02 * size * np.sin(3.0 * s + np.arange(3)),
        rotation.exp(size * np.sin(2.0 * s) * np.array([0.5, 0.3, 1.0])),
    )


def second_differences(q):
    return np.abs(np.diff(q, 2, axis=0)).max()


def unpacked(model, root, q, anchors, field, environment, reference, weights):
    """A problem as the kernels see it, with all they need."""
    order = np.lexsort((anchors.frame, anchors.digit))
    around = motion_around(model, len(q), Obstacles(field, environment), weights.num_samples)
    problem = make_problem(
        model,
        Anchors(*(np.ascontiguousarray(column[order]) for column in anchors)),
        around=around,
        reference=reference,
        low=np.broadcast_to(model.joints.lower, q.shape).copy(),
        high=np.broadcast_to(model.joints.upper, q.shape).copy(),
        weights=weights,
    )
    links = motion_links(model, root, q)
    return problem, links, motion_workspace(problem, links)


# ------------------------------------------------------------------ terms


@pytest.mark.parametrize(
    "model", [HUMAN, human("left", coupled=True), trident()], ids=lambda model: model.name
)
@pytest.mark.parametrize(
    "term",
    ["anchors", "acceleration", "coupling", "posture", "object", "environment", "digits"],
)
def test_every_term_agrees_with_central_differences(model, term):
    rng = np.random.default_rng(3)
    num_frames = 5
    weights = SpacetimeWeights(**{**NOTHING, term: 1.0} if term != "anchors" else NOTHING)
    weights = weights._replace(digit_margin=0.06, num_samples=40)
    q = model.joints.clamp(
        0.6 * model.pose("closed") + 0.4 * model.joints.random(rng, (num_frames,))
    )
    root = turning_root(num_frames)
    anchors = no_anchors()
    if term == "anchors":
        targets = rng.normal(size=(num_frames, len(model.digits), 3)) * 0.05
        anchors = pad_anchors(model, targets, range(len(model.digits)), range(1, 4), 1.5)
        # A second point on an inner link of every digit.
        inner = anchors._replace(link=anchors.link - 1, local=anchors.local + 0.01)
        anchors = Anchors(*(np.concatenate(two) for two in zip(anchors, inner, strict=True)))
    field = ball_field(np.array([0.1, 0.0, -0.04]), 0.06)
    ground = pack_environment([floor(-0.03), wall(np.array([0.12, 0.0, 0.0]), -np.eye(3)[0])])
    environment = seen_over(ground, turning_root(num_frames, 0.05))
    reference = np.broadcast_to(model.pose("rest"), q.shape).copy()
    problem, links, room = unpacked(model, root, q, anchors, field, environment, reference, weights)
    pull = 0.01 * rng.normal(size=(len(anchors.digit), 3))

    def cost(x, digit, half):
        return motion_cost(problem, Motion(x, links, pull), digit, room, half, np.inf)[0]

    seen = 0.0
    for digit in range(len(model.digits)):
        value = cost(q.copy(), digit, 0)
        seen += value
        free = [j for j in problem.rig.table.free[digit] if j >= 0]
        gradient = 2.0 * room.equations.gradient[:num_frames, : len(free)].copy()
        numeric = np.zeros_like(gradient)
        for frame in range(num_frames):
            for a, joint in enumerate(free):
                ends = []
                for sign in (1.0, -1.0):
                    x = q.copy()
                    x[frame, joint] += sign * 1e-6
                    ends.append(cost(x, digit, 1))
                numeric[frame, a] = (ends[0] - ends[1]) / 2e-6
        cost(q.copy(), digit, 1)
        scale = np.abs(gradient).max()
        np.testing.assert_allclose(gradient, numeric, atol=2e-4 * scale + 1e-9)
    assert seen > 0.0 or (term == "coupling" and not bending_rows(model)[0].any())


def test_the_matrix_of_linear_terms_is_their_second_derivative():
    weights = SpacetimeWeights(**NOTHING)._replace(acceleration=0.7, coupling=0.4, posture=0.2)
    num_frames, rng = 7, np.random.default_rng(0)
    q = HUMAN.joints.random(rng, (num_frames,))
    problem, links, room = unpacked(
        HUMAN, Pose.identity(num_frames), q, no_anchors(), None, None, q.copy(), weights
    )
    band = make_band(num_frames * 6, 12)
    motion_cost(problem, Motion(q, links, np.zeros((0, 3))), 1, room, 0, np.inf)
    fill_band(problem, 1, q, room.equations, 0, band)
    second = np.diff(np.eye(num_frames), 2, axis=0)
    bend = np.array([0.0, 0.0, 1.0, 0.0, -2.0, 1.0])
    expected = (
        0.7 * np.kron(second.T @ second, np.eye(6))
        + 0.4 * np.kron(np.eye(num_frames), np.outer(bend, bend))
        + 0.2 * np.eye(num_frames * 6)
    )
    for k in range(13):
        upper = band.matrix[: len(expected) - k, k]
        np.testing.assert_allclose(upper, np.diagonal(expected, k), atol=1e-14)
    assert not np.triu(expected, 13).any()


def test_flexions_of_fingers_and_thumb_are_found():
    factor, constant = bending_rows(HUMAN)
    names = HUMAN.joints.names
    for row, digit in enumerate(HUMAN.digits):
        used = {names[j]: factor[row, a] for a, j in enumerate(digit.joints) if factor[row, a]}
        wanted = ("cmc", "mcp", "ip") if digit.name == "thumb" else ("mcp", "pip", "dip")
        expected = dict(zip(wanted, (1.0, -2.0, 1.0), strict=True))
        assert used == {f"{digit.name}_{k}_flexion": v for k, v in expected.items()}
    assert not constant.any()


def test_flexions_of_followers_count_for_their_leaders():
    model = human(coupled=True)
    factor, constant = bending_rows(model)
    rng = np.random.default_rng(1)
    q = model.joints.random(rng)
    free = [j for j in model.digits[2].joints if model.joints.leader[j] < 0]
    index = model.joints.index
    uneven = (
        q[index("middle_dip_flexion")]
        - 2.0 * q[index("middle_pip_flexion")]
        + q[index("middle_mcp_flexion")]
    )
    assert factor[2, : len(free)] @ q[free] + constant[2] == pytest.approx(uneven, abs=1e-12)


# ------------------------------------------------------------------ optima


def test_without_contacts_the_optimum_is_that_of_a_linear_system():
    num_frames, rng = 30, np.random.default_rng(2)
    weights = SpacetimeWeights(
        acceleration=1e-2, coupling=3e-3, posture=1e-3, tolerance=1e-12, digits=0.0
    )
    reference = wave(HUMAN, num_frames, rng, 0.1)
    start = HUMAN.joints.clamp(reference + 0.05 * rng.normal(size=reference.shape))
    wide = np.full(reference.shape, 1.0)
    pinned = np.zeros(num_frames, dtype=bool)
    pinned[[0, 1, -1]] = True
    result = smooth_digits(
        HUMAN, Pose.identity(num_frames), start, no_anchors(),
        reference=reference, bounds=JointBounds(-wide, wide * 2.0, pinned), weights=weights,
    )  # fmt: skip
    second = np.diff(np.eye(num_frames), 2, axis=0)
    free = ~pinned
    for row, digit in enumerate(HUMAN.digits):
        own = list(digit.joints)
        bend = bending_rows(HUMAN)[0][row, : len(own)]
        A = (
            1e-2 * np.kron(second.T @ second, np.eye(6))
            + np.kron(np.diag(free), 3e-3 * np.outer(bend, bend))
            + np.kron(np.diag(free), 1e-3 * np.eye(6))
        )
        b = np.kron(np.diag(free), 1e-3 * np.eye(6)) @ reference[:, own].ravel()
        # Minimise over free frames with the pinned ones given, bounded by the joint limits.
        loose = np.repeat(free, 6)
        x = start[:, own].ravel()
        rhs = (b - A[:, ~loose] @ x[~loose])[loose]
        L = np.linalg.cholesky(A[np.ix_(loose, loose)])
        limits = (
            np.tile(HUMAN.joints.lower[own], free.sum()),
            np.tile(HUMAN.joints.upper[own], free.sum()),
        )
        expected = lsq_linear(L.T, np.linalg.solve(L, rhs), limits, method="bvls", tol=1e-14).x
        got = result.q[:, own].ravel()
        np.testing.assert_allclose(got[loose], expected, atol=2e-6)
        np.testing.assert_array_equal(got[~loose], x[~loose])


def residuals(x, digit, base, root, anchors, field, reference, weights, samples):
    """All residuals of one digit of the human hand, from public functions alone."""
    q = base.copy()
    own = list(HUMAN.digits[digit].joints)
    q[:, own] = x.reshape(len(q), -1)
    turns, places = link_poses(HUMAN, q, root)
    mine = anchors.digit == digit
    at = anchors.frame[mine], anchors.link[mine]
    points = places[at] + np.einsum("nij,nj->ni", turns[at], anchors.local[mine])
    parts = [(np.sqrt(anchors.weight[mine])[:, None] * (points - anchors.target[mine])).ravel()]
    bent = q[:, own[5]] - 2.0 * q[:, own[4]] + q[:, own[2]]
    parts.append(np.sqrt(weights.coupling) * bent)
    parts.append(np.sqrt(weights.posture) * (q - reference)[:, own].ravel())
    parts.append(np.sqrt(weights.acceleration) * np.diff(q[:, own], 2, axis=0).ravel())
    for capsule in np.flatnonzero(HUMAN.capsules.digit == digit):
        rows = np.arange(samples.first[capsule], samples.first[capsule + 1])[: weights.num_samples]
        link, share = samples.link[rows], samples.weight[rows]
        carried = places[:, link] + np.einsum(
            "tskij,skj->tski", turns[:, link], samples.local[rows]
        )
        skin = np.einsum("sk,tski->tsi", np.where(link < 0, 0.0, share), carried).reshape(-1, 3)
        values = np.array([field_value(field, *point) for point in skin])
        parts.append(np.sqrt(weights.object) * np.maximum(weights.object_margin - values, 0.0))
    return np.concatenate(parts)


def test_the_optimum_is_that_of_scipy():
    num_frames, digit, rng = 12, 2, np.random.default_rng(4)
    truth = wave(HUMAN, num_frames, rng, 0.15)
    root = turning_root(num_frames, 0.1)
    pads = posed_pads(HUMAN, truth, root).position
    anchors = pad_anchors(HUMAN, pads + 0.002, [digit], range(3, 8))
    samples = skin_samples(HUMAN, 0.006)
    # A ball that the finger must make room for when it is not held.
    field = ball_field(pads[10, digit] + np.array([0.0, 0.0, 0.012]), 0.015)
    weights = SpacetimeWeights(
        acceleration=1e-4, coupling=1e-5, posture=1e-4, digits=0.0, num_samples=25,
        pulls=0, tolerance=1e-10, max_iterations=300,
    )  # fmt: skip
    reference = np.broadcast_to(HUMAN.pose("rest"), truth.shape).copy()
    result = smooth_digits(
        HUMAN, root, truth, anchors,
        obstacles=Obstacles(field, samples=samples), reference=reference, weights=weights,
    )  # fmt: skip
    own = list(HUMAN.digits[digit].joints)
    fixed = (digit, truth, root, anchors, field, reference, weights, samples)
    mine = residuals(result.q[:, own].ravel(), *fixed)
    assert mine @ mine == pytest.approx(result.cost[digit], rel=1e-6)
    low, high = (
        np.tile(limit[own], num_frames) for limit in (HUMAN.joints.lower, HUMAN.joints.upper)
    )
    start = np.clip(truth[:, own].ravel(), low + 1e-9, high - 1e-9)
    other = least_squares(
        residuals, start, bounds=(low, high), args=fixed, xtol=1e-13, ftol=1e-13, gtol=1e-13,
        max_nfev=300,
    )  # fmt: skip
    # The ball is in the way, and pushed the finger out.
    num_points = sum(
        min(samples.first[c + 1] - samples.first[c], 25)
        for c in np.flatnonzero(HUMAN.capsules.digit == digit)
    )
    depth = residuals(truth[:, own].ravel(), *fixed)[-num_points * num_frames :]
    assert (depth > 1e-3).any()
    # It takes hundreds of steps and comes from above: bounds are a wall to it.
    assert result.cost[digit] <= 2.0 * other.cost * (1.0 + 1e-6)
    assert result.cost[digit] == pytest.approx(2.0 * other.cost, rel=1e-3)
    np.testing.assert_allclose(result.q[:, own].ravel(), other.x, atol=1e-2)
    # Nor does it find anything to improve near our optimum.
    near = np.clip(result.q[:, own].ravel(), low + 1e-9, high - 1e-9)
    polished = least_squares(residuals, near, bounds=(low, high), args=fixed, max_nfev=50)
    assert 2.0 * polished.cost > result.cost[digit] * (1.0 - 1e-5)


def test_a_converged_motion_has_no_slope_left_inside_its_bounds():
    num_frames, rng = 20, np.random.default_rng(8)
    truth = wave(HUMAN, num_frames, rng)
    root = turning_root(num_frames)
    anchors = pad_anchors(HUMAN, posed_pads(HUMAN, truth, root).position, range(5), range(5, 15))
    weights = SpacetimeWeights(
        acceleration=1e-4, coupling=1e-4, posture=1e-4, digits=0.0, pulls=0, tolerance=1e-10,
        max_iterations=300,
    )  # fmt: skip
    reference = np.broadcast_to(HUMAN.pose("rest"), truth.shape).copy()
    start = HUMAN.joints.clamp(truth + 0.05 * rng.normal(size=truth.shape))
    q = smooth_digits(HUMAN, root, start, anchors, reference=reference, weights=weights).q
    problem, links, room = unpacked(HUMAN, root, q, anchors, None, None, reference, weights)
    at_bound = 0
    for digit, part in enumerate(HUMAN.digits):
        pull = np.zeros((len(anchors.digit), 3))
        motion_cost(problem, Motion(q, links, pull), digit, room, 0, np.inf)
        slope, own = room.equations.gradient[:num_frames, :6], q[:, list(part.joints)]
        low, high = (limit[list(part.joints)] for limit in (HUMAN.joints.lower, HUMAN.joints.upper))
        inside = (own > low) & (own < high)
        at_bound += (~inside).sum()
        # A slope of 1e-8 is that of a tenth of a milliradian away from the reference.
        assert np.abs(slope[inside]).max() < 1e-8
        assert np.all(slope[own == low] > -1e-8)
        assert np.all(slope[own == high] < 1e-8)
    assert at_bound > 10


# ------------------------------------------------------------------ contacts


@pytest.mark.parametrize(
    "model", [HUMAN, human("left", coupled=True), trident()], ids=lambda model: model.name
)
def test_contacts_of_a_reachable_motion_are_met(model):
    num_frames, rng = 40, np.random.default_rng(6)
    truth = wave(model, num_frames, rng, 0.1)
    root = turning_root(num_frames)
    digits = range(len(model.digits))
    anchors = pad_anchors(model, posed_pads(model, truth, root).position, digits, range(8, 30))
    start = model.joints.clamp(truth + 0.03 * rng.normal(size=truth.shape))
    # The truth may have digits through each other; that is not what is tried here.
    weights = SpacetimeWeights(digits=0.0)
    result = smooth_digits(
        model, root, start, anchors, reference=model.pose("rest"), weights=weights
    )
    # A joint that follows one of another digit cannot be moved for the sake of its own digit.
    free = [all(model.joints.leader[j] in (-1, *d.joints) for j in d.joints) for d in model.digits]
    assert result.anchor_error[np.array(free)[anchors.digit]].max() < 2e-5
    assert result.anchor_error.max() < 1e-4
    turns, places = link_poses(model, result.q, root)
    at = anchors.frame, anchors.link
    points = places[at] + np.einsum("nij,nj->ni", turns[at], anchors.local)
    np.testing.assert_allclose(
        np.linalg.norm(points - anchors.target, axis=-1), result.anchor_error, atol=1e-12
    )
    assert second_differences(result.q) < 0.2 * second_differences(start)


def test_pads_stay_in_place_on_an_object_while_the_wrist_turns():
    num_frames = 40
    grip = 0.75 * HUMAN.pose("rest") + 0.25 * HUMAN.pose("closed")
    s = np.linspace(0.0, 2.0 * np.pi, num_frames)[:, None]
    root = Pose(
        0.003 * np.sin(s) * np.ones(3), rotation.exp(0.06 * np.sin(s) * np.array([0.3, 0.5, 1.0]))
    )
    pads = np.broadcast_to(posed_pads(HUMAN, grip).position, (num_frames, 5, 3))
    # Inverse kinematics frame by frame says that all of it can be reached.
    alone = IkWeights(object=0.0, digits=0.0, nail=0.0, posture=1e-9)
    targets = DigitTargets(pads[0].copy(), np.zeros((5, 3)), np.ones(5, dtype=bool))
    for frame in range(num_frames):
        one = Pose(root.position[frame], root.wxyz[frame])
        assert solve_ik(HUMAN, grip, targets, root=one, weights=alone).error.max() < 1e-5
    anchors = pad_anchors(HUMAN, pads, range(5), range(num_frames))
    start = np.broadcast_to(grip, (num_frames, HUMAN.num_joints)).copy()
    result = smooth_digits(HUMAN, root, start, anchors, reference=grip)
    assert result.anchor_error.max() < 2e-5
    # At 30 frames a second a pad then slides by less than a fifth of 5 mm/s.
    moved = np.diff(posed_pads(HUMAN, result.q, root).position, axis=0)
    assert np.linalg.norm(moved, axis=-1).max() * 30.0 < 1e-3


def test_contacts_win_against_a_strong_posture_by_being_pulled():
    num_frames, rng = 20, np.random.default_rng(9)
    truth = wave(HUMAN, num_frames, rng, 0.1)
    root = Pose.identity(num_frames)
    anchors = pad_anchors(HUMAN, posed_pads(HUMAN, truth).position, [1, 3], range(5, 15))
    given = {"digits": 0.0, "posture": 1e-5}
    plain, pulled = (
        smooth_digits(
            HUMAN, root, truth, anchors,
            reference=HUMAN.pose("rest"), weights=SpacetimeWeights(**given, pulls=pulls),
        ).anchor_error.max()
        for pulls in (0, 8)
    )  # fmt: skip
    assert plain > 2e-5
    assert pulled < 1.1e-5


def test_a_contact_out_of_reach_does_not_spoil_the_rest():
    num_frames, rng = 20, np.random.default_rng(10)
    truth = wave(HUMAN, num_frames, rng, 0.1)
    root = Pose.identity(num_frames)
    targets = posed_pads(HUMAN, truth).position.copy()
    targets[:, 2] += np.array([0.5, 0.0, 0.0])
    anchors = pad_anchors(HUMAN, targets, [1, 2], range(num_frames))
    result = smooth_digits(HUMAN, root, truth, anchors, weights=SpacetimeWeights(digits=0.0))
    error = result.anchor_error.reshape(2, num_frames)
    assert error[0].max() < 2e-5
    assert error[1].min() > 0.3
    assert np.isfinite(result.q).all()


def test_hints_bend_a_free_finger_but_do_not_hold_it():
    num_frames = 21
    rest = np.broadcast_to(HUMAN.pose("rest"), (num_frames, HUMAN.num_joints))
    lifted = posed_pads(HUMAN, rest).position + np.array([0.0, 0.0, 0.02])
    hint = pad_anchors(HUMAN, lifted, [1], [10], weight=1e-3)
    pinned = np.zeros(num_frames, dtype=bool)
    pinned[[0, 1, -2, -1]] = True
    result = smooth_digits(
        HUMAN,
        Pose.identity(num_frames),
        rest,
        hint,
        reference=rest,
        bounds=JointBounds(pinned=pinned),
    )
    height = posed_pads(HUMAN, result.q).position[:, 1, 2] - lifted[0, 1, 2] + 0.02
    assert 0.01 < height[10] < 0.02
    assert height.argmax() in (9, 10, 11)


def test_order_of_anchors_does_not_matter():
    num_frames, rng = 15, np.random.default_rng(11)
    truth = wave(HUMAN, num_frames, rng, 0.1)
    anchors = pad_anchors(HUMAN, posed_pads(HUMAN, truth).position, range(5), range(num_frames))
    anchors = anchors._replace(target=anchors.target + 1e-3 * rng.normal(size=anchors.target.shape))
    order = rng.permutation(len(anchors.digit))
    shuffled = Anchors(*(column[order] for column in anchors))
    one, other = (
        smooth_digits(HUMAN, Pose.identity(num_frames), truth, rows) for rows in (anchors, shuffled)
    )
    np.testing.assert_array_equal(one.q, other.q)
    np.testing.assert_array_equal(one.anchor_error[order], other.anchor_error)


# ------------------------------------------------------------------ bounds and smoothness


def test_bounds_fixed_joints_and_pinned_frames_are_kept():
    num_frames, rng = 25, np.random.default_rng(12)
    start = HUMAN.joints.clamp(wave(HUMAN, num_frames, rng, 0.2))
    low = np.broadcast_to(HUMAN.joints.lower, start.shape).copy()
    high = np.broadcast_to(HUMAN.joints.upper, start.shape).copy()
    joint = HUMAN.joints.index("ring_pip_flexion")
    low[8:14, joint] = high[8:14, joint] = 0.9
    pinned = np.zeros(num_frames, dtype=bool)
    pinned[:2] = True
    anchors = pad_anchors(HUMAN, posed_pads(HUMAN, start).position + 0.01, range(5), range(5, 20))
    result = smooth_digits(
        HUMAN, Pose.identity(num_frames), start, anchors,
        reference=HUMAN.pose("closed"), bounds=JointBounds(low, high, pinned),
    )  # fmt: skip
    np.testing.assert_array_equal(result.q[:2], start[:2])
    np.testing.assert_array_equal(result.q[8:14, joint], 0.9)
    assert np.all((result.q[2:] >= low[2:]) & (result.q[2:] <= high[2:]))


def test_a_jittery_motion_becomes_smooth():
    num_frames, rng = 60, np.random.default_rng(13)
    clean = wave(HUMAN, num_frames, rng, 0.15)
    jittery = HUMAN.joints.clamp(clean + 0.03 * rng.normal(size=clean.shape))
    weights = SpacetimeWeights(digits=0.0, posture=1e-8, coupling=0.0)
    q = smooth_digits(
        HUMAN, Pose.identity(num_frames), jittery, no_anchors(), reference=jittery, weights=weights
    ).q
    assert second_differences(q) < 0.02 * second_differences(jittery)
    # It still is that motion: noise is averaged away, not the motion.
    assert np.sqrt(np.mean((q - clean) ** 2)) < 0.7 * np.sqrt(np.mean((jittery - clean) ** 2))


@pytest.mark.parametrize("num_frames", [1, 2, 3])
def test_short_motions_are_fine(num_frames):
    rng = np.random.default_rng(14)
    truth = wave(HUMAN, num_frames, rng, 0.1)
    anchors = pad_anchors(HUMAN, posed_pads(HUMAN, truth).position, [1], range(num_frames))
    start = HUMAN.joints.clamp(truth + 0.02)
    result = smooth_digits(HUMAN, Pose.identity(num_frames), start, anchors)
    assert result.anchor_error.max() < 2e-5


# ------------------------------------------------------------------ mistakes


def small():
    q = np.tile(HUMAN.pose("rest"), (4, 1))
    return q, Pose.identity(4), pad_anchors(HUMAN, posed_pads(HUMAN, q).position, [1], [2])


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"q": np.full((4, 30), np.nan)}, r"q\[0, 0\] is NaN"),
        ({"q": np.zeros((4, 3))}, r"expected \(T, 30\)"),
        ({"root": Pose.identity(5)}, r"root has shape \(5,\)"),
        ({"reference": np.zeros((2, 30))}, "reference has shape"),
        (
            {"bounds": JointBounds(np.full((4, 30), 0.5), np.full((4, 30), 0.4))},
            "low is above high",
        ),
        ({"bounds": JointBounds(high=np.full((4, 30), np.nan))}, "high.* is NaN"),
        ({"bounds": JointBounds(pinned=np.zeros(3, dtype=bool))}, "pinned has shape"),
        ({"obstacles": Obstacles(environment=pack_environment([floor()]))}, "seen_over"),
        ({"weights": SpacetimeWeights(acceleration=np.nan)}, "acceleration is nan"),
        ({"weights": SpacetimeWeights(posture=-1.0)}, "posture is -1.0"),
        ({"weights": SpacetimeWeights(max_iterations=0)}, "max_iterations is 0"),
        ({"weights": SpacetimeWeights(sweeps=0)}, "sweeps 0"),
        ({"anchors": {"target": np.full((1, 3), np.nan)}}, "target holds NaN"),
        ({"anchors": {"frame": np.array([4])}}, "frame goes from 4"),
        ({"anchors": {"digit": np.array([5])}}, "digit goes from 5"),
        ({"anchors": {"link": np.array([0])}}, "not moved by digit 'index'"),
        ({"anchors": {"local": np.zeros((2, 3))}}, "local has shape"),
        ({"anchors": {"weight": np.array([-1.0])}}, "least weight is -1.0"),
    ],
    ids=lambda value: None if isinstance(value, dict) else value,
)
def test_mistakes_are_named(change, text):
    q, root, anchors = small()
    change = dict(change)
    anchors = anchors._replace(**change.pop("anchors", {}))
    q, root = change.pop("q", q), change.pop("root", root)
    with pytest.raises(InvalidValueError, match=text):
        smooth_digits(HUMAN, root, q, anchors, **change)


def test_nothing_given_is_changed():
    q, root, anchors = small()
    kept = q.copy(), [column.copy() for column in anchors]
    smooth_digits(HUMAN, root, q, anchors, reference=HUMAN.pose("closed"))
    np.testing.assert_array_equal(q, kept[0])
    for column, before in zip(anchors, kept[1], strict=True):
        np.testing.assert_array_equal(column, before)
