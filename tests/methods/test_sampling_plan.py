"""Plans of the search and who can carry the body, on a short hold with fixed random numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from handwright.kernels.packed import Packed
from handwright.math import rotation
from handwright.methods import ContactSampling
from handwright.methods.sampling import Pin
from handwright.methods.sampling.search.carrying import score_grasps
from handwright.methods.sampling.search.plan import Planner, candidate_appeal
from handwright.methods.sampling.search.policy import make_plan_data
from handwright.methods.sampling.search.step import SearchState
from handwright.methods.sampling.search.workspace import FLY, FREE, HOLD, SLIDE, make_path
from handwright.methods.sampling.setup.candidates import lifetimes
from handwright.methods.sampling.setup.grasps import draw_grasps
from handwright.methods.sampling.setup.prepare import prepare
from handwright.scenes import load_scene

WINDOW = 4


def prepared(**settings):
    problem = load_scene("milk_box_turn")
    problem = replace(problem, times=problem.times[:40])
    (found,) = prepare(problem, ContactSampling(num_solutions=1, window=WINDOW, **settings))
    return found


@pytest.fixture(scope="module")
def hold():
    return prepared()


def drawing(hold, seed=0, **policy):
    """A path whose digits are all free, and what draws plans into it, without look-ahead."""
    policy = hold.policy._replace(**{"look_ahead": 0, **policy})
    path = make_path(hold.searched, len(hold.searched.wrench))
    state = SearchState(hold.searched, hold.candidates, path, hold.work)
    rng = np.random.default_rng(seed)
    planner = Planner(state, policy, rng)
    return path, planner


def never(hold):
    """Probabilities of 0 for everything that digits may choose."""
    nothing = np.zeros_like(hold.policy.slide)
    return {"slide": nothing, "relocate": nothing, "land": nothing}


def test_the_same_random_numbers_give_the_same_plans(hold):
    plans = []
    for seed in (3, 3, 4):
        path, planner = drawing(hold, seed, land=np.ones_like(hold.policy.land))
        for t in range(12):
            planner.draw(t, {})
        plans.append([column[:12].copy() for column in path])
    same, again, other = plans
    assert all(np.array_equal(a, b) for a, b in zip(same, again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(same, other, strict=True))


def test_windows_last_as_long_as_asked_on_average(hold):
    path, planner = drawing(hold, **never(hold))
    lengths = []
    for _ in range(400):
        planner.draw(0, {})
        lengths.append(int(path.window_end[0]))
    assert set(lengths) == set(range(1, 2 * WINDOW))
    assert np.mean(lengths) == pytest.approx(WINDOW, abs=0.3)


def test_no_window_goes_past_the_last_frame(hold):
    path, planner = drawing(hold, **never(hold))
    last = len(path.q) - 1
    planner.draw(last - 1, {})
    assert path.window_end[last - 1] == last


def test_digits_keep_what_they_do_if_nothing_else_is_likely(hold):
    path, planner = drawing(hold, **never(hold))
    path.reached[0] = [HOLD, HOLD, FREE, SLIDE, HOLD]
    path.load[0] = 0.3
    path.ratio[0] = 0.99
    assert planner.draw(0, {})
    assert path.mode[0].tolist() == [HOLD, HOLD, FREE, HOLD, HOLD]


def test_a_digit_on_its_cone_slides_along_its_friction(hold):
    sure = {**never(hold), "slide": np.ones_like(hold.policy.slide)}
    path, planner = drawing(hold, **sure)
    path.reached[0] = HOLD
    path.load[0], path.ratio[0] = 0.3, [0.5, 0.5, 0.5, 0.5, 0.95]
    path.pull[0, 4] = [0.0, 0.6, 0.8]
    planner.draw(0, {})
    assert path.mode[0].tolist() == [HOLD] * 4 + [SLIDE]
    speed = np.linalg.norm(path.slide[0, 4])
    np.testing.assert_allclose(path.slide[0, 4] / speed, [0.0, 0.6, 0.8])
    assert 0.3 <= speed / hold.policy.slide_step <= 1.0
    # With fewer than two loaded digits that stay still it may not.
    path.load[0, :3] = 0.0
    planner.draw(0, {})
    assert path.mode[0].tolist() == [HOLD] * 5


def test_free_digits_fly_to_candidates_that_they_can_reach_then(hold):
    path, planner = drawing(hold, land=np.ones_like(hold.policy.land))
    planner.draw(0, {})
    flying = np.flatnonzero(path.mode[0] == FLY)
    # No more than two digits of a hand are in the air at once.
    assert len(flying) == 2
    for d in flying:
        m, landing = path.fly_candidate[0, d], path.fly_end[0, d]
        assert landing >= hold.policy.flight
        k = int(np.searchsorted(hold.candidates.frame, min(hold.policy.flight, landing)))
        assert np.isfinite(hold.candidates.cost[d, m, k])
        np.testing.assert_array_equal(path.fly_goal[0, d], hold.candidates.point[m])
        way = np.linalg.norm(path.fly_goal[0, d] - path.fly_from[0, d])
        assert way / (landing - path.fly_begin[0, d]) <= hold.policy.stride + 1e-12


def test_a_digit_that_must_leave_stays_if_nobody_else_carries_the_body(hold):
    path, planner = drawing(hold, **never(hold))
    # Guiding points at the centre of mass have no normal, and carry nothing.
    path.reached[0] = [HOLD, HOLD, FREE, FREE, FREE]
    path.load[0, :2] = 0.5
    assert not planner.draw(0, {1: None})
    assert path.mode[0, 1] == HOLD
    assert planner.draw(0, {3: None})


def test_what_plans_aim_at_is_where_they_take_the_digits(hold):
    path, planner = drawing(hold)
    path.target[2] = np.arange(15.0).reshape(5, 3)
    path.mode[2] = [HOLD, SLIDE, FLY, FREE, HOLD]
    path.slide[2, 1] = [0.1, 0.0, 0.0]
    path.fly_goal[2, 2] = [7.0, 7.0, 7.0]
    path.window_end[2] = 5
    aims = planner.aims(2)
    expected = np.arange(15.0).reshape(5, 3)
    expected[1] += [0.3, 0.0, 0.0]
    expected[2] = 7.0
    np.testing.assert_allclose(aims, expected)


def test_a_copied_plan_is_put_back_whole(hold):
    path, planner = drawing(hold, land=np.ones_like(hold.policy.land))
    planner.draw(0, {})
    before = [column[0].copy() for column in path]
    plan = planner.copy_row(0)
    for column in path:
        column[0] = 0
    planner.write_row(0, plan)
    names = ("mode", "window_end", "fly_end", "fly_goal", "fly_candidate")
    for name in names:
        index = path._fields.index(name)
        np.testing.assert_array_equal(path[index][0], before[index])
    assert path.mode[0].any()


def test_comfortable_candidates_that_last_are_preferred(hold):
    cost = np.array([[[0.0, 0.0], [1.0, 1.0], [0.0, np.inf], [np.inf, 0.0]]])
    candidates = hold.candidates._replace(cost=cost, life=lifetimes(cost))
    assert candidates.life.tolist() == [[[2, 1], [2, 1], [1, 0], [0, 1]]]
    appeal = candidate_appeal(candidates, comfort=2.0, lasting=3.0)[0]
    assert appeal[0, 0] == 1.0
    assert appeal[1, 0] == pytest.approx(np.exp(-2.0))
    assert appeal[2, 0] == pytest.approx(0.5**3)
    assert appeal[3, 0] == 0.0
    assert appeal[3, 1] == 1.0


@pytest.mark.parametrize(("angle", "horizons"), [(0.05, [5, 10, 20, 35]), (0.15, [3, 10, 6, 20])])
def test_plans_look_ahead_closer_where_the_body_turns_quickly_in_the_hand(hold, angle, horizons):
    data = hold.searched
    wxyz = rotation.from_axis_angle([0.0, 0.0, 1.0], angle * np.arange(len(data.low)))
    data = data._replace(root_rotation=rotation.to_matrix(wxyz)[:, None])
    policy = hold.policy._replace(look_ahead=10)
    appeal = candidate_appeal(hold.candidates, 2.0, 3.0)
    plan = make_plan_data(data, hold.candidates, policy, appeal, np.random.default_rng(0))
    assert plan.horizons.tolist() == horizons
    # Of the two tables of appeal the second leaves out what is out of reach within the look-ahead.
    everything, lasting = plan.appeal
    frames = hold.candidates.frame
    needed = np.count_nonzero(frames <= min(frames[0] + 10, frames[-1]))
    lasts = hold.candidates.life[:, :, 0] >= needed
    assert 0 < lasts.sum() < (everything[:, 0] > 0.0).sum()
    np.testing.assert_array_equal(lasting[:, 0], np.where(lasts, everything[:, 0], 0.0))


def scores(hold, chosen, taken=()):
    path = make_path(hold.searched, 1)
    state = SearchState(hold.searched, hold.candidates, path, hold.work)
    found = np.zeros(len(chosen))
    score_grasps(Packed(state), chosen, 0, np.array(taken).reshape(-1, 3), found)
    return found


def test_grasps_are_scored_by_how_long_they_carry_the_body(hold):
    appeal = np.cumsum(candidate_appeal(hold.candidates, 2.0, 3.0)[:, :, 0], axis=1)
    everybody = np.ones(5, dtype=bool)
    chosen = draw_grasps(appeal, everybody, everybody, 200, np.zeros(5), np.random.default_rng(0))
    found = scores(hold, chosen)
    keys = len(hold.candidates.frame)
    assert found.max() > 0.0
    assert (found <= 2 * keys).all()
    best = chosen[found.argmax()][None]
    # Without its thumb the hand cannot oppose; an empty hand leaves the body to the table.
    alone, nobody = best.copy(), np.full_like(best, -1)
    alone[0, 0] = -1
    on_table = np.count_nonzero(hold.start + hold.candidates.frame < hold.interval.start)
    assert scores(hold, nobody)[0] == 2 * on_table < scores(hold, best)[0]
    assert scores(hold, alone)[0] < found.max()


def test_two_digits_cannot_be_at_one_point_nor_at_one_that_is_taken(hold):
    appeal = np.cumsum(candidate_appeal(hold.candidates, 2.0, 3.0)[:, :, 0], axis=1)
    everybody = np.ones(5, dtype=bool)
    chosen = draw_grasps(appeal, everybody, everybody, 200, np.zeros(5), np.random.default_rng(0))
    found = scores(hold, chosen)
    best = chosen[found.argmax()][None]
    crowded = best.copy()
    crowded[0, 2] = crowded[0, 1]
    assert scores(hold, crowded)[0] == 0.0
    assert scores(hold, best, hold.candidates.point[best[0, 3]])[0] == 0.0
    assert scores(hold, best, hold.candidates.point[best[0, 3]] + 1.0)[0] == found.max()


def test_a_pinned_digit_is_left_no_other_candidate(hold):
    index = 1
    easiest = int(hold.candidates.cost[index].sum(axis=1).argmin())
    point = hold.candidates.point[easiest]
    bound = prepared(pins=(Pin("index", tuple(point.tolist()), 0.0),))
    assert bound.infeasibility == ""
    assert bound.pins == (0,)
    schedule = bound.policy.schedule
    assert schedule.is_pinned[0].tolist() == [False, True, False, False, False]
    keys = np.flatnonzero(schedule.pin[bound.candidates.frame, index] == 0)
    assert len(keys) == len(bound.candidates.frame)
    reachable = np.isfinite(bound.candidates.cost[index][:, keys]).any(axis=1)
    assert reachable.any()
    away = np.linalg.norm(bound.candidates.point[reachable] - point, axis=1)
    assert away.max() < 1e-4
    # Other digits choose as before.
    others = np.isfinite(bound.candidates.cost[2]).sum()
    assert others >= np.isfinite(hold.candidates.cost[2]).sum()


def test_a_later_pin_leaves_the_digit_its_choice_until_it_starts(hold):
    index, late = 1, 2
    frame = int(hold.candidates.frame[late])
    easiest = int(hold.candidates.cost[index].sum(axis=1).argmin())
    point = tuple(hold.candidates.point[easiest].tolist())
    bound = prepared(pins=(Pin("index", point, float(hold.times[hold.start + frame])),))
    assert bound.policy.schedule.start[0, index] == frame
    choices = np.isfinite(bound.candidates.cost[index]).sum(axis=0)
    before = np.isfinite(hold.candidates.cost[index]).sum(axis=0)
    assert (choices[:late] >= before[:late]).all()
    assert choices[late:].max() <= hold.data.pads.shape[1] < before[late:].min()


def test_a_pin_that_no_posture_reaches_is_named_with_its_frame(hold):
    reachable = np.isfinite(hold.candidates.cost).any(axis=(0, 2))
    near = hold.candidates.point[reachable]
    away = np.linalg.norm(hold.candidates.point[:, None] - near[None], axis=2).min(axis=1)
    far = hold.candidates.point[away.argmax()]
    bound = prepared(pins=(Pin("index", tuple(far.tolist()), 0.0),))
    assert "Pin 0 (index at" in bound.infeasibility
    assert f"out of reach at frame {hold.start}" in bound.infeasibility


def test_two_pins_cannot_want_one_digit_at_the_same_time(hold):
    easiest = int(hold.candidates.cost[1].sum(axis=1).argmin())
    point = tuple(hold.candidates.point[easiest].tolist())
    bound = prepared(pins=(Pin("index", point, 0.0), Pin("index", point, 0.0)))
    assert f"want the same digit at frame {hold.start}" in bound.infeasibility
