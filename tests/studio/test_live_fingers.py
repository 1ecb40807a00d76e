"""Learned fingers in the live tab: what a page asks for, and what hands do then."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from websockets.sync.client import connect

from handwright.errors import UnknownNameError
from handwright.io.clip.file import load_clip
from handwright.learning.data.stage import TABLE_HEIGHT
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.studio.live.fingers.follower import Follower
from handwright.studio.live.fingers.handling import HIGHEST, Handling
from handwright.studio.live.fingers.props import handled_prop, prop_kinds

from .conftest import serving
from .test_live import Page

pytest.importorskip("onnxruntime", reason="learned fingers need the extra 'neural'")

TINY = Path(__file__).parents[1] / "fixtures" / "tiny_fingers"
RATE = 60


@pytest.fixture(scope="module")
def fingers_served(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("fingers") / "clips", fingers=str(TINY)) as server:
        yield server


@pytest.fixture
def page(fingers_served):
    address = f"ws://127.0.0.1:{fingers_served.port}/api/live"
    with connect(address, origin=fingers_served.url, max_size=None) as socket:
        yield Page(socket)


def phases(frame) -> dict[str, str]:
    return {hand.name: hand.phase for hand in frame.fingers.hands}


def test_a_prop_is_taken_moved_swapped_and_recorded(fingers_served, page):
    page.say(kind="fingers", hands=["right"], prop="box")
    ready = page.hear("ready")
    model = fingers_served.get(ready.model).raise_for_status()
    assert model.content.startswith(b"glTF")
    first = page.hear("frame")
    assert [body.name for body in first.bodies] == ["box"]
    assert [hand.name for hand in first.hands] == ["right"]
    assert first.fingers.delay > 0.4
    assert phases(first) == {"right": "away"}
    page.say(kind="record")
    # A wish is enough: the hand takes the prop for it.
    page.say(kind="move", shift=[0.0, 0.0, 0.12])
    held = page.until(lambda frame: phases(frame)["right"] == "holding", first.time + 10.0)
    # What is shown lies back: the prop stands still yet.
    assert held.bodies[0].position == pytest.approx(first.bodies[0].position, abs=1e-5)
    assert held.fingers.wish.position[1] == pytest.approx(first.bodies[0].position[1] + 0.12)
    up = page.until(
        lambda frame: frame.bodies[0].position[1] > first.bodies[0].position[1] + 0.11,
        held.time + 5.0,
    )
    # Y up and z towards the viewer: x stays, and the wrist has come along.
    assert up.bodies[0].position[0] == pytest.approx(first.bodies[0].position[0], abs=1e-4)
    assert up.fps > 0.0
    assert up.fingers.milliseconds > 0.0
    page.say(kind="swap", prop="sphere")
    swapped = page.until(lambda frame: frame.bodies[0].name == "sphere", up.time + 20.0)
    assert swapped.fingers.counts["swaps"] == 1
    page.at(swapped.time + 1.0)
    page.say(kind="save")
    saved = [page.hear("saved") for _ in range(2)]
    clips = [
        fingers_served.get(f"/api/clips/{one.clip}").raise_for_status().json() for one in saved
    ]
    loaded = [load_clip(fingers_served.root / clip["file"]) for clip in clips]
    assert [list(clip.bodies) for clip in loaded] == [["box"], ["sphere"]]
    assert {clip.provenance.method for clip in loaded} == {"neural"}
    lifted = loaded[0].bodies["box"].position[:, 2]
    assert np.ptp(lifted) > 0.1
    assert np.allclose(np.diff(loaded[0].times), 1.0 / RATE)


def test_what_cannot_be_done_is_said_and_the_hands_go_on(page):
    page.say(kind="move", shift=[0.0, 0.0, 0.1])
    assert "Nothing has been started" in page.hear("trouble").message
    page.say(kind="fingers", hands=["right"], prop="piano")
    assert "Unknown prop 'piano'" in page.hear("trouble").message
    page.say(kind="fingers", hands=["right", "right"])
    assert "expected one or two sides" in page.hear("trouble").message
    page.say(kind="fingers", hands=["left"], prop="box")
    start = page.hear("frame")
    page.say(kind="take", hand="right")
    assert "Known: left" in page.hear("trouble").message
    page.say(kind="swap", prop="piano")
    assert "Unknown prop 'piano'" in page.hear("trouble").message
    page.say(kind="push", body="box", point=[0, 0, 0], force=[1, 0, 0])
    assert "for scenes that are simulated" in page.hear("trouble").message
    page.say(kind="save")
    assert "Start a recording first" in page.hear("trouble").message
    page.say(kind="record")
    page.hear("frame")
    page.say(kind="save")
    assert "Record for longer" in page.hear("trouble").message
    assert page.hear("frame").time > start.time


def test_a_network_that_is_not_there_is_said(tmp_path):
    with serving(tmp_path / "clips", fingers=str(tmp_path / "nowhere")) as server:
        address = f"ws://127.0.0.1:{server.port}/api/live"
        with connect(address, origin=server.url, max_size=None) as socket:
            page = Page(socket)
            page.say(kind="fingers", hands=["right"], prop="box")
            assert "expected the folder of a trained network" in page.hear("trouble").message


def test_props_are_listed_and_have_models(fingers_served):
    names = fingers_served.get("/api/props").raise_for_status().json()
    assert {"mug", "bottle", "teapot", "box", "cylinder", "sphere", "torus"} <= set(names)
    assert fingers_served.get("/api/props/box/model.glb").content.startswith(b"glTF")
    assert fingers_served.get("/api/props/piano/model.glb").status_code == 404


# ---- what hands do, without a server -------------------------------------------------------------


def run(handling: Handling, seconds: float) -> list:
    return [handling.step() for _ in range(round(seconds * RATE))]


def test_a_hand_takes_a_prop_carries_it_along_and_puts_it_down():
    handling = Handling(handled_prop("box"), ["right"])
    start = run(handling, 0.1)[-1].body
    shift = np.array([-0.1, 0.05, 0.15])
    handling.move(shift=shift, turn=np.array([0.0, 0.0, 0.5]))
    seen = run(handling, 4.0)
    hand = handling.hands["right"]
    assert hand.phase == "holding"
    assert seen[-1].body.position == pytest.approx(start.position + shift, abs=1e-3)
    assert rotation.angle(seen[-1].body.wxyz, start.wxyz) == pytest.approx(0.5, abs=0.01)
    # Nothing moves before the hand is there; then wrist and prop keep together.
    grips = [one.body.inverse() @ one.wrists["right"] for one in seen]
    moves = [
        n for n, one in enumerate(seen) if np.ptp([one.body.position, start.position], 0).any()
    ]
    assert grips[moves[0]].position == pytest.approx(hand.hold.wrist.position, abs=1e-9)
    assert grips[-1].position == pytest.approx(hand.hold.wrist.position, abs=1e-9)
    handling.let_go()
    ended = run(handling, 5.0)[-1]
    assert hand.phase == "away"
    assert ended.body.position[2] == pytest.approx(start.position[2], abs=1e-3)
    assert np.linalg.norm(ended.wrists["right"].position - ended.body.position) > 0.1


def test_wrists_and_props_move_as_smoothly_as_people_do():
    handling = Handling(handled_prop("bottle"), ["right"])
    handling.move(shift=np.array([0.3, 0.3, 0.4]), turn=np.array([1.0, 0.0, 0.0]))
    seen = run(handling, 2.0)
    handling.move(place=np.array([-0.5, -0.5, 0.0]), turn=np.array([0.0, 2.0, 0.0]))
    seen += run(handling, 2.0)
    handling.let_go()
    seen += run(handling, 6.0)
    for places in (
        np.array([one.body.position for one in seen]),
        np.array([one.wrists["right"].position for one in seen]),
    ):
        assert np.linalg.norm(np.diff(places, axis=0), axis=1).max() * RATE < 1.6
        assert np.linalg.norm(np.diff(places, 2, axis=0), axis=1).max() * RATE**2 < 16.0


def test_no_wish_puts_a_prop_or_its_hand_into_the_table():
    prop = handled_prop("mug")
    handling = Handling(prop, ["left"])
    rng = np.random.default_rng(1)
    lowest = []
    for _ in range(8):
        handling.move(place=rng.uniform(-2.0, 2.0, 3), turn=rng.uniform(-2.0, 2.0, 3))
        lowest += [one.body[None].apply(prop.body.vertices)[:, 2].min() for one in run(handling, 1)]
        assert (handling.wish.position <= HIGHEST + 0.3).all()
    assert min(lowest) > TABLE_HEIGHT - 1e-6


def test_a_prop_goes_from_hand_to_hand_in_the_air():
    handling = Handling(handled_prop("bottle"), ["right", "left"])
    handling.move(shift=np.array([-0.06, 0.0, 0.15]))
    run(handling, 3.0)
    handling.take("left")
    handling.let_go("right")
    seen = run(handling, 4.0)
    assert handling.note == ""
    assert {side: hand.phase for side, hand in handling.hands.items()} == {
        "right": "away",
        "left": "holding",
    }
    assert np.ptp([one.body.position[2] for one in seen]) < 1e-3


def test_another_prop_comes_into_the_hand_that_holds():
    handling = Handling(handled_prop("cylinder"), ["right"])
    handling.move(shift=np.array([0.0, 0.0, 0.15]))
    run(handling, 3.0)
    handling.swap(handled_prop("mug"))
    assert handling.next_prop.name == "mug"
    seen = run(handling, 1.5)
    assert handling.prop.name == "mug"
    hold = handling.hands["right"].hold
    assert any(hold is one for one in handling.prop.holds_around["right"])
    assert largest_step(seen) < 0.02


def test_a_prop_that_is_swapped_while_a_hand_reaches_is_held_by_a_hold_of_its_own():
    handling = Handling(handled_prop("cylinder"), ["right"])
    handling.take("right")
    run(handling, 0.1)
    handling.swap(handled_prop("mug"))
    seen = run(handling, 4.0)
    assert handling.prop.name == "mug"
    hold = handling.hands["right"].hold
    assert any(hold is one for one in handling.prop.holds_around["right"])
    assert largest_step(seen) < 0.02


def largest_step(seen):
    """Longest way of the right wrist between two frames, m."""
    wrists = np.array([one.wrists["right"].position for one in seen])
    return np.linalg.norm(np.diff(wrists, axis=0), axis=1).max()


def test_every_prop_can_be_taken_by_either_hand_as_it_stands():
    for name in prop_kinds():
        prop = handled_prop(name)
        for side in ("right", "left"):
            assert prop.holds[side], name
            # A wrist is near the thing and outside it.
            for hold in prop.holds[side]:
                points = prop.rest[None].apply(prop.body.vertices)
                gap = np.linalg.norm(points - hold.wrist.position, axis=1).min()
                assert 0.01 < gap < 0.2, (name, side, hold.grip)
    with pytest.raises(UnknownNameError, match="piano"):
        handled_prop("piano")


def test_a_follower_comes_to_rest_where_it_is_wished():
    follower = Follower(Pose.identity())
    wish = Pose(np.array([0.2, 0.0, 0.1]), rotation.exp(np.array([0.0, 1.5, 0.0])))
    assert not follower.is_at(wish)
    for _ in range(4 * RATE):
        follower.step(wish, 1.0 / RATE)
    assert follower.is_at(wish)


def test_the_extra_that_is_missing_is_named(monkeypatch):
    import sys

    from handwright.errors import HandwrightError
    from handwright.studio.live.fingers.scene import FingersScene

    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(HandwrightError, match=r"handwright\[neural\]"):
        FingersScene(["right"], "box", str(TINY))


def test_commands_of_the_two_kinds_are_not_mixed_up():
    from handwright.errors import InvalidValueError
    from handwright.studio.live.scene import LiveScene
    from handwright.studio.live_messages import LiveCommand

    command = LiveCommand.model_validate(json.loads('{"kind": "take"}'))
    with pytest.raises(InvalidValueError, match="for learned fingers"):
        LiveScene.order(None, command)
