from __future__ import annotations

import numpy as np
import pytest
from stand_in_fingers import Clock, ClosingFingers, WildFingers

from handwright.errors import InvalidValueError, UnknownNameError
from handwright.geometry.shapes import make_shape
from handwright.hands.human.model import human
from handwright.kinematics.fk import posed_tips
from handwright.math.pose import Pose
from handwright.methods.neural.live import COUNTS, LiveFingers, LiveSettings
from handwright.methods.neural.live.live_fingers import MOST_AT_ONCE
from handwright.methods.neural.live.prop_motion import PropMotion
from handwright.methods.neural.sensing.body import sensed_body
from handwright.methods.neural.sensing.features import fixed_features
from handwright.methods.neural.sensing.view import hand_view

MOTION = PropMotion(seed=4)
LEAP = 0.02
HANDS = {"right": human("right"), "left": human("left")}
CYLINDER = sensed_body(make_shape("cylinder"))
BALL = sensed_body(make_shape("sphere"))


class Stage:
    """Live fingers with a clock that is set by hand, and all frames so far."""

    def __init__(self, model=None, hands=HANDS, **options) -> None:
        self.clock, self.frames = Clock(), []
        self.model = ClosingFingers() if model is None else model
        self.live = LiveFingers(self.model, hands, CYLINDER, clock=self.clock, **options)

    def say(self, sent: float, *, stamp=None, arrival=None, **changed) -> None:
        """Feeds the motion at a time; it arrives at once unless told otherwise."""
        self.clock.now = 1000.0 + (sent if arrival is None else arrival)
        wrists = {n: p for n, p in MOTION.wrists(sent).items() if n in self.live.hands}
        message = {"wrists": wrists, "object": MOTION.object_pose(sent), **changed}
        self.live.feed(sent if stamp is None else stamp, **message)
        self.look()

    def look(self, at: float | None = None) -> None:
        if at is not None:
            self.clock.now = 1000.0 + at
        self.frames += self.live.frames()

    def run(self, begin: float, end: float, rate: float = 60.0, without=()) -> None:
        for n in range(round(begin * rate), round(end * rate)):
            if n not in without:
                self.say(n / rate)

    @property
    def counts(self):
        return {name: count for name, count in self.live.counts.items() if count}

    @property
    def times(self):
        return np.array([frame.time for frame in self.frames])


def largest_leap(frames, hands=HANDS) -> float:
    """Longest way of a fingertip between two frames, seen from the wrist, m."""
    ways = [0.0]
    for name, model in hands.items():
        tips = posed_tips(model, np.stack([frame.hands[name].q for frame in frames])).position
        ways.append(np.linalg.norm(np.diff(tips, axis=0), axis=-1).max())
    return max(ways)


@pytest.mark.parametrize(("look_ahead", "delay"), [(30, 0.5), (6, 0.1), (0, 0.0)])
def test_fingers_come_as_much_later_as_the_model_looks_ahead(look_ahead, delay):
    stage = Stage(ClosingFingers(look_ahead=look_ahead))
    assert stage.live.delay == pytest.approx(delay)
    for n in range(90):
        stage.say(n / 60)
        assert len(stage.frames) == max(n + 1 - look_ahead, 0)
    np.testing.assert_allclose(stage.times, np.arange(90 - look_ahead) / 60, atol=1e-12)
    assert stage.counts == {
        "messages": 90,
        "frames": 90 - look_ahead,
        "limited": pytest.approx(30, abs=30),
    }


@pytest.mark.parametrize("rate", [24.0, 30.0, 59.94, 72.0, 90.0, 120.0])
def test_frames_are_even_whatever_the_rate_of_messages(rate):
    stage = Stage()
    stage.run(0.0, 2.0, rate)
    assert len(stage.frames) == pytest.approx(90, abs=3)
    np.testing.assert_allclose(np.diff(stage.times), 1 / 60, atol=1e-9)
    assert {"lost", "held", "late", "skipped"}.isdisjoint(stage.counts)
    for frame in stage.frames:
        wanted = MOTION.wrists(frame.time)["right"].position
        np.testing.assert_allclose(frame.hands["right"].wrist.position, wanted, atol=2e-3)


def test_stamps_far_from_zero_lose_nothing():
    stage = Stage()
    for n in range(60):
        stage.say(n / 60, stamp=1.7e9 + n / 60)
    np.testing.assert_allclose(stage.times - 1.7e9, np.arange(30) / 60, atol=1e-6)
    frame = stage.frames[-1]
    wanted = MOTION.wrists(29 / 60)["right"].position
    np.testing.assert_allclose(frame.hands["right"].wrist.position, wanted, atol=1e-6)


def test_a_stream_shows_what_the_whole_track_shows():
    stage = Stage()
    times = np.arange(150) / 60
    stage.run(0.0, 2.5)
    wrists = {name: Pose.stack([MOTION.wrists(t)[name] for t in times]) for name in HANDS}
    thing = Pose.stack([MOTION.object_pose(t) for t in times])
    whole = hand_view(HANDS["left"], CYLINDER, times, wrists["left"], thing, wrists["right"])
    frames = np.arange(30, 120)
    wanted = fixed_features(whole, frames)
    found = np.concatenate(
        [fixed_features(stage.model.views[n]["left"], np.array([30])) for n in frames]
    )
    np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_the_model_is_told_what_was_shown_the_frame_before():
    stage = Stage(WildFingers())
    seen = []
    step = stage.model.step
    stage.model.step = lambda views, before: seen.append(before) or step(views, before)
    stage.run(0.0, 1.0)
    for frame, before in zip(stage.frames, seen[1:], strict=False):
        np.testing.assert_array_equal(frame.hands["right"].q, before["right"])


def test_a_lost_message_is_filled_in_and_counted():
    stage, whole = Stage(), Stage()
    whole.run(0.0, 4.0)
    stage.run(0.0, 4.0, without={70, 100, 101, 102})
    assert stage.counts["lost"] == 4
    assert "held" not in stage.counts
    assert len(stage.frames) == len(whole.frames)
    for one, other in zip(stage.frames, whole.frames, strict=True):
        place = one.hands["right"].wrist.position
        np.testing.assert_allclose(place, other.hands["right"].wrist.position, atol=2e-3)


def test_a_long_gap_is_held_and_told():
    stage = Stage()
    stage.run(0.0, 2.0)
    for n in range(120, 145):
        stage.look(n / 60)
    stage.run(145 / 60, 4.0)
    np.testing.assert_allclose(np.diff(stage.times), 1 / 60, atol=1e-9)
    held = [frame.time for frame in stage.frames if frame.is_held]
    # From the last message until there is just time to get to the next one.
    assert held[0] == pytest.approx(120 / 60, abs=1e-9)
    assert held[-1] == pytest.approx(145 / 60 - 0.1, abs=0.02)
    assert stage.counts["held"] == len(held)
    assert stage.counts["lost"] == 25


def test_a_message_that_comes_late_but_in_time_changes_nothing_at_its_frame():
    stage, whole = Stage(), Stage()
    whole.run(0.0, 2.0)
    for n in range(120):
        if n != 60:
            stage.say(n / 60)
        if n == 66:
            stage.say(60 / 60, arrival=66 / 60)
    assert stage.counts["earlier"] == stage.counts["late"] == 1
    assert "lost" not in stage.counts
    for one, other in zip(stage.frames[37:], whole.frames[37:], strict=True):
        np.testing.assert_array_equal(one.object_pose.position, other.object_pose.position)
        np.testing.assert_allclose(
            one.hands["right"].wrist.wxyz, other.hands["right"].wrist.wxyz, atol=1e-15
        )


def test_a_message_that_comes_too_late_is_dropped():
    stage = Stage(ClosingFingers(look_back=3, look_ahead=3))
    stage.run(0.0, 1.0, without={10})
    stage.say(10 / 60, arrival=1.0)
    assert stage.counts["stale"] == 1
    assert "late" not in stage.counts


def test_shuffled_messages_give_the_same_frames():
    rng = np.random.default_rng(7)
    stage, whole = Stage(), Stage()
    whole.run(0.0, 2.0)
    order = np.arange(120)
    for begin in range(0, 120, 6):
        rng.shuffle(order[begin : begin + 6])
    for place, n in enumerate(order):
        stage.say(n / 60, arrival=place / 60)
    assert stage.counts["earlier"] > 20
    # The first message that came is where frames begin.
    shift = int(order[0])
    for one, other in zip(stage.frames[40:], whole.frames[40 + shift :], strict=False):
        np.testing.assert_allclose(one.time, other.time, atol=1e-12)
        place = one.hands["left"].wrist.position
        np.testing.assert_allclose(place, other.hands["left"].wrist.position, atol=1e-12)


def test_doubled_messages_count_and_change_nothing():
    stage, whole = Stage(), Stage()
    whole.run(0.0, 1.0)
    for n in range(60):
        stage.say(n / 60)
        if n % 10 == 0:
            stage.say(n / 60, object=Pose.identity())
    assert stage.counts["doubled"] == 18
    assert len(stage.frames) == len(whole.frames)
    for one, other in zip(stage.frames, whole.frames, strict=True):
        np.testing.assert_array_equal(one.object_pose.position, other.object_pose.position)


@pytest.mark.parametrize(
    "bad",
    [
        ((np.nan,) * 3, (1.0, 0.0, 0.0, 0.0)),
        ((0.0, 0.0, np.inf), (1.0, 0.0, 0.0, 0.0)),
        ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0)),
        ((1e9, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)),
    ],
)
def test_poses_that_are_none_are_filled_in(bad):
    stage = Stage()
    for n in range(90):
        changed = {"object": bad} if n in (50, 51) else {}
        stage.say(n / 60, **changed)
    assert stage.counts["invalid"] == 2
    assert len(stage.frames) == 60
    for frame in stage.frames:
        place = MOTION.object_pose(frame.time).position
        np.testing.assert_allclose(frame.object_pose.position, place, atol=2e-3)


@pytest.mark.parametrize("stamp", [np.nan, np.inf, -np.inf])
def test_a_time_that_is_none_is_dropped(stamp):
    stage = Stage()
    stage.run(0.0, 1.0)
    stage.say(1.0, stamp=stamp)
    stage.run(61 / 60, 2.0)
    assert stage.counts["invalid"] == 1
    assert len(stage.frames) == 90


def test_a_pause_is_held_then_waited_for_and_nothing_leaps():
    stage = Stage()
    stage.run(0.0, 2.0)
    for n in range(120, 400):
        stage.look(n / 60)
    assert not stage.live.is_running
    assert stage.counts["pauses"] == 1
    before = len(stage.frames)
    # All that was known was shown, and then it stood still until the silence was too long.
    assert stage.times[-1] == pytest.approx(119 / 60 + 1.0 - 0.5 - 0.05, abs=0.02)
    stage.run(400 / 60, 600 / 60)
    assert stage.counts["pauses"] == 1
    assert len(stage.frames) == before + 170
    assert stage.frames[before].time == pytest.approx(400 / 60)
    assert largest_leap(stage.frames) <= LEAP
    assert stage.model.num_resets == 3


def test_a_pause_is_noticed_even_if_nobody_looked():
    stage = Stage()
    stage.run(0.0, 1.0)
    stage.say(9.0)
    assert stage.counts["pauses"] == 1
    assert len(stage.frames) == 30


@pytest.mark.parametrize("shift", [-1000.0, -3.0, -0.7, 3.0, 1e6])
def test_a_clock_that_leaps_is_followed(shift):
    stage = Stage()
    stage.run(0.0, 2.0)
    for n in range(120, 240):
        stage.say(n / 60, stamp=n / 60 + shift)
    assert stage.counts["jumps"] == 1
    assert "pauses" not in stage.counts
    assert stage.times[-1] == pytest.approx(239 / 60 + shift - 0.5)
    assert largest_leap(stage.frames) <= LEAP
    wanted = MOTION.wrists(stage.times[-1] - shift)["right"].position
    np.testing.assert_allclose(stage.frames[-1].hands["right"].wrist.position, wanted, atol=1e-6)


def test_one_wrong_stamp_is_dropped():
    stage, whole = Stage(), Stage()
    whole.run(0.0, 2.0)
    for n in range(120):
        stage.say(n / 60)
        if n in (40, 80):
            stage.say(n / 60, stamp=1e5)
    assert stage.counts["astray"] == 2
    np.testing.assert_array_equal(stage.times, whole.times)


def test_a_sender_that_comes_back_finds_the_fingers_as_they_were():
    stage = Stage()
    stage.run(0.0, 3.0)
    posture = stage.frames[-1].hands["right"].q
    stage.live.restart()
    assert not stage.live.is_running
    before = len(stage.frames)
    stage.run(100.0, 102.0)
    assert stage.counts["restarts"] == 1
    assert stage.frames[before].time == pytest.approx(100.0)
    step = np.abs(stage.frames[before].hands["right"].q - posture).max()
    assert step <= LiveSettings().joint_step + 1e-12
    assert largest_leap(stage.frames) <= LEAP


def test_another_object_is_sensed_from_the_next_frame_on():
    stage = Stage()
    stage.run(0.0, 2.0)
    stage.live.swap(BALL)
    assert len(stage.model.views) == 90
    stage.run(2.0, 3.0)
    bodies = [views["right"].body for views in stage.model.views]
    assert all(body is CYLINDER for body in bodies[:90])
    assert all(body is BALL for body in bodies[90:])
    assert stage.counts["swaps"] == 1
    assert largest_leap(stage.frames) <= LEAP


def test_a_rigid_body_can_be_swapped_in():
    stage = Stage()
    stage.live.swap(make_shape("sphere"))
    stage.run(0.0, 0.6)
    assert stage.model.views[0]["right"].body.near is BALL.near


@pytest.mark.parametrize("length", [0.14, 0.19, 0.23])
def test_fingers_never_leap_whatever_the_model_says(length):
    hands = {side: human(side, length=length, coupled=True) for side in ("right", "left")}
    stage = Stage(WildFingers(), hands)
    stage.run(0.0, 4.0)
    assert 0.9 * LEAP * 0.9 < largest_leap(stage.frames, hands) <= LEAP
    assert stage.counts["limited"] == len(stage.frames)
    postures = np.stack([frame.hands["left"].q for frame in stage.frames])
    joints = hands["left"].joints
    np.testing.assert_allclose(joints.clamp(postures), postures, atol=1e-9)
    assert np.abs(np.diff(postures, axis=0)).max() <= LiveSettings().joint_step + 1e-12


def test_a_model_that_says_nothing_leaves_fingers_as_they_are():
    stage = Stage(WildFingers(none=1.0))
    stage.run(0.0, 1.0)
    assert stage.counts["failed"] == len(stage.frames) == 30
    assert largest_leap(stage.frames) == 0.0


def test_fingers_touch_what_they_close_on():
    stage = Stage()
    stage.run(0.0, 4.5)
    by_time = {round(60 * frame.time): frame.hands for frame in stage.frames}
    assert by_time[0]["right"].touching == ()
    held = by_time[round(60 * 0.5 * MOTION.period)]
    assert "thumb" in held["right"].touching
    assert len(set(held["right"].touching) - {"thumb", "palm"}) >= 2
    assert set(held["left"].touching) <= {*(d.name for d in HANDS["left"].digits), "palm"}


def test_when_too_many_frames_are_due_the_oldest_are_left_out():
    stage = Stage()
    stage.run(0.0, 1.0)
    for n in range(60, 120):
        stage.clock.now = 1000.0 + n / 60
        stage.live.feed(n / 60, wrists=MOTION.wrists(n / 60), object=MOTION.object_pose(n / 60))
    stage.look()
    assert stage.counts["skipped"] == 60 - MOST_AT_ONCE
    assert stage.times[-1] == pytest.approx(89 / 60)
    assert largest_leap(stage.frames) <= LEAP


def test_one_hand_alone():
    stage = Stage(hands={"left": HANDS["left"]})
    stage.run(0.0, 1.0)
    assert len(stage.frames) == 30
    assert set(stage.frames[0].hands) == {"left"}
    assert stage.model.views[0]["left"].other_position is None


def test_a_hand_shows_up_once_it_is_tracked_and_stands_still_when_it_is_lost():
    stage = Stage()
    for n in range(240):
        there = ("right", "left") if 60 <= n < 120 else ("right",)
        stage.say(n / 60, wrists={k: v for k, v in MOTION.wrists(n / 60).items() if k in there})
    has_left = ["left" in frame.hands for frame in stage.frames]
    assert not any(has_left[:30])
    assert all(has_left[31:])
    lost = stage.frames[-1].hands
    assert lost["left"].is_held
    assert not lost["right"].is_held
    wanted = MOTION.wrists(119 / 60)["left"].position
    np.testing.assert_allclose(lost["left"].wrist.position, wanted, atol=1e-9)


def test_wrists_and_object_may_come_in_messages_of_their_own():
    stage, whole = Stage(), Stage()
    whole.run(0.0, 1.0)
    for n in range(60):
        stage.say(n / 60, object=None)
        stage.say(n / 60, wrists={})
    assert len(stage.frames) == len(whole.frames)
    assert {"doubled", "lost", "earlier"}.isdisjoint(stage.counts)


def test_without_an_object_there_is_nothing_to_show():
    stage = Stage()
    for n in range(60):
        stage.say(n / 60, object=None)
    assert stage.frames == []


def test_counts_are_all_there_and_cannot_be_written_to():
    live = Stage().live
    assert live.counts == dict.fromkeys(COUNTS, 0)
    live.counts["frames"] = 3
    assert live.counts["frames"] == 0


def test_what_cannot_be_is_refused():
    stage = Stage()
    with pytest.raises(UnknownNameError, match="Unknown hand 'third'"):
        stage.live.feed(0.0, wrists={"third": Pose.identity()})
    with pytest.raises(InvalidValueError, match="has an arm"):
        LiveFingers(stage.model, {"right": human(arm=True)}, CYLINDER)
    with pytest.raises(InvalidValueError, match="0 hands; expected 1 or 2"):
        LiveFingers(stage.model, {}, CYLINDER)
    with pytest.raises(InvalidValueError, match="tip_step"):
        LiveSettings(tip_step=0.05)


def any_pose(rng):
    """A pose, none, or numbers that are no pose."""
    kind = rng.random()
    if kind < 0.2:
        return None
    if kind < 0.6:
        return MOTION.object_pose(10.0 * rng.random())
    odd = [np.nan, np.inf, -np.inf, 1e300, -1e300, 0.0, 1.0, -0.5]
    return [list(rng.choice(odd, rng.integers(0, 5))), list(rng.choice(odd, rng.integers(0, 6)))]


def any_stamp(rng, now):
    """Near the present, far from it, or none."""
    kind = rng.random()
    if kind < 0.6:
        return now + rng.uniform(-0.3, 0.3)
    return now + rng.uniform(-1e12, 1e12) if kind < 0.8 else rng.choice([np.nan, 1e308, -1e308])


@pytest.mark.parametrize("seed", range(10))
def test_no_message_can_do_harm(seed):
    rng = np.random.default_rng(seed)
    stage = Stage(WildFingers(none=0.1))
    stage.run(0.0, 0.7)
    for _ in range(60):
        now = stage.clock.now - 1000.0 + rng.exponential(0.1)
        wrists = {name: any_pose(rng) for name in HANDS if rng.random() < 0.8}
        stage.clock.now = 1000.0 + now
        stage.live.feed(any_stamp(rng, now), wrists=wrists, object=any_pose(rng))
        stage.look()
    end = stage.clock.now - 1000.0
    stage.run(end + 2.0, end + 3.0)
    assert len(stage.frames) > 40
    for name, model in HANDS.items():
        there = [frame for frame in stage.frames if name in frame.hands]
        assert largest_leap(there, {name: model}) <= LEAP
        assert all(np.isfinite(frame.hands[name].wrist.position).all() for frame in there)
