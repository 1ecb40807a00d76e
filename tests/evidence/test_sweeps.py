"""What passes through something between two frames is found; honest fast motion is not."""

from __future__ import annotations

import numpy as np
import pytest
from moving_things import FALL, HAND, UPRIGHT, block, far_hand, moving, poses, probed, shelf

from handwright.core.surface import EnvironmentBox
from handwright.evidence.contacts.sweeps import swept_through
from handwright.geometry.shapes import make_shape
from handwright.math import rotation
from handwright.math.pose import Pose

BALL = make_shape("sphere", radius=0.02)
PLATE = block(0.3, 0.3, 0.002)


def falling(times, height):
    return np.array([0.0, 0.0, height]) + 0.5 * FALL * times[:, None] ** 2


def found(clip):
    passed, names = swept_through(clip, probed(clip))
    assert [bool(name) for name in names] == passed.tolist()
    return passed, names


def times_at(fps, seconds=0.6):
    return np.arange(round(seconds * fps)) / fps


def test_a_ball_that_falls_through_a_shelf_is_seen_from_every_height():
    missed_by_frames = 0
    for height in np.linspace(0.3, 1.0, 40):
        times = times_at(30)
        clip = moving(
            times,
            bodies={"ball": (BALL, poses(falling(times, height)))},
            hands=far_hand(len(times)),
            environment=(shelf(),),
        )
        path = falling(times, height)[:, 2]
        shown = ((path < 0.02 - 1e-3) & (path > -0.04 + 1e-3)).any()
        passed, names = found(clip)
        assert shown or passed.any(), height
        if not shown:
            missed_by_frames += 1
            assert "ball through surface 0 of the surroundings" in names
    assert missed_by_frames > 10


@pytest.mark.parametrize("thickness", [0.0005, 0.002, 0.02])
def test_a_ball_and_a_thin_plate_that_fall_through_a_thin_shelf_are_seen(thickness):
    times = times_at(30)
    for body in (BALL, PLATE):
        clip = moving(
            times,
            bodies={"thing": (body, poses(falling(times, 0.5)))},
            hands=far_hand(len(times)),
            environment=(shelf(thickness=thickness),),
        )
        assert found(clip)[0].any()


@pytest.mark.parametrize("seed", range(4))
def test_a_ball_that_falls_through_a_held_plate_is_seen(seed):
    rng = np.random.default_rng(seed)
    times = times_at(30)
    world = Pose(rng.normal(size=3), rotation.exp(rng.normal(size=3)))
    plate = Pose(np.zeros((len(times), 3)), UPRIGHT)
    clip = moving(
        times,
        bodies={
            "ball": (BALL, world @ poses(falling(times, 0.52))),
            "plate": (PLATE, world @ plate),
        },
        hands=far_hand(len(times)),
    )
    passed, names = found(clip)
    assert passed.sum() == 1
    step = int(np.flatnonzero(falling(times, 0.52)[:, 2] < 0.0)[0])
    assert abs(int(np.flatnonzero(passed)[0]) - step) <= 1
    assert names[int(np.flatnonzero(passed)[0])] in ("ball through plate", "plate through ball")


def slapping(times, lowest, *, speed=2.5):
    """Heights of a hand that goes down to a lowest one and up again."""
    return lowest + speed * np.abs(times - times[len(times) // 2])


@pytest.mark.parametrize("thickness", [0.0015, 0.02])
def test_a_hand_that_sweeps_through_a_shelf_is_seen_and_one_that_slaps_it_is_not(thickness):
    times, model = times_at(30), HAND
    board = (shelf(thickness=thickness, size=0.8),)
    for through in (True, False):
        height = 1.5 - 3.6 * times if through else slapping(times, 0.08)
        root = poses(height[:, None] * [0.0, 0.0, 1.0])
        clip = moving(times, hands={"hand": (model, root, model.pose("open"))}, environment=board)
        passed, names = found(clip)
        assert passed.any() == through, names


def test_a_rod_that_is_swept_through_the_fingers_is_seen_and_one_past_them_is_not():
    times, model = times_at(30), HAND
    rod = block(0.003, 0.3, 0.003)
    still = poses(np.zeros((len(times), 3)))
    for beside, expected in ((0.14, True), (0.25, False)):
        path = np.stack([np.full(len(times), beside), 0.0 * times, 1.0 - 4.0 * times], axis=1)
        clip = moving(
            times,
            bodies={"rod": (rod, poses(path))},
            hands={"hand": (model, still, model.pose("neutral"))},
        )
        assert found(clip)[0].any() == expected


@pytest.mark.parametrize("fps", [15, 30, 60])
@pytest.mark.parametrize("offset", [0.0, 0.15, 0.19, 0.2, 0.205])
def test_a_ball_that_bounces_on_a_shelf_or_off_its_edge_is_let_pass(fps, offset):
    for start in np.linspace(0.0, 1.0, 7) / fps:
        times = times_at(fps) + start
        hit = 0.3
        # It meets the shelf, or the upper edge of it, in the direction of the contact's normal.
        beyond = max(offset - 0.2, 0.0)
        normal = np.array([beyond, 0.0, np.sqrt(0.02**2 - beyond**2)]) / 0.02
        touch = np.array([min(offset, 0.2), 0.0, 0.0]) + 0.0201 * normal
        into = np.array([0.3, 0.0, -3.0])
        out = into - 1.7 * (into @ normal) * normal
        since = (times - hit)[:, None]
        path = touch + np.where(since < 0.0, into, out) * since + 0.5 * FALL * since**2
        clip = moving(
            times,
            bodies={"ball": (BALL, poses(path))},
            hands=far_hand(len(times)),
            environment=(shelf(),),
        )
        assert not found(clip)[0].any()


def test_a_fast_hit_a_catch_and_a_push_over_the_edge_are_let_pass():
    times = times_at(30)
    bat = block(0.02, 0.2, 0.2)
    for start in np.linspace(0.0, 1.0, 9) / 30.0:
        since = (times + start - 0.3)[:, None] * [1.0, 0.0, 0.0]
        ball = np.where(since < 0.0, 0.0, 6.0) * since
        bat_path = [-0.031, 0.0, 0.0] + np.where(since < 0.0, 4.0, 3.0) * since
        hit = moving(
            times,
            bodies={"ball": (BALL, poses(ball)), "bat": (bat, poses(bat_path))},
            hands=far_hand(len(times)),
        )
        assert not found(hit)[0].any()
        thrown = [0.0, 0.0, 0.038] + np.where(since < 0.0, 5.0, 0.0) * since[:, ::-1] * -1.0
        palm_up = Pose(
            np.tile([-0.07, 0.0, 0.0], (len(times), 1)), rotation.exp(np.array([np.pi, 0.0, 0.0]))
        )
        catch = moving(
            times,
            bodies={"ball": (BALL, poses(thrown))},
            hands={"hand": (HAND, palm_up, HAND.pose("open"))},
        )
        assert not found(catch)[0].any()
    rolling = np.stack([1.5 * times - 0.2, 0.0 * times, 0.0 * times + 0.02], axis=1)
    over = np.maximum(rolling[:, :1] - 0.2, 0.0) / 1.5
    rolling = rolling + 0.5 * FALL * over**2
    spin = rotation.exp(np.stack([0.0 * times, 75.0 * times, 0.0 * times], axis=1))
    roll = moving(
        times,
        bodies={"ball": (BALL, Pose(rolling, spin))},
        hands=far_hand(len(times)),
        environment=(shelf(),),
    )
    assert not found(roll)[0].any()


def test_a_ball_that_is_thrown_back_under_the_shelf_is_let_pass():
    times = times_at(30)
    for start in np.linspace(0.0, 1.0, 9) / 30.0:
        # Beside the shelf straight down, and from a kick at the corner on below it.
        since = (times + start - 0.3)[:, None]
        speed = np.where(since < 0.0, [0.0, 0.0, -3.0], [-3.0, 0.0, 0.0])
        clip = moving(
            times,
            bodies={"ball": (BALL, poses([0.221, 0.0, -0.045] + speed * since))},
            hands=far_hand(len(times)),
            environment=(shelf(),),
        )
        assert not found(clip)[0].any()


def test_a_spinning_bar_and_a_hand_round_the_rim_of_a_board_are_let_pass():
    times = times_at(60)
    spin = rotation.exp(np.stack([0.0 * times, 0.0 * times, 25.0 * times], axis=1))
    bar = block(0.3, 0.02, 0.02)
    board = EnvironmentBox(Pose(np.array([0.0, 0.0, -0.0101]), UPRIGHT), np.array([0.3, 0.3, 1e-4]))
    clip = moving(
        times,
        bodies={
            "bar": (bar, Pose(np.zeros((len(times), 3)), spin)),
            "post": (block(0.02, 0.02, 0.2), poses([[0.17, 0.0, 0.0]] * 36)),
        },
        hands=far_hand(len(times)),
        environment=(board,),
    )
    assert not found(clip)[0].any()
    angle, model = 4.0 * times - 1.0, HAND
    radius = 0.08
    round_it = np.stack(
        [0.05 + radius * np.cos(angle), 0.0 * times, radius * np.sin(angle)], axis=1
    )
    turn = rotation.exp(np.stack([0.0 * times, -angle, 0.0 * times], axis=1))
    rim = EnvironmentBox(Pose(np.array([-0.15, 0.0, 0.0]), UPRIGHT), np.array([0.2, 0.3, 0.001]))
    clip = moving(
        times,
        hands={"hand": (model, Pose(round_it, turn), model.pose("open"))},
        environment=(rim,),
    )
    assert not found(clip)[0].any()


def test_one_frame_has_no_steps():
    times = np.zeros(1)
    clip = moving(times, bodies={"ball": (BALL, poses([[0.0, 0.0, 1.0]]))}, hands=far_hand(1))
    assert found(clip)[0].tolist() == [False]
