from __future__ import annotations

import json

import numpy as np
import pytest
from stand_in_fingers import Clock, ClosingFingers
from stand_in_networks import NearnessNetwork

from handwright.errors import InvalidValueError
from handwright.hands.names import OPENXR_JOINTS
from handwright.live.conversation import MOST_A_SECOND, MOST_MISTAKES
from handwright.live.messages import FrameOut, HandOut, PoseOut, Welcome
from handwright.live.stage import LiveStage
from handwright.methods.neural.live.network_fingers import FedBackFingers

from .conftest import BODIES, HELLO, MOTION, Client, poses


def checked(message, kind):
    """A message that has gone over the line, with all that its kind has and nothing else."""
    assert set(message) == set(kind.__annotations__)
    sent = json.loads(json.dumps(message, allow_nan=False))
    assert sent == message
    return sent


def test_a_hello_is_answered_with_all_that_a_client_needs(enter):
    welcome = checked(enter().welcome, Welcome)
    assert welcome["protocol"] == 1
    assert welcome["rate"] == 60.0
    assert welcome["delay"] == 0.5
    assert welcome["joints"] == list(OPENXR_JOINTS)
    assert len(welcome["joint_values"]) == 30
    assert welcome["objects"] == ["cylinder", "sphere"]
    assert welcome["object"] == "cylinder"


@pytest.mark.parametrize("axes", ["z_up", "y_up"])
def test_wrists_come_back_later_with_fingers(enter, axes):
    client = enter(axes=axes)
    client.run(0.0, 1.0)
    assert len(client.frames) == 30
    frame = checked(client.frames[-1], FrameOut)
    assert frame["time"] == pytest.approx(29 / 60)
    assert frame["object_name"] == "cylinder"
    assert frame["counts"]["messages"] == 60
    sent = poses(29 / 60)
    for side in ("right", "left"):
        hand = checked(frame["hands"][side], HandOut)
        checked(hand["joints"]["palm"], PoseOut)
        assert list(hand["joints"]) == list(OPENXR_JOINTS)
        assert len(hand["values"]) == 30
        for key in ("position", "xyzw"):
            wanted = np.array(sent["wrists"][side][key])
            found = np.array(hand["joints"]["wrist"][key])
            if key == "xyzw" and found @ wanted < 0.0:
                found = -found
            np.testing.assert_allclose(found, wanted, atol=1e-5)
    np.testing.assert_allclose(frame["object"]["position"], sent["object"]["position"], atol=1e-5)


def test_the_hand_is_as_large_as_asked_for(enter):
    def reach(**hello):
        client = enter(**hello)
        client.run(0.0, 0.6)
        joints = client.frames[-1]["hands"]["right"]["joints"]
        tip, knuckle = (joints[f"index_{part}"]["position"] for part in ("distal", "proximal"))
        return float(np.linalg.norm(np.subtract(tip, knuckle)))

    assert reach(hand_length=0.15) / reach(hand_length=0.20) == pytest.approx(0.75, abs=0.05)


def test_fingers_stay_out_of_the_table_that_a_client_names():
    stage = LiveStage(FedBackFingers(NearnessNetwork(), "contact"), BODIES)

    def lowest_tip(**hello):
        client = Client(stage, Clock(), hands=["right"], **hello)
        client.run(0.0, 1.5, wrists=poses(0.0, ("right",))["wrists"])
        joints = client.frames[-1]["hands"]["right"]["joints"]
        # Tips are some millimetres below the skin.
        return min(place["position"][2] for name, place in joints.items() if name.endswith("_tip"))

    free = lowest_tip()
    table = free + 0.02
    assert lowest_tip(table=table) > table


def test_digits_say_that_they_touch(enter):
    client = enter()
    client.run(0.0, 0.55 * MOTION.period)
    touching = [set(frame["hands"]["right"]["touching"]) for frame in client.frames]
    assert touching[0] == set()
    assert "thumb" in touching[-1]
    assert len(touching[-1]) >= 3


def test_an_object_is_swapped(enter):
    client = enter()
    client.run(0.0, 1.0)
    answer = client.say({"type": "swap", "object": "sphere"})
    assert answer == {"type": "swapped", "object": "sphere"}
    client.run(1.0, 1.5)
    assert [frame["object_name"] for frame in client.frames] == ["cylinder"] * 30 + ["sphere"] * 30
    assert client.frames[-1]["counts"]["swaps"] == 1
    error = client.say({"type": "swap", "object": "spher"})
    assert error["message"].startswith("Unknown object 'spher'. Did you mean 'sphere'?")


def test_a_client_that_comes_back_finds_its_hands(enter):
    first = enter()
    first.run(0.0, 3.0)
    last = first.frames[-1]["hands"]["right"]["values"]
    again = enter()
    again.run(100.0, 100.6)
    frame = again.frames[0]
    assert frame["counts"]["restarts"] == 1
    assert frame["counts"]["messages"] > 180
    assert np.abs(np.subtract(frame["hands"]["right"]["values"], last)).max() <= 0.25 + 1e-6
    other = enter(hands=["left"])
    other.run(200.0, 200.6)
    assert other.frames[0]["counts"]["restarts"] == 0
    assert list(other.frames[0]["hands"]) == ["left"]


@pytest.mark.parametrize("bad", [float("nan"), None, float("inf"), 1e300])
def test_numbers_that_are_none_are_counted_and_not_answered(enter, bad):
    client = enter()
    client.run(0.0, 0.5)
    message = poses(0.5)
    message["wrists"]["right"]["position"][1] = bad
    message["object"]["xyzw"][2] = bad
    assert client.say(message) is None
    assert client.say(poses(0.5) | {"time": None}) is None
    client.run(0.5, 1.0)
    assert client.frames[-1]["counts"]["invalid"] == 3


def test_what_was_not_tracked_may_be_left_out(enter):
    client = enter()
    client.run(0.0, 0.5)
    moment = 30 / 60
    for left_out in ({"wrists": {}}, {"object": None}, {"wrists": {"left": None}}):
        moment += 1 / 60
        client.clock.now += 1 / 60
        assert client.say(poses(moment) | left_out) is None
    del (message := poses(0.6))["object"]
    assert client.say(message) is None
    assert client.say(poses(0.61, ("right",)) | {"wrists": {}}) is None


def test_a_wrist_that_was_not_announced_is_not_looked_at(enter):
    client = enter(hands=["right"])
    client.run(0.0, 0.6)
    assert list(client.frames[0]["hands"]) == ["right"]


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("{", "the message: Invalid JSON"),
        ("[]", "Input should be"),
        ({"type": "dance"}, "'dance' found using 'type' does not match"),
        ({"type": "poses", "time": 0.0, "speed": 1}, "speed: Extra inputs are not permitted"),
        ({"type": "poses", "time": "soon"}, "time: Input should be a valid number"),
        ({"type": "poses", "time": 0.0, "wrists": {"third": None}}, "third"),
        (b"\x00\x01", "binary; expected a text of JSON"),
        (HELLO, "'hello' came twice"),
        (json.dumps({"type": "swap", "object": "x" * 200}), "at most 100 characters"),
    ],
)
def test_mistakes_are_told_and_the_conversation_goes_on(enter, message, told):
    client = enter()
    error = client.say(message)
    assert error["type"] == "error"
    assert told in error["message"]
    assert "closing" not in error
    client.run(0.0, 0.6)
    assert client.frames[-1]["counts"]["refused"] == 1


@pytest.mark.parametrize(
    ("hello", "told"),
    [
        ({"protocol": 2}, "speaks protocol 2, the server 1"),
        ({"axes": "x_up"}, "axes: Input should be 'z_up' or 'y_up'"),
        ({"hands": []}, "hands"),
        ({"hands": ["right", "right"]}, "names one twice"),
        ({"table": 1e3}, "table: Input should be less than or equal to 100"),
        ({"hand_length": 5.0}, "hand_length: Input should be less than or equal to 0.3"),
        ({"type": "poses", "time": 0.0, "protocol": None, "axes": None}, "cannot be used"),
        ({"type": "swap", "object": "sphere", "protocol": None, "axes": None}, "cannot be used"),
    ],
)
def test_a_hello_that_cannot_be_answered_ends_the_conversation(enter, hello, told):
    error = enter(**hello).welcome
    assert told in error["message"]
    assert error["closing"] is True


def test_poses_before_a_hello_are_refused(stage):
    from handwright.live.conversation import Conversation

    error = Conversation(stage).hear(json.dumps(poses(0.0)))
    assert error == {
        "type": "error", "message": "'poses' came first; expected 'hello'.", "closing": True
    }  # fmt: skip


def test_who_makes_mistakes_only_is_sent_away(enter):
    client = enter()
    told = [client.say("?") for _ in range(MOST_MISTAKES)]
    assert ["closing" in one for one in told] == [False] * (MOST_MISTAKES - 1) + [True]


def test_a_client_that_sends_milliseconds_is_told(enter):
    client = enter()
    answers = [client.say(poses(n / 60) | {"time": 1000 * n / 60}) for n in range(70)]
    (told,) = [answer for answer in answers if answer is not None]
    assert "60 messages had a 'time' that does not follow" in told["message"]
    assert "Expected seconds" in told["message"]
    assert client.frames == []


def test_too_many_messages_are_dropped(enter):
    client = enter()
    client.clock.now = 2000.0
    swap = {"type": "swap", "object": "sphere"}
    answers = [client.say(swap) for _ in range(MOST_A_SECOND + 100)]
    assert sum(answer is not None for answer in answers) == MOST_A_SECOND
    assert client.talk.counts["flooded"] == 100
    client.clock.now = 2001.0
    assert client.say(swap) is not None


def test_a_stage_rehearses_without_a_trace(stage, enter):
    stage.rehearse()
    client = enter()
    client.run(0.0, 0.6)
    assert client.frames[0]["counts"]["restarts"] == 0


def test_a_stage_needs_an_object():
    with pytest.raises(InvalidValueError, match="no object"):
        LiveStage(ClosingFingers(), {})
