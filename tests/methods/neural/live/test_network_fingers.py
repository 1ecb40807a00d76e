from __future__ import annotations

import numpy as np
import pytest
from stand_in_fingers import Clock
from stand_in_networks import TAUGHT, LazyNetwork, NearnessNetwork, closed_by

from handwright.geometry.shapes import make_shape
from handwright.hands.human.model import human
from handwright.math.pose import Pose
from handwright.methods.neural.fitting import FittedHand, Fitter, Grips, fit_posture, seen_at
from handwright.methods.neural.live import LiveFingers, LiveSettings
from handwright.methods.neural.live.network_fingers import (
    FedBackFingers,
    FittingHands,
    TwoPassFingers,
)
from handwright.methods.neural.live.prop_motion import PropMotion
from handwright.methods.neural.sensing.body import sensed_body
from handwright.methods.neural.sensing.features import assembled, finger_features, fixed_features
from handwright.methods.neural.sensing.load import plain_load
from handwright.methods.neural.sensing.view import hand_view

MOTION = PropMotion(seed=2)
HANDS = {"right": human("right"), "left": human("left")}
BODY = sensed_body(make_shape("cylinder"))
TIMES = np.arange(150) / 60.0


def streamed(model, hands=HANDS, times=TIMES, first=None):
    """Joint values of each hand at the frames that a stream gives."""
    clock = Clock()
    live = LiveFingers(model, hands, BODY, clock=clock, settings=LiveSettings(tip_step=0.02))
    frames = []
    for n, time in enumerate(times):
        clock.now = 1000.0 + time
        there = {k: v for k, v in MOTION.wrists(time).items() if n >= (first or {}).get(k, 0)}
        live.feed(time, wrists={k: there[k] for k in there if k in hands}, object=_thing(time))
        frames += live.frames()
    return live, frames


def _thing(time):
    return MOTION.object_pose(time)


def whole_views():
    wrists = {name: Pose.stack([MOTION.wrists(t)[name] for t in TIMES]) for name in HANDS}
    thing = Pose.stack([_thing(t) for t in TIMES])
    others = {"right": "left", "left": "right"}
    return {
        name: hand_view(model, BODY, TIMES, wrists[name], thing, wrists[others[name]])
        for name, model in HANDS.items()
    }


def test_fed_back_fingers_are_those_of_a_closed_loop_over_the_whole_track():
    network = NearnessNetwork()
    _, frames = streamed(FedBackFingers(network, "none"))
    assert network.batches == [2] * len(frames)
    # The first frame is measured one before the track, which stands still there.
    assert len(frames) == len(TIMES) - 29
    for name, view in whole_views().items():
        shown = np.stack([frame.hands[name].q for frame in frames])
        # The start pose is another than the network's; fingers may not leap from it.
        hand, q = FittedHand(view.model), shown[20]
        for n in range(21, 100):
            at = np.array([n - 1])
            rows = assembled(fixed_features(view, at), finger_features(view, at, q[None]))
            q = fit_posture(hand, network.predict(rows)[0], q)
            np.testing.assert_allclose(shown[n], q, atol=1e-5)
        # The left hand has not come near yet.
        assert name == "left" or np.ptp(shown[20:100], axis=0).max() > 0.3


def test_corrections_go_on_from_the_frames_before():
    view = whole_views()["right"]
    model, outputs = view.model, closed_by(np.linspace(0.2, 0.6, 8))
    hands = FittingHands("contact")
    hands.reset(HANDS)
    start = model.pose("neutral")
    fitter, before = Fitter(FittedHand(model), start), start
    for n, output in enumerate(outputs):
        before = hands.settled({"right": view}, 60 + n, {"right": output}, {"right": before})[
            "right"
        ]
        wanted = fitter.step(seen_at(view, np.array([60 + n])), output)
        np.testing.assert_allclose(before, wanted, atol=1e-9)


def test_grips_of_both_hands_are_those_of_a_closed_loop_over_the_whole_track():
    """From where the prop is carried on: both hands move, and share its load."""
    begin = 0.45 * MOTION.period
    times = begin + np.arange(90) / 60.0
    wrists = {name: Pose.stack([MOTION.wrists(t)[name] for t in times]) for name in HANDS}
    thing = Pose.stack([_thing(t) for t in times])
    load = plain_load("object", thing)
    assert load.is_carried.all()
    others = {"right": "left", "left": "right"}
    views = {
        name: hand_view(model, BODY, times, wrists[name], thing, wrists[others[name]], load=load)
        for name, model in HANDS.items()
    }
    hands, grips = FittingHands("grip"), Grips()
    hands.reset(HANDS)
    before = {name: model.pose("neutral") for name, model in HANDS.items()}
    fitters = {name: Fitter(FittedHand(HANDS[name]), q) for name, q in before.items()}
    outputs = dict(zip(HANDS, closed_by(np.array([0.5, 0.4])), strict=True))
    touched = 0.0
    for frame in range(30, 60):
        seen = {name: seen_at(view, np.array(frame)) for name, view in views.items()}
        last = {name: seen_at(view, np.array(frame - 1)) for name, view in views.items()}
        asked = grips.asked(
            views,
            frame,
            lambda name, last=last: fitters[name].shown(last[name]),
            lambda name, seen=seen: fitters[name].touches(seen[name], outputs[name]),
        )
        before = hands.settled(views, frame, outputs, before)
        for name, fitter in fitters.items():
            wanted = fitter.step(seen[name], outputs[name], asked.get(name))
            np.testing.assert_allclose(before[name], wanted, atol=1e-6)
            touched = max(touched, asked[name].touch.max())
    assert touched > 0.5


def test_two_passes_over_a_stream_are_those_over_the_whole_track():
    network = LazyNetwork()
    _, frames = streamed(TwoPassFingers(network, "none"))
    assert len(frames) == len(TIMES) - 30
    assert network.batches[0] == (2, False)
    assert set(network.batches[1:]) == {(2, True)}
    for name, view in whole_views().items():
        every = np.arange(len(frames))
        first = network.first(fixed_features(view, every)[None])
        hand, q = FittedHand(view.model), [view.model.pose("neutral")]
        for output in first.outputs[0]:
            q.append(fit_posture(hand, output, q[-1]))
        finger = finger_features(view, every, np.stack(q[1:]))
        outputs = network.second(first.context, finger[None]).outputs[0]
        wanted = fit_posture(hand, outputs, np.stack([f.hands[name].q for f in frames]))
        shown = np.stack([frame.hands[name].q for frame in frames])
        # The start pose is another; fingers may not leap from it.
        np.testing.assert_allclose(shown[20:], wanted[20:], atol=2e-3)


@pytest.mark.parametrize(
    ("made", "frames"), [(FedBackFingers(NearnessNetwork(0.1), "none"), 5),
                         (FedBackFingers(NearnessNetwork(0.5), "none"), 29),
                         (TwoPassFingers(LazyNetwork(0.1), "none"), 6),
                         (TwoPassFingers(LazyNetwork(0.5), "none"), 30)],
)  # fmt: skip
def test_how_far_ahead_is_the_networks_to_say(made, frames):
    assert made.look_ahead == frames
    live, given = streamed(made, times=TIMES[:40])
    assert live.delay == pytest.approx(frames / 60.0)
    assert len(given) == 40 - frames


def test_a_hand_that_comes_later_gets_a_memory_of_its_own():
    network = LazyNetwork()
    _, frames = streamed(TwoPassFingers(network, "none"), first={"left": 60})
    assert network.batches.count((1, False)) == 2
    assert (2, True) in network.batches
    assert "left" in frames[-1].hands


def test_what_a_network_cannot_say_is_not_shown():
    class Mute(NearnessNetwork):
        def predict(self, features):
            outputs = super().predict(features)
            if len(self.batches) > 20:
                outputs[-1] = np.nan
            return outputs

    live, frames = streamed(FedBackFingers(Mute(), "contact"), times=TIMES[:80])
    assert live.counts["failed"] == len(frames) - 20
    still, moving = ([frame.hands[name].q for frame in frames[20:]] for name in ("left", "right"))
    assert np.ptp(still, axis=0).max() == 0.0
    assert np.ptp(moving, axis=0).max() > 0.0


def test_a_memory_that_is_spoilt_is_begun_again():
    class Spoilt(LazyNetwork):
        def second(self, context, finger, memory=None):
            found = super().second(context, finger, memory)
            if len(self.batches) == 10:
                found.memory[:] = np.nan
            return found

    network = Spoilt()
    _, frames = streamed(TwoPassFingers(network, "none"), times=TIMES[:60])
    assert network.batches[9:12] == [(2, True), (2, False), (2, True)]
    assert np.isfinite(frames[-1].hands["left"].q).all()


@pytest.mark.parametrize("length", [0.15, 0.19, 0.22])
@pytest.mark.parametrize("side", ["right", "left"])
def test_hands_of_any_size_take_the_posture(length, side):
    model = human(side, length=length)
    hands = FittingHands("none")
    hands.reset({side: model})
    view = hand_view(model, BODY, TIMES[:2], *(Pose.identity((2,)) for _ in range(2)))
    output, before = closed_by([0.7])[0], model.pose("neutral")
    found = hands.settled({side: view}, 0, {side: output}, {side: before})[side]
    taught = 0.3 * TAUGHT.pose("open") + 0.7 * TAUGHT.pose("closed")
    # Whatever the length, the palm is as broad as the taught one, so digits spread a little.
    assert np.abs(found - taught).max() < 0.2
