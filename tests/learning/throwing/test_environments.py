"""Environments of throwing: gymnasium's own check, seeds, vectors, and the rewards."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from handwright.learning.throwing.registration import ENVIRONMENTS, register_environments
from handwright.learning.throwing.tasks import HitBox, ThrowHeight

register_environments()


@pytest.mark.parametrize("name", sorted(ENVIRONMENTS))
def test_gymnasium_is_content(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Poses and velocities have no bounds, which it warns of, and there is nothing to render.
        warnings.filterwarnings("ignore", message=".*(infinity|too far|precision).*")
        warnings.filterwarnings("ignore", message=".*render.*")
        check_env(gymnasium.make(name).unwrapped, skip_render_check=True)


def test_no_action_is_the_nominal_throw():
    env = ThrowHeight()
    seen, _ = env.reset(seed=3)
    goal = float(env.goal[0])
    assert seen[-1] == pytest.approx(goal)
    after, reward, is_over, _, info = env.step(np.zeros(7, dtype=np.float32))
    assert info["is_caught"]
    assert not is_over
    assert reward == pytest.approx(np.exp(-10.0 * abs(info["top"] - goal)))
    assert abs(info["error"]) < 0.03
    assert after[-1] != seen[-1]


def test_a_throw_aside_is_lost_and_costs():
    env = ThrowHeight()
    env.reset(seed=3)
    aside = np.array([1, 1, 0, 0, 0, 0, 0], dtype=np.float32)
    _, reward, is_over, _, info = env.step(aside)
    assert is_over == (not info["is_caught"])
    if is_over:
        assert -1.0 < reward < 0.0


def test_a_box_that_is_hit_and_caught_is_worth_one():
    env = HitBox()
    env.reset(seed=1)
    place = env.goal.copy()
    for _ in range(2):
        _, reward, _, _, info = env.step(np.zeros(7, dtype=np.float32))
        assert info["is_caught"]
        assert reward == 1.0
    np.testing.assert_array_equal(env.goal, place)


def test_a_box_that_is_missed_costs_its_distance():
    env = HitBox()
    env.reset(seed=1)
    _, reward, is_over, _, _ = env.step(np.array([-1, -1, -1, 0, 0, 0, 0], dtype=np.float32))
    assert is_over
    assert reward == pytest.approx(-0.1 * env._nearest)
    assert 0.0 < env._nearest < 1.0


def test_several_are_stepped_at_once():
    envs = gymnasium.make_vec("handwright/ThrowHeight-v0", num_envs=2, vectorization_mode="sync")
    seen, _ = envs.reset(seed=0)
    assert seen.shape == (2, 13)
    seen, rewards, *_ = envs.step(np.zeros((2, 7), dtype=np.float32))
    assert seen.shape == (2, 13)
    assert (rewards > 0.5).all()
    envs.close()


def test_same_seed_same_throws():
    rows = []
    for _ in range(2):
        env = ThrowHeight()
        env.reset(seed=8)
        env.action_space.seed(8)
        rows.append(env.step(0.2 * env.action_space.sample())[0])
    np.testing.assert_array_equal(*rows)
