"""Throwing in the live tab: what a page asks for, and what the arm does then."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from websockets.sync.client import connect

from handwright.errors import HandwrightError
from handwright.evidence import certify
from handwright.io.clip.file import load_clip
from handwright.math.pose import Pose
from handwright.methods.throwing.method import CatchThrow
from handwright.studio.live.throwing.aims import Aim, box_room, changed, palm_at_rest
from handwright.studio.live.throwing.recording import Recording
from handwright.studio.live.throwing.scene import ThrowingScene
from handwright.studio.live.throwing.things import things
from handwright.studio.live.throwing.thrower import RATE, Thrower
from handwright.studio.live_messages import LiveCommand

from .test_live import Page

LOW, HIGH = box_room()
MIDDLE = 0.5 * (LOW + HIGH)


@pytest.fixture
def page(served):
    address = f"ws://127.0.0.1:{served.port}/api/live"
    with connect(address, origin=served.url, max_size=None) as socket:
        # However slowly it looks, what it sees is not old.
        yield Page(socket, tells_what_it_saw=True)


def test_an_arm_throws_as_it_is_asked_to_and_what_it_did_is_saved(served, page):
    page.say(kind="throwing")
    ready = page.hear("ready")
    assert served.get(ready.model).raise_for_status().content.startswith(b"glTF")
    assert ready.choices.heights == [0.3, 1.2]
    assert [one.name for one in ready.choices.things if one.half_turns] == ["can"]
    first = page.hear("frame")
    assert [body.name for body in first.bodies] == ["ball"]
    assert [hand.name for hand in first.hands] == ["right"]
    assert first.throwing.target == "height"
    page.say(kind="record")
    page.say(kind="aim", height=0.5)
    low = page.until(lambda frame: frame.throwing.asked == 0.5, first.time + 8.0)
    assert low.throwing.reached == pytest.approx(0.5, abs=0.05)
    assert low.throwing.in_a_row == low.throwing.throws
    place = MIDDLE + np.array([0.1, 0.0, 0.05])
    page.say(kind="aim", target="box", place=place.tolist())
    shown = page.until(lambda frame: len(frame.bodies) == 2, low.time + 4.0)
    # Frames are Y up: what is ahead has a negative z.
    x, y, z = place
    assert shown.bodies[1].name == "box"
    assert shown.bodies[1].position == pytest.approx([x, z, -y], abs=1e-5)
    page.say(kind="aim", height=3.0)
    assert "expected 0.3 to 1.2 m" in page.hear("trouble").message
    hit = page.until(
        lambda frame: frame.throwing.throws == 1 and frame.throwing.asked is None, shown.time + 6.0
    )
    assert hit.throwing.target == "box"
    assert hit.throwing.in_a_row == 1
    assert hit.throwing.height == 0.5
    page.say(kind="save")
    saved = [page.hear("saved") for _ in range(2)]
    rows = [served.get(f"/api/clips/{one.clip}").raise_for_status().json() for one in saved]
    up, at_box = (load_clip(served.root / row["file"]) for row in rows)
    assert {toss.height for toss in up.problem.tosses} >= {0.5}
    assert [toss.surface for toss in at_box.problem.tosses] == [0]
    assert at_box.problem.environment[0].pose.position == pytest.approx([x, y, z])
    assert up.provenance.method == "throwing"
    for one in saved:
        served.client.delete(f"/api/clips/{one.clip}")
    page.say(kind="reset")
    page.hear("ready")
    assert page.hear("frame").throwing.throws == 0


def test_what_cannot_be_done_is_said_and_the_arm_goes_on(page):
    page.say(kind="aim", height=0.5)
    assert "Nothing has been started" in page.hear("trouble").message
    page.say(kind="throwing", prop="piano")
    assert "Unknown thing to throw 'piano'" in page.hear("trouble").message
    page.say(kind="throwing")
    start = page.hear("frame")
    page.say(kind="take")
    assert "'take' is for learned fingers; arms that throw take aim" in page.hear("trouble").message
    page.say(kind="save")
    assert "Start a recording first" in page.hear("trouble").message
    page.say(kind="pause")
    page.say(kind="resume")
    assert page.hear("frame").time > start.time


# ---- what the arm does, without a server ---------------------------------------------------------


def command(**wishes) -> LiveCommand:
    return LiveCommand(kind="aim", **wishes)


@pytest.mark.parametrize(
    ("wishes", "said"),
    [
        ({"height": 0.2}, "A throw 0.2 m above the palm is out of reach; expected 0.3 to 1.2 m."),
        ({"place": [0.0, 5.0, 1.0]}, "A box at (0.00, 5.00, 1.00) m is out of reach; expected its"),
        ({"prop": "anvil"}, "Unknown thing to throw 'anvil'"),
        ({"half_turns": 1}, "Choose the can."),
        ({"prop": "can", "half_turns": 7}, "7 half turns of the can are not known; expected 1."),
        ({"prop": "can", "target": "box"}, "turned end over end, not thrown to a box"),
        ({"height": 0.5, "prop": "can", "half_turns": 0}, "0 half turns"),
    ],
)
def test_wishes_out_of_reach_are_refused_and_nothing_changes(wishes, said):
    scene = ThrowingScene("ball")
    before = scene.frame().throwing
    with pytest.raises(HandwrightError) as refused:
        scene.order(command(**wishes))
    assert said in str(refused.value)
    assert scene.frame().throwing == before


def test_a_box_that_is_shifted_stops_at_the_edge_of_its_room():
    aim = changed(Aim.usual("ball"), command(shift=[9.0, -0.05, -9.0]))
    assert aim.box == pytest.approx([HIGH[0], MIDDLE[1] - 0.05, LOW[2]])


def run(thrower: Thrower, frames: int) -> list:
    return [thrower.step() for _ in range(frames)]


def until(thrower: Thrower, is_so, most: int = 10 * RATE) -> list:
    """Frames up to the first one after which something is so."""
    seen = []
    while not is_so():
        assert len(seen) < most
        seen.append(thrower.step())
    return seen


def test_the_same_seed_and_wishes_give_the_same_motion():
    def motion(seed: int) -> np.ndarray:
        thrower = Thrower(Aim.usual("ball"), seed=seed)
        seen = run(thrower, 60)
        thrower.aim = replace(thrower.aim, height=0.4)
        seen += run(thrower, 240)
        return np.array([[*one.moment.body.position, *one.moment.q] for one in seen])

    one, same, other = motion(1), motion(1), motion(2)
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_frames_are_even_and_things_fall_freely_between_them():
    thrower = Thrower(Aim.usual("ball"))
    seen = until(thrower, lambda: thrower.tally.throws == 1)
    times = [one.moment.time for one in seen]
    np.testing.assert_allclose(np.diff(times), 1.0 / RATE)
    height = np.array([one.moment.body.position[2] for one in seen])
    top = int(np.argmax(height))
    falls = np.diff(height[top - 10 : top + 10], 2) * RATE**2
    np.testing.assert_allclose(falls, -9.81, atol=0.1)


def test_the_box_moves_while_the_ball_is_held_and_is_hit_where_it_is_then():
    thrower = Thrower(replace(Aim.usual("ball"), target="box"))
    until(thrower, lambda: thrower.phase == "going_back")
    place = MIDDLE + np.array([-0.12, 0.06, -0.08])
    thrower.aim = replace(thrower.aim, box=place)
    flying = until(thrower, lambda: thrower.phase == "holding")
    assert all(np.array_equal(one.box, MIDDLE) for one in flying)
    seen = until(thrower, lambda: thrower.tally.in_a_row == 3)
    np.testing.assert_array_equal(seen[-1].box, place)
    boxes = np.array([one.box for one in seen])
    assert np.linalg.norm(np.diff(boxes, axis=0), axis=1).max() < 0.03
    assert thrower.tally.dropped == 0


def test_what_falls_is_put_back_after_a_second_and_counted():
    thrower = Thrower(Aim.usual("ball"))
    until(thrower, lambda: thrower.tally.in_a_row == 1 and thrower.phase == "going_back")
    away = Pose(palm_at_rest() + np.array([0.0, 0.6, 0.0]), Pose.identity().wxyz)
    thrower.machine.simulation.place_body("ball", away)
    lost = until(thrower, lambda: thrower.phase == "lost")
    assert (thrower.tally.dropped, thrower.tally.in_a_row, thrower.tally.most_in_a_row) == (1, 0, 1)
    seen = until(thrower, lambda: thrower.phase != "lost")
    assert len(seen) == pytest.approx(RATE, abs=2)
    # It lies on the floor meanwhile, and the arm comes home without a leap.
    assert 0.0 < seen[-10].moment.body.position[2] < 0.2
    q = np.array([one.moment.q for one in (*lost, *seen)])
    assert np.abs(np.diff(q, axis=0)).max() * RATE < 25.0
    assert thrower.machine.has_it
    until(thrower, lambda: thrower.tally.in_a_row == 1)


def test_a_can_is_turned_and_things_are_swapped_in_the_hand():
    thrower = Thrower(Aim.usual("ball"))
    run(thrower, 5)
    thrower.aim = changed(thrower.aim, command(prop="can"))
    seen = until(thrower, lambda: thrower.tally.throws == 2)
    assert [one.thing for one in seen[:2]] == ["ball", "ball"]
    assert seen[-1].thing == "can"
    assert thrower.tally.in_a_row == 2
    assert thrower.tally.reached is None
    thrower.aim = changed(thrower.aim, command(prop="heavy_ball", target="height", height=0.6))
    until(thrower, lambda: thrower.tally.reached is not None)
    assert thrower.tally.throws == 1
    assert thrower.tally.reached == pytest.approx(0.6, abs=0.05)


@pytest.mark.parametrize("name", [name for name, thing in things().items() if not thing.flips])
def test_every_ball_is_thrown_to_the_ends_of_the_slider(name):
    for height in (0.3, 1.2):
        thrower = Thrower(replace(Aim.usual(name), height=height))
        until(thrower, lambda thrower=thrower: thrower.tally.throws == 2)
        assert thrower.tally.in_a_row == 2
        assert thrower.tally.reached == pytest.approx(height, abs=0.05)


def test_recordings_are_cut_where_something_was_put_elsewhere_and_can_be_judged():
    thrower, recording = Thrower(replace(Aim.usual("ball"), height=0.5)), Recording(0)
    with pytest.raises(HandwrightError, match="Record for longer"):
        recording.clips()
    up = until(thrower, lambda: thrower.tally.throws == 1)
    thrower.aim = replace(thrower.aim, target="box")
    at_box = until(thrower, lambda: thrower.tally.throws == 0)
    at_box += until(thrower, lambda: thrower.tally.throws == 1)
    for one in (*up, *at_box):
        recording.add(one)
    clips = recording.clips()
    assert [len(clip.problem.environment) for clip in clips] == [0, 1]
    assert recording.seconds == pytest.approx((len(up) + len(at_box)) / RATE)
    clip = clips[0]
    np.testing.assert_allclose(
        clip.bodies["ball"].position[: len(up)], [one.moment.body.position for one in up]
    )
    certificate = certify(clip, tolerances=CatchThrow().tolerances(clip.problem))
    assert not {"force_residual", "penetration", "joint_limits"} & set(certificate.reasons)
