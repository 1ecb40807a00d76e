"""Inverse kinematics of digits, arms and skeletons, and reachable volumes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import least_squares

from handwright.core.hand import (
    Capsules,
    Digit,
    Frames,
    HandModel,
    JointTree,
    Masses,
    Sites,
    SurfacePoint,
)
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.geometry.distance.environment import floor, pack_environment, wall
from handwright.geometry.distance.sdf import make_field
from handwright.hands import human, trident
from handwright.hands.skin.build import skin_of
from handwright.kinematics import (
    DigitTargets,
    IkWeights,
    PointGoals,
    RotationGoals,
    descend_digit,
    link_poses,
    posed_capsules,
    posed_pads,
    posed_skin,
    reachable_volume,
    solve_frames,
    solve_ik,
)
from handwright.kinematics.ik.digit import digit_cost, place_digit
from handwright.kinematics.ik.digit_table import rig_of
from handwright.kinematics.ik.problem import DigitProblem, make_work
from handwright.kinematics.obstacles import Around, capsules_around
from handwright.kinematics.skin.samples import sample_position, skin_samples
from handwright.kinematics.tree import forward, links_for, tree_of
from handwright.math import rotation
from handwright.math.pose import Pose

# Nothing but the targets, and too little pull to a posture to be seen in them.
PLAIN = IkWeights(object=0.0, digits=0.0, nail=0.0, posture=1e-8)


def ball_field(center, radius):
    """A ball as a field, exact at the nodes."""
    axis = np.linspace(-0.2, 0.3, 101)
    grid = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1)
    return make_field(np.linalg.norm(grid - center, axis=-1) - radius, np.full(3, -0.2), 0.005)


def everywhere(points):
    return DigitTargets(points, np.zeros_like(points), np.ones(len(points), dtype=bool))


def gap_between_digits(model, q, one, other):
    """Least distance of sampled points on the capsules of two digits, m."""
    capsules = posed_capsules(model, q)
    share = np.linspace(0.0, 1.0, 60)[:, None, None]
    points = capsules.start + share * (capsules.end - capsules.start)
    gaps = [
        np.linalg.norm(points[:, None, a] - points[None, :, b], axis=-1).min()
        - capsules.radius[a]
        - capsules.radius[b]
        for a in np.flatnonzero(model.capsules.digit == one)
        for b in np.flatnonzero(model.capsules.digit == other)
    ]
    return min(gaps)


@pytest.mark.parametrize(
    "model", [human(), human("left", coupled=True), trident()], ids=lambda model: model.name
)
@pytest.mark.parametrize(
    ("term", "surface"),
    [
        *((term, "capsules") for term in ("pad", "nail", "object", "digits", "posture")),
        ("object", "skin"),
        ("environment", "skin"),
    ],
)
def test_every_term_of_the_objective_agrees_with_central_differences(model, term, surface):
    rng = np.random.default_rng(7)
    weights = dict.fromkeys(("pad", "nail", "object", "environment", "digits", "posture"), 0.0)
    weights[term] = 1.0
    weights = IkWeights(**weights, least_nail_cosine=2.0, digit_margin=0.06, num_object_capsules=3)
    field = ball_field(np.array([0.1, 0.0, -0.04]), 0.06)
    around = capsules_around(model, field)
    if surface == "skin":
        ground = pack_environment([floor(-0.03), wall(np.array([0.12, 0.0, 0.0]), -np.eye(3)[0])])
        around = Around(field, ground, skin_samples(model, 0.004), 60)
    rig, links, work = rig_of(model), links_for(model), make_work()
    tree, table = rig
    target, normal = np.array([0.1, 0.01, -0.03]), np.array([0.36, 0.48, 0.8])
    reference = model.pose("rest").copy()
    problem = DigitProblem(
        rig, around, target, normal, reference, table.lower, table.upper, weights
    )
    for digit in range(len(model.digits)):
        q = model.joints.clamp(0.6 * model.pose("closed") + 0.4 * model.joints.random(rng))
        forward(tree, q, links)

        def cost(x, digit=digit):
            place_digit(rig, links, digit, x)
            return digit_cost(problem, links, digit, x, work, 1, np.inf)

        value = digit_cost(problem, links, digit, q, work, 0, np.inf)
        free = [j for j in table.free[digit] if j >= 0]
        gradient = 2.0 * work.gradient[0, : len(free)].copy()
        numeric = []
        for joint in free:
            step = np.zeros_like(q)
            step[joint] = 1e-6
            numeric.append((cost(q + step) - cost(q - step)) / 2e-6)
        assert value > 0.0
        np.testing.assert_allclose(gradient, numeric, rtol=1e-5, atol=1e-8)


def test_skin_samples_are_where_the_skin_is_and_every_vertex_has_one_near():
    model = human("left")
    samples, skin = skin_samples(model, 0.003), skin_of(model)
    q = model.joints.clamp(model.pose("closed") * 0.7)
    links = links_for(model)
    forward(tree_of(model), q, links)
    points = np.array([sample_position(samples, row, links) for row in range(len(samples.link))])
    vertices = posed_skin(model, skin, q)
    distance = np.array([np.linalg.norm(vertices - p, axis=1).min() for p in points])
    # Shares below a hundredth are left out.
    assert distance.max() < 5e-4
    assert np.median(distance) < 1e-6
    nearest = np.array([np.linalg.norm(points - v, axis=1).min() for v in vertices[::20]])
    assert nearest.max() < 0.006
    np.testing.assert_array_equal(samples.first, np.sort(samples.first))


def test_reachable_targets_are_reached_within_the_limits():
    model, rng = human(), np.random.default_rng(0)
    for _ in range(50):
        goal = model.joints.clamp(model.pose("rest") + rng.normal(0.0, 0.3, model.num_joints))
        result = solve_ik(
            model, model.pose("rest"), everywhere(posed_pads(model, goal).position), weights=PLAIN
        )
        assert result.error.max() < 1e-4
        assert np.all(result.q >= model.joints.lower)
        assert np.all(result.q <= model.joints.upper)


def test_a_pinch_is_found_with_bent_fingers_though_the_thumb_is_in_the_way():
    model = human()
    pads = posed_pads(model, model.pose("pinch"))
    everyone = np.ones(5, dtype=bool)
    result = solve_ik(
        model, model.pose("rest"), DigitTargets(pads.position, -pads.normal, everyone)
    )
    assert result.error.max() < 5e-4
    assert result.q[model.joints.index("index_pip_flexion")] > 0.3
    assert gap_between_digits(model, result.q, 0, 1) > -0.002


def test_idle_digits_make_room():
    model, rng = human(), np.random.default_rng(11)
    for _ in range(30):
        digit = int(rng.integers(5))
        goal = model.joints.clamp(model.pose("rest") + rng.normal(0.0, 0.25, model.num_joints))
        active = np.arange(5) == digit
        points = posed_pads(model, goal).position
        result = solve_ik(model, model.pose("rest"), DigitTargets(points, np.zeros((5, 3)), active))
        assert result.error[digit] < 1e-3


def test_an_unreachable_target_gives_the_nearest_pose_and_an_honest_error():
    model = human()
    points = posed_pads(model, model.pose("rest")).position.copy()
    points[2] = [0.5, 0.0, 0.0]
    result = solve_ik(model, model.pose("rest"), everywhere(points), weights=PLAIN)
    pad = posed_pads(model, result.q).position[2]
    assert result.error[2] == pytest.approx(np.linalg.norm(pad - points[2]))
    # The middle finger stretched towards the point is some 19 cm long.
    assert 0.30 < result.error[2] < 0.34


def test_the_answer_does_not_depend_on_the_frames_of_hand_and_body():
    model, rng = human(), np.random.default_rng(2)
    field = ball_field(np.array([0.11, 0.0, -0.05]), 0.03)
    points = posed_pads(model, model.pose("pinch")).position
    exact = IkWeights(polish=1e-20, max_iterations=200)
    plain = solve_ik(model, model.pose("rest"), everywhere(points), field=field, weights=exact)
    world = Pose(rng.normal(size=3), rotation.random(rng))
    moved = solve_ik(
        model,
        model.pose("rest"),
        everywhere(world.apply(points)),
        root=world,
        field=field,
        body=world,
        weights=exact,
    )
    np.testing.assert_allclose(plain.q, moved.q, atol=1e-6)


def test_speed_limit_holds_and_is_the_binding_one():
    model = human()
    start = model.pose("open")
    points = posed_pads(model, model.pose("closed")).position
    result = solve_ik(model, start, everywhere(points), max_step=0.05, weights=PLAIN)
    change = np.abs(result.q - start)
    assert change.max() <= 0.05 + 1e-12
    assert change.max() > 0.05 - 1e-6


def finger_of(num_joints, ratio=None):
    """A hand of one finger with equal hinges and links of 5 cm; the last joint may follow."""
    leader, ratios = np.full(num_joints, -1), np.ones(num_joints)
    if ratio is not None:
        leader[-1], ratios[-1] = num_joints - 2, ratio
    offset = np.tile([0.05, 0.0, 0.0], (num_joints, 1))
    joints = JointTree(
        names=tuple(f"j{n}" for n in range(num_joints)),
        parent=np.arange(num_joints),
        offset=offset,
        axis=np.tile([0.0, 1.0, 0.0], (num_joints, 1)),
        lower=np.full(num_joints, -0.2),
        upper=np.full(num_joints, 0.3),
        is_slide=np.zeros(num_joints, dtype=bool),
        leader=leader,
        ratio=ratios,
        bias=np.zeros(num_joints),
    )
    point = SurfacePoint(num_joints, np.array([0.05, 0.0, -0.01]), np.array([0.0, 0.0, -1.0]))
    return HandModel(
        name="finger",
        side="none",
        joints=joints,
        frames=Frames(("wrist",), np.zeros(1, int), np.zeros((1, 3)), np.eye(1, 4)),
        digits=(Digit("finger", tuple(range(num_joints)), point, point, None),),
        capsules=Capsules(
            ("last",), np.array([num_joints]), np.zeros((1, 3)), offset[:1], np.full(1, 0.01),
            np.zeros(1, int),
        ),
        sites=Sites(np.zeros(0, int), np.zeros((0, 3)), np.zeros((0, 3))),
        masses=Masses(
            np.ones(num_joints + 1),
            np.zeros((num_joints + 1, 3)),
            np.tile(np.eye(3), (num_joints + 1, 1, 1)),
        ),
        wrist_link=0,
    )  # fmt: skip


@pytest.mark.parametrize("model", [finger_of(1), finger_of(2), trident()], ids=["1", "2", "3"])
def test_one_sweep_ends_within_the_limits_when_every_joint_is_stopped_by_them(model):
    rng = np.random.default_rng(8)
    for _ in range(100):
        points = rng.normal(0.0, 0.15, (len(model.digits), 3))
        start = model.joints.random(rng)
        result = solve_ik(model, start, everywhere(points), weights=PLAIN, sweeps=1)
        assert np.all(result.q >= model.joints.lower)
        assert np.all(result.q <= model.joints.upper)


def test_one_hinge_goes_to_its_limit_for_a_target_beyond():
    model = finger_of(1)
    result = solve_ik(
        model, np.zeros(1), everywhere(np.array([[0.05, 0.0, -0.3]])), weights=PLAIN, sweeps=1
    )
    assert result.q[0] == 0.3


@pytest.mark.parametrize("ratio", [2.0, -1.5, 0.5])
def test_speed_limit_holds_for_followers_too(ratio):
    model = finger_of(3, ratio)
    target = everywhere(np.array([[0.0, 0.0, -0.1]]))
    result = solve_ik(model, np.zeros(3), target, max_step=0.01, weights=PLAIN)
    assert np.abs(result.q).max() == pytest.approx(0.01, abs=1e-12)
    assert result.q[2] == pytest.approx(ratio * result.q[1], abs=1e-15)


@pytest.mark.parametrize("model", [human(), trident()], ids=lambda model: model.name)
@pytest.mark.parametrize("max_step", [0.003, 0.03, 0.3])
def test_under_a_speed_limit_no_digit_comes_nearer_by_another_solver(model, max_step):
    """Against scipy's trust-region method, digit by digit."""
    rng = np.random.default_rng(11)
    gained = []
    for _ in range(6):
        start = model.joints.clamp(0.7 * model.pose("rest") + 0.3 * model.joints.random(rng))
        points = posed_pads(model, model.joints.random(rng)).position
        result = solve_ik(model, start, everywhere(points), max_step=max_step, weights=PLAIN)
        for row, digit in enumerate(model.digits):
            free = [j for j in digit.joints if model.joints.leader[j] < 0]
            # The spread of the trident moves two of its digits: each is judged at the other's.
            low = np.maximum(model.joints.lower[free], start[free] - max_step)
            high = np.minimum(model.joints.upper[free], start[free] + max_step)

            def miss(x, row=row, free=free, result=result, points=points):
                q = result.q.copy()
                q[free] = x
                return posed_pads(model, model.joints.clamp(q)).position[row] - points[row]

            before = np.linalg.norm(miss(start[free]))
            middle = np.clip(start[free], low + 1e-9, high - 1e-9)
            theirs = np.linalg.norm(least_squares(miss, middle, bounds=(low, high)).fun)
            gained.append((before - result.error[row]) / max(before - theirs, 1e-6))
    assert min(gained) > 0.98


@pytest.mark.parametrize("start", [-1.0, 1.0])
def test_a_start_outside_the_limits_is_brought_back_to_them(start):
    model = finger_of(2)
    target = everywhere(np.array([[0.1, 0.0, 0.0]]))
    result = solve_ik(model, np.full(2, start), target, max_step=0.01, weights=PLAIN)
    np.testing.assert_array_equal(result.q, np.clip(start, -0.2, 0.3))


def test_digits_stay_out_of_the_object():
    model = human()
    center, radius = np.array([0.115, 0.0, -0.055]), 0.035
    field = ball_field(center, radius)
    points = np.tile(center, (5, 1))
    heavy = IkWeights(object=1e3, nail=0.0, digits=0.0, num_spheres=12)
    result = solve_ik(model, model.pose("open"), everywhere(points), field=field, weights=heavy)
    capsules = posed_capsules(model, result.q)
    share = np.linspace(0.0, 1.0, 50)[:, None, None]
    axis = capsules.start + share * (capsules.end - capsules.start)
    depth = radius + capsules.radius - np.linalg.norm(axis - center, axis=-1).min(axis=0)
    outer = [c for c, name in enumerate(model.capsules.names) if "distal" in name]
    assert depth[outer].max() < 1e-3
    without = solve_ik(model, model.pose("open"), everywhere(points), field=field, weights=PLAIN)
    bare = posed_capsules(model, without.q)
    axis = bare.start + share * (bare.end - bare.start)
    inside = radius + bare.radius - np.linalg.norm(axis - center, axis=-1).min(axis=0)
    assert inside[outer].max() > 0.02


def test_digits_give_way_to_each_other():
    model = human()
    points = posed_pads(model, model.pose("rest")).position.copy()
    points[2] = points[1]
    both = np.array([False, True, True, False, False])
    targets = DigitTargets(points, np.zeros((5, 3)), both)
    apart = solve_ik(model, model.pose("rest"), targets, weights=IkWeights(nail=0.0, digits=1e3))
    merged = solve_ik(model, model.pose("rest"), targets, weights=PLAIN)
    assert gap_between_digits(model, merged.q, 1, 2) < -0.01
    assert gap_between_digits(model, apart.q, 1, 2) > -0.001


def test_the_nail_looks_away_from_the_surface():
    model = human()
    q = model.pose("rest")
    points = posed_pads(model, q).position
    normals = np.tile([1.0, 0.0, 0.0], (5, 1))
    targets = DigitTargets(points, normals, np.ones(5, dtype=bool))
    asked = solve_ik(model, q, targets, weights=PLAIN._replace(nail=1.0, least_nail_cosine=0.3))
    turns, _ = link_poses(model, asked.q)
    nails = np.array([turns[d.nail.link] @ d.nail.normal for d in model.digits])
    before, _ = link_poses(model, q)
    old = np.array([before[d.nail.link] @ d.nail.normal for d in model.digits])
    fingers = slice(1, 5)
    assert np.all(nails[fingers, 0] > old[fingers, 0] - 1e-9)


def test_wrong_targets_are_refused():
    model = human()
    with pytest.raises(InvalidValueError, match=r"targets.points has shape \(4, 3\)"):
        solve_ik(model, model.pose("rest"), everywhere(np.zeros((4, 3))))
    with pytest.raises(InvalidValueError, match="must be finite"):
        solve_ik(model, model.pose("rest"), everywhere(np.full((5, 3), np.nan)))
    targets = everywhere(np.zeros((5, 3)))
    with pytest.raises(InvalidValueError, match=r"reference has shape \(3,\); expected \(30,\)"):
        solve_ik(model, model.pose("rest"), targets, reference=np.zeros(3))
    with pytest.raises(InvalidValueError, match="must be finite"):
        solve_ik(model, model.pose("rest"), targets, reference=np.full(30, np.nan))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_step": -0.1}, "max_step is -0.1; expected rad, 0 or more"),
        ({"max_step": np.nan}, "max_step is nan"),
        ({"weights": IkWeights(object=-1.0)}, "expected finite weights of 0 or more"),
        ({"weights": IkWeights(pad=np.nan)}, "expected finite weights of 0 or more"),
        ({"weights": IkWeights(num_spheres=0)}, "num_spheres is 0"),
        ({"sweeps": 0}, "sweeps 0; expected 1 or more"),
    ],
)
def test_wrong_settings_are_refused(settings, message):
    model = human()
    with pytest.raises(InvalidValueError, match=message):
        solve_ik(model, model.pose("rest"), everywhere(np.zeros((5, 3))), **settings)


def test_a_digit_with_too_many_joints_is_refused():
    model = finger_of(16)
    with pytest.raises(InvalidValueError, match="a digit of 16 free joints; expected fewer"):
        solve_ik(model, np.zeros(16), everywhere(np.zeros((1, 3))))


@pytest.mark.parametrize("side", ["right", "left"])
def test_the_arm_brings_the_wrist_to_a_pose(side):
    model, rng = human(side, arm=True), np.random.default_rng(4)
    arm = model.joints.names[:8]
    wrist = model.wrist_link
    reached = 0
    for _ in range(20):
        goal = model.pose("rest").copy()
        goal[:8] = model.joints.random(rng)[:8]
        turns, places = link_poses(model, goal)
        result = solve_frames(
            model,
            model.pose("rest"),
            points=PointGoals(np.array([wrist]), np.zeros((1, 3)), places[wrist][None], np.ones(1)),
            rotations=RotationGoals(
                np.array([wrist]), rotation.from_matrix(turns[wrist])[None], np.ones(1)
            ),
            joints=arm,
        )
        np.testing.assert_array_equal(result.q[8:], model.pose("rest")[8:])
        assert np.all(result.q >= model.joints.lower - 1e-12)
        assert np.all(result.q <= model.joints.upper + 1e-12)
        reached += bool(result.error[0] < 1e-5 and result.rotation_error[0] < 1e-4)
    # Local descent may end in a corner of the limits, but mostly it arrives.
    assert reached >= 14


@pytest.mark.parametrize("coupled", [False, True])
def test_cyclic_descent_reaches_what_a_finger_can_reach(coupled):
    model, rng = human(coupled=coupled), np.random.default_rng(1)
    for digit in model.digits:
        goal = model.joints.clamp(model.pose("rest") + rng.normal(0.0, 0.15, model.num_joints))
        row = [d.name for d in model.digits].index(digit.name)
        target = posed_pads(model, goal).position[row]
        q, error, _ = descend_digit(model, model.pose("rest"), digit.name, target)
        assert error < 1e-3
        assert np.all(q >= model.joints.lower)
        assert np.all(q <= model.joints.upper)
        pad = posed_pads(model, q).position[row]
        assert np.linalg.norm(pad - target) == pytest.approx(error, abs=1e-12)
        others = [j for j in range(model.num_joints) if j not in digit.joints]
        np.testing.assert_array_equal(q[others], model.pose("rest")[others])


@pytest.mark.parametrize("model", [human(), trident()], ids=["human", "trident"])
def test_cyclic_descent_tells_the_distance_that_is_left_from_what_is_out_of_reach(model):
    rng, rest = np.random.default_rng(3), model.pose("rest")
    for digit in model.digits:
        row = [d.name for d in model.digits].index(digit.name)
        start = posed_pads(model, rest).position[row]
        for _ in range(10):
            target = rng.normal(0.0, 0.15, 3)
            q, error, _ = descend_digit(model, rest, digit.name, target)
            pad = posed_pads(model, q).position[row]
            assert np.linalg.norm(pad - target) == pytest.approx(error, abs=1e-12)
            assert error <= np.linalg.norm(start - target) + 1e-12


def test_reachable_volume_holds_what_is_reached_and_not_what_is_far():
    model, rng = human(), np.random.default_rng(9)
    reach = reachable_volume(model, "index", seed=1)
    q = np.tile(model.pose("rest"), (500, 1))
    own = list(model.digit("index").joints)
    q[:, own] = model.joints.random(rng, (500,))[:, own]
    pads = posed_pads(model, q).position[:, 1]
    assert reach.contains(pads).mean() > 0.9
    assert not reach.contains(np.array([[0.3, 0.0, 0.0], [0.0, 0.0, 0.1]])).any()
    # Postures stored with the voxels bring the pad there.
    rows = reach.postures_at(pads)
    found = posed_pads(model, reach.q[rows[rows >= 0]]).position[:, 1]
    assert np.abs(found - pads[rows >= 0]).max() < reach.spacing
    # A finger of some 9 cm sweeps between a tenth and one litre.
    assert 1e-4 < reach.volume < 1e-3
    with pytest.raises(UnknownNameError, match="Did you mean 'index'"):
        reachable_volume(model, "indx")


def point_goal(**changes):
    goal = {
        "link": np.array([3]),
        "local": np.zeros((1, 3)),
        "target": np.zeros((1, 3)),
        "weight": np.ones(1),
    }
    return PointGoals(**(goal | changes))


@pytest.mark.parametrize(
    ("goal", "settings", "message"),
    [
        (point_goal(link=np.array([31])), {}, "links 31 to 31 are asked for"),
        (point_goal(target=np.zeros((2, 3))), {}, r"points.target has shape \(2, 3\)"),
        (point_goal(target=np.full((1, 3), np.nan)), {}, "points.target holds NaN"),
        (point_goal(weight=-np.ones(1)), {}, "points.weight is negative"),
        (point_goal(), {"joints": ()}, "moves on its own"),
        (point_goal(), {"joints": ("ring_dip_flexion",)}, "moves on its own"),
        (point_goal(), {"reference": np.zeros(3)}, r"shape \(3,\)"),
        (point_goal(), {"q": np.full(30, np.nan)}, "NaN or infinity"),
        (None, {}, "neither points nor rotations"),
    ],
)
def test_goals_that_make_no_sense_are_refused(goal, settings, message):
    model = human(coupled=True)
    with pytest.raises(InvalidValueError, match=message):
        solve_frames(model, settings.pop("q", model.pose("rest")), points=goal, **settings)


def test_cyclic_descent_refuses_what_is_no_place():
    model = human()
    with pytest.raises(InvalidValueError, match="Target is"):
        descend_digit(model, model.pose("rest"), "index", np.full(3, np.nan))
    with pytest.raises(InvalidValueError, match=r"shape \(7,\)"):
        descend_digit(model, np.zeros(7), "index", np.zeros(3))
